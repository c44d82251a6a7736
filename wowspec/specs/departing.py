"""Where a run under faults first went another way than the one without any.

For a spec with faults of its own, the fault-free run is made when a failure is told: the same steps, without those that
arm faults, in a fresh world. Where that cannot be done (services that were used, an error of the author's), nothing is
said of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from ..world.trace import TraceRow
from .conditions import run_steps
from .nodes import ACTIONS, Node, WhenConcurrently, WithFaults
from .run import Run
from .tracking import aside, is_aside


def departure(mine: Sequence[TraceRow], usual: Sequence[TraceRow]) -> str:
    """The first point at which two runs went different ways, past what struck."""
    for _, here, there in _parting(mine, usual):
        return f"{_said(here)}, where it was {_said(there)}"
    return "none: both passed the same points"


def departure_place(mine: Sequence[TraceRow], usual: Sequence[TraceRow]) -> int:
    """The place of the first row that the usual run does not have; -1: it has all of them, and perhaps goes on."""
    return next((place for place, here, _ in _parting(mine, usual) if here is not None), -1)


def _parting(
    mine: Sequence[TraceRow], usual: Sequence[TraceRow]
) -> Iterator[tuple[int, TraceRow | None, TraceRow | None]]:
    """The places at which two runs are not the same, past what struck."""
    for place, (here, there) in enumerate(zip_longest(mine, usual)):
        if here is not None and there is not None and here.was_struck and _way(here) == _way(there):
            continue
        if here is None or there is None or (_way(here), here.outcome) != (_way(there), there.outcome):
            yield place, here, there


def _way(row: TraceRow) -> tuple[Any, ...]:
    return row.lane, row.point


def _said(row: TraceRow | None) -> str:
    if row is None:
        return "the end"
    outcome = "" if row.outcome == "ok" else f" {row.outcome}"
    return f"{row.point} of {row.lane}{outcome}"


def departure_text(run: Run, node: Node | None) -> list[str]:
    """A line that says it, for a run that a fault of its spec struck; else nothing."""
    if not run.fired or node is None or node.driver is not None or is_aside():
        return []
    usual = without_faults(node)
    if usual is None:
        return []
    return [f"  first departure from the fault-free run: {departure(run.rows, usual.rows)}"]


def without_faults(node: Node) -> Run | None:
    """The run of the last action on the way to a step, without the faults of the way."""
    from .again import accept, again

    path = [each for each in node.path() if not isinstance(each.step, WithFaults)]
    if any(isinstance(each.step, WhenConcurrently) for each in path):
        return None
    found: Run | None = None
    try:
        with aside():
            for each in run_steps(again(path)):
                found = each.run
                if found is not None:
                    accept(found)
    except Exception:  # noqa: BLE001 - a remark below a failure must not become another failure
        return None
    return found if any(isinstance(each.step, ACTIONS) for each in path) else None
