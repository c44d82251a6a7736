"""Buses that deliver at least once: what a consumer has not acknowledged stays with them, through a restart too.

While nothing goes wrong they deliver just as buses in memory do. A consumer is a dispatcher at one type of aggregate:
that of its commands, those of its events by kind of processor, that of its snapshots.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..messages.envelopes import CommandMessage, DomainEventStream, StateEvent
from ..modeling.identity import NamedAggregate, TopicKind
from .buses import InMemoryCommandBus, InMemoryEventBus, Message
from .local_first import Buses
from .receivers import Delivery

if TYPE_CHECKING:
    from .system import Runtime

M = TypeVar("M", bound=Message)
#: Gets a message, and what acknowledges it.
Consume = Callable[[M, Delivery[M]], None]


class Line(Generic[M]):
    """What one consumer was given and has not acknowledged, oldest first.

    Attributes:
        pending: the messages by the order in which they came.
        consume: takes them; None while the consumer is away.
    """

    __slots__ = ("_next", "consume", "pending")

    def __init__(self) -> None:
        self.pending: dict[int, M] = {}
        self.consume: Consume[M] | None = None
        self._next = 0

    def keep(self, message: M) -> int:
        """Keep a message until it is acknowledged."""
        place = self._next
        self._next = place + 1
        self.pending[place] = message
        return place

    def give(self, place: int) -> None:
        """Give a kept message to the consumer."""
        if self.consume is not None:
            message = self.pending[place]
            self.consume(message, Delivery(message, partial(self._acknowledged, place)))

    def take(self, message: M) -> None:
        """A message has come."""
        self.give(self.keep(message))

    def give_again(self) -> int:
        """Give all that is kept to the consumer, in order; how many."""
        if self.consume is None:
            return 0
        places = list(self.pending)
        for place in places:
            self.give(place)
        return len(places)

    def copy_pending(self, other: Line[M]) -> None:
        """Keep what another line keeps."""
        self.pending = other.pending.copy()
        self._next = other._next

    def _acknowledged(self, place: int) -> None:
        self.pending.pop(place, None)


class Log(Generic[M]):
    """The lines of one bus."""

    __slots__ = ("_lines",)

    def __init__(self) -> None:
        self._lines: dict[tuple[Any, str], Line[M]] = {}

    def consume(
        self,
        subscribe: Callable[[NamedAggregate, Callable[[M], None]], Callable[[], None]],
        named: NamedAggregate,
        consumer: str,
        consume: Consume[M],
    ) -> Callable[[], None]:
        """Let a consumer begin, or begin again: first it gets what it has not acknowledged.

        Args:
            subscribe: subscribes to a type of aggregate on the bus; gives what ends that.
            named: the type.
            consumer: who it is, over restarts.
            consume: takes each message.
        """
        line = self._lines.setdefault((named, consumer), Line())
        line.consume = consume
        _ = line.give_again()
        return subscribe(named, line.take)

    def keep(self, named: Any, message: M) -> None:
        """Keep a message for each consumer of a type, whether or not it is there."""
        for (each, _), line in self._lines.items():
            if each == named:
                _ = line.keep(message)

    def lose_consumers(self) -> None:
        """The process is gone: nobody takes anything until consumers begin again."""
        for line in self._lines.values():
            line.consume = None

    def give_again(self) -> int:
        """Give each consumer all that it has not acknowledged; how many messages that were."""
        return sum([line.give_again() for line in self._lines.values()])

    def pending(self) -> list[tuple[str, M]]:
        """What is not acknowledged, by consumer, each in order."""
        return [(consumer, each) for (_, consumer), line in self._lines.items() for each in line.pending.values()]

    def take_over(self, other: Log[M]) -> None:
        """Keep what another log keeps, for a copy of its world."""
        for key, line in other._lines.items():
            self._lines.setdefault(key, Line()).copy_pending(line)


class DurableCommandBus(InMemoryCommandBus):
    """A command bus that delivers at least once."""

    __slots__ = ("log",)

    def __init__(self) -> None:
        super().__init__()
        self.log: Log[CommandMessage[Any]] = Log()

    def send_now(self, message: CommandMessage[Any]) -> None:
        """As in memory; but a command whose consumer has gone is accepted, too, and waits for it."""
        named: Any = message.aggregate_id[:2]
        if self._receivers.get(named, self) is None:
            message.header.freeze()
            self.log.keep(named, message)
        else:
            super().send_now(message)

    def consume(
        self, named: NamedAggregate, consumer: str, consume: Consume[CommandMessage[Any]]
    ) -> Callable[[], None]:
        """A dispatcher's subscription."""
        return self.log.consume(self.receive, named, consumer, consume)

    def restart(self) -> None:
        """The process is gone; what the bus holds is not."""
        self.log.lose_consumers()
        self._receivers.clear()
        self._delivering = 0


class DurableEventBus(InMemoryEventBus[M]):
    """A bus of events that delivers at least once."""

    __slots__ = ("log",)

    def __init__(self, topic_kind: TopicKind) -> None:
        super().__init__(topic_kind)
        self.log: Log[M] = Log()

    def consume(self, named: NamedAggregate, consumer: str, consume: Consume[M]) -> Callable[[], None]:
        """A dispatcher's subscription."""
        return self.log.consume(self.receive, named, consumer, consume)

    def restart(self) -> None:
        """The process is gone; what the bus holds is not."""
        self.log.lose_consumers()
        self._receivers.clear()


def durable_buses(_: Runtime) -> Buses:
    """Buses that deliver at least once."""
    events: DurableEventBus[DomainEventStream] = DurableEventBus(TopicKind.EVENT_STREAM)
    states: DurableEventBus[StateEvent[Any]] = DurableEventBus(TopicKind.STATE_EVENT)
    return Buses(DurableCommandBus(), events, states)
