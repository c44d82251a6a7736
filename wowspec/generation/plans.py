"""Plans as a strategy: a few faults, drawn before anything runs, so that it shrinks to those that count.

Drawn at each point instead, plans cost several times as much and stop shrinking at four or five faults.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

from ..errors import SpecError
from ..exploration.witness import ports_of
from ..faults.plans import NUMBERED, Address, Plan, PlannedFault, kinds_in_order
from ..specs.parts import profile_of
from ..specs.session import Profile
from ..world.profiles import legal_kinds

#: What a plan may be drawn from, as its author says it.
Place = PlannedFault | Address | str


def plans(
    places: Iterable[Place], /, *, max_faults: int = 3, profile: Profile | str = "in_memory"
) -> st.SearchStrategy[Plan]:
    """Plans of some of these faults, each visit struck once: `plans(["PayOrder/event_store.append@1"])`.

    They shrink to fewer faults, then to earlier places and simpler kinds.

    Args:
        places: faults, or addresses: then each kind that is legal there; as values or as text, in the order in which
            they are visited.
        max_faults: how many faults a plan has at most.
        profile: what is legal where.

    Raises:
        SpecError: for what is no place, or a number that makes no sense.
    """
    require_max_faults(max_faults)
    faults = [fault for place in places for fault in _faults_at(place, profile_of(profile))]
    return plans_of(faults, max_faults)


def plans_of(faults: Sequence[PlannedFault], max_faults: int) -> st.SearchStrategy[Plan]:
    """Plans of some of these faults, which stand in canonical order."""
    if not faults or not max_faults:
        return st.just(Plan())
    # So many pairs of numbers, always: Hypothesis climbs and shrinks best where the number of choices stays the same.
    places: dict[Address, list[PlannedFault]] = {}
    for fault in faults:
        places.setdefault(fault.address, []).append(fault)
    kinds = list(places.values())
    # 0 is no fault.
    place = st.integers(0, len(kinds))
    kind = st.integers(0, max(map(len, kinds)) - 1)

    def plan(drawn: tuple[tuple[int, int], ...]) -> Plan:
        at: dict[int, int] = {}
        for number, kind in drawn:
            if number:
                free = number
                while free in at:
                    free = free % len(kinds) + 1
                at[free] = kind
        return Plan(tuple(_counted(kinds[number - 1], at[number]) for number in sorted(at)))

    most = min(max_faults, len(kinds))
    return st.tuples(*[st.tuples(place, kind)] * most).map(plan)


def _counted(kinds: list[PlannedFault], number: int) -> PlannedFault:
    return kinds[number % len(kinds)]


def require_max_faults(max_faults: Any) -> None:
    """Refuse what is no number of faults.

    Raises:
        SpecError: which says so.
    """
    if type(max_faults) is not int or max_faults < 0:
        raise SpecError(
            f"max_faults={max_faults!r}",
            why="it says how many faults strike in one run at most",
            instead="max_faults=3",
        )


def _faults_at(place: Any, profile: Profile) -> list[PlannedFault]:
    if isinstance(place, PlannedFault):
        return [place]
    if isinstance(place, str):
        if "=" in place:
            return list(Plan.parse(place))
        place = _address(place)
    if not isinstance(place, Address):
        raise SpecError(
            f"plans([{place!r}])",
            why="faults are drawn from places: addresses of visits, or faults there",
            instead='plans(["PayOrder/event_store.append@1", "PayOrder/domain_event_bus.send@1=fail"])',
        )
    legal = kinds_in_order(legal_kinds(place.point, ports_of(profile)))
    return [PlannedFault(place, kind, number=NUMBERED.get(kind, 0)) for kind in legal]


def _address(text: str) -> Address:
    """An address as text: read as that of any fault there."""
    return next(iter(Plan.parse(f"{text}={_any_kind(text)}"))).address


def _any_kind(text: str) -> str:
    point = text.partition("/")[2].partition("@")[0]
    kinds = kinds_in_order(legal_kinds(point))
    return kinds[0] if kinds else "fail"
