"""What came before what in a run: which steps depend on each other, which could as well have come the other way round.

A *step* is what a task does from one choice to the next. Two steps depend on each other if one task does both, if one
woke the other's task, or if both touched the same thing and one of them changed it; time that passes comes after all
that was before. Orders of the same steps that keep dependent ones in their order are the same to everybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

#: Something that steps share, and whether a step changes it.
Touch = tuple[Any, bool]


class Numbers:
    """Gives equal things equal numbers: 0, 1, 2, … in the order in which they are first seen."""

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def of(self, *parts: Any) -> int:
        """The number that stands for this and nothing else."""
        numbers = self._numbers
        return numbers.setdefault(parts, len(numbers))


@dataclass(slots=True)
class Actor:
    """A task as a history sees it.

    Attributes:
        number: its place in the order in which tasks appeared.
        story: a number for all that it did and saw; equal in two runs exactly if that is equal.
        seen: for each actor (by number), how many of its steps come before this one's next step.
        steps: how many steps it made.
        last: what its latest step touched.
    """

    number: int
    story: int
    seen: dict[int, int]
    steps: int = 0
    last: Sequence[Touch] = ()


@dataclass(slots=True)
class Step:
    """One step: whose (and its how manieth), at which choice it was taken (-1: there was none), what it comes after."""

    actor: int
    count: int
    choice: int
    seen: dict[int, int]


class History:
    """The steps of one run.

    Args:
        numbers: shared by all runs of a search, so that equal states have equal numbers.
    """

    __slots__ = ("_actors", "_barrier", "_numbers", "_readers", "_writers", "races", "steps")

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        self._actors: list[Actor] = []
        self._barrier: dict[int, int] = {}
        #: Latest step that changed a thing (story and place), and those that looked at it since.
        self._writers: dict[Any, tuple[int, int]] = {}
        self._readers: dict[Any, list[tuple[int, int]]] = {}
        self.steps: list[Step] = []
        #: Pairs of steps that depend on each other, although nothing but their order made the first one the first.
        self.races: list[tuple[int, int]] = []

    def born(self, name: str, cause: Actor | None, place: int) -> Actor:
        """A new actor, the `place`-th that the last step of another one (None: time) let appear."""
        story = self._numbers.of("born", -1 if cause is None else cause.story, place, name)
        actor = Actor(len(self._actors), story, dict(self._barrier if cause is None else cause.seen))
        self._actors.append(actor)
        return actor

    def woken(self, actor: Actor, cause: Actor | None) -> None:
        """An actor can go on because of another one's last step (None: of time)."""
        if cause is None:
            self._pass_time()
        actor.story = self._numbers.of("woken", actor.story, -1 if cause is None else cause.story)
        _join(actor.seen, self._barrier if cause is None else cause.seen)

    def _pass_time(self) -> None:
        for actor in self._actors:
            self._barrier[actor.number] = actor.steps

    def stepped(self, actor: Actor, choice: int, touched: Sequence[Touch]) -> None:
        """An actor made a step."""
        place = len(self.steps)
        writers, readers = self._writers, self._readers
        before: dict[int, int] = {}
        told: list[Any] = []
        for thing, changes in touched:
            writer = writers.get(thing)
            others = [] if writer is None else [writer]
            if changes:
                others += readers.get(thing, ())
            told.append((thing, changes, tuple(sorted(story for story, _ in others))))
            for _, other in others:
                step = self.steps[other]
                if step.actor != actor.number and actor.seen.get(step.actor, 0) < step.count:
                    self.races.append((other, place))
                _join(before, step.seen)
        actor.steps += 1
        _join(actor.seen, before)
        actor.seen[actor.number] = actor.steps
        actor.story = self._numbers.of("step", actor.story, tuple(told))
        actor.last = touched
        self.steps.append(Step(actor.number, actor.steps, choice, dict(actor.seen)))
        for thing, changes in touched:
            if changes:
                writers[thing] = actor.story, place
                readers.pop(thing, None)
            else:
                readers.setdefault(thing, []).append((actor.story, place))

    def state(self, nanos: int, ready: Iterable[Actor]) -> int:
        """A number for the state of the world: equal in two runs whose states are equal."""
        return self._numbers.of(
            "state",
            nanos,
            tuple(sorted(actor.story for actor in ready)),
            tuple(sorted(actor.story for actor in self._actors)),
        )

    def candidates(self, first: int, second: int, ready: Sequence[int]) -> list[int]:
        """Who of those that were ready could go first, so that the second step of a race comes before the first.

        One of them is enough: the one whose step it is, or one that it waits for; if none was ready, all are given.
        """
        steps = self.steps
        late = steps[second]
        if late.actor in ready:
            return [late.actor]
        for step in steps[first + 1 : second]:
            if step.actor in ready and late.seen.get(step.actor, 0) >= step.count:
                return [step.actor]
        return list(ready)

    def reversals(self) -> Iterator[tuple[int, int, int]]:
        """The races that a choice could decide otherwise: first step, second step, the choice before the first."""
        for first, second in self.races:
            choice = self.steps[first].choice
            if choice >= 0:
                yield first, second, choice


def _join(seen: dict[int, int], other: dict[int, int]) -> None:
    for number, count in other.items():
        if seen.get(number, 0) < count:
            seen[number] = count
