"""Bridges from wait handles, which call back, to coroutines, which await; and the error of who awaits too long."""

from __future__ import annotations

from collections import deque
from typing import Any

from ..errors import DeadlineExceeded, ModelError
from ..messages.envelopes import CommandMessage
from ..messages.wait_signals import WaitSignal
from ..world.clock import NANOS_PER_MILLI
from ..world.scheduler import Future, Scheduler, Task
from .waiting.handles import LastHandle, StreamHandle, Subscription


def deadline_exceeded(message: CommandMessage[Any], nanos: int) -> DeadlineExceeded:
    """The error of a caller whose deadline passed (CMD-121)."""
    return DeadlineExceeded(
        f"no final result of {message.name} for {message.aggregate_id} within {nanos // NANOS_PER_MILLI} ms: "
        "its outcome is unknown, it may still be processed"
    )


def waiting_task(scheduler: Scheduler) -> Task[Any]:
    """The task that is being stepped: a deadline cancels it.

    Raises:
        ModelError: if there is none.
    """
    task = scheduler.current
    if task is None:
        message = "the gateway was awaited outside a task of the world's scheduler"
        raise ModelError(message)
    return task


class FinalSignal(Future["WaitSignal | None"]):
    """The final signal of a last-result handle; None if the handle was cancelled, the error if it failed."""

    __slots__ = ()

    def __init__(self, handle: LastHandle, scheduler: Scheduler) -> None:
        Future.__init__(self, scheduler)
        handle.subscribe(self)

    def on_next(self, signal: WaitSignal) -> None:
        """The final signal."""
        self.set_result(signal)

    def on_complete(self) -> None:
        """Nothing, unless there was a signal."""
        if not self.done:
            self.set_result(None)

    def on_error(self, error: BaseException) -> None:
        """The handle failed."""
        self.set_error(error)


class SignalBuffer:
    """Keeps the signals of a stream handle until somebody takes them, and then how it ended."""

    __slots__ = ("_cancelled", "_ended", "_scheduler", "_signals", "_subscription", "_wake", "error")

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._signals: deque[WaitSignal] = deque()
        self._subscription: Subscription | None = None
        self._wake: Future[None] | None = None
        self._ended = False
        self._cancelled = False
        self.error: BaseException | None = None

    def attach(self, handle: StreamHandle) -> None:
        """Subscribe; a buffer that was cancelled meanwhile cancels the handle."""
        self._subscription = handle.subscribe(self)
        if self._cancelled:
            self._subscription.cancel()

    async def take(self) -> WaitSignal | None:
        """The next signal; None at the end; raises what the stream failed with, after all signals before it."""
        while not self._signals:
            if self.error is not None:
                raise self.error
            if self._ended:
                return None
            self._wake = self._scheduler.future()
            await self._wake
        return self._signals.popleft()

    def fail(self, error: BaseException) -> None:
        """End with an error of the taker's own, and cancel the handle."""
        if not self._ended:
            self.error = error
            self.cancel()

    def cancel(self) -> None:
        """End here and cancel the handle; what was buffered can still be taken."""
        self._cancelled = self._ended = True
        if self._subscription is not None:
            self._subscription.cancel()
        self._awake()

    def on_next(self, signal: WaitSignal) -> None:
        """Keep a signal."""
        self._signals.append(signal)
        self._awake()

    def on_complete(self) -> None:
        """The stream ended."""
        self._ended = True
        self._awake()

    def on_error(self, error: BaseException) -> None:
        """The stream failed."""
        self._ended = True
        self.error = error
        self._awake()

    def _awake(self) -> None:
        wake, self._wake = self._wake, None
        if wake is not None:
            wake.set_result(None)
