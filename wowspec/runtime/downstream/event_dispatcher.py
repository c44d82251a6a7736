"""Dispatch of events to functions: per aggregate id in order, all functions of one event beside each other (section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ...messages.envelopes import DomainEvent, DomainEventStream, StateEvent
from ...messages.exchange import DomainEventExchange, StateDomainEventExchange
from ...modeling.functions import HandlerFunction
from ...modeling.identity import FunctionInfo, FunctionKind, NamedAggregate
from ...modeling.processors import ProcessorKind, ProcessorMetadata
from ...world.points import Room
from ...world.trace import Lane
from ..chain import Next, handle
from ..dispatcher import PARALLELISM
from ..serial import SerialGroups

if TYPE_CHECKING:
    from ..system import Runtime

EVENT_HANDLER: Final = "event.handler"


@dataclass(frozen=True, slots=True)
class RegisteredFunction:
    """An event function on its processor's instance."""

    handler: HandlerFunction
    info: FunctionInfo
    topics: frozenset[NamedAggregate]
    instance: Any
    kind: ProcessorKind

    def supports(self, body: Any, state: Any, named: NamedAggregate) -> bool:
        """The body is an instance of a supported type, and the aggregate one of the topics (EVT-106)."""
        if named not in self.topics:
            return False
        return isinstance(state if self.handler.wraps_state else body, self.handler.supported)


class EventDispatcher:
    """The dispatcher of one kind of processor, with its two children: domain events and state events (EVT-113)."""

    __slots__ = ("_chain", "_functions", "_runtime", "_subscribed", "_topics", "groups", "kind", "state_groups")

    def __init__(self, runtime: Runtime, kind: ProcessorKind, chain: Next) -> None:
        self._runtime = runtime
        self._chain = chain
        self.kind = kind
        self._functions: list[RegisteredFunction] = []
        self._subscribed: set[tuple[FunctionKind, NamedAggregate]] = set()
        scheduler = runtime.world.scheduler
        self.groups = SerialGroups(scheduler, f"{kind} events")
        self.state_groups = SerialGroups(scheduler, f"{kind} state events")

    def register(self, processor: ProcessorMetadata, instance: Any) -> None:
        """Take in a processor's functions and subscribe to their topics, each once (EVT-109, EVT-115)."""
        for function in processor.functions:
            topics = function.topics()
            self._functions.append(
                RegisteredFunction(function.handler, function.info, topics, instance, processor.kind)
            )
            for topic in sorted(topics, key=str):
                key = (function.info.kind, topic)
                if key in self._subscribed:
                    continue
                self._subscribed.add(key)
                if function.info.kind is FunctionKind.STATE_EVENT:
                    self._runtime.state_event_bus.receive(topic, self._receive_state)
                else:
                    self._runtime.domain_event_bus.receive(topic, self._receive)

    @property
    def functions(self) -> tuple[RegisteredFunction, ...]:
        """What is registered."""
        return tuple(self._functions)

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
        named = event.aggregate_id.named_aggregate
        kind = FunctionKind.EVENT if state_event is None else FunctionKind.STATE_EVENT
        state = None if state_event is None else state_event.state
        for function in self._functions:
            info = function.info
            if info.kind is not kind or not function.supports(event.body, state, named):
                continue
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
