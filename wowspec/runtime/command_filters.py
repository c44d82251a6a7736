"""The command handler chain: notifier, aggregate, event publication, state-event publication (section I)."""

from __future__ import annotations

import copy
from collections.abc import Coroutine
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final

from ..errors import EventVersionConflictError, SpecError
from ..messages.envelopes import CommandMessage, DomainEvent, DomainEventStream
from ..messages.exchange import ServerCommandExchange
from ..messages.header import Header
from ..messages.stages import CommandStage
from ..modeling.claims import aggregates_of_event
from ..modeling.events import event_metadata
from ..modeling.identity import AggregateRef
from ..modeling.ordering import ORDER_DEFAULT, ORDER_FIRST, ORDER_LAST, Order
from ..world.points import (
    COMMAND_ACKNOWLEDGE,
    DOMAIN_EVENT_BUS_SEND,
    EVENT_STORE_APPEND,
    STATE_EVENT_BUS_SEND,
)
from ..world.world import World
from .chain import Filter, FilterRow, Next, end_of_chain
from .processor import RetryableAggregateProcessor, require_metadata
from .waiting.notifier_filters import NotifierFilter

if TYPE_CHECKING:
    from .system import Runtime


def nothing(_: Any = None) -> None:
    """The effect of an in-memory acknowledgement (CMD-143)."""


class AggregateProcessorFilter:
    """Runs the aggregate and finally acknowledges; its own failure replaces the outcome (CMD-176 to CMD-179)."""

    __slots__ = ("_runtime", "_world")

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._world = runtime.world

    async def filter(self, exchange: ServerCommandExchange[Any], next: Next) -> None:  # noqa: A002
        """Process, acknowledge on success and on failure alike, then go on."""
        runtime, world = self._runtime, self._world
        exchange.services = world.services
        if runtime.armory is not None:
            runtime.armory.work_on(exchange.message)
        processor = RetryableAggregateProcessor(
            require_metadata(exchange), runtime.repository, self.append, world, runtime.audit, runtime.supply
        )
        exchange.aggregate_processor = processor
        try:
            await processor.process(exchange)
        except Exception:
            acknowledging = acknowledge(world, exchange)
            if type(acknowledging) is CoroutineType:
                await acknowledging
            raise
        acknowledging = acknowledge(world, exchange)
        if type(acknowledging) is CoroutineType:
            await acknowledging
        await next(exchange)

    def append(
        self, stream: DomainEventStream, exchange: ServerCommandExchange[Any]
    ) -> Coroutine[Any, Any, None] | None:
        """Append through the point of the event store; a rival goes first with the same version, owner and space."""
        appending = self._world.carry(
            EVENT_STORE_APPEND,
            exchange.lane,
            stream,
            describe_stream,
            self._runtime.event_store.append_now,
            self._append_rival,
            EventVersionConflictError,
        )
        return appending if type(appending) is CoroutineType else None

    def _append_rival(self, stream: DomainEventStream, events: tuple[Any, ...] | None) -> None:
        if events is None:
            # A rival that decided the same.
            events = tuple([copy.deepcopy(event.body) for event in stream.events])
        self._runtime.event_store.append_now(rival_stream(stream, events, self._runtime))


def acknowledge(world: World, exchange: ServerCommandExchange[Any]) -> Any:
    """Acknowledge a command to its bus; to be awaited if it is a coroutine (see `World.enter`)."""
    message = exchange.message
    effect = nothing if exchange.delivery is None else lambda _: exchange.acknowledge()
    return world.carry(COMMAND_ACKNOWLEDGE, exchange.lane, message, command_type, effect)


def command_type(message: CommandMessage[Any]) -> str:
    """The class name of a command, for the trace."""
    return type(message.body).__name__


def version_text(subject: Any) -> str:
    """The version of a stream or state event, for the trace."""
    return f"v{subject.version}"


def describe_stream(stream: DomainEventStream) -> str:
    """Version and event types, for the trace."""
    names = ",".join([type(event.body).__name__ for event in stream.events])
    return f"v{stream.version} {names}"


