"""PYTEST_DONT_REWRITE. Drives a world from its caller's event loop; several callers may do so at once.

Theory of operation. A `Drive` is awaited. It steps the tasks of its own call (and those that are nobody's), and hands
what they await of an event loop to its caller's loop, where it is then *abroad*. Meanwhile other drives of the same
world step theirs, so no task is ever stepped from two sides, and a handler's time-out or cancel scope stays in the very
loop task that opened it. Virtual time stands still while anybody is abroad: real waiting costs none of it. A drive that
can do nothing but wait for another one waits on an event of the caller's loop. The bounds of `Scheduler.drive` on
worlds that never come to rest hold here, too: `Sleepless` comes at the await.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from typing import Any

from ..errors import Sleepless, SpecError
from . import scheduler as patience
from .scheduler import Scheduler, Task


def _never() -> bool:
    return False


class Drive:
    """One caller's way to let the world move: `await Drive(scheduler, task)`.

    It comes back when nothing can move any more; or when `enough` says so; or when its own task is done and what is
    left belongs to other drives, which let it come to rest.

    Args:
        scheduler: the world's.
        own: the task that the caller is interested in; what it starts is its own, too.
        enough: asked before each step.
    """

    __slots__ = ("_enough", "_event", "_own", "_scheduler", "abroad", "alive")

    def __init__(self, scheduler: Scheduler, own: Task[Any], enough: Callable[[], bool] = _never) -> None:
        self._scheduler = scheduler
        self._own = own
        self._enough = enough
        self._event: Any = None
        self.abroad: bool = False
        self.alive: bool = False

    def __await__(self) -> Generator[Any, Any, None]:
        scheduler = self._scheduler
        self._own._seat = self
        self.alive = True
        scheduler.seats.append(self)
        scheduler._most = min(scheduler.most_timers, scheduler._order + patience.MOST_TIMERS)
        try:
            yield from self._drive()
        finally:
            self.alive = False
            scheduler.seats.remove(self)
            if not scheduler.seats:
                scheduler._most = scheduler.most_timers
            self._wake_others()

    def _drive(self) -> Generator[Any, Any, None]:
        scheduler = self._scheduler
        steps = 0
        while not self._enough():
            if steps == len(patience.MOST_STEPS):
                raise Sleepless
            task = scheduler.take_ready(self)
            if task is not None:
                steps += 1
                if not task.done:
                    yield from self._step(task)
                continue
            # Another caller's turn, or another instant.
            steps = 0
            if scheduler.has_ready or any(seat.abroad for seat in scheduler.seats):
                if self._own.done:
                    return
                self._wake_others()
                yield from self._wait()
            elif not scheduler.fire_next():
                return

    def _step(self, task: Task[Any]) -> Generator[Any, Any, None]:
        """Step a task; what it awaits of an event loop is served by the caller's."""
        steps = self._scheduler.step(task)
        try:
            foreign = next(steps)
            while True:
                # From here on it may hold something of this loop task, such as an open cancel scope.
                task._seat = self
                self.abroad = True
                self._wake_others()
                try:
                    value = yield foreign
                except BaseException as error:  # noqa: BLE001 - the task's to handle
                    self.abroad = False
                    foreign = steps.throw(error)
                else:
                    self.abroad = False
                    foreign = steps.send(value)
        except StopIteration:
            return

    def _wait(self) -> Generator[Any, Any, None]:
        self._event = _new_event()
        try:
            yield from self._event.wait().__await__()
        finally:
            self._event = None

    def _wake_others(self) -> None:
        for seat in self._scheduler.seats:
            if seat is not self:
                seat.wake()

    def wake(self) -> None:
        """Look again whether there is something to do."""
        if self._event is not None:
            self._event.set()


def cancel(task: Task[Any]) -> None:
    """Cancel a task whose caller was cancelled, and let it release what it holds at once, before the caller goes."""
    if task.done:
        return
    task.cancel()
    scheduler = task._scheduler
    if task in scheduler._ready:
        scheduler._ready.remove(task)
    for foreign in scheduler.step(task):
        raise SpecError(
            f"a cancelled call awaited {foreign!r} while it was cleaning up",
            why="its caller is gone, and so is the event loop task that would serve it",
            instead="clean up without awaiting, in filters and services that the gateway itself uses",
        )


def _new_event() -> Any:
    """An event of the loop that is running. The libraries are not imported: who runs one has loaded it."""
    trio = sys.modules.get("trio")
    if trio is not None:
        try:
            trio.lowlevel.current_task()
        except RuntimeError:
            pass
        else:
            return trio.Event()
    library = sys.modules.get("asyncio")
    if library is not None:
        try:
            library.get_running_loop()
        except RuntimeError:
            pass
        else:
            return library.Event()
    raise SpecError(
        "two calls of one gateway met in an event loop of an unknown make",
        why="one has to wait for the other's real input and output, and only asyncio's and trio's ways are known",
        instead="await the calls one after the other, or run the test under asyncio, trio or anyio",
    )
