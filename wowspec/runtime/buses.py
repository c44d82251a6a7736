"""In-memory buses: commands to one consumer, events to every subscriber (section G, EVT-077 to EVT-083)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final, Generic, Protocol, TypeVar

from ..errors import IllegalArgumentError, IllegalStateError
from ..messages.envelopes import CommandMessage, DomainEventStream, StateEvent
from ..messages.header import Header
from ..modeling.identity import AggregateRef, NamedAggregate, TopicKind
from ..texts import is_blank


class Message(Protocol):
    """What a bus carries."""

    @property
    def header(self) -> Header:
        """The header that sending freezes."""
        ...

    @property
    def aggregate_id(self) -> AggregateRef:
        """Whose channel it takes."""
        ...


M = TypeVar("M", bound=Message)
Receiver = Callable[[M], None]

#: How many messages a multicast channel keeps for its first subscriber; later ones are lost (EVT-080).
WARM_UP_BUFFER: Final = 256


#: The receivers' group of whoever names none.
DEFAULT_GROUP: Final = "default"


def require_group(group: str) -> None:
    """Refuse a blank receivers' group with an `IllegalArgumentError` (CMD-144)."""
    if is_blank(group):
        message = "the receivers' group of a subscription must not be blank"
        raise IllegalArgumentError(message)


class InMemoryCommandBus:
    """One channel for each aggregate type, one subscriber ever; waits without bound for it (CMD-132 to CMD-136)."""

    __slots__ = ("_delivering", "_receivers", "_waiting", "closing")

    topic_kind: Final = TopicKind.COMMAND

    def __init__(self) -> None:
        #: A channel whose subscriber has gone holds None: it takes no other (CMD-134).
        self._receivers: dict[NamedAggregate, Receiver[CommandMessage[Any]] | None] = {}
        self._delivering = 0
        self._waiting: dict[NamedAggregate, deque[CommandMessage[Any]]] = {}
        self.closing: bool = False

    def send_now(self, message: CommandMessage[Any]) -> None:
        """Freeze the header and hand the message over; while closing it is dropped (CMD-140).

        Raises:
            IllegalStateError: if the subscriber has gone (CMD-142).
        """
        message.header.freeze()
        if self.closing:
            return
        # Equal to the named aggregate, and made faster.
        named: Any = message.aggregate_id[:2]
        receiver = self._receivers.get(named)
        if receiver is not None:
            self._delivering += 1
            try:
                receiver(message)
            finally:
                self._delivered()
            return
        named = message.aggregate_id.named_aggregate
        if named in self._receivers:
            text = f"the subscriber of the command channel of {named} has gone: {message.name} cannot be sent"
            raise IllegalStateError(text)
        self._waiting.setdefault(named, deque()).append(message)

    def _deliver(self, receiver: Receiver[CommandMessage[Any]], messages: Iterable[CommandMessage[Any]]) -> None:
        self._delivering += 1
        try:
            for message in messages:
                receiver(message)
        finally:
            self._delivered()

    def _delivered(self) -> None:
        self._delivering -= 1
        if self.closing and not self._delivering:
            self._forget()

    async def send(self, message: CommandMessage[Any]) -> None:
        """As `send_now`."""
        self.send_now(message)

    def receive(
        self, named: NamedAggregate, receiver: Receiver[CommandMessage[Any]], *, group: str = DEFAULT_GROUP
    ) -> Callable[[], None]:
        """Subscribe; what waited is delivered in order. Returns what ends the subscription.

        Args:
            named: whose commands.
            receiver: gets each.
            group: name of the receivers' group; of no effect in memory (CMD-144).

        Raises:
            IllegalArgumentError: if the group is blank.
            IllegalStateError: if the channel has, or had, a subscriber (CMD-134).
        """
        require_group(group)
        if self.closing:
            return lambda: None
        if named in self._receivers:
            message = f"the command channel of {named} has its one subscriber already"
            raise IllegalStateError(message)
        self._receivers[named] = receiver
        waiting = self._waiting.pop(named, None)
        if waiting:
            self._deliver(receiver, waiting)

        def unsubscribe() -> None:
            if self._receivers.get(named) is receiver:
                self._receivers[named] = None

        return unsubscribe

    def subscriber_count(self, named: NamedAggregate) -> int:
        """Live subscriptions of an aggregate type."""
        return 1 if self._receivers.get(named) is not None else 0

    def close(self) -> None:
        """Forget every channel, once a delivery in progress has ended; the bus can be used again then (CMD-141)."""
        self.closing = True
        if not self._delivering:
            self._forget()

    def _forget(self) -> None:
        self._receivers.clear()
        self._waiting.clear()
        self.closing = False


