"""Wait handles: where the signals of one wait meet the caller that waits (section T of the contract).

Both kinds of handle answer `next` with whether the state accepted the signal, end exactly once, and tell their
coordinator when they do. Callbacks run at once, on the caller's stack, so a subscriber may re-enter its handle.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from ...errors import EmissionError, IllegalArgumentError, IllegalStateError
from ...messages.wait_plans import WaitPlan
from ...messages.wait_signals import WaitSignal
from .states import wait_state_of

UNLIMITED = 2**63 - 1
DEFAULT_STREAM_QUEUE_LINK_SIZE = 16


class Subscriber(Protocol):
    """Who waits: signals, then one end."""

    def on_next(self, signal: WaitSignal) -> None:
        """A signal."""
        ...

    def on_complete(self) -> None:
        """No more signals."""
        ...

    def on_error(self, error: BaseException) -> None:
        """The wait failed."""
        ...


class Subscription:
    """A subscriber's side of a handle: how much it wants, and whether it still wants anything."""

    __slots__ = ("_handle", "demand", "ended", "subscriber")

    def __init__(self, subscriber: Subscriber, demand: int, handle: WaitHandle | None) -> None:
        self.subscriber: Subscriber = subscriber
        self.demand: int = demand
        self.ended: bool = False
        self._handle = handle

    def request(self, count: int) -> None:
        """Want `count` more signals."""
        self.demand = min(self.demand + count, UNLIMITED)
        if not self.ended and self._handle is not None:
            self._handle.deliver(self)

    def cancel(self) -> None:
        """Want nothing more: this ends the handle for everybody (CMD-409, CMD-413)."""
        if not self.ended:
            self.ended = True
            if self._handle is not None:
                self._handle.cancel()

    def complete(self) -> None:
        """End it normally."""
        if not self.ended:
            self.ended = True
            self.subscriber.on_complete()

    def fail(self, error: BaseException) -> None:
        """End it with an error."""
        if not self.ended:
            self.ended = True
            self.subscriber.on_error(error)


class LastHandle:
    """Emits the final signal alone, with the merged result, to whoever subscribes, whenever (CMD-405, CMD-406)."""

    __slots__ = ("_done", "_error", "_final", "_on_terminate", "_state", "_subscriptions", "_terminated", "plan")

    #: The gateway skips the successful SENT of a handle with this marker (CMD-109, CMD-418).
    skips_successful_sent = True

    def __init__(self, plan: WaitPlan, on_terminate: Callable[[LastHandle], None]) -> None:
        self.plan: WaitPlan = plan
        self._on_terminate = on_terminate
        self._state = wait_state_of(plan)
        self._subscriptions: list[Subscription] = []
        self._terminated = False
        self._done = False
        self._final: WaitSignal | None = None
        self._error: BaseException | None = None

    @property
    def wait_command_id(self) -> str:
        """The plan's wait id."""
        return self.plan.wait_command_id

    def next(self, signal: WaitSignal) -> bool:
        """Take a signal; whether the state accepted it and the handle was live (CMD-402)."""
        if self._terminated:
            return False
        step = self._state.next(signal)
        if step.final is not None:
            self._emit(step.final, None)
            # A subscriber's callback may have ended the handle meanwhile (CMD-403).
            self._terminate()
        return step.accepted is not None

    def error(self, error: BaseException) -> None:
        """End every await with this error; nothing after the end (CMD-403, CMD-408)."""
        if not self._terminated:
            self._terminated = True
            self._emit(None, error)
            self._on_terminate(self)

    def cancel(self) -> None:
        """Complete every await empty, later ones too; nothing after the end (CMD-403, CMD-407)."""
        if not self._terminated:
            self._terminated = True
            self._emit(None, None)
            self._on_terminate(self)

    def subscribe(
        self,
        subscriber: Subscriber,
        demand: int = UNLIMITED,
        started: Callable[[Subscription], object] | None = None,
    ) -> Subscription:
        """Await the final signal; a second subscriber gets the same (CMD-412).

        Args:
            subscriber: who awaits.
            demand: how many signals it wants for now.
            started: gets the subscription before the subscriber hears anything.
        """
        subscription = Subscription(subscriber, demand, self)
        if started is not None:
            started(subscription)
        if self._done:
            self.deliver(subscription)
        else:
            self._subscriptions.append(subscription)
        return subscription

    def _terminate(self) -> None:
        if not self._terminated:
            self._terminated = True
            self._on_terminate(self)

    def _emit(self, final: WaitSignal | None, error: BaseException | None) -> None:
        if self._done:
            return
        self._done, self._final, self._error = True, final, error
        subscriptions, self._subscriptions = self._subscriptions, []
        for subscription in subscriptions:
            self.deliver(subscription)

    def deliver(self, subscription: Subscription) -> None:
        """Give a subscription what it wants, once that is known."""
        if not self._done or subscription.ended:
            return
        if self._error is not None:
            subscription.fail(self._error)
        elif self._final is None:
            subscription.complete()
        elif subscription.demand > 0:
            subscription.demand = 0
            subscriber = subscription.subscriber
            subscriber.on_next(self._final)
            if not subscription.ended:
                subscription.ended = True
                subscriber.on_complete()


