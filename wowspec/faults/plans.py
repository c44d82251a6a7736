"""Plans: which faults strike on one way through the pipeline, as text that survives changes of the domain.

Grammar of a plan: `chain/point@visit=kind`, joined by `;`. The chain says what caused what, by the names of classes:
`PlaceOrder>OrderPlaced>OrderSaga>ReserveStock`; a second one of the same name is `Deposit#2`. A kind that takes a
number has it in brackets, `delay(2)`; `x3` after it strikes three visits in a row.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NoReturn

from ..errors import SpecError
from ..world.points import FaultKind, point_row
from .values import point as require_point

#: What is raised here is the author's mistake: pytest shows the line of theirs, not of ours.
__tracebackhide__ = True

_LINK: Final = re.compile(r"[^\W\d][\w.]*(#[2-9]|#[1-9]\d+)?")
_KIND: Final = re.compile(r"(?P<kind>[a-z_]+)(\((?P<number>\d+)\))?(\s+x(?P<times>\d+))?")
_EXAMPLE: Final = "PlaceOrder/event_store.append@1=ack_lost"
_WHY: Final = "a plan is text: chain/point@visit=kind, joined by ';'"

#: Kinds that take a number, and the one that is meant where none is said.
NUMBERED: Final[dict[FaultKind, int]] = {FaultKind.DELAY: 1}


@dataclass(frozen=True, slots=True)
class Address:
    """One visit of one point: by what was caused by what, not by ids.

    Attributes:
        chain: names of messages and processors, each caused by the one before, joined by `>`.
        point: text of the point, such as `event_store.append`.
        visit: which visit of this point by this chain, counted from 1; retries are later visits.
    """

    chain: str
    point: str
    visit: int = 1

    def __str__(self) -> str:
        return f"{self.chain}/{self.point}@{self.visit}"


@dataclass(frozen=True, slots=True)
class PlannedFault:
    """One fault of a plan.

    Attributes:
        address: where it strikes first.
        kind: what happens there.
        times: how many visits in a row it strikes.
        number: what a kind takes besides, such as the steps of a delay; 0: nothing.
    """

    address: Address
    kind: FaultKind
    times: int = 1
    number: int = 0

    def __str__(self) -> str:
        number = f"({self.number})" if self.number and self.number != NUMBERED.get(self.kind) else ""
        times = f" x{self.times}" if self.times > 1 else ""
        return f"{self.address}={self.kind.value}{number}{times}"


@dataclass(frozen=True, slots=True)
class Plan:
    """Faults that strike in one run, in the order in which they were written; none: the fault-free run."""

    faults: tuple[PlannedFault, ...] = ()

    def __str__(self) -> str:
        return "; ".join(map(str, self.faults))

    def __len__(self) -> int:
        return len(self.faults)

    def __iter__(self) -> Iterator[PlannedFault]:
        return iter(self.faults)

    def with_(self, fault: PlannedFault) -> Plan:
        """This plan and one fault more."""
        return Plan((*self.faults, fault))

    def without(self, index: int) -> Plan:
        """This plan without one of its faults."""
        return Plan((*self.faults[:index], *self.faults[index + 1 :]))

    @property
    def crashes(self) -> bool:
        """Whether a process dies."""
        return any(fault.kind in (FaultKind.CRASH_BEFORE, FaultKind.CRASH_AFTER) for fault in self.faults)

    @property
    def key(self) -> frozenset[str]:
        """The same for plans that say the same in another order."""
        return frozenset(map(str, self.faults))

    @staticmethod
    def parse(text: str) -> Plan:
        """Read a plan; an empty text is the fault-free one.

        Raises:
            SpecError: says what is wrong with which fault, and what may have been meant.
        """
        said: object = text
        if not isinstance(said, str):
            raise SpecError(f"the plan {text!r} is no text", why=_WHY, instead=f"{_EXAMPLE!r}")
        parts = [part.strip() for part in text.split(";")]
        faults = [_fault(part) for part in parts if part]
        seen: set[Address] = set()
        for fault in faults:
            if fault.address in seen:
                raise SpecError(
                    f"two faults of the plan strike at {fault.address}",
                    why="at one visit one thing goes wrong",
                    instead="one of them, or another visit, such as @2",
                )
            seen.add(fault.address)
        return Plan(tuple(faults))


def plan_of(plan: Plan | str) -> Plan:
    """A plan, or the one that a text says."""
    return plan if isinstance(plan, Plan) else Plan.parse(plan)


def _fault(text: str) -> PlannedFault:
    place, equals, said = text.rpartition("=")
    if not equals:
        _refuse(text, "it says no kind: what happens there", f"{text}={FaultKind.ACK_LOST.value}")
    chain, slash, where = place.partition("/")
    if not slash:
        _refuse(text, "it says no chain: whose visit of the point is meant", f"PlaceOrder/{text}")
    for link in chain.split(">"):
        if _LINK.fullmatch(link.strip()) is None:
            _refuse(text, f"{link!r} is no name of a command, an event or a processor", _EXAMPLE)
    point, at, visit = where.rpartition("@")
    if not at:
        point, visit = where, "1"
    if not visit.isdecimal() or int(visit) < 1:
        _refuse(text, f"@{visit} is no visit: they are counted from 1", f"{chain}/{point}@1={said}")
    point = point.strip()
    require_point(point)
    found = _KIND.fullmatch(said.strip())
    kind = _kind(text, found["kind"] if found else said.strip(), point)
    assert found is not None
    number = int(found["number"] or NUMBERED.get(kind, 0))
    if found["number"] is not None and (kind not in NUMBERED or number < 1):
        which = "takes no number" if kind not in NUMBERED else "takes a number from 1 on"
        _refuse(text, f"{kind.value} {which}", f"{place}={kind.value}")
    times = int(found["times"] or 1)
    if times < 1:
        _refuse(text, "x0 strikes never", f"{place}={kind.value}")
    chain = ">".join(link.strip() for link in chain.split(">"))
    return PlannedFault(Address(chain, point, int(visit)), kind, times, number)


def _kind(text: str, name: str, point: str) -> FaultKind:
    row = point_row(point)
    known = [kind.value for kind in FaultKind if row is None or kind in row.kinds]
    if name in known:
        return FaultKind(name)
    head = text.rpartition("=")[0]
    bare = re.match(r"[a-z_]+", name)
    close = difflib.get_close_matches(bare[0] if bare else name, known, 1, 0.5)
    is_kind = name in [kind.value for kind in FaultKind]
    instead = " or ".join(f"{head}={kind}" for kind in close or known)
    if is_kind and row is not None:
        return _refuse(text, f"{name} is not possible at {point}", instead, f"the point is: {row.doc}")
    return _refuse(text, f"there is no kind {name!r}", instead)


def _refuse(text: str, what: str, instead: str, why: str = _WHY) -> NoReturn:
    raise SpecError(f"the fault {text!r} of a plan cannot be read: {what}", why=why, instead=instead)


def nearest(address: Address, reached: Iterable[Address], count: int = 3) -> list[Address]:
    """The reached visits that may have been meant by one that was not: the same point first, then a like chain."""
    pool = list(dict.fromkeys(reached))

    def distance(other: Address) -> tuple[int, float, int]:
        chain = difflib.SequenceMatcher(None, address.chain, other.chain).ratio()
        point = difflib.SequenceMatcher(None, address.point, other.point).ratio()
        return (0 if other.point == address.point else 1, -(chain + point), abs(address.visit - other.visit))

    return sorted(pool, key=distance)[:count]


_KIND_PLACE: Final = {kind: place for place, kind in enumerate(FaultKind)}


def kinds_in_order(kinds: Iterable[FaultKind]) -> list[FaultKind]:
    """Simplest first."""
    return sorted(kinds, key=_KIND_PLACE.__getitem__)
