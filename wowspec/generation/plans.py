"""Plans as a strategy: a sparse list of faults, drawn before anything runs, so that it shrinks to those that count.

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
    order = {fault: place for place, fault in enumerate(faults)}

    def plan(drawn: list[PlannedFault]) -> Plan:
        return Plan(tuple(sorted(drawn, key=order.__getitem__)))

    most = min(max_faults, len({fault.address for fault in faults}))
    return st.lists(st.sampled_from(faults), max_size=most, unique_by=lambda fault: fault.address).map(plan)


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
