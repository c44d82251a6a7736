"""Searches the orders in which the tasks of a world can run.

Theory of operation. The search begins with the empty schedule: the ordinary run. Wherever two steps of a run depend on
each other and could have come the other way round, the choice before the first of them is made otherwise in a run of
its own; schedules that depart least from the ordinary order come first. Orders that differ in independent steps alone
are the same to everybody and are not run again: a run that comes to a state in which another one was is broken off,
since its rest is known. (Dynamic partial order reduction, over states that are told apart by their histories.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TypeVar

from .choices import Choices, Footprint, Joined, everything
from .histories import Numbers
from .schedules import Schedule

T = TypeVar("T")


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
        "_asked", "_footprint", "_known", "_levels", "_numbers", "joined", "max_preemptions", "max_schedules",
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
        #: States in which some run was.
        self._known: set[int] = set()
        #: Which task went first in which state, or is going to: state and the task's story.
        self._asked: set[tuple[int, int]] = set()
        #: Schedules that are to be run, by their preemptions.
        self._levels: list[deque[Schedule]] = [deque([()])]
        self.max_schedules = max_schedules
        self.max_preemptions = max_preemptions
        self.runs = 0
        self.joined = 0
        self.refused = 0

    def outcomes(self, run: Callable[[Choices], T]) -> Iterator[tuple[Choices, T]]:
        """What came of each run that was not broken off, with its choices.

        Args:
            run: makes a world, attaches the choices to it, and runs it until it is at rest.
        """
        while self.pending and (self.max_schedules is None or self.runs < self.max_schedules):
            choices = Choices(self._next(), footprint=self._footprint, numbers=self._numbers, known=self._known)
            self.runs += 1
            try:
                outcome = run(choices)
            except Joined:
                self.joined += 1
                choices.abandon()
                self._learn(choices)
                continue
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
        offers, history = choices.offers, choices.history
        for offer in offers:
            self._known.add(offer.state)
            self._asked.add((offer.state, offer.stories[offer.taken]))
        taken = choices.schedule
        for first, second, place in history.reversals():
            offer = offers[place]
            for actor in history.candidates(first, second, offer.ready):
                other = offer.ready.index(actor)
                key = (offer.state, offer.stories[other])
                if key not in self._asked:
                    self._asked.add(key)
                    self._add((*taken[:place], other))

    def _add(self, schedule: Schedule) -> None:
        level = sum(1 for choice in schedule if choice)
        if self.max_preemptions is not None and level > self.max_preemptions:
            self.refused += 1
            return
        while level >= len(self._levels):
            self._levels.append(deque())
        self._levels[level].append(schedule)
