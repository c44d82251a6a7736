"""Searches the orders in which the tasks of a world can run.

Theory of operation. The search begins with the empty schedule: the ordinary run. Wherever two steps of a run depend on
each other and could have come the other way round, the choice before the first of them is made otherwise in a run of
its own; schedules that depart least from the ordinary order come first. Orders that differ in independent steps alone
are the same to everybody and are not run again: a run that comes to a state in which another one was is broken off,
since its rest is known. What is learned behind a state is told to all ways that lead there. (Dynamic partial order
reduction, over states that are told apart by their histories.)
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from .choices import Choices, Footprint, Joined, Offer, everything
from .histories import Numbers, Race
from .schedules import Schedule

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class State:
    """A state in which a choice came up.

    Attributes:
        schedule: leads there.
        ready: who was ready, in the order that this schedule gives, with how many steps each had made.
        asked: who goes first in some run that was made or is planned.
        ways: the last steps of all that led here, by their events.
        races: between a step before this state and one behind it.
    """

    schedule: Schedule
    ready: dict[int, int]
    asked: set[int] = field(default_factory=set)
    ways: dict[tuple[int, ...], Way] = field(default_factory=dict)
    races: dict[tuple[int, int, int], Race] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Way:
    """From a state to the next one: the steps in between."""

    start: State
    events: tuple[int, ...]


class Search:
    """Explores schedules: `for choices, outcome in search.outcomes(run)`.

    A *preemption* is a choice other than 0: a task goes first although it came later.

    Args:
        footprint: what passing a point touches.
        max_schedules: how many runs to make; None: no limit.
        max_preemptions: how many preemptions a schedule may have; None: no limit.

    Attributes:
        runs: how many runs were begun.
        joined: how many of them came to a known state, and were broken off.
        refused: how many schedules were left out, with all that begin with them, for having too many preemptions.
    """

    __slots__ = (
        "_footprint", "_levels", "_nodes", "_numbers", "joined", "max_preemptions", "max_schedules",
        "refused", "runs",
    )  # fmt: skip

    def __init__(
        self,
        *,
        footprint: Footprint = everything,
        max_schedules: int | None = None,
        max_preemptions: int | None = None,
    ) -> None:
        self._footprint = footprint
        self._numbers = Numbers()
        #: States in which some run was, by their numbers.
        self._nodes: dict[int, State] = {}
        #: Schedules that are to be run, by their preemptions.
        self._levels: list[deque[Schedule]] = [deque([()])]
        self.max_schedules: int | None = max_schedules
        self.max_preemptions: int | None = max_preemptions
        self.runs: int = 0
        self.joined: int = 0
        self.refused: int = 0

    def outcomes(self, run: Callable[[Choices], T]) -> Iterator[tuple[Choices, T]]:
        """What came of each run that was not broken off, with its choices.

        Args:
            run: makes a world, attaches the choices to it, and runs it until it is at rest.
        """
        while self.pending and (self.max_schedules is None or self.runs < self.max_schedules):
            choices = Choices(self._next(), footprint=self._footprint, numbers=self._numbers, known=self._nodes)
            self.runs += 1
            try:
                outcome = run(choices)
            except Joined:
                self.joined += 1
                choices.abandon()
                self._learn(choices)
                continue
            except BaseException:
                choices.abandon()
                raise
            choices.detach()
            self._learn(choices)
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
        """Whether every order was run, up to those that are the same to everybody."""
        return not self.pending and not self.refused

    def _next(self) -> Schedule:
        return next(waiting for waiting in self._levels if waiting).popleft()

    def _learn(self, choices: Choices) -> None:
        """Enter a run into the graph of states, and plan runs in which its races end the other way."""
        offers, steps = choices.offers, choices.history.steps
        taken = choices.schedule
        nodes = [self._node(offer, taken[:place]) for place, offer in enumerate(offers)]
        ends = [offer.step for offer in offers[1:]] + [len(steps)]
        for place, node in enumerate(nodes):
            node.asked.add(steps[offers[place].step].actor)
            way = Way(node, tuple(step.event for step in steps[offers[place].step : ends[place]]))
            if place + 1 < len(nodes):
                self._lead(way, nodes[place + 1])
            elif choices.joined >= 0:
                self._lead(way, self._nodes[choices.joined])
        starts = [offer.step for offer in offers]
        for race in choices.history.races:
            place = bisect_right(starts, race.second) - 1
            if place < 0:
                continue
            if starts[place] == race.first:
                self._ask(nodes[place], race)
            elif starts[place] > race.first:
                self._tell(nodes[place], race)

    def _node(self, offer: Offer, schedule: Schedule) -> State:
        node = self._nodes.get(offer.state)
        if node is None:
            node = self._nodes[offer.state] = State(schedule, offer.ready)
        return node

    def _lead(self, way: Way, node: State) -> None:
        """A way leads to a state: what is known behind it concerns the steps on this way, too."""
        if way.events in node.ways:
            return
        node.ways[way.events] = way
        for race in list(node.races.values()):
            self._tell_along(way, race)

    def _tell(self, node: State, race: Race) -> None:
        """Behind a state there is a step that races with one before it."""
        waiting = [node]
        while waiting:
            node = waiting.pop()
            key = (race.event, race.late, race.story)
            if key in node.races:
                continue
            node.races[key] = race
            waiting += [way.start for way in node.ways.values() if self._passes(way, race)]

    def _tell_along(self, way: Way, race: Race) -> None:
        if self._passes(way, race):
            self._tell(way.start, race)

    def _passes(self, way: Way, race: Race) -> bool:
        """Whether the first step of a race lies before a way; if the way begins with it, the other order is planned."""
        if race.event not in way.events:
            return True
        if way.events[0] == race.event:
            self._ask(way.start, race)
        return False

    def _ask(self, node: State, race: Race) -> None:
        """Let the late step of a race, or what it waits for, go first in a state; whoever is ready, if none is."""
        wanted = list(node.ready)
        if race.late in node.ready:
            wanted = [race.late]
        else:
            wanted = [actor for actor, steps in node.ready.items() if race.seen.get(actor, 0) > steps][:1] or wanted
        for actor in wanted:
            if actor not in node.asked:
                node.asked.add(actor)
                self._add((*node.schedule, list(node.ready).index(actor)))

    def _add(self, schedule: Schedule) -> None:
        level = sum(1 for choice in schedule if choice)
        if self.max_preemptions is not None and level > self.max_preemptions:
            self.refused += 1
            return
        while level >= len(self._levels):
            self._levels.append(deque())
        self._levels[level].append(schedule)
