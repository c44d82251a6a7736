"""What breaks for the witness where faults strike in the same places: asked for one set of places at a time.

The witness table holds every plan of one fault, or two; for a single finding, of any number of faults, it is quicker to
try just those plans of the witness that strike in the same places.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ..faults.plans import Plan
from ..specs.session import Profile
from ..world.points import FaultKind
from .addresses import Selection, faults_along
from .explorer import Explorer
from .findings import Finding
from .playing import Played
from .witness import WITNESS_KINDS, Place, ProcessorKinds, findings_at, place_of, places_of, ports_of, witness_explorer

#: So many plans of the witness are tried at most; what it is known for mostly shows in the first of them.
MOST_RUNS: Final = 300


@lru_cache(maxsize=16)
def _places(profile: Profile) -> frozenset[Place]:
    """Where faults can strike the witness."""
    return frozenset(place_of(fault, WITNESS_KINDS) for plan in witness_explorer(profile).singles() for fault in plan)


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
    search = _Search(witness_explorer(profile), laws)
    search.extend(Plan(), search.explorer.base.played, 0, list(places))
    return frozenset(search.laws & laws)


def known_laws(finding: Finding, kinds: ProcessorKinds, profile: Profile) -> frozenset[str]:
    """Which of a finding's laws break for the witness too, by some or all of its faults in the same places."""
    if finding.left_behind:
        return frozenset()
    places = places_of(finding.plan, kinds)
    asked = frozenset(finding.laws)
    known = asked & {law for place in places for item in findings_at(profile, place) for law in item.laws}
    if len(places) > 1 and known != asked:
        known |= witness_laws(places, asked - known, profile)
    return known | _lost(finding, known, profile)


_CRASHES: Final = (FaultKind.CRASH_BEFORE, FaultKind.CRASH_AFTER)
#: What processors owe, and what follows from it.
_OWED: Final = frozenset({"convergence", "saga_completeness"})
_FOLLOWS: Final = frozenset({"eventually"})


def _lost(finding: Finding, known: frozenset[str], profile: Profile) -> frozenset[str]:
    """Laws that break since a process took with it what processors were at work on, or had not yet heard of.

    Where no bus delivers again, which message a crash meets is a matter of the moment, not of the point: a saga that
    waits is longer on its way than the witness's.
    """
    crashes = any(fault.kind in _CRASHES for fault in finding.plan)
    owed = _OWED & frozenset(finding.laws) - known
    if not crashes or not owed or ports_of(profile).redelivers:
        return frozenset()
    return (owed | _FOLLOWS) & frozenset(finding.laws) & _lost_by_witness(profile)


@lru_cache(maxsize=16)
def _lost_by_witness(profile: Profile) -> frozenset[str]:
    """Laws that break for the witness when its process dies, wherever."""
    places = [place for place in _places(profile) if place.kind in _CRASHES]
    return frozenset(law for place in sorted(places) for item in findings_at(profile, place) for law in item.laws)


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
            place = place_of(fault, WITNESS_KINDS)
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
