"""How messages reach a running dispatcher: receivers with a gate, receipts of local delivery, acknowledgements.

A *plain* subscriber just gets messages. A *receiver* belongs to a running dispatcher: it admits or refuses a message,
and what it says of a message that is offered locally first goes into that message's receipt (CMD-151, EVT-088).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar

from ..errors import IllegalStateError
from ..modeling.identity import NamedAggregate

M = TypeVar("M")
T = TypeVar("T")


class LocalDeliveryReceipt:
    """Whether a message that was offered locally was taken by every running receiver."""

    __slots__ = ("_admitted", "_refused")

    def __init__(self) -> None:
        self._admitted = 0
        self._refused = False

    def admit(self) -> None:
        """A receiver took the message."""
        self._admitted += 1

    def refuse(self) -> None:
        """A receiver did not take it, or lets go of it again; one is enough, whatever the others say (CMD-151)."""
        self._refused = True

    @property
    def is_confirmed(self) -> bool:
        """Whether there was a running receiver, and none refused."""
        return self._admitted > 0 and not self._refused


class Delivery(Generic[M]):
    """One message on its way to one receiver.

    Args:
        message: the message.
        acknowledge: tells the bus that it was handled; nothing in memory (EVT-099).
        receipt: what is noted of a local delivery; None where nobody asks.
    """

    __slots__ = ("_acknowledge", "message", "receipt")

    def __init__(
        self,
        message: M,
        acknowledge: Callable[[], Any] | None = None,
        receipt: LocalDeliveryReceipt | None = None,
    ) -> None:
        self.message: M = message
        self._acknowledge = acknowledge
        self.receipt: LocalDeliveryReceipt | None = receipt

    async def acknowledge(self) -> None:
        """Tell the bus that the message was handled."""
        if self._acknowledge is not None:
            answer = self._acknowledge()
            if hasattr(answer, "__await__"):
                await answer

    def withdraw(self) -> None:
        """Take the confirmation of a local delivery back (EVT-101)."""
        if self.receipt is not None:
            self.receipt.refuse()


class Acknowledged(Protocol):
    """What can be acknowledged: a delivery, or an exchange."""

    async def acknowledge(self) -> None:
        """Tell the bus that the message was handled."""
        ...


async def finally_acknowledge(work: Awaitable[T], delivery: Acknowledged) -> T:
    """Acknowledge once after the work; after a failed one before its error goes on (EVT-100).

    Raises:
        Exception: what the work raised, or what acknowledging raised in its place.
    """
    try:
        result = await work
    except Exception:
        await delivery.acknowledge()
        raise
    await delivery.acknowledge()
    return result


async def filter_or_acknowledge(delivery: Delivery[Any], *, wanted: bool) -> bool:
    """Whether to go on: an unwanted delivery is withdrawn and acknowledged, a wanted one left alone (EVT-101)."""
    if not wanted:
        delivery.withdraw()
        await delivery.acknowledge()
    return wanted


class Gate(StrEnum):
    """Where a receiver's processing stands: it opens at most once, and closing is final (EVT-091, CMD-156)."""

    PREPARED = "prepared"
    OPEN = "open"
    CLOSED = "closed"


class MessageReceiver(Generic[M]):
    """A dispatcher's end of a subscription.

    What comes before it opens waits, so that nothing sent while dispatchers start is missed (PRJ-014); what is offered
    locally first is not kept but refused then, because it comes again from afar. What comes after it closed is refused
    and never acknowledged (PRJ-015).
    """

    __slots__ = ("_handler", "_waiting", "gate")

    def __init__(self) -> None:
        self._handler: Callable[[Delivery[M]], None] | None = None
        self._waiting: deque[Delivery[M]] = deque()
        self.gate: Gate = Gate.PREPARED

    def subscribe(self, handler: Callable[[Delivery[M]], None]) -> None:
        """Say who handles the messages.

        Raises:
            IllegalStateError: if somebody does already (CMD-155).
        """
        if self._handler is not None:
            message = "a message receiver has one subscriber, and this one has it already"
            raise IllegalStateError(message)
        self._handler = handler
        self._flush()

    def open(self) -> bool:
        """Let messages through; False if it is or was open, or was closed before."""
        if self.gate is not Gate.PREPARED:
            return False
        self.gate = Gate.OPEN
        self._flush()
        return True

    def close(self) -> bool:
        """Let no further message through; False if it was closed. What was let through is handled to its end."""
        if self.gate is Gate.CLOSED:
            return False
        self.gate = Gate.CLOSED
        self._waiting.clear()
        return True

    @property
    def is_open(self) -> bool:
        """Whether messages are handled now."""
        return self.gate is Gate.OPEN and self._handler is not None

    def offer(self, delivery: Delivery[M]) -> bool:
        """Take a message, let it wait, or refuse it; whether it was taken."""
        if not self.is_open:
            delivery.withdraw()
            if self.gate is not Gate.CLOSED and delivery.receipt is None:
                self._waiting.append(delivery)
            return False
        if delivery.receipt is not None:
            delivery.receipt.admit()
        assert self._handler is not None
        self._handler(delivery)
        return True

    def _flush(self) -> None:
        while self._waiting and self.is_open:
            self.offer(self._waiting.popleft())


def listen(
    bus: Any, named: NamedAggregate, receive: Callable[..., None], consumer: str = "consumer"
) -> Callable[[], None]:
    """Let a dispatcher hear an aggregate type's messages on a bus; returns what ends that.

    A bus with receivers or consumers tells the dispatcher of each delivery too: `receive(message, delivery)`.

    Args:
        bus: the bus.
        named: the type.
        receive: takes each message.
        consumer: which dispatcher it is, over restarts.
    """
    consume = getattr(bus, "consume", None)
    if consume is not None:
        return consume(named, consumer, receive)  # type: ignore[no-any-return]
    attach = getattr(bus, "receiver", None)
    if attach is None:
        return bus.receive(named, receive)  # type: ignore[no-any-return]
    receiver: MessageReceiver[Any] = attach(named)
    receiver.subscribe(lambda delivery: receive(delivery.message, delivery))
    receiver.open()

    def close() -> None:
        receiver.close()

    return close
