"""What breaks for the witness where faults strike in the same places: asked for one set of places at a time.

The witness table holds every plan of one fault, or two; for a single finding, of any number of faults, it is quicker to
try just those plans of the witness that strike in the same places.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ..faults.plans import Plan
from ..modeling.processors import ProcessorKind
from ..specs.session import Profile
from .addresses import Selection, faults_along
from .explorer import Explorer
from .playing import Played
from .witness import Place, place_of, ports_of, witness_way
from .witness_domain import WitnessSaga, WitnessView

_KINDS: Final = {
    WitnessView.__name__: ProcessorKind.PROJECTION,
    WitnessSaga.__name__: ProcessorKind.STATELESS_SAGA,
}
#: So many plans of the witness are tried at most; what it is known for mostly shows in the first of them.
MOST_RUNS: Final = 300


@lru_cache(maxsize=16)
def _witness(profile: Profile) -> Explorer:
    return Explorer(witness_way(profile), profile=ports_of(profile))


@lru_cache(maxsize=16)
def _places(profile: Profile) -> frozenset[Place]:
    """Where faults can strike the witness."""
    return frozenset(place_of(fault, _KINDS) for plan in _witness(profile).singles() for fault in plan)


@lru_cache(maxsize=1_024)
def witness_laws(places: tuple[Place, ...], laws: frozenset[str], profile: Profile) -> frozenset[str]:
    """Which of some laws break for the witness under plans that strike in exactly these places.

    Args:
        places: where faults strike, as `witness.places_of` gives them.
        laws: names of the laws that are asked for.
        profile: what the world's ports can do.
    """
    if not places or not _places(profile).issuperset(places):
        return frozenset()
    search = _Search(_witness(profile), laws)
    search.extend(Plan(), search.explorer.base.played, 0, list(places))
    return frozenset(search.laws & laws)


class _Search:
    """Plans of the witness that strike in given places, in any order."""

    __slots__ = ("asked", "explorer", "known", "laws", "left")

    def __init__(self, explorer: Explorer, asked: frozenset[str]) -> None:
        self.explorer = explorer
        self.asked = asked
        self.laws: set[str] = set()
        self.left = MOST_RUNS
        self.known: set[frozenset[str]] = set()

    def extend(self, plan: Plan, played: Played, since: int, places: list[Place]) -> None:
        """Run the plan with each further fault that strikes in one of the places."""
        reached = (played.armory.reached or [])[since:]
        services = played.session.world.services
        for fault in faults_along(reached, self.explorer.profile, Selection(), services):
            place = place_of(fault, _KINDS)
            if place not in places:
                continue
            longer = plan.with_(fault)
            if longer.key in self.known or not self.left or self.asked <= self.laws:
                continue
            self.known.add(longer.key)
            self.left -= 1
            left = list(places)
            left.remove(place)
            result, again = self.explorer.run(longer, record=bool(left))
            if left:
                self.extend(longer, again, again.armory.last_strike, left)
            elif result.finding is not None:
                self.laws.update(result.finding.laws)
