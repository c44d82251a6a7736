"""What is known to the runtime: the laws that break for the witness domain, by point and kind. Derived, never written.

A law that breaks at the same point and kind for a user's domain is no finding of theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ..faults.plans import Plan, PlannedFault
from ..modeling.processors import ProcessorKind
from ..specs import tracking
from ..specs.builder import spec
from ..specs.session import Profile
from ..specs.world_view import WorldView
from ..world.points import EVENT_DELIVER, PROJECTION_WRITE, SERVICE_CALL, USER_POINT, point_row
from ..world.profiles import PortProfile, port_profile
from .explorer import Explorer
from .findings import Finding
from .playing import Way
from .recoveries import RECOVERIES
from .witness_domain import Desk, Jot, Note, Open, Witness, WitnessSaga, WitnessView, witness


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where and how a fault strikes, without the names of anybody's domain.

    Attributes:
        of: `command`, or `saga command` for one that a saga sent, with all that it causes.
        point: the point; of an event function the kind of its processor instead of its name, and of a call of a
            service, or a point of the user's own, whose code passes it.
        kind: the kind.
    """

    of: str
    point: str
    kind: str

    def __str__(self) -> str:
        return f"{self.point}={self.kind} ({self.of})"


@dataclass(frozen=True, slots=True)
class Known:
    """One row of the table.

    Attributes:
        place: where the fault strikes.
        law: the law that breaks.
        healed_by: the recovery that would heal it; empty: none would.
    """

    place: Place
    law: str
    healed_by: str


#: A name for what stands after the colon of a point, by processor.
ProcessorKinds = dict[str, ProcessorKind]


def ports_of(profile: Profile) -> PortProfile:
    """What is legal where, in a world of this profile."""
    found = getattr(profile, "ports", None)
    return found if isinstance(found, PortProfile) else port_profile(profile.name)


def place_of(fault: PlannedFault, kinds: ProcessorKinds) -> Place:
    """A fault's place; event processors count as projections do: neither of them sends commands."""
    address = fault.address
    links = address.chain.split(">")
    sagas = [link for link in links if kinds.get(link.partition("#")[0]) is ProcessorKind.STATELESS_SAGA]
    of = "saga command" if sagas and links[-1] not in sagas else "command"
    name, _, part = address.point.partition(":")
    point = address.point
    if name == EVENT_DELIVER:
        point, of = f"{name}:{_sort(kinds.get(part.rpartition('.')[0]))}", "command"
    elif name == PROJECTION_WRITE:
        point, of = name, "command"
    elif name == SERVICE_CALL or point_row(point) is USER_POINT:
        point = "code:command"
        if links[-1] in kinds:
            point, of = f"code:{_sort(kinds[links[-1]])}", "command"
    return Place(of, point, fault.kind.value)


def _sort(kind: ProcessorKind | None) -> str:
    return "saga" if kind is ProcessorKind.STATELESS_SAGA else "projection"


def places_of(plan: Plan, kinds: ProcessorKinds) -> tuple[Place, ...]:
    """The places of a plan's faults, in an order that does not depend on the plan's."""
    return tuple(sorted(place_of(fault, kinds) for fault in plan))


def witness_way(profile: Profile) -> Way:
    """The steps of the witness: a command in `given`, and two more, each of which a saga follows."""
    with tracking.aside():
        steps = (
            spec()
            .using(witness)
            .inject_factory(Desk)
            .given(Open(id="w"))
            .when(Note(id="w", text="first"))
            .when(Jot(id="w", text="second"))
            .eventually(_all_filed)
        )
    return Way(tuple(steps._node.path()), profile, explores=("projection.write", SERVICE_CALL))


def _all_filed(world: WorldView) -> bool:
    # In whatever order: a note that took a second attempt comes later.
    return sorted(world.state(Witness, "w").filed) == ["first", "second"]


@lru_cache(maxsize=16)
def witness_table(profile: Profile) -> tuple[Known, ...]:
    """The laws that break for the witness under a profile when one fault strikes, by where it does.

    Args:
        profile: what the world's ports can do.
    """
    rows = {(place, law) for place in _singles(profile) for item in findings_at(profile, place) for law in item.laws}
    return tuple(Known(place, law, would_heal(profile, place, law)) for place, law in sorted(rows))


@lru_cache(maxsize=16)
def _singles(profile: Profile) -> dict[Place, list[Plan]]:
    """The plans of one fault over the witness, by where it strikes."""
    found: dict[Place, list[Plan]] = {}
    for plan in witness_explorer(profile).singles():
        found.setdefault(place_of(plan.faults[0], WITNESS_KINDS), []).append(plan)
    return found


@lru_cache(maxsize=4096)
def findings_at(profile: Profile, place: Place) -> tuple[Finding, ...]:
    """What breaks for the witness when a fault strikes in a place, run when somebody asks; no recovery is tried yet."""
    results = [witness_explorer(profile).run(plan)[0] for plan in _singles(profile).get(place, ())]
    return tuple(result.finding for result in results if result.finding is not None)


@lru_cache(maxsize=4096)
def _healing(profile: Profile, place: Place) -> tuple[str, ...]:
    """What heals each of the witness's findings in a place; empty: nothing does."""
    return tuple(witness_explorer(profile).healed_by(item, RECOVERIES) for item in findings_at(profile, place))


def would_heal(profile: Profile, place: Place, law: str) -> str:
    """The first recovery that heals the witness wherever a fault in this place broke a law; empty: none does."""
    findings = zip(findings_at(profile, place), _healing(profile, place), strict=True)
    healed = {name for item, name in findings if law in item.laws}
    return healed.pop() if len(healed) == 1 else ""


def what_would_heal(finding: Finding, kinds: ProcessorKinds, profile: Profile) -> str:
    """The recovery that heals all laws of a finding of one fault for the witness; empty: none does."""
    if len(finding.plan) != 1:
        return ""
    place = place_of(finding.plan.faults[0], kinds)
    healed = {would_heal(profile, place, law) for law in finding.laws}
    return healed.pop() if len(healed) == 1 else ""


WITNESS_KINDS: ProcessorKinds = {
    WitnessView.__name__: ProcessorKind.PROJECTION,
    WitnessSaga.__name__: ProcessorKind.STATELESS_SAGA,
}


@lru_cache(maxsize=16)
def witness_explorer(profile: Profile) -> Explorer:
    """Explores the witness under a profile."""
    return Explorer(witness_way(profile), profile=ports_of(profile))
