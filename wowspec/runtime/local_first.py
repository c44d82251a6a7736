"""Local-first buses: what this process can handle is handled here; a distributed bus carries a flagged copy.

A `Runtime` is given them with `Runtime(world, buses=local_first_buses)`; by default its buses are in memory alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, Self, TypeVar

from ..messages.envelopes import CommandMessage, DomainEventStream, StateEvent
from ..messages.header import LOCAL_FIRST, Header, is_local_first, write_local_first
from ..modeling.identity import AggregateRef, NamedAggregate, TopicKind
from ..world.scheduler import Scheduler
from .buses import InMemoryCommandBus, InMemoryEventBus, domain_event_bus, state_event_bus
from .later import sync_form
from .receivers import Delivery, LocalDeliveryReceipt, MessageReceiver
from .routing import close_leaves

if TYPE_CHECKING:
    from .system import Runtime


class CopyableMessage(Protocol):
    """What a local-first bus carries."""

    @property
    def header(self) -> Header:
        """The header that flags are written to."""
        ...

    @property
    def aggregate_id(self) -> AggregateRef:
        """Whose channel it takes."""
        ...

    def copy(self) -> Self:
        """A message with a header of its own."""
        ...


M = TypeVar("M", bound=CopyableMessage)

#: What a swallowed failure of a local attempt is logged under (CMD-150).
LOCAL_FIRST_SEND: Final = "local_first.send"


class DistributedBus(Protocol[M]):
    """A bus between processes: its deliveries are acknowledged."""

    async def send(self, message: M) -> None:
        """Accept a message."""
        ...

    def receive(self, named: NamedAggregate, receiver: Callable[[Delivery[M]], Any]) -> None:
        """Give the messages of a type of aggregate to a receiver."""
        ...

    def close(self) -> None:
        """Accept and give no more."""
        ...


class Broker(Generic[M]):
    """A distributed bus in memory. Each receiver gets copies, as over a wire.

    Attributes:
        sent: every message that it accepted.
        acknowledged: the copies that were acknowledged, in that order.
    """

    __slots__ = ("_receivers", "acknowledged", "is_closed", "sent")

    def __init__(self) -> None:
        self._receivers: dict[NamedAggregate, list[Callable[[Delivery[M]], Any]]] = {}
        self.sent: list[M] = []
        self.acknowledged: list[M] = []
        self.is_closed: bool = False

    def send_now(self, message: M) -> None:
        """Keep a message and deliver copies of it."""
        self.sent.append(message)
        for receiver in tuple(self._receivers.get(message.aggregate_id.named_aggregate, ())):
            self._deliver(message, receiver)

    async def send(self, message: M) -> None:
        """As `send_now`."""
        self.send_now(message)

    def receive(self, named: NamedAggregate, receiver: Callable[[Delivery[M]], Any]) -> None:
        """Subscribe; what was sent before is not delivered again."""
        self._receivers.setdefault(named, []).append(receiver)

    def close(self) -> None:
        """Forget the receivers."""
        self._receivers.clear()
        self.is_closed = True

    def _deliver(self, message: M, receiver: Callable[[Delivery[M]], Any]) -> None:
        copy = message.copy()
        receiver(Delivery(copy, lambda: self.acknowledged.append(copy)))


class LocalBus(Generic[M]):
    """A bus in memory that knows which of its subscribers are running dispatchers.

    Args:
        bus: the bus in memory.
    """

    __slots__ = ("_bus", "_receipt", "topic_kind")

    def __init__(self, bus: InMemoryCommandBus | InMemoryEventBus[Any]) -> None:
        self._bus = bus
        self._receipt: LocalDeliveryReceipt | None = None
        self.topic_kind: TopicKind = bus.topic_kind

    def offer(self, message: M) -> bool:
        """Send a message; whether every running receiver took it, and there is one (EVT-088)."""
        if self._bus.subscriber_count(message.aggregate_id.named_aggregate) == 0:
            return False
        outer, self._receipt = self._receipt, LocalDeliveryReceipt()
        try:
            self._bus.send_now(message)  # type: ignore[arg-type]
            return self._receipt.is_confirmed
        finally:
            self._receipt = outer

    def receive(self, named: NamedAggregate, receiver: Callable[[M], Any]) -> None:
        """A plain subscription: it gets messages and takes no part in receipts."""
        self._bus.receive(named, receiver)  # type: ignore[arg-type]

    def attach(self, named: NamedAggregate, receiver: MessageReceiver[M]) -> None:
        """A running dispatcher's subscription."""
        self.receive(named, lambda message: receiver.offer(Delivery(message, receipt=self._receipt)))

    def subscriber_count(self, named: NamedAggregate) -> int:
        """Live subscriptions of both sorts."""
        return self._bus.subscriber_count(named)

    def close(self) -> None:
        """Forget every channel."""
        self._bus.close()


