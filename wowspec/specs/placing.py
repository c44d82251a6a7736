"""Where the author wrote something, and how to raise an error there although that line is not running any more."""

from __future__ import annotations

import ast
import inspect
import sys
from itertools import islice
from types import CodeType
from typing import NamedTuple, NoReturn

from ..modeling.places import PACKAGE, short_path


class Place(NamedTuple):
    """An instruction of the author's code. Its text is made when it is told, which is seldom."""

    code: CodeType
    line: int
    instruction: int

    def __str__(self) -> str:
        return f"{short_path(self.code.co_filename)}:{self.line}"


class SoftFailure(NamedTuple):
    """What a soft expectation found, and where it stands."""

    place: Place
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


def place_of_caller() -> Place:
    """The line of the author's code that is running."""
    # Who asks is one of us, and each look at a frame makes an object of it.
    frame = sys._getframe(2)
    while frame.f_code.co_filename.startswith(PACKAGE):
        outer = frame.f_back
        if outer is None:
            break
        frame = outer
    return Place(frame.f_code, frame.f_lineno, frame.f_lasti)


def place_in(code: CodeType, instruction: int) -> Place:
    """The place of an instruction, by its offset."""
    line = next(islice(code.co_positions(), instruction // 2, None), (None,))[0]
    return Place(code, line or code.co_firstlineno, instruction)


def place_of_function(function: object) -> Place | None:
    """The first line of a function of the author's, or of what a decorator made of it; None if it has none."""
    code = getattr(inspect.unwrap(function) if callable(function) else None, "__code__", None)
    return Place(code, code.co_firstlineno, 0) if isinstance(code, CodeType) else None


def is_placed(error: BaseException) -> bool:
    """Whether the traceback of an error has a line of the author's."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(PACKAGE):
        traceback = traceback.tb_next
    return traceback is not None


def raise_at(place: object, error: BaseException) -> NoReturn:
    """Raise an error as if a line of the author's code did.

    What is found when a test has ended belongs to a line that is not running any more, and a traceback without any line
    of the author's leads nowhere. So a frame is made that has the file, the function and the position of the place, as
    template engines do for theirs.
    """
    __tracebackhide__ = True
    error.__traceback__ = None
    if isinstance(place, Place):
        exec(_raising(place), {"error": error})  # noqa: S102 - the one statement that is made below
    raise error


def _raising(place: Place) -> CodeType:
    code = place.code
    # Lines of a code object are counted from its first.
    before = code.co_firstlineno - 1
    positions = next(islice(code.co_positions(), place.instruction // 2, None), (None,) * 4)
    line, end_line, column, end_column = positions
    if line is None or column is None:
        line = end_line = place.line
        column = end_column = 0
    name = ast.Name(id="error", ctx=ast.Load())
    statement = ast.Raise(
        exc=name,
        lineno=max(line - before, 1),
        end_lineno=max((end_line or line) - before, 1),
        col_offset=column,
        end_col_offset=end_column or column,
    )
    ast.copy_location(name, statement)
    made = compile(ast.Module(body=[statement], type_ignores=[]), code.co_filename, "exec")
    return made.replace(co_firstlineno=code.co_firstlineno, co_name=code.co_name, co_qualname=code.co_qualname)
