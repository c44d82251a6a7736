"""The results of one `gateway.aio.send_and_wait_stream(...)`, as they come."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from ..errors import Sleepless
from ..messages.wait_signals import CommandResult
from ..world.driving import Drive, cancel
from ..world.scheduler import Task
from .gateway_session import GatewaySession
from .restless import restless


class AsyncResults:
    """An asynchronous iterator of command results; can be iterated once.

    The world moves until the next result is there, and comes to rest when the stream has ended.
    """

    __slots__ = ("_ended", "_held", "_open", "_results", "_task")

    def __init__(
        self, held: GatewaySession, open_stream: Callable[[Callable[[CommandResult], None]], Task[Any]]
    ) -> None:
        self._held = held
        self._open = open_stream
        self._results: deque[CommandResult] = deque()
        self._task: Task[Any] | None = None
        self._ended = False

    def __aiter__(self) -> AsyncResults:
        return self

    async def __anext__(self) -> CommandResult:
        """The next result.

        Raises:
            StopAsyncIteration: at the end.
            Exception: what ended the stream instead, or what is wrong with the world after it.
        """
        __tracebackhide__ = True
        if self._ended:
            raise StopAsyncIteration
        task = self._task
        if task is None:
            try:
                task = self._task = self._open(self._results.append)
            except BaseException:
                self._ended = True
                raise
        if not self._results and not task.done:
            await self._drive(task, lambda: bool(self._results) or task.done)
        if self._results:
            return self._results.popleft()
        await self._end(task)
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Want nothing more: the wait ends; what was sent goes on, until the world is at rest."""
        __tracebackhide__ = True
        task = self._task
        if task is None or self._ended:
            self._ended = True
            return
        self._results.clear()
        cancel(task)
        self._ended = True
        await self._drive(task, lambda: False)
        self._held.end()

    async def _end(self, task: Task[Any]) -> None:
        __tracebackhide__ = True
        self._ended = True
        await self._drive(task, lambda: False)
        self._held.end_of(task, "send_and_wait_stream")

    async def _drive(self, task: Task[Any], enough: Callable[[], bool]) -> None:
        __tracebackhide__ = True
        self._held.enter()
        try:
            await Drive(task._scheduler, task, enough)
        except Sleepless as error:
            self._ended = True
            raise restless(self._held.session.world, error) from None
        except BaseException:
            self._ended = True
            cancel(task)
            raise
