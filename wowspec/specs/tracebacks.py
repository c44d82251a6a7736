"""Shortens the traceback of a failed test to what its author wrote: our frames between theirs say nothing to them."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType

from .recorded import FORWARDING
from .story import PACKAGE


def shorten(error: BaseException) -> None:
    """Take our frames out of the traceback of an error, and of those that led to it.

    A traceback stays whole where an error of Python's own was raised by our code: that is a defect of ours, and its
    place is what counts.
    """
    for each in _chain(error):
        frames = list(_frames(each.__traceback__))
        ours = [_is_ours(entry) for entry in frames]
        is_defect = bool(ours) and ours[-1] and not _is_of_the_call(each, frames[-1])
        if is_defect or (each is error and all(ours)):
            continue
        shortened: TracebackType | None = None
        for entry, own in zip(reversed(frames), reversed(ours), strict=True):
            if not own:
                shortened = TracebackType(shortened, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
        each.__traceback__ = shortened


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
