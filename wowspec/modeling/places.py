"""Where a function of the author's stands in their files, for texts that send somebody there."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from .functions import HandlerFunction

PACKAGE: Final = str(Path(__file__).resolve().parent.parent)
#: A definition begins within so many lines of its decorators.
_MOST_DECORATORS: Final = 12


def short_path(filename: str) -> str:
    """A file's path, seen from the working directory."""
    try:
        return str(Path(filename).relative_to(Path.cwd()))
    except ValueError:
        return filename


def tree_of(function: Any) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The syntax tree of a function's definition; None where there is no source, or it is no definition (a lambda)."""
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    if code is None or code.co_filename == "<string>":
        # Nobody's source: where `python -c` runs, Python 3.13 keeps that command's lines under this name.
        return None
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    return tree if isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef) else None


def place_of(handler: HandlerFunction) -> str:
    """`Order.pay (shop.py:86)`; empty for a function of the kit's own."""
    return written_at(handler.function, handler.place)


def written_at(function: Callable[..., Any], name: str) -> str:
    """A name with the file and line of its function; empty for a function of the kit's own."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None or code.co_filename.startswith(PACKAGE):
        return ""
    line = code.co_firstlineno
    for each in range(line, line + _MOST_DECORATORS):
        if linecache.getline(code.co_filename, each).lstrip().startswith(("def ", "async def ")):
            line = each
            break
    return f"{name} ({short_path(code.co_filename)}:{line})"
