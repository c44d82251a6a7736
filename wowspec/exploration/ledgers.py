"""What one run under a plan left behind, read from its trace: stored, published, delivered, sent, told."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

from ..faults.planned import PlanArmory
from ..messages.envelopes import CommandMessage, DomainEvent, DomainEventStream
from ..messages.exchange import ServerCommandExchange
from ..modeling.identity import FunctionKind
from ..runtime.downstream.registrar import RegisteredFunction
from ..world.points import COMMAND_BUS_SEND, DOMAIN_EVENT_BUS_SEND, EVENT_DELIVER, FaultKind
from ..world.trace import TraceRow
from .playing import Played

#: Outcomes of a point whose effect did not happen.
_WITHOUT_EFFECT: Final = frozenset(
    kind.value
    for kind in (
        FaultKind.FAIL,
        FaultKind.TIMEOUT,
        FaultKind.HANG,
        FaultKind.CONFLICT,
        FaultKind.DROP,
        FaultKind.CRASH_BEFORE,
        FaultKind.CORRUPT,
    )
)


def had_effect(row: TraceRow) -> bool:
    """Whether the effect of a passed point happened, whatever its caller was told."""
    outcome = row.outcome
    if outcome == "ok":
        return True
    if outcome in _WITHOUT_EFFECT or outcome.startswith(("error:", "violations:")):
        return False
    return not outcome.startswith("rival:") or outcome == "rival:ok"


class Ledgers:
    """The ledgers of one run; each is read at its first use.

    Attributes:
        played: the run.
        own: the streams that commands of this world stored, oldest first.
    """

    def __init__(self, played: Played) -> None:
        self.played = played
        self.own: list[DomainEventStream] = played.stored

    @cached_property
    def published(self) -> dict[str, int]:
        """How often the domain event bus accepted each stream, by its id."""
        found: dict[str, int] = {}
        for row in self._rows_of(DOMAIN_EVENT_BUS_SEND):
            found[row.subject.id] = found.get(row.subject.id, 0) + 1
        return found

    @cached_property
    def public(self) -> list[DomainEventStream]:
        """The streams that processors should hear of: those of commands, and what `given(deliver=True)` published."""
        given = self.played.audit.told
        own = self.played.audit.own
        return [stream for stream in self.played.audit.whole if stream.id in own or stream.id in given]

    @cached_property
    def delivered(self) -> list[tuple[str, str]]:
        """Function and event id of each delivery that came to its end without an error, in order."""
        return [
            (row.lane.function, row.subject.id)
            for row in self.played.rows
            if row.point.startswith(EVENT_DELIVER) and had_effect(row)
        ]

    @cached_property
    def sent(self) -> dict[tuple[str, str, int], CommandMessage[Any]]:
        """The commands that processors made of events and the bus accepted, by event id, processor and index."""
        chains = self.armory.chains
        found: dict[tuple[str, str, int], CommandMessage[Any]] = {}
        for row in self._rows_of(COMMAND_BUS_SEND):
            cause = chains.cause_of(row.subject)
            if cause is not None:
                event, processor, index = cause
                found.setdefault((event.id, processor, index), row.subject)
        return found

    @property
    def armory(self) -> PlanArmory:
        """The run's armory."""
        return self.played.armory

    def exchanges_of(self, command: CommandMessage[Any]) -> list[ServerCommandExchange[Any]]:
        """The ways of a command through the chain: one, and one for each redelivery."""
        return self.played.audit.taken_by.get(command.id, [])

    def streams_of(self, command: CommandMessage[Any]) -> list[DomainEventStream]:
        """What a command stored."""
        return [stream for stream in self.own if stream.command_id == command.id]

    def functions_taking(self, event: DomainEvent[Any]) -> Iterator[RegisteredFunction]:
        """The functions of this world that take an event, or the state event that comes with it."""
        for dispatcher in self.played.session.runtime.event_dispatchers():
            yield from dispatcher.functions.taking(event, None)

    def _rows_of(self, point: str) -> Iterator[TraceRow]:
        return (row for row in self.played.rows if row.point == point and had_effect(row))


def is_state_function(function: RegisteredFunction) -> bool:
    """Whether a function takes state events."""
    return function.info.kind is FunctionKind.STATE_EVENT
