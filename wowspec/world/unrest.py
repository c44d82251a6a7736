"""What faults leave behind in a world: messages that are late, functions that get an event twice, processes that died.

A world has an `Unrest` only once such a fault has struck; until then nothing of this costs anything.

Theory of crashes. A process that dies does nothing more: what waited or slept is put away where nobody wakes it, and
lives on unseen, so that not even a `finally` of it runs; the task that was struck joins it. Only code that calls rather
than awaits cannot be stopped so: there `ProcessCrash` is raised, which no `except Exception` swallows.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final

from ..errors import ProcessCrash, SpecError
from .points import FaultKind, Port, point_row
from .trace import TraceRow

if TYPE_CHECKING:
    from .scheduler import Scheduler, Task
    from .world import World


@dataclass(slots=True, eq=False)
class LateMessage:
    """A message that was accepted, and is still to arrive.

    Attributes:
        row: where it passed its point.
        port: what it is a way into.
        arrive: lets it arrive.
        steps: how many deliveries it lets go first; None: the next one of its channel.
    """

    row: TraceRow
    port: Port
    arrive: Callable[[], Any]
    steps: int | None


class Unrest:
    """The after-effects of faults in one world.

    Attributes:
        deaths: how often the process has died.
        lost: what died with it; kept, so that nothing of it runs any more.
    """

    __slots__ = ("_again", "_doomed", "_late", "_stopped", "_world", "deaths", "lost")

    def __init__(self, world: World) -> None:
        self._world = world
        self._late: list[LateMessage] = []
        self._again: list[Any] = []
        self._doomed: list[Any] = []
        self._stopped: list[Task[Any]] = []
        self.deaths: int = 0
        self.lost: list[Any] = []

    # --- late messages ------------------------------------------------------------------------------------------------

    def put_off(self, row: TraceRow, arrive: Callable[[], Any], steps: int | None) -> None:
        """Let a message arrive after so many deliveries, or after the next one of its channel (None).

        When nothing else can move, it arrives at once: before virtual time passes.
        """
        known = point_row(row.point)
        late = LateMessage(row, Port.CODE if known is None else known.port, arrive, steps)
        self._late.append(late)
        self._at_rest(late)

    def _at_rest(self, late: LateMessage) -> None:
        scheduler = self._world.scheduler
        _ = scheduler.call_at(scheduler.clock.nanos, partial(self._release, late))

    def stands_behind(self, row: TraceRow, arrive: Callable[[], Any]) -> bool:
        """Whether a message waits behind a late one of its channel, where its bus keeps order; it does from now on."""
        if not self._late or not self._world.ports.ordered:
            return False
        for late in reversed(self._late):
            if late.port is Port.BUS and _channel(late.row) == _channel(row):
                # Together with the one before it, and after it.
                self._late.append(LateMessage(row, Port.BUS, arrive, late.steps))
                return True
        return False

    def passed(self, row: TraceRow) -> None:
        """Something was delivered: a message to a bus, an event to a function."""
        known = point_row(row.point)
        if known is None or known.port not in (Port.BUS, Port.DELIVERY) or not self._late:
            return
        for late in tuple(self._late):
            if late.row is row:
                continue
            if late.steps is None:
                if _channel(late.row) == _channel(row):
                    self._release(late)
            else:
                late.steps -= 1
                if late.steps <= 0:
                    self._release(late)

    def _release(self, late: LateMessage) -> None:
        if late not in self._late:
            return
        channel, behind = _channel(late.row), []
        if self._world.ports.ordered and late.port is Port.BUS:
            line = [other for other in self._late if other.port is Port.BUS and _channel(other.row) == channel]
            if line[0] is not late:
                return
            behind = line[1:]
        for each in (late, *behind):
            self._late.remove(each)
            _ = self._world.scheduler.spawn(self._arrive(each), "late")

    async def _arrive(self, late: LateMessage) -> None:
        try:
            arriving = late.arrive()
            if type(arriving) is CoroutineType:
                await arriving
        except Exception as error:  # noqa: BLE001 - whoever sent it was told that it was accepted
            self._world.log_failure(late.row.point, late.row.subject, error)

    # --- events that come twice, functions that die afterwards --------------------------------------------------------

    def deliver_again(self, lane: Any) -> None:
        """The event function at work in this very lane gets its event once more."""
        self._again.append(lane)

    def comes_again(self, lane: Any) -> bool:
        """Whether an event function gets its event once more; asked once."""
        return _taken(self._again, lane)

    def die_after(self, lane: Any) -> None:
        """The process dies when the event function at work in this very lane has returned."""
        self._doomed.append(lane)

    def is_doomed(self, lane: Any) -> bool:
        """Whether the process dies now that an event function has returned; asked once."""
        return _taken(self._doomed, lane)

    # --- crashes ------------------------------------------------------------------------------------------------------

    async def die(self, point: str) -> None:
        """The process dies here and starts again; never comes back.

        Raises:
            SpecError: if it cannot start again.
        """
        world = self._world
        if world.restart is None:
            raise world.blame_author(
                SpecError(
                    f"a crash at {point}, in a world of two processes",
                    why="both share one scheduler here, and what one process was doing cannot be told from the other's",
                    instead="crashes in a world of one process",
                )
            )
        self.deaths += 1
        world.restart()
        await world.scheduler.forever()

    def bury(self, *, bus_survives: bool) -> None:
        """Put away all that could still move; late messages stay where their bus survives."""
        scheduler = self._world.scheduler
        self.lost += [list(scheduler._ready), list(scheduler._timers)]
        close_unbegun(scheduler)
        scheduler._ready.clear()
        scheduler._timers.clear()
        dying = scheduler.current
        if dying is not None:
            # Nobody is left to hear of it.
            self.lost += [dying, dying._waiters]
            dying._waiters = dying._callbacks = None
        late = self._late
        self._late = [each for each in late if bus_survives and each.port is Port.BUS]
        self.lost.append([each for each in late if each not in self._late])
        self._again.clear()
        self._doomed.clear()
        for each in self._late:
            self._at_rest(each)

    def stop_caller(self, place: str) -> ProcessCrash:
        """The error that stops plain code whose process has died below it; who goes on in spite of it is blamed.

        Args:
            place: whose code it is.
        """
        task = self._world.scheduler.current
        if task is not None and task not in self._stopped:
            self._stopped.append(task)
            task.on_done(partial(self._ended, task, place))
        return ProcessCrash(f"the process died in {place}")

    def _ended(self, task: Task[Any], place: str) -> None:
        if not isinstance(task.error, ProcessCrash):
            self.went_on(place)

    def require_alive(self, point: str) -> None:
        """Refuse to go on in a task whose process has died.

        Raises:
            ProcessCrash: if it has.
        """
        task = self._world.scheduler.current
        if task is not None and task in self._stopped:
            self.went_on(f"the code that came to {point}")
            message = f"{point} was passed by a process that had died"
            raise ProcessCrash(message)

    def went_on(self, place: str) -> None:
        """Blame the author, once, for code that went on after its process had died."""
        if any(isinstance(error, SwallowedCrashError) for error in self._world.spec_errors):
            return
        self._world.spec_errors.append(
            SwallowedCrashError(
                f"{place} swallowed the crash of its process, and went on",
                why="a process that has died runs no code; ProcessCrash is no Exception, so that only a bare except "
                "or an except BaseException catches it",
                instead="except Exception",
            )
        )


def close_unbegun(scheduler: Scheduler) -> None:
    """Close tasks of which nothing has run yet, in a world in which nothing more of them does."""
    for task in scheduler._ready:
        if inspect.iscoroutine(task._coro) and inspect.getcoroutinestate(task._coro) == inspect.CORO_CREATED:
            task._coro.close()


class SwallowedCrashError(SpecError):
    """Code of the domain's caught the crash of its own process."""


def _taken(lanes: list[Any], lane: Any) -> bool:
    for place, each in enumerate(lanes):
        if each is lane:
            del lanes[place]
            return True
    return False


def _channel(row: TraceRow) -> tuple[str, str]:
    return row.point, row.key


def unrest_of(world: World) -> Unrest:
    """The world's; made when it is first needed."""
    if world.unrest is None:
        world.unrest = Unrest(world)
    return world.unrest


#: Kinds after which a message is still to arrive.
LATE: Final[frozenset[FaultKind]] = frozenset({FaultKind.DELAY, FaultKind.REORDER})
