"""Which ready task is stepped next, as choices that can be replayed.

Theory of operation. Without choices a scheduler is first in, first out, and a task goes on through points until it
waits. With `Choices`, a task that passes a point gives way: it stands first in the queue, and where others are ready
too, there is a choice between them. Choice 0 is always what would happen anyway. A *schedule* is the list of choices
that were made; those after its end are 0, so the empty schedule is the ordinary run. Virtual time passes only when
nothing is ready.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final

from ..errors import SpecError
from .histories import Actor, History, Numbers, Touch
from .points import COMMAND_ACKNOWLEDGE, EVENT_DELIVER, POINTS, SERVICE_CALL
from .scheduler import TURN, Task
from .schedules import Schedule, schedule_text
from .trace import TraceRow

if TYPE_CHECKING:
    from .world import Strike, World

#: What passing a point touches, in a process (by its machine id).
Footprint = Callable[[TraceRow, int], Iterable[Touch]]

#: State that functions of the user's share, of which no point tells.
USER_CODE: Final = "user code"

#: Points that are never awaited, so that no task can give way there.
_NEVER_AWAITED: Final = frozenset(row.name for row in POINTS if not row.kinds)
#: Passing these touches nothing that anybody shares.
_LOCAL: Final = frozenset({COMMAND_ACKNOWLEDGE})


_STALE: Final = "the schedule belongs to another spec, or the code has changed since it was printed"
_TAKE_NEW: Final = "leave schedule= out, and take the line that a new failure prints"


class Joined(BaseException):
    """A run came to a state that the search knows; no `Exception`, so that nobody takes it for a failure."""


class NoFaults:
    """Stands where faults would be armed: nothing strikes."""

    __slots__ = ()

    def visit(self, row: TraceRow) -> Strike | None:  # noqa: ARG002
        """Nothing."""
        return None

    def aims_at(self, prefix: str) -> bool:  # noqa: ARG002
        """Nothing is armed anywhere."""
        return False


def everything(row: TraceRow, process: int) -> Iterable[Touch]:  # noqa: ARG001
    """The footprint that knows nothing: every step touches the same thing, so that no two orders are the same."""
    return ((USER_CODE, True),)


@dataclass(slots=True)
class Offer:
    """A choice that came up.

    Attributes:
        taken: the place of the task that was taken.
        state: the state in which it came up.
        step: how many steps came before it.
        ready: the tasks that were ready, as actors of the history, in their order, with how many steps each had made.
    """

    taken: int
    state: int
    step: int
    ready: dict[int, int]


class Choices:
    """Decides for one run which ready task is stepped next: first a prefix, then always the ordinary one.

    Args:
        prefix: the choices to make first.
        footprint: what passing a point touches.
        numbers: of the search that this run belongs to.
        known: states at which to break the run off (`Joined`), once the prefix is behind it.
        lenient: whether a choice among fewer tasks than it names takes the last of them.
    """

    __slots__ = (
        "_actors", "_choice", "_footprint", "_known", "_lenient", "_passed", "_picked", "_prefix", "_slept", "_touched",
        "_waited", "_worlds", "history", "joined", "offers", "passed_by",
    )  # fmt: skip

    def __init__(
        self,
        prefix: Schedule = (),
        *,
        footprint: Footprint = everything,
        numbers: Numbers | None = None,
        known: Container[int] = frozenset(),
        lenient: bool = False,
    ) -> None:
        self._prefix = prefix
        self._lenient = lenient
        self._footprint = footprint
        self._known = known
        self._worlds: list[World] = []
        self._actors: dict[Task[Any], Actor] = {}
        self._picked: Task[Any] | None = None
        #: The choice at which the step that is going on was taken.
        self._choice = -1
        #: Whether that step has had an effect that others can see, and what it touched.
        self._passed = False
        self._touched: list[Touch] = []
        #: Tasks that slept, and were not stepped since.
        self._slept: set[Task[Any]] = set()
        #: Tasks that were ready before the step that is going on.
        self._waited: set[Task[Any]] = set()
        self.history: History = History(numbers or Numbers())
        self.offers: list[Offer] = []
        #: The known state at which the run was broken off; -1: it was not.
        self.joined: int = -1
        #: Which actor passed a point, by the place of its row in the trace.
        self.passed_by: dict[int, int] = {}

    @property
    def schedule(self) -> Schedule:
        """The choices that were made."""
        return tuple(offer.taken for offer in self.offers)

    @property
    def text(self) -> str:
        """The schedule as text."""
        return schedule_text(self.schedule)

    def attach(self, world: World) -> None:
        """Decide in this world from now on; worlds that share a scheduler are processes."""
        world.scheduler.chooser = self
        if world.injector is None:
            world.injector = NoFaults()
        self._worlds.append(world)

    def detach(self) -> None:
        """Leave the worlds to their ordinary order again."""
        self._end_step(())
        for world in self._worlds:
            world.scheduler.chooser = None
            if isinstance(world.injector, NoFaults):
                world.injector = None
        self._worlds.clear()

    def require_used(self) -> None:
        """Refuse a schedule with choices that never came up.

        Raises:
            SpecError: which says how many did.
        """
        came = len(self.offers)
        if len(self._prefix) > came:
            raise SpecError(
                f"schedule={schedule_text(self._prefix)!r} has {len(self._prefix)} choices, but only {came} came up",
                why=_STALE,
                instead=_TAKE_NEW,
            )

    def abandon(self) -> None:
        """Break the run off: nothing moves in these worlds any more."""
        for world in self._worlds:
            world.scheduler.abandon()
        self.detach()

    # --- at a point ---------------------------------------------------------------------------------------------------

    def gives_way(self, point: str) -> bool:
        """Whether a task that passes a point gives way there; a service's own calls say themselves whether they do."""
        return point not in _NEVER_AWAITED and not point.startswith(SERVICE_CALL)

    async def pass_point(self, world: World, point: str, passing: Callable[[], Any]) -> Any:
        """Give way, let the effect happen, give way again; work that is stepped inside another step does not."""
        task = self._picked
        if task is None or world.scheduler.current is not task:
            return await self._passing(world, passing)
        if self._passed and world.scheduler.has_ready:
            await TURN
        try:
            result = await self._passing(world, passing)
        except Exception:
            await self._after(world, point)
            raise
        await self._after(world, point)
        return result

    async def _passing(self, world: World, passing: Callable[[], Any]) -> Any:
        trace = world.trace
        place = len(trace)
        try:
            result = passing()
            if type(result) is CoroutineType:
                result = await result
        finally:
            row = trace.row_at(place)
            if self._picked is not None:
                self.passed_by[place] = self._actors[self._picked].id
            self._touched.extend(self._footprint(row, world.ids.machine_id))
            if row.point not in _LOCAL:
                self._passed = True
        return result

    async def _after(self, world: World, point: str) -> None:
        # What follows the delivery of an event is the function's body: it belongs to the same step.
        if self._passed and world.scheduler.has_ready and not point.startswith(EVENT_DELIVER):
            await TURN

    # --- at a choice --------------------------------------------------------------------------------------------------

    def pick(self, ready: deque[Task[Any]]) -> Task[Any]:
        """Take the next task out of the queue of those that are ready.

        Raises:
            SpecError: if the schedule names a task that is not there.
            Joined: if the state is known.
        """
        ended = [task for task in ready if task.done]
        for task in ended:
            ready.remove(task)
        if not ready:
            return ended[0]
        self._end_step(ready)
        self._choice = -1
        task = ready.popleft() if len(ready) == 1 else self._choose(ready)
        self._picked = task
        self._passed = False
        return task

    def _choose(self, ready: deque[Task[Any]]) -> Task[Any]:
        place, count = len(self.offers), len(ready)
        actors = [self._actors[task] for task in ready]
        state = self.history.state(ready[0]._scheduler.clock.nanos, actors)
        taken = 0
        if place < len(self._prefix):
            taken = min(self._prefix[place], count - 1) if self._lenient else self._prefix[place]
        elif state in self._known:
            self.joined = state
            raise Joined
        if taken >= count:
            raise SpecError(
                f"schedule={schedule_text(self._prefix)!r}: choice {place + 1} is {taken}, but {count} tasks are ready",
                why=_STALE,
                instead=_TAKE_NEW,
            )
        ready_actors = {actor.id: actor.steps for actor in actors}
        self.offers.append(Offer(taken, state, len(self.history.steps), ready_actors))
        self._choice = place
        task = ready[taken]
        del ready[taken]
        return task

    def _end_step(self, ready: Iterable[Task[Any]]) -> None:
        """Tell the history of the step that has just ended, and of the tasks that appeared or woke since."""
        task, self._picked = self._picked, None
        actors = self._actors
        cause: Actor | None = None
        if task is not None:
            cause = actors[task]
            self.history.stepped(cause, self._choice, self._touched_by(task, cause))
            self._touched = []
        place = 0
        for other in ready:
            actor = actors.get(other)
            if actor is None:
                actors[other] = self.history.born(other.name, cause, place)
                place += 1
            elif other is not task and other not in self._waited:
                self.history.woken(actor, cause)
        self._waited = set(ready)

    def _touched_by(self, task: Task[Any], actor: Actor) -> Sequence[Touch]:
        """What a step touched; one that passed no point may touch again what its task touched last."""
        touched = self._touched or list(actor.last[-1:])
        sleeps = task._timer is not None
        if sleeps or task in self._slept:
            # Before and after a sleep of its own a function may do anything.
            touched.append((USER_CODE, True))
        self._slept.discard(task)
        if sleeps:
            self._slept.add(task)
        return touched
