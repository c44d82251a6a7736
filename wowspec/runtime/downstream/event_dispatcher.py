"""Dispatch of events to functions: in order for each aggregate id, all functions of one event at once (section 5)."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ...messages.envelopes import DomainEvent, DomainEventStream, StateEvent
from ...messages.exchange import DomainEventExchange, StateDomainEventExchange
from ...modeling.identity import FunctionKind, NamedAggregate
from ...modeling.processors import ProcessorKind, ProcessorMetadata
from ...world.points import Room
from ...world.trace import Lane
from ..chain import EVENT_DISPATCHERS, ErrorHandler, Next, handle, log_resume
from ..dispatcher import PARALLELISM
from ..receivers import Delivery, finally_acknowledge
from ..serial import Job, SerialGroups
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
        on_error: what becomes of an error that leaves a function's chain; by default it is logged (EVT-120).
        ended: whether it takes no more.
    """

    __slots__ = (
        "_chain",
        "_runtime",
        "_subscribed",
        "ended",
        "functions",
        "groups",
        "kind",
        "on_error",
        "state_groups",
    )

    def __init__(self, runtime: Runtime, kind: ProcessorKind, chain: Next) -> None:
        self._runtime = runtime
        self._chain = chain
        self.kind: ProcessorKind = kind
        self.on_error: ErrorHandler = log_resume
        self.ended: bool = False
        self.functions: FunctionRegistrar = FunctionRegistrar()
        self._subscribed: set[tuple[FunctionKind, NamedAggregate]] = set()
        scheduler = runtime.world.scheduler
        self.groups: SerialGroups = SerialGroups(scheduler, f"{kind} events")
        self.state_groups: SerialGroups = SerialGroups(scheduler, f"{kind} state events")

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
            runtime, consumer = self._runtime, EVENT_DISPATCHERS[self.kind]
            if kind is FunctionKind.STATE_EVENT:
                runtime.listen(runtime.state_event_bus, topic, self._receive_state, consumer)
            else:
                runtime.listen(runtime.domain_event_bus, topic, self._receive, consumer)

    def stop(self) -> None:
        """Take no more; what was taken is finished (PRJ-015)."""
        self.ended = True

    def _receive(self, stream: DomainEventStream, delivery: Delivery[Any] | None = None) -> None:
        self._take(self.groups, stream, delivery, lambda: self._handle(stream, None, delivery))

    def _receive_state(self, state_event: StateEvent[Any], delivery: Delivery[Any] | None = None) -> None:
        self._take(
            self.state_groups, state_event, delivery, lambda: self._handle(state_event.stream, state_event, delivery)
        )

    def _take(
        self,
        groups: SerialGroups,
        message: DomainEventStream | StateEvent[Any],
        delivery: Delivery[Any] | None,
        job: Job,
    ) -> None:
        if not self.ended:
            groups.submit(message.aggregate_id.mod(PARALLELISM), job, message)
        elif delivery is not None:
            delivery.withdraw()

    async def _handle(
        self, stream: DomainEventStream, state_event: StateEvent[Any] | None, delivery: Delivery[Any] | None
    ) -> None:
        """All events, then one acknowledgement, whether or not a function failed (EVT-119)."""
        try:
            if delivery is None:
                await self._handle_events(stream, state_event)
            else:
                await finally_acknowledge(self._handle_events(stream, state_event), delivery)
        except Exception as error:  # noqa: BLE001 - whatever the error handler let through
            self._end(error, stream if state_event is None else state_event)

    async def _handle_events(self, stream: DomainEventStream, state_event: StateEvent[Any] | None) -> None:
        """Events in their order; the next one waits for all functions of the one before (EVT-117)."""
        scheduler = self._runtime.world.scheduler
        for event in stream.events:
            exchanges = list(self._exchanges(event, state_event))
            if len(exchanges) == 1:
                await self._run(exchanges[0])
                continue
            tasks = [scheduler.spawn(self._run(exchange), str(exchange.lane)) for exchange in exchanges]
            for task in tasks:
                await task

    def _run(self, exchange: DomainEventExchange[Any]) -> Coroutine[Any, Any, None]:
        world = self._runtime.world
        if world.injector is not None:
            return self._run_armed(exchange)
        return handle(self._chain, exchange, world, _place(exchange), self.on_error)

    async def _run_armed(self, exchange: DomainEventExchange[Any]) -> None:
        """As ever, and once more if the event is delivered twice."""
        await self._handled(exchange)
        unrest = self._runtime.world.unrest
        while unrest is not None and unrest.comes_again(exchange.lane):
            # A delivery is told by its very lane.
            exchange = replace(exchange, lane=Lane(*exchange.lane), command_stream=None, command_result={}, error=None)
            await self._handled(exchange)

    def _handled(self, exchange: DomainEventExchange[Any]) -> Coroutine[Any, Any, None]:
        return handle(self._chain, exchange, self._runtime.world, _place(exchange), self.on_error)

    def _end(self, error: Exception, message: Any) -> None:
        """An error that escapes the handler ends this dispatcher for good (EVT-121)."""
        self.ended = True
        self.groups.end()
        self.state_groups.end()
        self._runtime.world.log_failure(EVENT_DISPATCHERS[self.kind], message, error)

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
