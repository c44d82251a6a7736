"""How the lines of a failure text are laid out: `-` expected and not there, `+` there and not expected, paths below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ..messages.equality import Difference
from .alignment import Row, Verdict
from .compare import MOST_DIFFERENCES, differences, line_of
from .matchers import is_loose
from .render import BRIEF, Limits, render

#: Paths shown below one pair.
_MOST_PATHS: Final = 12
#: A longer run of events that are as expected is shown by its ends.
_LONGEST_RUN: Final = 5
_MOST_LINES: Final = 45


def several(number: int, noun: str) -> str:
    """A number and its noun: `no events`, `1 event`, `2 events`."""
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def report(reason: str, lines: Sequence[str], advice: Sequence[str] = (), legend: str = "") -> str:
    """A failure text of its parts."""
    parts = [reason]
    if legend:
        parts.append(f"  ({legend})")
    if lines:
        parts += ["", *lines]
    if advice:
        parts.append("")
        parts += [f"  hint: {each}" for each in advice]
    return "\n".join(parts)


def legend_of(lines: Sequence[str]) -> str:
    """Which side of the sign was expected, where a line has it."""
    return "expected ≠ actual" if any(" ≠ " in line for line in lines) else ""


def rows_of(rows: Sequence[Row], root: str, limits: Limits) -> list[str]:
    """The lines of an alignment; long runs that are as expected are shown by their ends."""
    width = max((len(_label(row, root)) for row in rows), default=0)
    lines: list[str] = []
    shown = 0
    for run in _runs(rows):
        kept, cut = _ends(run)
        for row in kept[: len(kept) // 2] if cut else kept:
            lines += _row(row, root, width, limits)
        if cut:
            lines.append(f"    … {cut:,} more as expected …")
            for row in kept[len(kept) // 2 :]:
                lines += _row(row, root, width, limits)
        shown += len(run)
        if len(lines) >= _MOST_LINES and shown < len(rows):
            wrong = sum(row.verdict not in _FINE for row in rows[shown:])
            lines.append(f"    … {len(rows) - shown:,} more lines, {wrong:,} of them not as expected …")
            break
    return lines


_FINE: Final = (Verdict.MET, Verdict.LET_PASS)


def _runs(rows: Sequence[Row]) -> Iterable[list[Row]]:
    """Rows as expected in runs; each other row alone."""
    run: list[Row] = []
    for row in rows:
        if row.verdict in _FINE:
            run.append(row)
            continue
        if run:
            yield run
            run = []
        yield [row]
    if run:
        yield run


def _ends(run: list[Row]) -> tuple[list[Row], int]:
    """What is shown of a run, and how many rows of it are not."""
    if len(run) <= _LONGEST_RUN:
        return run, 0
    half = _LONGEST_RUN // 2
    return run[:half] + run[-half:], len(run) - 2 * half


def _label(row: Row, root: str) -> str:
    return "" if row.place is None else f"{root}[{row.place}]"


def _row(row: Row, root: str, width: int, limits: Limits) -> list[str]:
    label = f"{_label(row, root):<{width}}"
    if row.verdict is Verdict.MISSING:
        return [f"  - {'':<{width}}  {render(row.expected, limits)}{_by_group(row)}"]
    if row.verdict is Verdict.SURPLUS:
        return [f"  + {label}  {render(row.actual, limits)}"]
    if row.verdict is Verdict.DIFFERS:
        return [
            f"  - {'':<{width}}  {render(row.expected, limits)}{_by_group(row)}",
            f"  + {label}  {render(row.actual, limits)}",
            *paths_of(differences(row.expected, row.actual), label.rstrip(), width, limits),
        ]
    if row.verdict is Verdict.LET_PASS:
        return [f"    {label}  {render(row.actual, limits)}  (let pass by ANY_EVENTS)"]
    loose = f"  (met {render(row.expected, BRIEF)})" if is_loose(row.expected) else ""
    return [f"    {label}  {render(row.actual, limits)}{loose}{_by_group(row)}"]


def _by_group(row: Row) -> str:
    return "  (unordered)" if row.grouped else ""


def paths_of(found: Sequence[Difference], root: str, width: int, limits: Limits) -> list[str]:
    """A line for each place at which two values differ."""
    indent = " " * (6 + width) if width else "    "
    lines = [f"{indent}{line_of(each, root, limits)}" for each in found[:_MOST_PATHS]]
    if len(found) > _MOST_PATHS:
        more = "at least " if len(found) >= MOST_DIFFERENCES else ""
        lines.append(f"{indent}… {more}{len(found) - _MOST_PATHS} more differences …")
    return lines
