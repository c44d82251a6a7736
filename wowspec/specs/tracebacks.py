"""Shortens the traceback of a failed test to what its author wrote: our frames between theirs say nothing to them."""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Iterator
from types import TracebackType
from typing import Final

from ..errors import SpecError
from ..modeling.places import PACKAGE
from .recorded import FORWARDING

#: Where Python and what is installed into it live.
_LIBRARIES: Final = (*(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")), "<frozen")

#: A line of such a list.
_LOCATION: Final = re.compile(r":\d+$")


def shorten(error: BaseException) -> None:
    """Take our frames out of the traceback of an error, and of those that led to it.

    A traceback stays whole where an error of Python's own was raised by our code: that is a defect of ours, and its
    place is what counts.
    """
    if isinstance(error, SpecError):
        _leave_out_causes(error)
    _leave_out_notes(error)
    for each in _chain(error):
        frames = list(_frames(each.__traceback__))
        ours = [_is_ours(entry) for entry in frames]
        is_defect = bool(ours) and ours[-1] and not _is_of_the_call(each, frames[-1])
        if is_defect or (each is error and all(ours)):
            continue
        if each is error:
            frames, ours = _from_the_test(frames, ours)
        shortened: TracebackType | None = None
        for entry, own in zip(reversed(frames), reversed(ours), strict=True):
            if not own:
                shortened = TracebackType(shortened, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
        each.__traceback__ = shortened


def _from_the_test(frames: list[TracebackType], ours: list[bool]) -> tuple[list[TracebackType], list[bool]]:
    """From the first frame of the author on: before it stands what pytest does, which `--tb=native` shows."""
    begin = next((place for place, entry in enumerate(frames) if is_of_author(entry)), 0)
    return frames[begin:], ours[begin:]


def _leave_out_causes(error: SpecError) -> None:
    """Show of what led to an author's error the author's part: all of it up to their last line, or nothing."""
    cause = error.__cause__ or error.__context__
    if cause is None:
        return
    frames = list(_frames(cause.__traceback__))
    last = next((place for place in reversed(range(len(frames))) if is_of_author(frames[place])), None)
    if last is None:
        error.__cause__ = error.__context__ = None
        return
    shown: TracebackType | None = None
    for entry in reversed(frames[: last + 1]):
        shown = TracebackType(shown, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    cause.__traceback__ = shown


def _leave_out_notes(error: BaseException) -> None:
    """Leave out our lines where Hypothesis lists those that only failing test cases ran: any failure runs ours."""
    notes: list[str] = getattr(error, "__notes__", [])
    kept = [note for note in notes if not note.strip().startswith(PACKAGE)]
    if len(kept) == len(notes):
        return
    begin = next((place for place, note in enumerate(kept) if note.strip() == "Explanation:"), None)
    if begin is not None:
        end = begin + 1
        while end < len(kept) and kept[end].startswith("    "):
            end += 1
        if not any(_LOCATION.search(note) for note in kept[begin:end]):
            del kept[begin:end]
    error.__notes__ = kept


def is_of_author(entry: TracebackType) -> bool:
    """Whether a line of a traceback is neither ours nor a library's."""
    return not _is_ours(entry) and not entry.tb_frame.f_code.co_filename.startswith(_LIBRARIES)


def _is_of_the_call(error: BaseException, last: TracebackType) -> bool:
    """Whether an error that ends in our code is the author's all the same: ours by its class, or a bad call."""
    return type(error).__module__.startswith("wowspec") or last.tb_frame.f_code in FORWARDING


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    due = [error]
    while due:
        each = due.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        due += [other for other in (each.__cause__, each.__context__) if other is not None]
        if isinstance(each, BaseExceptionGroup):
            due += each.exceptions


def _frames(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _is_ours(entry: TracebackType) -> bool:
    return entry.tb_frame.f_code.co_filename.startswith(PACKAGE)
