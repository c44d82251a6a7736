"""What is said of a world that never comes to rest: who sleeps again and again, or what follows itself for ever."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any, Final

from ..errors import Sleepless, SpecFailure
from ..modeling.places import PACKAGE, short_path
from ..world.scheduler import MOST_TIMERS, Task
from ..world.trace import TraceRow
from ..world.unrest import close_unbegun
from ..world.world import World

#: How many of the last rows are looked at for a circle.
_TAIL: Final = 400
#: Rows of a circle that are shown.
_MOST_ROWS: Final = 20


def run_to_rest(world: World) -> None:
    """Let a world come to rest.

    Raises:
        SpecFailure: if it never does.
    """
    try:
        world.scheduler.run()
    except Sleepless as error:
        raise restless(world, error) from None


def restless(world: World, error: Sleepless, sleeps: int = MOST_TIMERS) -> SpecFailure:
    """The failure of a spec whose world does not come to rest within so many sleeps; nothing more happens in it."""
    close_unbegun(world.scheduler)
    task: Any = error.args[0] if error.args else None
    if task is None:
        return SpecFailure(
            f"{circle_text(world.trace.rows)}\n"
            "  why: what follows itself for ever, as a saga that sends the command which leads to its own event does, "
            "ends in no state\n"
            "  instead: a condition under which nothing more follows"
        )
    lines = [f"the world never comes to rest: after {sleeps:,} sleeps, somebody sleeps again", *_place(task)]
    lines.append("  why: time moves on as soon as nothing else can, so that a loop of sleeps never ends by itself")
    lines.append("  instead: a bound in the loop, or an event (or a service's answer) that is waited for")
    return SpecFailure("\n".join(lines))


def circle_text(rows: Sequence[TraceRow]) -> str:
    """What a world that never comes to rest does again and again."""
    tail = [f"{row.point} {row.outcome} {type(row.subject).__name__}" for row in rows[-_TAIL:]]
    for size in range(1, len(tail) // 2 + 1):
        if tail[-size:] == tail[-2 * size : -size]:
            lines = [f"{row.lane} {row.point} {row.outcome} {row.detail}".rstrip() for row in rows[-size:]]
            more = [f"… {size - _MOST_ROWS} more …"] if size > _MOST_ROWS else []
            head = f"the world never comes to rest; after {len(rows)} points it repeats:"
            return "\n".join([head, *lines[:_MOST_ROWS], *more])
    last = f"; the last: {rows[-1].point}" if rows else ""
    return f"the world did not come to rest within {len(rows)} points{last}"


def _place(task: Task[Any]) -> list[str]:
    """The author's line that sleeps."""
    for code, line in reversed(list(_frames(task._coro))):
        if not code.co_filename.startswith(PACKAGE):
            source = linecache.getline(code.co_filename, line).strip()
            place = f"    {short_path(code.co_filename)}:{line} in {code.co_qualname}"
            return [place, f"      {source}"] if source else [place]
    return []


def _frames(coro: Any) -> Iterator[tuple[CodeType, int]]:
    """Where a coroutine waits, and those that it waits for."""
    while coro is not None:
        frame = getattr(coro, "cr_frame", None) or getattr(coro, "gi_frame", None)
        if frame is not None:
            yield frame.f_code, frame.f_lineno
        coro = getattr(coro, "cr_await", None) or getattr(coro, "gi_yieldfrom", None)
