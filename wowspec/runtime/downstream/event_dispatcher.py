"""Dispatch of events to functions: in order for each aggregate id, all functions of one event at once (section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from ...messages.envelopes import DomainEvent, DomainEventStream, StateEvent
from ...messages.exchange import DomainEventExchange, StateDomainEventExchange
from ...modeling.identity import FunctionKind, NamedAggregate
from ...modeling.processors import ProcessorKind, ProcessorMetadata
from ...world.points import Room
from ...world.trace import Lane
from ..chain import Next, handle
from ..dispatcher import PARALLELISM
from ..serial import SerialGroups
from .registrar import FunctionRegistrar, RegisteredFunction

if TYPE_CHECKING:
    from ..system import Runtime

EVENT_HANDLER: Final = "event.handler"


class EventDispatcher:
    """The dispatcher of one kind of processor, with its two children: domain events and state events (EVT-113).

    Attributes:
        kind: the kind of processor.
        functions: what is registered.
        groups: lanes of the domain events.
        state_groups: lanes of the state events.
    """

    __slots__ = ("_chain", "_runtime", "_subscribed", "functions", "groups", "kind", "state_groups")

    def __init__(self, runtime: Runtime, kind: ProcessorKind, chain: Next) -> None:
        self._runtime = runtime
        self._chain = chain
        self.kind = kind
        self.functions = FunctionRegistrar()
        self._subscribed: set[tuple[FunctionKind, NamedAggregate]] = set()
        scheduler = runtime.world.scheduler
        self.groups = SerialGroups(scheduler, f"{kind} events")
        self.state_groups = SerialGroups(scheduler, f"{kind} state events")

    def register(self, processor: ProcessorMetadata, instance: Any) -> None:
        """Take in a processor's functions and subscribe to their topics, each once (EVT-109, EVT-115)."""
        for function in processor.functions:
            self.add(RegisteredFunction(function.handler, function.info, function.topics(), instance, processor.kind))

    def add(self, function: RegisteredFunction) -> None:
        """Take in a function as it is: its own kind says what becomes of its result (EVT-111)."""
        if not self.functions.register(function):
            return
        kind = function.info.kind
        for topic in sorted(function.topics, key=str):
            if (kind, topic) in self._subscribed:
                continue
            self._subscribed.add((kind, topic))
            if kind is FunctionKind.STATE_EVENT:
                self._runtime.state_event_bus.receive(topic, self._receive_state)
            else:
                self._runtime.domain_event_bus.receive(topic, self._receive)

    def _receive(self, stream: DomainEventStream) -> None:
        self.groups.submit(stream.aggregate_id.mod(PARALLELISM), lambda: self._handle(stream, None))

    def _receive_state(self, state_event: StateEvent[Any]) -> None:
        key = state_event.aggregate_id.mod(PARALLELISM)
        self.state_groups.submit(key, lambda: self._handle(state_event.stream, state_event))

    async def _handle(self, stream: DomainEventStream, state_event: StateEvent[Any] | None) -> None:
        """Events in their order; the next one waits for all functions of the one before (EVT-117)."""
        scheduler = self._runtime.world.scheduler
        world = self._runtime.world
        for event in stream.events:
            exchanges = list(self._exchanges(event, state_event))
            if len(exchanges) == 1:
                await handle(self._chain, exchanges[0], world, _place(exchanges[0]))
                continue
            tasks = [
                scheduler.spawn(handle(self._chain, exchange, world, _place(exchange)), str(exchange.lane))
                for exchange in exchanges
            ]
            for task in tasks:
                await task

    def _exchanges(
        self, event: DomainEvent[Any], state_event: StateEvent[Any] | None
    ) -> Iterator[DomainEventExchange[Any]]:
        """One exchange for each matching function (EVT-118)."""
        for function in self.functions.taking(event, state_event):
            info = function.info
            lane = Lane(Room.EVENT, event.aggregate_id.id, f"{info.processor_name}.{info.name}")
            if state_event is None:
                yield DomainEventExchange(event, function=info, event_function=function, lane=lane)
            else:
                yield StateDomainEventExchange(
                    event, function=info, event_function=function, lane=lane, state_event=state_event
                )


def _place(exchange: DomainEventExchange[Any]) -> str:
    """What an error that leaves the chain is logged under: the function that it came from."""
    return f"{EVENT_HANDLER}:{exchange.lane.function}"
