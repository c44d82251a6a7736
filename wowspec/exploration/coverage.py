"""Which of the faults that can happen were explored: point × kind, over all results of a suite."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..world.points import POINTS, FaultKind
from ..world.profiles import IN_MEMORY, PROFILE_BY_NAME, legal_kinds
from .findings import RecoveryClass
from .results import ResultJson

#: A cell: name of the point without its part, kind.
Cell = tuple[str, str]

#: One letter a class, the worst first, as the matrix shows it.
LETTERS: Final[tuple[tuple[RecoveryClass, str], ...]] = (
    (RecoveryClass.NEVER, "!"),
    (RecoveryClass.HEALED, "h"),
    (RecoveryClass.KNOWN, "k"),
    (RecoveryClass.FAILED, "f"),
    (RecoveryClass.COMPENSATED, "c"),
    (RecoveryClass.REDELIVERED, "d"),
    (RecoveryClass.RETRIED, "r"),
    (RecoveryClass.MASKED, "·"),
)


def cells_of(results: Iterable[ResultJson]) -> dict[Cell, dict[str, int]]:
    """How many plans struck in each cell, by how they came out."""
    found: dict[Cell, dict[str, int]] = {}
    for result in results:
        for cell in result["cells"]:
            outcomes = found.setdefault((_name(cell["point"]), cell["kind"]), {})
            for outcome, count in cell["outcomes"].items():
                outcomes[outcome] = outcomes.get(outcome, 0) + count
    return found


def _name(point: str) -> str:
    return point.partition(":")[0]


def possible(results: Iterable[ResultJson]) -> set[Cell]:
    """The cells that the profiles of the swept specs allow; of a profile of the user's own, those that were struck."""
    kept = list(results)
    profiles = {result["profile"] for result in kept if not result["not_swept"]} or {"in_memory"}
    legal = {
        (row.name, kind.value)
        for row in POINTS
        for profile in profiles
        for kind in legal_kinds(_example(row.name, row.part), PROFILE_BY_NAME.get(profile, IN_MEMORY))
    }
    names = {row.name for row in POINTS}
    own = [result for result in kept if result["profile"] not in PROFILE_BY_NAME]
    return legal | {cell for cell in cells_of(own) if cell[0] in names}


def _example(name: str, part: str) -> str:
    return f"{name}:x.y" if part else name


def coverage_percent(results: Iterable[ResultJson]) -> float:
    """How many of the possible cells were struck, in percent."""
    kept = list(results)
    cells = possible(kept)
    struck = cells_of(kept).keys() & cells
    return 100 * len(struck) / len(cells) if cells else 100.0


def matrix_lines(results: Iterable[ResultJson]) -> list[str]:
    """The matrix as text: in each cell the worst that came of it, and how many plans struck there."""
    kept = list(results)
    cells, legal = cells_of(kept), possible(kept)
    kinds = [kind.value for kind in FaultKind if any(known == kind.value for _, known in [*cells, *legal])]
    points = [row.name for row in POINTS if any(name == row.name for name, _ in [*cells, *legal])]
    points += sorted({name for name, _ in cells} - set(points))
    if not points:
        return []
    width = max(map(len, points))
    heads = [_short(kind) for kind in kinds]
    lines = [f"{'':<{width}}  {'  '.join(f'{head:>6}' for head in heads)}"]
    for point in points:
        texts = [_cell(cells.get((point, kind)), legal=(point, kind) in legal) for kind in kinds]
        lines.append(f"{point:<{width}}  {'  '.join(f'{text:>6}' for text in texts)}".rstrip())
    legend = ", ".join(f"{letter} {name.value}" for name, letter in LETTERS)
    lines.append(f"{legend}; – never struck; blank: not possible")
    return lines


def _short(kind: str) -> str:
    """A kind in six characters."""
    short = {
        "timeout": "t/out",
        "ack_lost": "ackl",
        "ack_lost_permanent": "ackl.p",
        "conflict": "confl",
        "duplicate": "dupl",
        "reorder": "reord",
        "crash_before": "crash<",
        "crash_after": "crash>",
        "corrupt": "corr",
    }
    return short.get(kind, kind)


def _cell(outcomes: dict[str, int] | None, *, legal: bool) -> str:
    if not outcomes:
        return "–" if legal else ""
    letter = next(letter for name, letter in LETTERS if name.value in outcomes)
    return f"{sum(outcomes.values())}{letter}"
