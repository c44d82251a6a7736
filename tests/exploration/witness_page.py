"""The tables of docs/what-the-sweep-finds.md, from the witness: `python -m tests.exploration.witness_page --write`.

Without `--write` it says whether the page is up to date.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Final

from wowspec.exploration.run_laws import RUN_LAWS
from wowspec.exploration.witness import Place, witness_table
from wowspec.specs.parts import PROFILES
from wowspec.world.points import POINTS, FaultKind

from .pages import DOCS, table, with_tables, write

PAGE: Final = DOCS / "what-the-sweep-finds.md"
FINDINGS: Final = DOCS.parent / "examples" / "findings.txt"
BASE: Final = "in_memory"

_LAWS: Final = {law.name: place for place, law in enumerate(RUN_LAWS)}
_POINTS: Final = {row.name: place for place, row in enumerate(POINTS)}
_KINDS: Final = {kind.value: place for place, kind in enumerate(FaultKind)}

#: What breaks in a place, and what would heal it.
Broken = tuple[tuple[str, ...], str]


@cache
def places(profile: str) -> dict[Place, Broken]:
    """What breaks where, for the witness under a profile."""
    laws: dict[Place, list[str]] = {}
    healing: dict[Place, set[str]] = {}
    for known in witness_table(PROFILES[profile]):
        laws.setdefault(known.place, []).append(known.law)
        healing.setdefault(known.place, set()).add(known.healed_by)
    return {
        place: (tuple(sorted(names, key=_LAWS.__getitem__)), healing[place].pop() if len(healing[place]) == 1 else "")
        for place, names in laws.items()
    }


def shown(profile: str) -> dict[Place, Broken]:
    """Of a profile other than the base, only what is otherwise there."""
    found, base = places(profile), places(BASE)
    return found if profile == BASE else {place: broken for place, broken in found.items() if base.get(place) != broken}


def _rows(found: dict[Place, Broken]) -> Iterator[list[str]]:
    """One row for the kinds under which the same breaks at a point."""
    groups: dict[tuple[str, str, Broken], list[str]] = {}
    for place, broken in sorted(found.items(), key=lambda item: _order(item[0])):
        groups.setdefault((place.of, place.point, broken), []).append(place.kind)
    for (of, point, (laws, healed)), kinds in groups.items():
        yield [of, f"`{point}`", ", ".join(kinds), ", ".join(laws), healed or "–"]


def _order(place: Place) -> tuple[str, int, str, int]:
    name, _, part = place.point.partition(":")
    return place.of, _POINTS.get(name, len(_POINTS)), part, _KINDS[place.kind]


def witness(profile: str) -> str:
    """The table of one profile."""
    return table(["of", "point", "kinds", "laws that break", "would be healed by"], _rows(shown(profile)))


def no_longer(profile: str) -> list[Place]:
    """Where something breaks in the base and nothing under a profile."""
    return sorted(place for place in places(BASE) if place not in places(profile))


TABLES: Final[dict[str, Callable[[], str]]] = {f"witness {name}": partial(witness, name) for name in PROFILES}


def declared() -> set[tuple[str, str]]:
    """Each test file and law of the declared findings of the examples."""
    found = set()
    for line in FINDINGS.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            test, _, said = line.rpartition(" | ")
            laws = said.rpartition("→")[2]
            found |= {(test.partition("::")[0], law.strip()) for law in laws.split(",")}
    return found


def main(page: Path = PAGE) -> int:
    """Write the page, or say whether it is up to date."""
    if "--write" in sys.argv[1:]:
        write(page, TABLES)
        return 0
    text = page.read_text(encoding="utf-8")
    stale = with_tables(text, TABLES) != text
    print(f"{page.name} is {'stale: --write' if stale else 'up to date'}")
    return int(stale)


if __name__ == "__main__":
    raise SystemExit(main())
