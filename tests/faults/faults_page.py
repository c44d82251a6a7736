"""The tables of docs/faults.md, from the tables of points, kinds and profiles: `python -m tests.faults.faults_page`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from wowspec.world.points import KINDS, POINTS, USER_POINT, FaultKind
from wowspec.world.profiles import IN_MEMORY, PROFILES, PortProfile, legal_kinds

PAGE: Final = Path(__file__).parent.parent.parent / "docs" / "faults.md"
CRASHES: Final = (FaultKind.CRASH_BEFORE, FaultKind.CRASH_AFTER)
#: A point of the user's own is shown by an example.
EXAMPLE: Final = "payment.charge"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _yes(value: bool) -> str:
    return "yes" if value else "–"


def profiles_table() -> str:
    """One row a profile."""
    lines = [_line(["profile", "what it is", "redelivers", "keeps order", "can crash"]), "|---|---|---|---|---|\n"]
    lines += [
        _line([f"`{row.name}`", row.doc, _yes(row.redelivers), _yes(row.ordered), _yes(row.crashes)])
        for row in PROFILES
    ]
    return "".join(lines)


def kinds_table() -> str:
    """One row a kind: its verb, its name in a plan, what it does, where it can happen."""
    names = [row.name for row in PROFILES]
    lines = [_line(["verb", "kind", "what happens", *names]), "|---|---|---|" + "---|" * len(names) + "\n"]
    for row in KINDS:
        legal = [_yes(any(row.kind in legal_kinds(point.name, profile) for point in POINTS)) for profile in PROFILES]
        lines.append(_line([f"`{row.verb}`", f"`{row.kind.value}`", row.meaning, *legal]))
    return "".join(lines)


def points_table() -> str:
    """One row a point: the kinds that are legal in memory, and those that other profiles add."""
    others = [row for row in PROFILES if row is not IN_MEMORY]
    names = [f"{row.name} adds" for row in others]
    lines = [_line(["point", "in memory", *names]), "|---|---|" + "---|" * len(names) + "\n"]
    for row in (*POINTS, USER_POINT):
        if not row.kinds:
            continue
        name = EXAMPLE if row is USER_POINT else row.name
        shown = f"`{name}`, as an example of a point of your own" if row is USER_POINT else f"`{name}`"
        shown = f"`{name}:{row.part}`" if row.part else shown
        base = legal_kinds(name)
        cells = [_kinds(base), *(_kinds(_added(name, profile)) for profile in others)]
        lines.append(_line([shown, *cells]))
    return "".join(lines)


def _added(name: str, profile: PortProfile) -> frozenset[FaultKind]:
    return legal_kinds(name, profile) - legal_kinds(name)


def _kinds(kinds: frozenset[FaultKind]) -> str:
    said = [kind.value for kind in FaultKind if kind in kinds and kind not in CRASHES]
    if kinds >= set(CRASHES):
        said.append("crashes")
    return ", ".join(said) or "–"


TABLES: Final = {"profiles": profiles_table, "kinds": kinds_table, "points": points_table}


def with_tables(text: str) -> str:
    """The page's text with its tables made anew."""
    for name, make in TABLES.items():
        pattern = re.compile(rf"(<!-- table: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        assert pattern.search(text), f"no place for the table {name}"
        text = pattern.sub(lambda found, make=make: f"{found[1]}{make()}{found[2]}", text)
    return text


if __name__ == "__main__":
    _ = PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