class InMemoryEventBus(Generic[M]):
    """Every live subscriber of an aggregate type gets every message (EVT-079)."""

    __slots__ = ("_receivers", "_warm_up", "topic_kind")

    def __init__(self, topic_kind: TopicKind) -> None:
        self.topic_kind: TopicKind = topic_kind
        self._receivers: dict[NamedAggregate, list[Receiver[M]]] = {}
        self._warm_up: dict[NamedAggregate, list[M]] = {}

    def send_now(self, message: M) -> None:
        """Freeze the header and hand the message to each subscriber (EVT-077)."""
        message.header.freeze()
        # Equal to the named aggregate, and made faster.
        named: Any = message.aggregate_id[:2]
        receivers = self._receivers.get(named)
        if receivers is None:
            kept = self._warm_up.setdefault(named, [])
            if len(kept) < WARM_UP_BUFFER:
                kept.append(message)
            return
        for receiver in tuple(receivers):
            receiver(message)

    async def send(self, message: M) -> None:
        """As `send_now`."""
        self.send_now(message)

    def receive(
        self, named: NamedAggregate, receiver: Receiver[M], *, group: str = DEFAULT_GROUP
    ) -> Callable[[], None]:
        """Subscribe; the first subscriber gets what was kept for it. Returns what ends the subscription.

        Args:
            named: whose messages.
            receiver: gets each.
            group: name of the receivers' group; of no effect in memory (EVT-076, EVT-079).

        Raises:
            IllegalArgumentError: if the group is blank.
        """
        require_group(group)
        receivers = self._receivers.setdefault(named, [])
        receivers.append(receiver)
        for message in self._warm_up.pop(named, ()):
            receiver(message)

        def unsubscribe() -> None:
            if receiver in receivers:
                receivers.remove(receiver)

        return unsubscribe

    def subscriber_count(self, named: NamedAggregate) -> int:
        """Live subscriptions of an aggregate type (EVT-082)."""
        return len(self._receivers.get(named, ()))

    def close(self) -> None:
        """Forget every channel; a later receive opens a new one (EVT-083)."""
        self._receivers.clear()
        self._warm_up.clear()


class NoOpEventBus:
    """Accepts everything and gives nothing (EVT-084)."""

    __slots__ = ("topic_kind",)

    def __init__(self, topic_kind: TopicKind = TopicKind.EVENT_STREAM) -> None:
        self.topic_kind: TopicKind = topic_kind

    def send_now(self, message: Message) -> None:
        """Nothing."""

    async def send(self, message: Message) -> None:
        """Nothing."""

    def receive(self, named: NamedAggregate, receiver: Receiver[Any]) -> Callable[[], None]:  # noqa: ARG002
        """A subscription that gets nothing."""
        return lambda: None

    def subscriber_count(self, named: NamedAggregate) -> int:  # noqa: ARG002
        """0."""
        return 0

    def close(self) -> None:
        """Nothing."""


def domain_event_bus() -> InMemoryEventBus[DomainEventStream]:
    """A bus of domain event streams."""
    return InMemoryEventBus(TopicKind.EVENT_STREAM)


def state_event_bus() -> InMemoryEventBus[StateEvent[Any]]:
    """A bus of state events."""
    return InMemoryEventBus(TopicKind.STATE_EVENT)