class StreamHandle:
    """Emits every accepted signal as it came, to its one subscriber, buffering without bound (CMD-410, CMD-411).

    A bound can be set: then a signal that finds the buffer full ends the stream, and its sender is told (CMD-415).
    """

    __slots__ = (
        "_buffer",
        "_capacity",
        "_done",
        "_draining",
        "_error",
        "_on_terminate",
        "_state",
        "_subscription",
        "_terminated",
        "plan",
    )

    skips_successful_sent = False

    def __init__(
        self,
        plan: WaitPlan,
        on_terminate: Callable[[StreamHandle], None],
        queue_link_size: int = DEFAULT_STREAM_QUEUE_LINK_SIZE,
        capacity: int | None = None,
    ) -> None:
        if queue_link_size <= 0:
            message = f"the stream queue link size must be greater than 0, got {queue_link_size}"
            raise IllegalArgumentError(message)
        self.plan: WaitPlan = plan
        self._on_terminate = on_terminate
        self._state = wait_state_of(plan)
        self._buffer: deque[WaitSignal] = deque()
        self._capacity = capacity
        self._subscription: Subscription | None = None
        self._terminated = False
        self._done = False
        self._error: BaseException | None = None
        self._draining = False

    @property
    def wait_command_id(self) -> str:
        """The plan's wait id."""
        return self.plan.wait_command_id

    def next(self, signal: WaitSignal) -> bool:
        """Take a signal; whether the state accepted it and the handle was live (CMD-402).

        Raises:
            EmissionError: the buffer refused the signal; the stream fails with the same error (CMD-415).
        """
        if self._terminated:
            return False
        step = self._state.next(signal)
        if step.accepted is not None:
            if len(self._buffer) == self._capacity:
                refused = EmissionError(f"the wait stream of {self.wait_command_id!r} holds {self._capacity} signals")
                self._terminate(refused)
                raise refused
            self._buffer.append(step.accepted)
            self._drain()
        if step.final is not None:
            self._end(None)
            if not self._terminated:
                self._terminated = True
                self._on_terminate(self)
        return step.accepted is not None

    def error(self, error: BaseException) -> None:
        """Fail the stream, after what is buffered; nothing after the end (CMD-403, CMD-413)."""
        self._terminate(error)

    def cancel(self) -> None:
        """Complete the stream, after what is buffered; nothing after the end (CMD-403, CMD-413)."""
        self._terminate(None)

    def subscribe(
        self,
        subscriber: Subscriber,
        demand: int = UNLIMITED,
        started: Callable[[Subscription], object] | None = None,
    ) -> Subscription:
        """Stream the signals; a second subscriber gets an `IllegalStateError`, whatever came before (CMD-412).

        Args:
            subscriber: who takes the signals.
            demand: how many it wants for now.
            started: gets the subscription before the subscriber hears anything.
        """
        if self._subscription is not None:
            refused = Subscription(subscriber, 0, None)
            if started is not None:
                started(refused)
            refused.fail(IllegalStateError(f"the wait stream of {self.wait_command_id!r} has its one subscriber"))
            return refused
        subscription = Subscription(subscriber, demand, self)
        self._subscription = subscription
        if started is not None:
            started(subscription)
        self._drain()
        return subscription

    def deliver(self, _: Subscription) -> None:
        """Give the one subscription what it wants of what there is."""
        self._drain()

    def _terminate(self, error: BaseException | None) -> None:
        if not self._terminated:
            self._terminated = True
            self._end(error)
            self._on_terminate(self)

    def _end(self, error: BaseException | None) -> None:
        if not self._done:
            self._done, self._error = True, error
            self._drain()

    def _drain(self) -> None:
        """Deliver what is buffered and wanted; re-entered from a callback, the outer call goes on with it."""
        subscription = self._subscription
        if subscription is None or self._draining:
            return
        self._draining = True
        try:
            while self._buffer and subscription.demand > 0 and not subscription.ended:
                subscription.demand -= 1
                subscription.subscriber.on_next(self._buffer.popleft())
            if subscription.ended:
                self._buffer.clear()
            elif self._done and not self._buffer:
                if self._error is not None:
                    subscription.fail(self._error)
                else:
                    subscription.complete()
        finally:
            self._draining = False


WaitHandle = LastHandle | StreamHandle
