"""The results of one streaming call, as an asynchronous iterator with a deadline (CMD-115, CMD-120)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from ..messages.envelopes import CommandMessage
from ..messages.wait_plans import WaitPlan
from ..messages.wait_signals import CommandResult, result_of_signal
from ..world.scheduler import Cancelled, Scheduler, Task, Timer
from .awaiting import SignalBuffer, deadline_exceeded, waiting_task
from .waiting.handles import StreamHandle


class ResultStream:
    """Results of one `send_and_wait_stream`; starts at the first step of its iteration, and can be iterated once."""

    __slots__ = ("_buffer", "_message", "_open", "_plan", "_scheduler", "_sender", "_started", "_timer")

    def __init__(
        self,
        scheduler: Scheduler,
        open_handle: Callable[[CommandMessage[Any], WaitPlan], Awaitable[StreamHandle]],
        message: CommandMessage[Any],
        plan: WaitPlan,
    ) -> None:
        self._scheduler = scheduler
        self._open = open_handle
        self._message = message
        self._plan = plan
        self._buffer = SignalBuffer(scheduler)
        self._sender: Task[Any] | None = None
        self._started = False
        self._timer: Timer | None = None

    def __aiter__(self) -> ResultStream:
        return self

    async def __anext__(self) -> CommandResult:
        """The next result; ends with the wait, or raises what ended it."""
        if not self._started:
            self._started = True
            await self._start()
        try:
            signal = await self._buffer.take()
        except BaseException:
            self.cancel()
            raise
        if signal is None:
            self.cancel()
            raise StopAsyncIteration
        return result_of_signal(signal, self._message)

    async def aclose(self) -> None:
        """Like `cancel`."""
        self.cancel()

    def cancel(self) -> None:
        """Want nothing more: releases the handle and the deadline; a command that was sent goes on (CMD-117)."""
        self._started = True
        if self._timer is not None:
            self._timer.cancel()
        self._buffer.cancel()

    async def _start(self) -> None:
        scheduler = self._scheduler
        self._sender = waiting_task(scheduler)
        # The deadline is absolute: results that arrive do not extend it (CMD-120).
        self._timer = scheduler.call_at(scheduler.clock.nanos + self._plan.timeout_nanos, self._expire)
        try:
            handle = await self._open(self._message, self._plan)
        except Cancelled:
            if self._buffer.error is not None:
                raise self._buffer.error from None
            self.cancel()
            raise
        except BaseException:
            self.cancel()
            raise
        finally:
            self._sender = None
        self._buffer.attach(handle)

    def _expire(self) -> None:
        self._buffer.fail(deadline_exceeded(self._message, self._plan.timeout_nanos))
        if self._sender is not None:
            self._sender.cancel()
