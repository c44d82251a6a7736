"""PYTEST_DONT_REWRITE. Moves a world in small steps: from one passed point to the next.

Theory of operation. An ordinary run steps a task until it waits, and a task may pass many points before it does. While
a `Stepper` moves the world, a task that passes a point gives way before and after it, and stays first in the queue: so
the world can be left there, looked at, and moved on by whatever moves it next. Nobody is stepped in another order than
in an ordinary run, and virtual time passes where it would there: when nothing is ready.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final

from .choices import NoFaults
from .foreign import foreign_error
from .points import POINTS, SERVICE_CALL
from .scheduler import TURN, Task

if TYPE_CHECKING:
    from collections import deque

    from .world import World

#: Passed within plain calls, where no task can give way.
_NEVER_AWAITED: Final = frozenset(row.name for row in POINTS if not row.kinds)


class Stepper:
    """Moves one world until something holds; made for one move.

    A point that is passed within a plain call, such as a validation or the call of a service, gives way as soon as its
    task comes to the next point or waits.
    """

    __slots__ = ("_picked", "_world")

    def __init__(self, world: World) -> None:
        self._world = world
        self._picked: Task[Any] | None = None

    def move(self, enough: Callable[[], bool]) -> bool:
        """Move until `enough`, which is asked whenever a task has passed a point or waits; False if all rests first."""
        world, scheduler = self._world, self._world.scheduler
        chooser, injector = scheduler.chooser, world.injector
        scheduler.chooser = self
        if injector is None:
            # Points are asked whether they give way only where something could strike.
            world.injector = NoFaults()
        try:
            return self._run(self._moves(enough))
        finally:
            scheduler.chooser, world.injector = chooser, injector

    def _run(self, moves: Generator[Any, Any, bool]) -> bool:
        try:
            foreign = next(moves)
            while True:
                foreign = moves.throw(foreign_error(foreign))
        except StopIteration as stop:
            return bool(stop.value)

    def _moves(self, enough: Callable[[], bool]) -> Generator[Any, Any, bool]:
        scheduler = self._world.scheduler
        ready = scheduler._ready
        while True:
            while ready:
                task = self._picked = self.pick(ready)
                if task.done:
                    continue
                yield from scheduler.step(task)
                if enough():
                    return True
            if not scheduler.fire_next():
                return False

    # --- what the world asks ------------------------------------------------------------------------------------------

    def pick(self, ready: deque[Task[Any]]) -> Task[Any]:
        """First in, first out."""
        return ready.popleft()

    def gives_way(self, point: str) -> bool:
        """Whether a task that passes a point gives way there."""
        return point not in _NEVER_AWAITED and not point.startswith(SERVICE_CALL)

    async def pass_point(self, world: World, point: str, passing: Callable[[], Any]) -> Any:  # noqa: ARG002
        """Pass a point and give way; work that is stepped inside another step does not."""
        own = world.scheduler.current is self._picked
        if own:
            # Points that were passed since, within plain calls, are to be seen before this one.
            await TURN
        try:
            result = passing()
            if type(result) is CoroutineType:
                result = await result
        except Exception:
            if own:
                await TURN
            raise
        if own:
            await TURN
        return result
