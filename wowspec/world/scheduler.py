"""PYTEST_DONT_REWRITE. One small deterministic scheduler: ordinary coroutines, stepped on virtual time.

Theory of operation. A *task* is a coroutine. It awaits only `Future`s (which tasks are too) and `Sleep`; anything else
it yields is *foreign*: it belongs to an event loop. `drive()` is a generator that steps ready tasks in order, then
moves the clock to the earliest timer, until nothing is left that can move. It yields only foreign awaitables: the
synchronous `run()` answers them with an error thrown into the task at its await; the asynchronous form (`driving.py`)
hands them to the caller's loop (asyncio, trio, anyio alike).

A task that waits for a future that nobody completes simply stays: the world is idle, and the task is *hung*.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

from ..errors import ModelError, ProcessCrash, Sleepless
from .clock import VirtualClock
from .foreign import foreign_error

if TYPE_CHECKING:
    from .choices import Choices
    from .stepping import Stepper

T = TypeVar("T")

#: A world that comes to rest sets no more timers before it does, and no moment of it has more steps.
MOST_TIMERS, MOST_STEPS = 1_000_000, range(50_000)

#: What a step gives where the task has ended, or waits for something of the world.
_RESTS: Final[Any] = object()


class Cancelled(BaseException):
    """Thrown into a task that is cancelled; user code's `except Exception` cannot swallow it."""


class Future(Generic[T]):
    """A value that arrives once; tasks may await it."""

    __slots__ = ("_callbacks", "_error", "_scheduler", "_value", "_waiters", "done")

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        #: Whether there is a value or an error.
        self.done: bool = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._waiters: list[Task[Any]] | None = None
        self._callbacks: list[Callable[[], None]] | None = None

    @property
    def error(self) -> BaseException | None:
        """The error, if it ended with one."""
        return self._error

    def result(self) -> T:
        """The value; raises the error, or `ModelError` while pending."""
        if self._error is not None:
            raise self._error
        if not self.done:
            message = "the future has no value yet"
            raise ModelError(message)
        return self._value  # type: ignore[no-any-return]

    def set_result(self, value: T) -> bool:
        """Complete with a value; answers whether this was the first completion."""
        if self.done:
            return False
        self.done = True
        self._value = value
        if self._waiters is not None or self._callbacks is not None:
            self._wake()
        return True

    def set_error(self, error: BaseException) -> bool:
        """Complete with an error; answers whether this was the first completion."""
        if self.done:
            return False
        self.done = True
        self._error = error
        if self._waiters is not None or self._callbacks is not None:
            self._wake()
        return True

    def on_done(self, callback: Callable[[], None]) -> None:
        """Call back when it completes (at once if it has)."""
        if self.done:
            callback()
        elif self._callbacks is None:
            self._callbacks = [callback]
        else:
            self._callbacks.append(callback)

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, None
        if waiters:
            ready = self._scheduler._ready
            for task in waiters:
                task._waits_for = None
                ready.append(task)
        callbacks, self._callbacks = self._callbacks, None
        if callbacks:
            for callback in callbacks:
                callback()

    def __await__(self) -> Generator[Any, Any, T]:
        if not self.done:
            yield self
        return self._value if self.done and self._error is None else self.result()


class Task(Future[T]):
    """A coroutine that the scheduler steps."""

    __slots__ = ("_coro", "_seat", "_throw", "_timer", "_waits_for", "name")

    def __init__(self, scheduler: Scheduler, coro: Coroutine[Any, Any, T], name: str) -> None:
        # What `Future` sets, without the call: each command starts several tasks.
        self._scheduler = scheduler
        self.done = False
        self._value = self._error = self._waiters = self._callbacks = None
        self._coro = coro
        starter = scheduler.current
        #: On whose account it runs, where several callers drive the world at once; inherited by what it starts.
        self._seat: Seat | None = None if starter is None else starter._seat
        self._throw: BaseException | None = None
        self._waits_for: Future[Any] | None = None
        self._timer: Timer | None = None
        self.name: str = name

    def cancel(self) -> None:
        """Throw `Cancelled` into the coroutine where it waits; a finished task is left alone."""
        if self.done or isinstance(self._throw, Cancelled):
            return
        self._throw = Cancelled()
        waits_for = self._waits_for
        if waits_for is not None:
            if waits_for._waiters is not None:
                waits_for._waiters.remove(self)
            self._waits_for = None
            self._scheduler._ready.append(self)
        elif self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._scheduler._ready.append(self)

    def wake_up(self) -> None:
        """Its sleep is over."""
        self._timer = None
        self._scheduler._ready.append(self)

    def __repr__(self) -> str:
        return f"<Task {self.name}>"


