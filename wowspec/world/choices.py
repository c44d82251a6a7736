"""Which ready task is stepped next, as choices that can be replayed; and a search that explores them.

Theory of operation. Without choices a scheduler is first in, first out, and a task goes on through points until it
waits. With `Choices`, a task that passes a point gives way: it stands first in the queue, and where others are ready
too, there is a choice between them. Choice 0 is always what would happen anyway. A *schedule* is the list of choices
that were made; those after its end are 0, so the empty schedule is the ordinary run.

A search begins with the empty schedule and tries the other choices of each run, those that depart least from the
ordinary order first. It runs nothing twice: what each step touched is recorded (its footprint), and two runs whose
steps touched the same things in the same order are in the same state, whatever happened beside. A run that comes to a
known state is broken off, since its rest is known too. Virtual time passes only when nothing is ready.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ..errors import SpecError
from .points import COMMAND_ACKNOWLEDGE, EVENT_DELIVER, POINTS, SERVICE_CALL
from .scheduler import TURN, Task
from .trace import TraceRow

if TYPE_CHECKING:
    from .world import Strike, World

T = TypeVar("T")

#: Something that steps share, and whether a step changed it.
Touch = tuple[Any, bool]
#: What passing a point touched, in a process (by its machine id).
Footprint = Callable[[TraceRow, int], Iterable[Touch]]

#: State that functions of the user's share, of which no point tells.
USER_CODE: Final = "user code"

#: Points that are never awaited, so that no task can give way there.
NEVER_AWAITED: Final = frozenset(row.name for row in POINTS if not row.kinds)
#: The function's body follows this point at once.
_BEGINS: Final = EVENT_DELIVER
#: Passing these touches nothing that anybody shares.
_LOCAL: Final = frozenset({COMMAND_ACKNOWLEDGE})

_ZEROS: Final = re.compile(r"0x([1-9][0-9]*)")


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


# --- schedules as text ------------------------------------------------------------------------------------------------


def schedule_text(choices: Iterable[int]) -> str:
    """A schedule as text: `0.2.1`; a longer run of zeros is written `0x7`, and trailing zeros are left out."""
    kept = list(choices)
    while kept and not kept[-1]:
        kept.pop()
    parts: list[str] = []
    zeros = 0
    for choice in kept:
        if not choice:
            zeros += 1
            continue
        parts += [f"0x{zeros}"] if zeros > 2 else ["0"] * zeros
        zeros = 0
        parts.append(str(choice))
    return ".".join(parts) or "0"


def parse_schedule(text: str) -> tuple[int, ...]:
    """The choices that a text stands for.

    Raises:
        SpecError: if it is no schedule.
    """
    choices: list[int] = []
    for part in str(text).split("."):
        zeros = _ZEROS.fullmatch(part)
        if zeros is not None:
            choices += [0] * int(zeros[1])
        elif part.isascii() and part.isdecimal():
            choices.append(int(part))
        else:
            raise SpecError(
                f"schedule={text!r}",
                why="a schedule is a list of choices, each the place of a task among those that are ready",
                instead='schedule="0.2.1", as a failure prints it',
            )
    while choices and not choices[-1]:
        choices.pop()
    return tuple(choices)


# --- one run ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Offer:
    """A choice that came up: between how many tasks, which was taken, in which state."""

    count: int
    taken: int
    state: int


class Memory:
    """What a search remembers; states and histories are small numbers, exact and the same in every run."""

    __slots__ = ("_ids", "known")

    def __init__(self) -> None:
        self._ids: dict[Any, int] = {}
        #: States whose every choice is taken care of.
        self.known: set[int] = set()

    def id_of(self, *parts: Any) -> int:
        """The number that stands for this and nothing else."""
        ids = self._ids
        return ids.setdefault(parts, len(ids))


class Choices:
    """Decides for one run which ready task is stepped next: first a prefix, then always the ordinary one.

    Args:
        prefix: the choices to make first.
        footprint: what passing a point touches.
        memory: of the search that this run belongs to.
        stop_at_known: whether to break the run off (`Joined`) at a state that is known.
    """

    __slots__ = (
        "_clocks", "_footprint", "_histories", "_memory", "_passed", "_picked", "_prefix", "_readers", "_resting",
        "_slept", "_stop_at_known", "_touched", "_waited_its_turn", "_worlds", "offers",
    )  # fmt: skip

    def __init__(
        self,
        prefix: tuple[int, ...] = (),
        *,
        footprint: Footprint = everything,
        memory: Memory | None = None,
        stop_at_known: bool = False,
    ) -> None:
        self._prefix = prefix
        self._footprint = footprint
        self._memory = memory or Memory()
        self._stop_at_known = stop_at_known
        self._worlds: list[World] = []
        self._picked: Task[Any] | None = None
        #: Whether the step that is going on has had an effect that others can see.
        self._passed = False
        self._touched: list[Touch] = []
        #: Each task's history as a number; kept for those that ended too, since their results are part of the state.
        self._clocks: dict[Task[Any], int] = {}
        #: What each task touched last; a step that passes no point touches it again.
        self._resting: dict[Task[Any], list[Touch]] = {}
        self._histories: dict[Any, int] = {}
        self._readers: dict[Any, tuple[int, ...]] = {}
        #: Tasks that slept, and were not stepped since.
        self._slept: set[Task[Any]] = set()
        #: Tasks that were ready before the step that is going on.
        self._waited_its_turn: set[Task[Any]] = set()
        self.offers: list[Offer] = []

    @property
    def schedule(self) -> tuple[int, ...]:
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
        for world in self._worlds:
            world.scheduler.chooser = None
            if isinstance(world.injector, NoFaults):
                world.injector = None
        self._worlds.clear()

    def abandon(self) -> None:
        """Break the run off: nothing moves in these worlds any more."""
        for world in self._worlds:
            world.scheduler.abandon()
        self.detach()

    # --- at a point ---------------------------------------------------------------------------------------------------

    def gives_way(self, point: str) -> bool:
        """Whether a task that passes a point gives way there."""
        return point not in NEVER_AWAITED and not point.startswith(SERVICE_CALL)

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
        rows = world.trace
        place = len(rows)
        try:
            result = passing()
            if type(result) is CoroutineType:
                result = await result
        finally:
            row = rows.kept[place]
            assert isinstance(row, TraceRow)
            self._touched.extend(self._footprint(row, world.ids.machine_id))
            if row.point not in _LOCAL:
                self._passed = True
        return result

    async def _after(self, world: World, point: str) -> None:
        if self._passed and world.scheduler.has_ready and not point.startswith(_BEGINS):
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
        count = len(ready)
        task = ready.popleft() if count == 1 else self._choose(ready, count)
        self._picked = task
        self._passed = False
        return task

    def _choose(self, ready: deque[Task[Any]], count: int) -> Task[Any]:
        place = len(self.offers)
        state = self._state(ready)
        taken = 0
        if place < len(self._prefix):
            taken = self._prefix[place]
        elif self._stop_at_known and state in self._memory.known:
            raise Joined
        if taken >= count:
            raise SpecError(
                f"schedule={schedule_text(self._prefix)!r}: choice {place + 1} is {taken}, but {count} tasks are ready",
                why="the schedule belongs to another spec, or the code has changed since it was printed",
                instead="leave schedule= out, and take the line that a new failure prints",
            )
        self.offers.append(Offer(count, taken, state))
        task = ready[taken]
        del ready[taken]
        return task

    # --- what a state is ----------------------------------------------------------------------------------------------

    def _end_step(self, ready: deque[Task[Any]]) -> None:
        """Add the step that has just ended to the histories of its task, of what it touched, and of whom it woke."""
        id_of, clocks = self._memory.id_of, self._clocks
        task, self._picked = self._picked, None
        cause = -1
        if task is not None:
            touched = self._touched or self._resting.get(task, [])
            sleeps = task._timer is not None
            if sleeps or task in self._slept:
                # Before and after a sleep of its own a function may do anything.
                touched = [*touched, (USER_CODE, True)]
            self._slept.discard(task)
            if sleeps:
                self._slept.add(task)
            cause = clocks[task] = self._stepped(clocks[task], touched)
            self._resting[task] = touched
            self._touched = []
        born = 0
        for other in ready:
            clock = clocks.get(other)
            if clock is None:
                clocks[other] = id_of("born", cause, born, other.name)
                born += 1
            elif other is not task and other not in self._waited_its_turn:
                clocks[other] = id_of("woken", clock, cause)
        self._waited_its_turn = set(ready)

    def _stepped(self, clock: int, touched: list[Touch]) -> int:
        id_of, histories, readers = self._memory.id_of, self._histories, self._readers
        seen = []
        for thing, changes in touched:
            before = histories.get(thing, -1)
            seen.append((thing, before, readers.get(thing, ()) if changes else None))
        clock = id_of("step", clock, tuple(seen))
        for thing, changes in touched:
            if changes:
                histories[thing] = clock
                readers.pop(thing, None)
            else:
                readers[thing] = tuple(sorted({*readers.get(thing, ()), clock}))
        return clock

    def _state(self, ready: deque[Task[Any]]) -> int:
        id_of, clocks = self._memory.id_of, self._clocks
        return id_of(
            "state",
            ready[0]._scheduler.clock.nanos,
            tuple(sorted(clocks[task] for task in ready)),
            tuple(sorted(clocks.values())),
        )


# --- the search -------------------------------------------------------------------------------------------------------


class Search:
    """Explores schedules: `for choices, outcome in search.outcomes(run)`.

    A *preemption* is a choice other than 0: a task goes first although it came later. Schedules with fewer come first.

    Args:
        footprint: what passing a point touches.
        max_schedules: how many runs to make; None: no limit.
        max_preemptions: how many preemptions a schedule may have; None: no limit.

    Attributes:
        runs: how many runs were begun.
        joined: how many of them came to a known state, and were broken off.
        too_many: how many schedules were left out, with all that begin with them, for having too many preemptions.
    """

    __slots__ = ("_footprint", "_levels", "_memory", "joined", "max_preemptions", "max_schedules", "runs", "too_many")

    def __init__(
        self,
        *,
        footprint: Footprint = everything,
        max_schedules: int | None = None,
        max_preemptions: int | None = None,
    ) -> None:
        self._footprint = footprint
        self._memory = Memory()
        self._levels: list[deque[tuple[int, ...]]] = [deque([()])]
        self.max_schedules = max_schedules
        self.max_preemptions = max_preemptions
        self.runs = 0
        self.joined = 0
        self.too_many = 0

    def outcomes(self, run: Callable[[Choices], T]) -> Iterator[tuple[Choices, T]]:
        """What came of each run that was not broken off, with its choices.

        Args:
            run: makes a world, attaches the choices to it, and runs it until it is at rest.
        """
        while self.pending and (self.max_schedules is None or self.runs < self.max_schedules):
            level, prefix = self._next()
            choices = Choices(prefix, footprint=self._footprint, memory=self._memory, stop_at_known=True)
            self.runs += 1
            try:
                outcome = run(choices)
            except Joined:
                self.joined += 1
                choices.abandon()
                self._learn(choices, prefix, level)
                continue
            choices.detach()
            self._learn(choices, prefix, level)
            yield choices, outcome

    @property
    def pending(self) -> int:
        """How many schedules are known and were not run."""
        return sum(map(len, self._levels))

    @property
    def least_pending(self) -> int | None:
        """The fewest preemptions of a schedule that was not run; None if there is none."""
        return next((level for level, waiting in enumerate(self._levels) if waiting), None)

    @property
    def is_complete(self) -> bool:
        """Whether every order was run, up to those that make no difference."""
        return not self.pending and not self.too_many

    def _next(self) -> tuple[int, tuple[int, ...]]:
        for level, waiting in enumerate(self._levels):
            if waiting:
                return level, waiting.popleft()
        raise AssertionError

    def _learn(self, choices: Choices, prefix: tuple[int, ...], level: int) -> None:
        taken = choices.schedule
        known = self._memory.known
        for place in range(len(prefix), len(taken)):
            offer = choices.offers[place]
            if offer.state in known:
                continue
            known.add(offer.state)
            for other in range(1, offer.count):
                self._add((*taken[:place], other), level + 1)

    def _add(self, prefix: tuple[int, ...], level: int) -> None:
        if self.max_preemptions is not None and level > self.max_preemptions:
            self.too_many += 1
            return
        if level == len(self._levels):
            self._levels.append(deque())
        self._levels[level].append(prefix)
