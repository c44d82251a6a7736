"""Names of what happens in a world by what caused it: the chain of a plan's addresses.

A chain survives what ids do not: added fields, renumbered ids, handlers in another order.
"""

from __future__ import annotations

from typing import Any

from ..messages.envelopes import CommandMessage, DomainEvent, DomainEventStream, StateEvent
from ..modeling.identity import AggregateRef
from ..world.points import EVENT_DELIVER, Room
from ..world.trace import TraceRow


class Chains:
    """The chains of one world's messages; each is named when it is first seen."""

    __slots__ = ("_at_work", "_causes", "_counts", "_names", "_repeats")

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        #: What stands for a message that is made anew by each attempt: the attempts have one name.
        self._repeats: dict[tuple[str, str, int], str] = {}
        self._causes: dict[str, tuple[DomainEvent[Any], str, int]] = {}
        self._at_work: dict[AggregateRef, CommandMessage[Any]] = {}

    def caused(self, command: CommandMessage[Any], event: DomainEvent[Any], processor: str, index: int) -> None:
        """A processor's function makes a command of an event: its `index`-th."""
        self._causes[command.id] = (event, processor, index)

    def cause_of(self, command: CommandMessage[Any]) -> tuple[DomainEvent[Any], str, int] | None:
        """The event, the processor, and which of its commands this is; None if nothing in the world caused it."""
        return self._causes.get(command.id)

    def work_on(self, command: CommandMessage[Any]) -> None:
        """An aggregate begins to process a command; what it loads is loaded for this one."""
        self._at_work[command.aggregate_id] = command

    def see(self, command: CommandMessage[Any]) -> str:
        """The chain of a command."""
        known = self._names.get(command.id)
        return known if known is not None else self._name_command(command)

    def _name_command(self, command: CommandMessage[Any]) -> str:
        cause = self._causes.get(command.id)
        name = type(command.body).__name__
        if cause is None:
            found = self._numbered(name)
        else:
            event, processor, index = cause
            key = (event.id, processor, index)
            repeated = self._repeats.get(key)
            if repeated is None:
                repeated = self._repeats[key] = self._numbered(f"{self.event(event)}>{processor}>{name}")
            found = repeated
        self._names[command.id] = found
        return found

    def _numbered(self, name: str) -> str:
        count = self._counts[name] = self._counts.get(name, 0) + 1
        return name if count == 1 else f"{name}#{count}"

    def event(self, event: DomainEvent[Any]) -> str:
        """The chain of an event."""
        known = self._names.get(event.id)
        if known is None:
            command = self._names.get(event.command_id)
            name = type(event.body).__name__
            known = self._names[event.id] = self._numbered(name if command is None else f"{command}>{name}")
        return known

    def of(self, row: TraceRow) -> str:
        """The chain of whatever passed a point; empty where nothing is known of it."""
        subject = row.subject
        if isinstance(subject, CommandMessage):
            return self.see(subject)
        if isinstance(subject, DomainEvent):
            chain = self.event(subject)
            lane = row.lane
            if lane.room is Room.EVENT and not row.point.startswith(EVENT_DELIVER):
                return f"{chain}>{lane.function.partition('.')[0]}"
            return chain
        if isinstance(subject, DomainEventStream | StateEvent):
            return self._names.get(subject.command_id, "")
        if isinstance(subject, AggregateRef):
            command = self._at_work.get(subject)
            return "" if command is None else self.see(command)
        return ""

    def copy(self) -> Chains:
        """An independent copy."""
        other = Chains()
        other._names = dict(self._names)
        other._counts = dict(self._counts)
        other._repeats = dict(self._repeats)
        other._causes = dict(self._causes)
        other._at_work = dict(self._at_work)
        return other
