"""Arming: counts the visits of points and says which fault strikes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..messages.envelopes import CommandMessage, DomainEvent
from ..modeling.identity import AggregateRef, NamedAggregate
from ..world.points import FaultKind
from ..world.trace import TraceRow
from .values import Fault

#: Whose visits are meant: anyone's, those by an id text, of an aggregate type, of one instance.
Target = str | NamedAggregate | AggregateRef | None


def is_visit_of(row: TraceRow, target: Target) -> bool:
    """Whether a passed point is a visit by those that a target means."""
    if target is None:
        return True
    if isinstance(target, str):
        return row.key == target
    subject = row.subject
    reference = subject if isinstance(subject, AggregateRef) else getattr(subject, "aggregate_id", None)
    if isinstance(target, NamedAggregate):
        return isinstance(reference, AggregateRef) and reference.named_aggregate == target
    return reference == target


@dataclass(slots=True)
class ArmedFault:
    """A fault in a world: how often it was matched, and at which visits it struck.

    `target` is what its `aggregate=` means here.
    """

    fault: Fault
    target: Target
    visits: int = 0
    struck: int = 0

    @property
    def kind(self) -> FaultKind:
        """What it does."""
        return self.fault.kind

    @property
    def payload(self) -> Any:
        """What its kind needs."""
        return self.fault.payload

    def matches(self, row: TraceRow) -> bool:
        """Whether a visit is one of those that it counts."""
        return row.point == self.fault.point and is_visit_of(row, self.target)


@dataclass(frozen=True, slots=True)
class Fired:
    """One strike: who was struck, where, at which of his visits of the point, how."""

    key: str
    point: str
    visit: int
    kind: FaultKind

    def __str__(self) -> str:
        return f"{self.key}|{self.point}|{self.visit}|{self.kind.value}"


class Armory:
    """The armed faults of a world; the first that matches a visit strikes."""

    __slots__ = ("_visits", "armed", "fired")

    def __init__(self, armed: Iterable[ArmedFault] = ()) -> None:
        self.armed: list[ArmedFault] = list(armed)
        self.fired: list[Fired] = []
        self._visits: dict[tuple[str, str], int] = {}

    def arm(self, fault: Fault, target: Target = None) -> ArmedFault:
        """Arm a fault; its visits are counted from now."""
        armed = ArmedFault(fault, target)
        self.armed.append(armed)
        return armed

    def visit(self, row: TraceRow) -> ArmedFault | None:
        """Count a visit and say what strikes."""
        place = (row.point, row.key)
        visit = self._visits.get(place, 0) + 1
        self._visits[place] = visit
        striking = None
        for armed in self.armed:
            if not armed.matches(row):
                continue
            armed.visits += 1
            fault = armed.fault
            if striking is None and fault.at <= armed.visits < fault.at + fault.times:
                striking = armed
        if striking is not None:
            striking.struck += 1
            self.fired.append(Fired(row.key, row.point, visit, striking.kind))
        return striking

    def work_on(self, command: CommandMessage[Any]) -> None:
        """An aggregate begins to process a command: who names visits by their causes takes note."""

    def caused(self, command: CommandMessage[Any], event: DomainEvent[Any], processor: str, index: int) -> None:
        """A processor's function made a command of an event: likewise."""

    def aims_at(self, prefix: str) -> bool:
        """Whether any fault is armed at a point whose text begins so."""
        return any(armed.fault.point.startswith(prefix) for armed in self.armed)

    def unreached(self) -> list[ArmedFault]:
        """Faults that never struck."""
        return [armed for armed in self.armed if not armed.struck]

    def copy(self) -> Armory:
        """An independent armory with the same counts."""
        other = Armory(ArmedFault(armed.fault, armed.target, armed.visits, armed.struck) for armed in self.armed)
        other.fired = list(self.fired)
        other._visits = dict(self._visits)
        return other
