"""What happened, as text: the timeline of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from ..world.clock import NANOS_PER_MILLI
from ..world.trace import TraceRow
from .run import Run

#: How many rows of a timeline are shown; a longer one by its ends and what was struck or failed.
MOST_ROWS: Final = 24
#: Rows that are shown at its beginning, at its end, and on either side of what was struck or failed.
_FIRST, _LAST, _AROUND = 4, 4, 1


def timeline(run: Run, *, most: int = MOST_ROWS) -> str:
    """The points that a run passed, and where the runtime swallowed an error."""
    rows = run.rows
    notes = swallowed(run, rows)
    if run.message is None and run.command is None:
        nothing = "nothing that is given reached a function"
        return rows_text(rows, head="virtual time", nothing=nothing, most=most, notes=notes)
    return rows_text(rows, most=most, notes=notes)


def swallowed(run: Run, rows: Sequence[TraceRow]) -> dict[int, str]:
    """What is said below a row: the error that was logged, and went no further, of what passed there."""
    notes: dict[int, str] = {}
    for entry in run.logged:
        if entry.subject is run.message or any(row.error is entry.cause for row in rows):
            continue
        passed = [place for place, row in enumerate(rows) if row.subject is entry.subject]
        of_function = [place for place in passed if rows[place].point.endswith(f":{entry.place}")]
        if passed:
            notes[(of_function or passed)[-1]] = f"{type(entry.cause).__name__}, logged and swallowed here"
    return notes


def rows_text(
    rows: Sequence[TraceRow],
    *,
    head: str = "virtual time from when",
    nothing: str = "nothing passed any point",
    most: int = MOST_ROWS,
    notes: Mapping[int, str] = MappingProxyType({}),
) -> str:
    """Passed points in the order of time: lane, point, what passed, what became of it."""
    if not rows:
        return f"  pipeline: {nothing}"
    start = rows[0].nanos
    kept = _kept(rows, most, notes)
    width = max(len(_lane(row)) for row in rows)
    digits = max(6, len(str((rows[-1].nanos - start) // NANOS_PER_MILLI)))
    points = max(len(row.point) for row in rows)
    lines = [f"  pipeline ({head}):"]
    left_out = 0
    for place, row in enumerate(rows):
        if place not in kept:
            left_out += 1
            continue
        if left_out:
            lines.append(f"    … {left_out} more, shown by -vv …")
            left_out = 0
        millis = (row.nanos - start) // NANOS_PER_MILLI
        mark = " " if row.outcome == "ok" else "✗"
        outcome = "" if row.outcome == "ok" else f"  {row.outcome}"
        detail = f"  {row.detail}" if row.detail else ""
        lines.append(
            f"    {millis:>{digits}} ms {mark} {_lane(row):<{width}}  {row.point:<{points}}{detail}{outcome}".rstrip()
        )
        if place in notes:
            lines.append(f"    {'':>{digits}}    ✗ └ {notes[place]}")
    if left_out:
        lines.append(f"    … {left_out} more, shown by -vv …")
    return "\n".join(lines)


def _kept(rows: Sequence[TraceRow], most: int, notes: Mapping[int, str]) -> set[int]:
    """The places of the rows that are shown."""
    if len(rows) <= most:
        return set(range(len(rows)))
    kept = {*range(_FIRST), *range(len(rows) - _LAST, len(rows))}
    told = [place for place, row in enumerate(rows) if row.outcome != "ok" or place in notes]
    for place in told or range(_FIRST, most - _LAST):
        kept.update(range(place - _AROUND, place + _AROUND + 1))
        if len(kept) >= most:
            break
    return kept


def _lane(row: TraceRow) -> str:
    return str(row.lane)
