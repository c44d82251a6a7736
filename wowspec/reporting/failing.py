"""Why a test failed, and where its author wrote it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from traceback import format_exception_only
from types import CodeType, TracebackType
from typing import Any, TypedDict

import pytest

from ..errors import SpecError, SpecFailure, printable
from ..specs.tracebacks import is_of_author

#: Characters of a failure's text.
_MOST_TEXT = 20_000


#: A relative path of a file, before a line's number.
_FILE = re.compile(r"(?<![\w./\\-])[\w.-][\w./\\-]*\.py(?=:\d)")
#: Where a call stands: code, and its offset there.
Line = tuple[CodeType, int]


class FailureJson(TypedDict):
    """A failure.

    Attributes:
        text: what it says; of errors that are not wowspec's with their class.
        place: `file:line` of the author's last line that led to it, seen from the root directory; empty: none.
        is_ours: whether wowspec raised it.
    """

    text: str
    place: str
    is_ours: bool


def failure_json(raised: BaseException, root: Path) -> FailureJson:
    """What is told of a failure.

    Args:
        raised: what was raised.
        root: the root directory, which no path in the text names.
    """
    error = first_error(raised)
    ours = isinstance(error, SpecError | SpecFailure)
    text = _said(error) if ours else _of_others(raised)
    notes = [str(note) for note in getattr(error, "__notes__", ())]
    notes = [note for note in notes if note not in text]
    text = printable(without_root("\n".join([text, *notes]), root))
    if len(text) > _MOST_TEXT:
        text = f"{text[:_MOST_TEXT]}\n… {len(text) - _MOST_TEXT:,} more characters"
    return FailureJson(text=text, place=_place(raised, root) or _place(error, root), is_ours=ours)


def first_error(error: BaseException) -> BaseException:
    """The first error of a group of them; any other one as it is."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def lines_of(error: BaseException) -> set[Line]:
    """Where an error, those that it is a group of, and those that led to it passed."""
    found: set[Line] = set()
    for each in _chain(error):
        traceback = each.__traceback__
        while traceback is not None:
            found.add((traceback.tb_frame.f_code, traceback.tb_lasti))
            traceback = traceback.tb_next
    return found


def soft_lines_of(error: BaseException) -> set[Line]:
    """Where the soft expectations stand that an error tells of."""
    return {line for each in _chain(error) if isinstance(each, SpecFailure) for line in each.lines}


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error, those that it is a group of, and those that led to it."""
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        each = left.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        left += [each.__cause__, each.__context__]
        left += each.exceptions if isinstance(each, BaseExceptionGroup) else ()


def without_root(text: str, root: Path) -> str:
    """A text whose paths are seen from the root directory; those of code elsewhere from where it is imported.

    Texts of failures name files as seen from the working directory, which says nothing of the suite.
    """
    text = text.replace(f"{root}{os.sep}", "")
    here = Path.cwd()
    if here != root:
        text = _FILE.sub(lambda found: _from_root(found[0], here, root), text)
    for folder in sorted({each for each in sys.path if len(Path(each).parts) > 1}, key=len, reverse=True):
        if folder in text:
            text = re.sub(rf"{re.escape(folder)}{re.escape(os.sep)}(?=[^\n:]*\.py:\d)", "", text)
    return text


def _from_root(file: str, here: Path, root: Path) -> str:
    """A file that is seen from the working directory."""
    path = Path(os.path.normpath(here / file))
    if not path.is_file():
        return file
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an author's error that cannot be put into words still failed the test
        return "(its text cannot be had)"


def _of_others(error: BaseException) -> str:
    """An error with its class, and those of a group one below the other: many of them were never raised."""
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return "\n".join(["".join(format_exception_only(error)).rstrip(), *map(_of_others, inner)])


def _place(error: BaseException, root: Path) -> str:
    """The last line of the author's in a file below the root directory; empty: there is none."""
    found = [(file, line) for file, line in _lines(error.__traceback__) if file.is_relative_to(root)]
    return f"{found[-1][0].relative_to(root).as_posix()}:{found[-1][1]}" if found else ""


def _lines(traceback: TracebackType | None) -> Iterator[tuple[Path, int]]:
    while traceback is not None:
        if is_of_author(traceback):
            yield Path(traceback.tb_frame.f_code.co_filename), traceback.tb_lineno
        traceback = traceback.tb_next


def place_of_item(item: pytest.Item) -> tuple[str, int]:
    """File and first line of a test's function, seen from the root directory."""
    from ..specs.placing import place_of_function

    place = place_of_function(_function_of(item))
    line = place.line if place is not None else (item.location[1] or 0) + 1
    # pytest names no file for a test outside the root directory.
    return item.nodeid.partition("::")[0] or Path(item.location[0]).as_posix(), line


def _function_of(item: pytest.Item) -> Any:
    """A test's function as its author wrote it, whatever decorators made of it."""
    from ..exploration.decorator import ATTRIBUTE

    function = getattr(item, "obj", None)
    exploration = getattr(function, ATTRIBUTE, None)
    if exploration is not None:
        return exploration.function
    hypothesis = getattr(function, "hypothesis", None)
    return getattr(hypothesis, "inner_test", function)
