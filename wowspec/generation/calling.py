"""Calls a test's function again and again: without faults, to learn where they can strike, and under plans."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from hypothesis import strategies as st

from ..errors import SpecError
from ..exploration.addresses import Selection, faults_along
from ..exploration.driver import Ended, PlanDriver, driven_root, ends_of
from ..exploration.explore import SOUGHT, profile_of_way
from ..exploration.playing import Played, Way, play
from ..exploration.trial import Allowances, Trial
from ..exploration.witness import ports_of
from ..faults.planned import MOST_VISITS
from ..faults.plans import Address, Plan, PlannedFault
from ..specs import injecting, tracking
from ..specs.builder import Spec
from ..specs.nodes import Node, Setup, When, WhenConcurrently
from ..specs.session import Profile
from ..world.points import point_row
from ..world.schedules import Schedule
from .judging import Judge
from .plans import plans_of

#: A run under faults may pass so many points for each that the fault-free one passes, and so many besides.
_VISITS_TIMES, _VISITS_MORE = 40, 2_000
#: How often a step is retried at most, where the runtime retries: visits so far behind the last are worth a fault.
_RETRIES: Final = 3
#: So many plans of one fault are run at most to learn which visits come to be after a fault alone.
MOST_PROBES: Final = 400


@dataclass(slots=True, eq=False)
class Called:
    """What came of one call of the function.

    Attributes:
        trials: one for each way of steps that it went.
        error: what it raised.
        schedules: the orders of commands in flight, as `schedule=` takes them.
    """

    trials: list[Trial]
    error: Exception | None = None
    schedules: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Asked:
    """How a function is called.

    Attributes:
        root: the steps that come before what it adds: the subject, or a whole spec.
        profile: in place of the spec's own.
        selection: which points and kinds.
        allowed: what is declared to be right.
        laws: whether the laws of runs are checked.
    """

    root: Node
    profile: Profile | None
    selection: Selection
    allowed: Allowances
    laws: bool = True


class Calls:
    """The calls of one function with the same arguments.

    Args:
        function: gets a spec.
        asked: how.
        probes: whether to run every plan of one fault, to learn which visits come to be after a fault alone; else
            retries are reckoned with where the runtime retries.

    Raises:
        SpecError: if the function runs nothing.
        Exception: whatever the function raises without any fault.
    """

    def __init__(self, function: Callable[[Spec[Any]], Any], asked: Asked, *, probes: bool) -> None:
        self._function = function
        self._asked = asked
        # Without faults it has come to rest.
        self._most_visits = MOST_VISITS
        self._bases: list[Trial] = []
        self._plans: st.SearchStrategy[Plan] | None = None
        self._require_plain_run()
        called = self.call(Plan(), record=True)
        if called.error is not None:
            raise called.error
        self._bases = called.trials
        longest = max(len(trial.played.rows) for trial in called.trials)
        self._most_visits = _VISITS_TIMES * longest + _VISITS_MORE
        self.profile: Profile = profile_of_way(called.trials[0].way)
        self.judge: Judge = Judge(lambda plan: self.call(plan).trials, self.profile)
        first = list(dict.fromkeys(fault for trial in called.trials for fault in self._faults(trial.played, 0)))
        #: Faults that break something alone, where each was tried.
        self.failing: list[PlannedFault] = []
        #: Every fault that may be worth drawing, in canonical order: those of the fault-free run first.
        self.faults: list[PlannedFault] = [*first, *(self._probed(first) if probes else _retried(first))]

    def plans(self, max_faults: int) -> st.SearchStrategy[Plan]:
        """Plans of these faults; made once, since making a strategy costs more than drawing from it."""
        if self._plans is None and self.failing and max_faults:
            # Nothing is simpler than what is known to fail alone.
            self._plans = st.sampled_from([Plan((fault,)) for fault in self.failing])
        elif self._plans is None:
            self._plans = plans_of(self.faults, max_faults)
        return self._plans

    @property
    def is_concurrent(self) -> bool:
        """Whether commands are in flight together, so that schedules matter."""
        return any(isinstance(node.step, WhenConcurrently) for trial in self._bases for node in trial.way.nodes)

    def judge_of(self, schedule: Schedule) -> Judge:
        """Who judges the runs with commands in flight in this order."""
        if not schedule:
            return self.judge
        return Judge(lambda plan: self.call(plan, schedule).trials, self.profile)

    def _require_plain_run(self) -> None:
        """The function as an ordinary test: its expectations hold without faults."""
        __tracebackhide__ = True
        with tracking.aside() as tracker, kept_services():
            answer = self._function(Spec(tracking.track(_copied(self._asked.root))))
            if inspect.iscoroutine(answer):
                answer.close()
                raise SpecError(
                    "@failure_orderings above a coroutine function",
                    why="it is called again for each plan, by a world that runs no event loop",
                    instead="def instead of async def: handlers may be coroutines all the same",
                )
            if not ends_of(tracker.nodes):
                raise SpecError(
                    "a test under @failure_orderings runs nothing",
                    why="faults strike while commands run",
                    instead="run = ordering.given(...).when(SomeCommand(...)).run() in it",
                )
            tracker.finish(self._function)
        tracking.note_inner(tracker)

    def call(self, plan: Plan, schedule: Schedule = (), *, record: bool = False) -> Called:
        """Call the function under a plan.

        Raises:
            SpecError: if the author of the test or of its domain erred.
        """
        __tracebackhide__ = True
        like = Way((), self._asked.profile, SOUGHT)
        driver = PlanDriver(plan, like, record=record, most_visits=self._most_visits, schedule=schedule)
        error: Exception | None = None
        with tracking.aside() as tracker, kept_services():
            try:
                self._function(Spec(driven_root(self._asked.root, None, driver)))
            except SpecError:
                raise
            except Ended:
                pass
            except Exception as raised:  # noqa: BLE001 - whatever the function's own assertions raise
                error = raised
            ends = ends_of(tracker.nodes)
        trials = [self._trial(driver, end, place, plain=not plan and not schedule) for place, end in enumerate(ends)]
        schedules = [text for trial in trials for text in trial.played.schedules]
        return Called(trials, error, schedules)

    def _trial(self, driver: PlanDriver, end: Node, place: int, *, plain: bool) -> Trial:
        played, way = driver.played(end), driver.way_of(end)
        if played.author_error is not None:
            raise played.author_error
        base = self._bases[place] if place < len(self._bases) else None
        if base is None or not _same_way(base.way, way):
            base = Trial(way, played if plain else play(way, Plan()), None, self._asked.allowed)
        return Trial(way, played, base, self._asked.allowed)

    # --- where faults can strike --------------------------------------------------------------------------------------

    def _faults(self, played: Played, since: int) -> Iterator[PlannedFault]:
        reached = played.armory.reached or []
        services = played.session.world.services
        return faults_along(reached[since:], ports_of(self.profile), self._asked.selection, services)

    def _probed(self, first: list[PlannedFault]) -> list[PlannedFault]:
        known = {fault.address for fault in first}
        found: dict[PlannedFault, None] = {}
        for fault in first[:MOST_PROBES]:
            called = self.call(Plan((fault,)), record=True)
            for trial in called.trials:
                for other in self._faults(trial.played, trial.played.armory.last_strike):
                    if other.address not in known:
                        found.setdefault(other)
            blame = self.judge.judged(Plan((fault,)), called.trials).blame if self._asked.laws else None
            if blame is not None or (called.error is not None and not is_of_hypothesis(called.error)):
                self.failing.append(fault)
        return list(found)


def is_of_hypothesis(error: BaseException) -> bool:
    """Whether an error is one by which Hypothesis steers: an example that is given up, a flaky test."""
    return type(error).__module__.partition(".")[0] == "hypothesis"


@contextmanager
def kept_services() -> Iterator[None]:
    """Services that a spec is given are copied before anybody uses them: its steps are run again."""
    injecting.want_kept()
    try:
        yield
    finally:
        injecting.no_longer_want_kept()


def _retried(first: list[PlannedFault]) -> list[PlannedFault]:
    """The same faults at the visits that retries make, where the runtime retries."""
    last: dict[tuple[str, str], int] = {}
    for fault in first:
        place = (fault.address.chain, fault.address.point)
        last[place] = max(last.get(place, 0), fault.address.visit)
    found: list[PlannedFault] = []
    for fault in first:
        chain, point, visit = fault.address.chain, fault.address.point, fault.address.visit
        row = point_row(point)
        if row is None or not row.retried_by or visit != last[chain, point]:
            continue
        found += [
            PlannedFault(Address(chain, point, visit + more), fault.kind, number=fault.number)
            for more in range(1, _RETRIES + 1)
        ]
    return sorted(found, key=lambda fault: fault.address.visit)


def _copied(root: Node) -> Node:
    """The same steps, for a spec that nobody has run or judged."""
    node: Node | None = None
    for original in root.path():
        node = Node(node, original.step, original.name, place=original.place, calls=original.calls)
    assert node is not None
    return node


def _same_way(one: Way, other: Way) -> bool:
    """Whether two ways say the same, as far as steps can be compared."""
    return len(one.nodes) == len(other.nodes) and all(map(_same_step, one.nodes, other.nodes))


def _same_step(one: Node, other: Node) -> bool:
    mine, theirs = one.step, other.step
    if type(mine) is not type(theirs):
        return False
    if isinstance(mine, Setup) and isinstance(theirs, Setup):
        return mine.verb == theirs.verb and one.place == other.place
    if isinstance(mine, When) and isinstance(theirs, When) and callable(mine.command) and callable(theirs.command):
        return one.place == other.place and mine.options == theirs.options
    return mine == theirs
