"""What an error says, as text: its own words, its notes, where it was raised, what led to it, what it is a group of.

The errors are those of the code under test, so nothing here raises, whatever their `__str__` does, and nothing is
longer than somebody reads.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final

import pydantic

from ..errors import printable
from ..modeling.places import PACKAGE, short_path
from .render import shorten, without_addresses

_LIBRARIES: Final = (PACKAGE, str(Path(pydantic.__file__).resolve().parent))
#: Begins the line of a pydantic error that leads to its manual.
_ADVERTISED: Final = "For further information visit "
#: Characters, and lines, of one error's own words.
_MOST_CHARACTERS: Final = 2_000
_MOST_LINES: Final = 20
_WHOLE: Final = 1 << 62
#: Frames of one error: a recursion has a thousand.
_MOST_FRAMES: Final = 10
#: Errors of one group, and errors that led to one another.
_MOST_ERRORS: Final = 5


def text_of(error: BaseException, most: int = _MOST_CHARACTERS) -> str:
    """What an error says; that it cannot say it, where its `__str__` raises."""
    try:
        text = str(error)
    except Exception as raised:  # noqa: BLE001 - an error of the author's
        return f"<{type(error).__name__}, whose str raises {type(raised).__name__}>"
    return shorten(text, most)


def first_line(error: BaseException) -> str:
    """The first line of what an error says."""
    return printable(without_addresses(text_of(error)).strip().partition("\n")[0].rstrip())


def named_in_reason(text: str, error: BaseException, how: str) -> str:
    """A failure text whose first line says which error came, too: it is all that a summary shows."""
    reason, break_, rest = text.partition("\n")
    name = type(error).__name__
    return text if name in reason or "deadline" in reason else f"{reason}; {how} with {name}{break_}{rest}"


def traceback_text(error: BaseException) -> str:
    """Where an error was raised, by the author's own frames, what it says, and the errors behind it."""
    return "\n".join(_told(error, "    ", []))


def _told(error: BaseException, indent: str, above: list[BaseException]) -> list[str]:
    lines = [f"{indent}{line}" for line in [*_places(error.__traceback__), *_words(error)]]
    above = [*above, error]
    if isinstance(error, BaseExceptionGroup):
        for number, each in enumerate(error.exceptions[:_MOST_ERRORS], 1):
            lines.append(f"{indent}  {number} of {len(error.exceptions)}:")
            lines += _told(each, f"{indent}    ", above) if len(above) < _MOST_ERRORS else [f"{indent}    …"]
        if len(error.exceptions) > _MOST_ERRORS:
            lines.append(f"{indent}  … {len(error.exceptions) - _MOST_ERRORS} more …")
    cause, why = error.__cause__, "raised from"
    context = None if error.__suppress_context__ else error.__context__
    if cause is None and context is not None and any(_frames(context.__traceback__)):
        cause, why = context, "raised while handling"
    if cause is not None and not any(cause is each for each in above):
        lines.append(f"{indent}{why}:")
        lines += _told(cause, indent, above) if len(above) < _MOST_ERRORS else [f"{indent}…"]
    return lines


def _words(error: BaseException) -> list[str]:
    """An error's class and text, the fields that were refused, and its notes."""
    name = type(error).__name__
    # Cut after the lines are counted, so that their number is right.
    said = [
        shorten(line, _MOST_CHARACTERS)
        for line in printable(without_addresses(text_of(error, _WHOLE)).replace("\r\n", "\n")).splitlines()
        if not line.lstrip().startswith(_ADVERTISED)
    ]
    notes = getattr(error, "__notes__", ())
    told = [line for note in (notes if isinstance(notes, list) else ()) for line in str(note).splitlines()]
    words = [f"{name}: {said[0]}" if said else name]
    words += [f"  {line}".rstrip() for line in [*said[1:], *refused_fields(error), *told]]
    if len(words) > _MOST_LINES:
        words[_MOST_LINES:] = [f"  … {len(words) - _MOST_LINES} more lines …"]
    return words


def refused_fields(error: BaseException) -> list[str]:
    """`field: why`, for each field that was refused; the error's own text names none of them (CMD-086)."""
    return [f"{item.name}: {item.msg}" for item in getattr(error, "binding_errors", ())]


def _places(traceback: TracebackType | None) -> list[str]:
    shown: list[str] = []
    frames = list(_frames(traceback))
    half = _MOST_FRAMES // 2
    for place, (filename, number, name) in enumerate(frames):
        if len(frames) > _MOST_FRAMES and half <= place < len(frames) - half:
            if place == half:
                shown.append(f"… {len(frames) - _MOST_FRAMES:,} more frames …")
            continue
        shown.append(f"{short_path(filename)}:{number} in {name}")
        source = linecache.getline(filename, number).strip()
        if source:
            shown.append(f"  {source}")
    return shown


def _frames(traceback: TracebackType | None) -> Iterator[tuple[str, int, str]]:
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not code.co_filename.startswith(_LIBRARIES):
            yield code.co_filename, traceback.tb_lineno, code.co_qualname
        traceback = traceback.tb_next


def note_branch(error: BaseException, names: Sequence[str]) -> None:
    """Let an error that left a branch say so, unless its text does already."""
    text = f"in branch {' > '.join(names)}"
    if text not in text_of(error) and not any(
        note.startswith("in branch ") for note in getattr(error, "__notes__", ())
    ):
        error.add_note(text)
