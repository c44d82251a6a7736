"""Schedules as a strategy: few changes of who goes first, so that they shrink to first in, first out.

Theory of operation. A task that was put before another goes on, wherever it gives way, until it waits: so one choice
other than 0 is one change of priorities, and a schedule of few such choices is one of probabilistic concurrency
testing, which finds a defect that needs d changes with a probability that falls with d alone.
"""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from ..errors import SpecError
from ..world.schedules import Schedule, schedule_text

#: At how many choices of a run a change may come; runs of a few commands in flight have fewer.
CHOICES: Final = 64
#: Among how many ready tasks one is chosen; where fewer are ready, the last of them goes first.
READY: Final = 4


def schedules(*, max_changes: int = 2, choices: int = CHOICES) -> st.SearchStrategy[str]:
    """Schedules as `when_concurrently(..., schedule=...)` takes them, with few changes of priorities.

    They shrink to fewer changes, then to earlier ones; the simplest is `"0"`: first in, first out.

    Args:
        max_changes: how often a task goes before others that were ready first, at most.
        choices: at how many choices, from the first on, that may happen.

    Raises:
        SpecError: for numbers that make no sense.
    """
    return drawn_schedules(max_changes, choices).map(schedule_text)


def drawn_schedules(max_changes: int = 2, choices: int = CHOICES) -> st.SearchStrategy[Schedule]:
    """The same, as choices."""
    for name, value, least in (("max_changes", max_changes, 0), ("choices", choices, 1)):
        if type(value) is not int or value < least:
            raise SpecError(
                f"schedules({name}={value!r})",
                why="a schedule is a list of choices, of which few are not 0",
                instead=f"{name}={max(least, 2)}",
            )
    # Of a fixed length, as plans are; 0 tasks are passed over where nothing changes.
    change = st.tuples(st.integers(0, READY), st.integers(0, choices - 1))
    return st.tuples(*[change] * max_changes).map(_schedule)


def _schedule(changes: tuple[tuple[int, int], ...]) -> Schedule:
    at = {place: passed for passed, place in reversed(changes) if passed}
    return tuple(at.get(place, 0) for place in range(max(at, default=-1) + 1))