class Timer:
    """A callback at an instant of virtual time."""

    __slots__ = ("callback", "fired", "nanos")

    def __init__(self, nanos: int, callback: Callable[[], None]) -> None:
        self.nanos: int = nanos
        #: Whether its instant has come.
        self.fired: bool = False
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        """Never fire."""
        self.callback = None


class Sleep:
    """What a task yields to sleep."""

    __slots__ = ("nanos",)

    def __init__(self, nanos: int) -> None:
        self.nanos: int = nanos

    def __await__(self) -> Generator[Any, Any, None]:
        yield self


class Turn:
    """What a task yields to let others go first: it stays ready, and first in the queue."""

    __slots__ = ()

    def __await__(self) -> Generator[Any, Any, None]:
        yield self


TURN: Final = Turn()


class Seat(Protocol):
    """A caller that drives the world from an event loop of its own; see `driving.py`."""

    @property
    def alive(self) -> bool:
        """Whether it is still driving."""
        ...

    @property
    def abroad(self) -> bool:
        """Whether a task of its awaits something of the event loop right now."""
        ...

    def wake(self) -> None:
        """Look again whether there is something to do."""
        ...


class Scheduler:
    """Steps tasks on a virtual clock."""

    __slots__ = ("_hung", "_most", "_order", "_ready", "_timers", "chooser", "clock", "current", "most_timers", "seats")

    def __init__(self, clock: VirtualClock) -> None:
        self.clock: VirtualClock = clock
        self.current: Task[Any] | None = None
        self._ready: deque[Task[Any]] = deque()
        self._timers: list[tuple[int, int, Timer]] = []
        self._order = 0
        # So many may be set before `Sleepless` ends it all; `_most` is the bound at the moment.
        self.most_timers: int = 1 << 62
        self._most: int = 1 << 62
        # Nothing else refers to a task that hangs, and its coroutine must not be closed while the world goes on.
        self._hung: list[Any] = []
        #: Callers that drive the world from event loops of their own.
        self.seats: list[Seat] = []
        #: Decides who is stepped next; None: first in, first out, and nobody gives way. See `choices.py`.
        self.chooser: Choices | Stepper | None = None

    def future(self) -> Future[Any]:
        """A new future."""
        return Future(self)

    def forever(self) -> Future[Any]:
        """A future that nobody completes; who awaits it hangs, and lives as long as the world does."""
        future: Future[Any] = Future(self)
        self._hung.append(future)
        return future

    def spawn(self, coro: Coroutine[Any, Any, T], name: str) -> Task[T]:
        """Start a task; it runs when its turn comes."""
        task = Task(self, coro, name)
        self._ready.append(task)
        return task

    def start(self, coro: Coroutine[Any, Any, Any], name: str) -> None:
        """Start a task and step it at once, inside the task that is being stepped, up to its first wait.

        For work that its starter does not wait for but that comes before whatever the starter does next.
        """
        task = Task(self, coro, name)
        outer, self.current = self.current, task
        try:
            yielded = coro.send(None)
        except StopIteration as stop:
            task.set_result(stop.value)
            return
        except Exception as error:  # noqa: BLE001 - the task's outcome, whatever it is
            task.set_error(error)
            return
        finally:
            self.current = outer
        if not self._park(task, yielded):
            if not isinstance(yielded, Future):
                task._throw = foreign_error(yielded)
            self._ready.append(task)

    def call_at(self, nanos: int, callback: Callable[[], None]) -> Timer:
        """Call back at an instant (epoch nanoseconds)."""
        timer = Timer(nanos, callback)
        self._order += 1
        if self._order > self._most:
            raise Sleepless(self.current)
        heapq.heappush(self._timers, (nanos, self._order, timer))
        return timer

    def sleep(self, nanos: int) -> Sleep:
        """`await scheduler.sleep(nanos)` waits on the virtual clock."""
        return Sleep(nanos)

    @property
    def is_idle(self) -> bool:
        """Whether nothing can move any more without outside help."""
        if self._ready or not self._timers:
            return not self._ready
        return not any(timer.callback for _, _, timer in self._timers)

    @property
    def pending_timers(self) -> tuple[int, ...]:
        """Instants of the timers that are still to fire, earliest first (epoch nanoseconds)."""
        return tuple([timer.nanos for timer in self.timers])

    @property
    def timers(self) -> list[Timer]:
        """The timers that are still to fire, in the order in which they will."""
        return [timer for _, _, timer in sorted(self._timers) if timer.callback is not None]

    def run(self, until: int | None = None) -> None:
        """Step until nothing can move, or until an instant; foreign awaitables are errors at their await.

        Args:
            until: epoch nanoseconds; timers after it do not fire, and the clock ends there.
        """
        driver = self.drive(until)
        foreign = next(driver, _RESTS)
        try:
            while foreign is not _RESTS:
                foreign = driver.throw(foreign_error(foreign))
        except StopIteration:
            return

    def drive(self, until: int | None = None) -> Generator[Any, Any, None]:
        """The generator behind `run`; `yield`s foreign awaitables to whoever serves them."""
        ready = self._ready
        chooser = self.chooser
        next_task = ready.popleft if chooser is None else lambda: chooser.pick(ready)
        self._most = min(self.most_timers, self._order + MOST_TIMERS)
        try:
            while True:
                for _ in MOST_STEPS:
                    if not ready:
                        break
                    task = next_task()
                    if not task.done:
                        foreign = self._advance(task, None)
                        if foreign is not _RESTS:
                            yield from self._serve(task, foreign)
                else:
                    raise Sleepless
                if not self.fire_next(until):
                    break
        finally:
            self._most = self.most_timers
        if until is not None and until > self.clock.nanos:
            self.clock.nanos = until

    def fire_next(self, until: int | None = None) -> bool:
        """Move the clock to the earliest timer and fire it; whether there was one that is due until then."""
        timers = self._timers
        while timers and timers[0][2].callback is None:
            heapq.heappop(timers)
        if not timers or (until is not None and timers[0][0] > until):
            return False
        nanos, _, timer = heapq.heappop(timers)
        self.clock.nanos = max(self.clock.nanos, nanos)
        callback = timer.callback
        if callback is not None:
            timer.fired = True
            callback()
        return True

    def abandon(self) -> None:
        """Give up what could still move: nobody will drive this world any more."""
        while self._ready:
            self._ready.popleft()._coro.close()

    def take_ready(self, seat: Seat) -> Task[Any] | None:
        """The next ready task that is this caller's to step: its own, or nobody's (any more)."""
        ready = self._ready
        for index, task in enumerate(ready):
            owner = task._seat
            if owner is None or owner is seat or not owner.alive:
                del ready[index]
                return task
        return None

    @property
    def has_ready(self) -> bool:
        """Whether any task can be stepped, whoever's it is."""
        return bool(self._ready)

    def step(self, task: Task[Any]) -> Generator[Any, Any, None]:
        """Step a task until it waits for something of the world, or ends; `yield`s foreign awaitables."""
        foreign = self._advance(task, None)
        if foreign is not _RESTS:
            yield from self._serve(task, foreign)

    def _serve(self, task: Task[Any], foreign: Any) -> Generator[Any, Any, None]:
        """Let whoever drives answer what a task awaits of an event loop, until the task rests."""
        while foreign is not _RESTS:
            value: Any = None
            try:
                value = yield foreign
            except BaseException as error:  # noqa: BLE001 - handed to the task that awaited it, which may live on
                task._throw = error
            foreign = self._advance(task, value)

    def _advance(self, task: Task[Any], value: Any) -> Any:
        """Step a task; gives the foreign awaitable that it awaits, or `_RESTS`."""
        coro = task._coro
        self.current = task
        try:
            while True:
                if task._throw is not None:
                    error, task._throw = task._throw, None
                    yielded = coro.throw(error)
                else:
                    yielded = coro.send(value)
                if self._park(task, yielded):
                    return _RESTS
                if not isinstance(yielded, Future):
                    return yielded
                value = None
        except StopIteration as stop:
            # As `set_result`, without the call.
            task.done = True
            task._value = stop.value
            if task._waiters is not None or task._callbacks is not None:
                task._wake()
            return _RESTS
        except (KeyboardInterrupt, SystemExit):
            raise
        except ProcessCrash:
            return _RESTS
        except BaseException as error:
            task.set_error(error)
            if not isinstance(error, Exception | Cancelled):
                # No outcome of the task: the caller in whose loop it runs is cancelled, or its test ends here.
                raise
            return _RESTS
        finally:
            self.current = None

    def _park(self, task: Task[Any], yielded: Any) -> bool:
        """Let a task wait for a pending future or a sleep; False if it awaits something else."""
        if isinstance(yielded, Future):
            if yielded.done:
                return False
            task._waits_for = yielded
            if yielded._waiters is None:
                yielded._waiters = [task]
            else:
                yielded._waiters.append(task)
            return True
        if type(yielded) is Sleep:
            task._timer = self.call_at(self.clock.nanos + yielded.nanos, task.wake_up)
            return True
        if yielded is TURN:
            self._ready.appendleft(task)
            return True
        return False