def _require_own(body: Any, reference: AggregateRef, runtime: Runtime) -> None:
    """Refuse a rival's event that other aggregates claim, and this one does not."""
    kind = type(body)
    metadata = runtime.catalog.aggregates.get(reference.named_aggregate)
    owner = next(iter(aggregates_of_event(kind)), None)
    if metadata is None or owner is None or kind in metadata.events:
        return
    own = metadata.command_class.__name__
    error = SpecError(
        f"rival_appends(...) gives {reference} the event {kind.__name__}, which belongs to {owner.__name__}",
        why="a rival writes into the same history, which holds what its own aggregate stored",
        instead=f"an event of {own}, or aggregate={owner.__name__}",
    )
    raise runtime.world.blame_author(error)


def rival_stream(stream: DomainEventStream, events: tuple[Any, ...], runtime: Runtime) -> DomainEventStream:
    """The stream of another writer that was faster: same aggregate, version, owner and space, ids of its own."""
    world = runtime.world
    for body in events:
        _require_own(body, stream.aggregate_id, runtime)
    stream_id, command_id = world.next_id(), world.next_id()
    count = len(events)
    rivals = []
    for position, body in enumerate(events, 1):
        metadata = event_metadata(type(body))
        rivals.append(
            DomainEvent(
                world.next_id(),
                body,
                stream.aggregate_id,
                stream.version,
                metadata.name,
                command_id,
                Header(),
                position,
                position == count,
                metadata.revision,
                stream.owner_id,
                stream.space_id,
                world.now_millis(),
            )
        )
    return DomainEventStream(stream_id, command_id, Header(), tuple(rivals))


class SendDomainEventStreamFilter:
    """Publishes the exchange's event stream; a failure stops the chain (CMD-180, CMD-181)."""

    __slots__ = ("_runtime", "_world")

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._world = runtime.world

    async def filter(self, exchange: ServerCommandExchange[Any], next: Next) -> None:  # noqa: A002
        """Publish, then go on; without a stream, just go on."""
        stream = exchange.event_stream
        if stream is not None:
            publishing = self._world.carry(
                DOMAIN_EVENT_BUS_SEND,
                exchange.lane,
                stream,
                version_text,
                self._runtime.domain_event_bus.send_now,
            )
            if type(publishing) is CoroutineType:
                await publishing
        await next(exchange)


class SendStateEventFilter:
    """Publishes the state event; a failure is logged and the chain goes on (CMD-182 to CMD-184)."""

    __slots__ = ("_runtime", "_world")

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._world = runtime.world

    async def filter(self, exchange: ServerCommandExchange[Any], next: Next) -> None:  # noqa: A002
        """Publish if there is a stream and an initialised state, then go on."""
        stream, aggregate = exchange.event_stream, exchange.command_aggregate
        if stream is not None and aggregate is not None and aggregate.state.version > 0:
            world = self._world
            state_event = aggregate.state.to_state_event(stream)
            try:
                publishing = world.carry(
                    STATE_EVENT_BUS_SEND,
                    exchange.lane,
                    state_event,
                    version_text,
                    self._runtime.state_event_bus.send_now,
                )
                if type(publishing) is CoroutineType:
                    await publishing
            except Exception as error:  # noqa: BLE001 - logged and swallowed by the runtime
                world.log_failure(STATE_EVENT_BUS_SEND, state_event, error)
        if next is not end_of_chain:
            await next(exchange)


def _processed_notifier(runtime: Runtime) -> Filter:
    return NotifierFilter(CommandStage.PROCESSED, runtime.notifier, runtime.world)


PROCESSED_NOTIFIER: Final = "ProcessedNotifierFilter"
AGGREGATE_PROCESSOR: Final = "AggregateProcessorFilter"
SEND_DOMAIN_EVENT_STREAM: Final = "SendDomainEventStreamFilter"
SEND_STATE_EVENT: Final = "SendStateEventFilter"

#: The command chain, outermost first (section I).
COMMAND_FILTERS: tuple[FilterRow, ...] = (
    FilterRow(PROCESSED_NOTIFIER, Order(ORDER_FIRST), "CMD-419", _processed_notifier),
    FilterRow(AGGREGATE_PROCESSOR, Order(ORDER_DEFAULT), "CMD-176", AggregateProcessorFilter),
    FilterRow(
        SEND_DOMAIN_EVENT_STREAM,
        Order(ORDER_LAST, after=(AGGREGATE_PROCESSOR,)),
        "CMD-180",
        SendDomainEventStreamFilter,
    ),
    FilterRow(SEND_STATE_EVENT, Order(ORDER_LAST, after=(SEND_DOMAIN_EVENT_STREAM,)), "CMD-183", SendStateEventFilter),
)
