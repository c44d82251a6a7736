"""Plans: which faults strike on one way through the pipeline, as text that survives changes of the domain.

Grammar of a plan: `chain/point@visit=kind`, joined by `;`. The chain says what caused what, by the names of classes:
`PlaceOrder>OrderPlaced>OrderSaga>ReserveStock`; a second one of the same name is `Deposit#2`. A kind that takes a
number has it in brackets, `delay(2)`; `x3` after it strikes three visits in a row. Blanks around names, numbers and
signs say nothing.
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
#: The shortest name, so that the `x` of `timeoutx3` is not taken for a letter of it.
_KIND: Final = re.compile(r"(?P<kind>[a-z_]+?)\s*(\(\s*(?P<number>\d+)\s*\))?\s*(x\s*(?P<times>\d+))?")
_AROUND_NUMBER: Final = re.compile(r"\s*#\s*")
_EXAMPLE_NAME: Final = "PlaceOrder"
_EXAMPLE_POINT: Final = "event_store.append"
_EXAMPLE: Final = f"{_EXAMPLE_NAME}/{_EXAMPLE_POINT}@1=ack_lost"
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
    written = _Written.split(text)
    if not written.kind_text:
        written.refuse("it says no kind: what happens there")
    if not written.chain:
        written.refuse("it says no chain: whose visit of the point is meant")
    for link in written.links:
        if _LINK.fullmatch(link) is None:
            written.refuse(f"{link!r} is no name of a command, an event or a processor")
    if not _is_visit(written.visit):
        written.refuse(f"@{written.visit} is no visit: they are counted from 1")
    require_point(written.point)
    kind = written.kind()
    number = int(written.number or NUMBERED.get(kind, 0))
    if written.number is not None and (kind not in NUMBERED or number < 1):
        which = "takes no number" if kind not in NUMBERED else "takes a number from 1 on"
        written.refuse(f"{kind.value} {which}")
    times = int(written.times or 1)
    if times < 1:
        written.refuse("x0 strikes never")
    return PlannedFault(Address(">".join(written.links), written.point, int(written.visit)), kind, times, number)


def _is_visit(text: str) -> bool:
    return text.isdecimal() and int(text) >= 1


def _is_point(text: str) -> bool:
    try:
        require_point(text)
    except SpecError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Written:
    """The parts of a fault as they were written, without the blanks around them.

    Attributes:
        text: all of it.
        chain: empty if it is not there.
        point: likewise.
        visit: "1" if it is not there.
        kind_text: what follows the last `=`.
        name: of the kind.
        number: in its brackets; None: it has none.
        times: after its `x`; None: it has none.
    """

    text: str
    chain: str
    point: str
    visit: str
    kind_text: str
    name: str
    number: str | None = None
    times: str | None = None

    @staticmethod
    def split(text: str) -> _Written:
        """Take a text apart, whatever it says."""
        place, _, said = text.rpartition("=") if "=" in text else (text, "", "")
        chain, _, where = place.partition("/") if "/" in place else ("", "", place)
        point, _, visit = where.rpartition("@") if "@" in where else (where, "", "1")
        found = _KIND.fullmatch(said.strip())
        parts = (found["kind"], found["number"], found["times"]) if found else (said.strip(), None, None)
        return _Written(text, chain.strip(), point.strip(), visit.strip(), said.strip(), *parts)

    @property
    def links(self) -> list[str]:
        """The names of the chain."""
        return [_AROUND_NUMBER.sub("#", link.strip()) for link in self.chain.split(">")]

    def kind(self) -> FaultKind:
        """The kind, if the point has it."""
        known = self._known()
        if self.name in known:
            return FaultKind(self.name)
        row = point_row(self.point)
        if row is not None and self.name in list(FaultKind):
            return self.refuse(f"{self.name} is not possible at {self.point}", f"the point is: {row.doc}")
        return self.refuse(f"there is no kind {self.name!r}")

    def _known(self) -> list[str]:
        row = point_row(self.point if _is_point(self.point) else _EXAMPLE_POINT)
        return [kind.value for kind in FaultKind if row is None or kind in row.kinds]

    def refuse(self, what: str, why: str = _WHY) -> NoReturn:
        """Refuse it, with all that may have been meant; each of those can be read."""
        instead = " or ".join(f"{self._place()}={kind}" for kind in self._kinds()) or "a fault at another point"
        raise SpecError(f"the fault {self.text!r} of a plan cannot be read: {what}", why=why, instead=instead)

    def _place(self) -> str:
        links = [link for each in self.links if (link := _mended(each))]
        point = self.point if _is_point(self.point) else _EXAMPLE_POINT
        return f"{'>'.join(links) or _EXAMPLE_NAME}/{point}@{self.visit if _is_visit(self.visit) else 1}"

    def _kinds(self) -> list[str]:
        known = self._known()
        if not self.name:
            return [FaultKind.ACK_LOST.value] if FaultKind.ACK_LOST in known else known[:1]
        if self.name in known:
            kind, number = FaultKind(self.name), int(self.number or 0)
            times = int(self.times or 1)
            return [
                f"{kind.value}{f'({number})' if number and kind in NUMBERED else ''}{f' x{times}' if times > 1 else ''}"
            ]
        bare = re.match(r"[a-z_]+", self.name)
        return difflib.get_close_matches(bare[0] if bare else self.name, known, 1, 0.5) or known


def _mended(link: str) -> str:
    """What may have been meant by a name of a chain; empty if nothing can be made of it."""
    if _LINK.fullmatch(link) is not None:
        return link
    name = re.sub(r"[^\w.]", "", link.partition("#")[0])
    return name if _LINK.fullmatch(name) is not None else ""


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