class LocalFirstBus(Generic[M]):
    """Offers a copy of each message locally, then sends another one, flagged with what came of it (EVT-085, CMD-148).

    Args:
        local: the bus of this process.
        distributed: the bus between processes.
        is_local: whether a type of aggregate is held by this process (EVT-089).
        log: records what is swallowed: where, which message, the error.
        scheduler: acknowledges what is dropped.
    """

    __slots__ = ("_is_local", "_log", "_put", "_scheduler", "distributed", "local", "topic_kind")

    def __init__(
        self,
        local: LocalBus[M],
        distributed: DistributedBus[M],
        *,
        is_local: Callable[[NamedAggregate], bool],
        log: Callable[[str, Any, BaseException], None],
        scheduler: Scheduler,
    ) -> None:
        self.local: LocalBus[M] = local
        self.distributed: DistributedBus[M] = distributed
        self.topic_kind: TopicKind = local.topic_kind
        self._is_local = is_local
        self._log = log
        self._put = sync_form(distributed, "send")
        self._scheduler = scheduler

    def send_now(self, message: M) -> Any:
        """Send; a coroutine to await where the distributed bus has something to wait for.

        The message itself is neither flagged nor frozen; it is what a distributed bus alone gets (CMD-147, CMD-148).
        """
        refuses = message.header.get(LOCAL_FIRST, "").lower() == "false"
        if refuses or not self._is_local(message.aggregate_id.named_aggregate):
            return self._put(message)
        confirmed = self._offer(message)
        copy = message.copy()
        write_local_first(copy.header, confirmed)
        return self._put(copy)

    async def send(self, message: M) -> None:
        """As `send_now`, when this is awaited; each await sends fresh copies."""
        answer = self.send_now(message)
        if isinstance(answer, Awaitable):
            await answer

    def _offer(self, message: M) -> bool:
        copy = message.copy()
        write_local_first(copy.header)
        try:
            return self.local.offer(copy)
        except Exception as error:  # noqa: BLE001 - whatever a subscriber raised; the distributed copy goes all the same
            self._log(LOCAL_FIRST_SEND, message, error)
            return False

    def receive(self, named: NamedAggregate, receiver: Callable[[M], Any]) -> None:
        """A plain subscription to local and distributed messages; nothing that it gets is acknowledged."""
        self.local.receive(named, receiver)
        self.distributed.receive(named, self._wanted(lambda delivery: receiver(delivery.message)))

    def receiver(self, named: NamedAggregate) -> MessageReceiver[M]:
        """A running dispatcher's subscription to local and distributed messages, not open yet."""
        receiver: MessageReceiver[M] = MessageReceiver()
        self.local.attach(named, receiver)
        self.distributed.receive(named, self._wanted(receiver.offer))
        return receiver

    def _wanted(self, receiver: Callable[[Delivery[M]], Any]) -> Callable[[Delivery[M]], None]:
        """Drop and acknowledge what was handled here already (EVT-087, CMD-152)."""

        def take(delivery: Delivery[M]) -> None:
            message = delivery.message
            if is_local_first(message.header) and self._is_local(message.aggregate_id.named_aggregate):
                _ = self._scheduler.spawn(delivery.acknowledge(), "acknowledge")
            else:
                receiver(delivery)

        return take

    def subscriber_count(self, named: NamedAggregate) -> int:
        """Live local subscriptions."""
        return self.local.subscriber_count(named)

    def close(self) -> None:
        """Close the local bus, then the distributed one; both, whatever fails (EVT-090, CMD-154).

        Raises:
            Exception: the first failure; a second one is noted on it.
        """
        close_leaves((self.local.close, self.distributed.close))


class LocalFirstCommandBus(LocalFirstBus[CommandMessage[Any]]):
    """Sends void commands, which no dispatcher here would handle, to the distributed bus alone (CMD-153)."""

    __slots__ = ()

    def send_now(self, message: CommandMessage[Any]) -> Any:
        """See `LocalFirstBus.send_now`; a void command's own header is written to.

        Raises:
            UnsupportedOperationError: for a void command whose header is read-only.
        """
        if message.is_void:
            write_local_first(message.header, False)
        return super().send_now(message)


@dataclass(slots=True)
class Buses:
    """The three buses of a runtime."""

    command: Any = field(default_factory=InMemoryCommandBus)
    domain_event: Any = field(default_factory=domain_event_bus)
    state_event: Any = field(default_factory=state_event_bus)


#: Makes the buses of a runtime, which is not complete yet: its world and its catalog are there.
BusFactory = Callable[["Runtime"], Buses]


def in_memory_buses(_: Runtime) -> Buses:
    """Buses in memory alone."""
    return Buses()


def local_first_buses(runtime: Runtime) -> Buses:
    """Local-first buses over brokers in memory."""
    return local_first_over(runtime, Broker(), Broker(), Broker())


def local_first_over(
    runtime: Runtime,
    commands: DistributedBus[CommandMessage[Any]],
    domain_events: DistributedBus[DomainEventStream],
    state_events: DistributedBus[StateEvent[Any]],
) -> Buses:
    """Local-first buses over the distributed ones that are given."""
    world = runtime.world
    options: dict[str, Any] = {
        "is_local": lambda named: named in runtime.catalog.aggregates,
        "log": world.log_failure,
        "scheduler": world.scheduler,
    }
    return Buses(
        LocalFirstCommandBus(LocalBus(InMemoryCommandBus()), commands, **options),
        LocalFirstBus(LocalBus(domain_event_bus()), domain_events, **options),
        LocalFirstBus(LocalBus(state_event_bus()), state_events, **options),
    )
