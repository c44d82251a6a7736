"""What came before what in a run: which steps depend on each other, which could as well have come the other way round.

A *step* is what a task does from one choice to the next. Two steps depend on each other if one task does both, if one
woke the other's task, or if both touched the same thing and one of them changed it; time that passes comes after all
that was before. Orders of the same steps that keep dependent ones in their order are the same to everybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
        id: what it is: equal for the same task in two runs.
        story: a number for all that it did and saw; equal in two runs exactly if that is equal.
        seen: for each actor, how many of its steps come before this one's next step.
        steps: how many steps it made.
        last: what its latest step touched.
    """

    id: int
    story: int
    seen: dict[int, int]
    steps: int = 0
    last: Sequence[Touch] = ()


@dataclass(slots=True)
class Step:
    """One step.

    Attributes:
        actor: whose.
        count: its how manieth.
        event: what it is: equal for the same step, after the same things, in two runs.
        choice: the choice at which it was taken; -1: there was none.
        seen: what comes before whatever comes after it.
    """

    actor: int
    count: int
    event: int
    choice: int
    seen: dict[int, int]


@dataclass(frozen=True, slots=True)
class Race:
    """Two steps that depend on each other, although nothing but their order made the first one the first.

    Attributes:
        first: the place of the first step.
        second: the place of the second one.
        event: the first step.
        late: the actor of the second one.
        story: what that one had done and seen before it.
        seen: what comes before the second step anyway.
    """

    first: int
    second: int
    event: int
    late: int
    story: int
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
        #: Places of the latest step that changed a thing, and of those that looked at it since.
        self._writers: dict[Any, int] = {}
        self._readers: dict[Any, list[int]] = {}
        self.steps: list[Step] = []
        self.races: list[Race] = []

    def born(self, name: str, cause: Actor | None, place: int) -> Actor:
        """A new actor, the `place`-th that the last step of another one (None: time) let appear."""
        origin = -1 - len(self.steps) if cause is None else cause.story
        number = self._numbers.of("born", origin, place, name)
        actor = Actor(number, number, dict(self._barrier if cause is None else cause.seen))
        self._actors.append(actor)
        return actor

    def woken(self, actor: Actor, cause: Actor | None) -> None:
        """An actor can go on because of another one's last step (None: of time)."""
        if cause is None:
            for other in self._actors:
                self._barrier[other.id] = other.steps
        actor.story = self._numbers.of("woken", actor.story, -1 if cause is None else cause.story)
        _join(actor.seen, self._barrier if cause is None else cause.seen)

    def stepped(self, actor: Actor, choice: int, touched: Sequence[Touch]) -> None:
        """An actor made a step."""
        place, steps = len(self.steps), self.steps
        writers, readers = self._writers, self._readers
        told: list[Any] = []
        met: list[int] = []
        for thing, changes in touched:
            writer = writers.get(thing)
            others = [] if writer is None else [writer]
            if changes:
                others += readers.get(thing, ())
            told.append((thing, changes, tuple(sorted(steps[other].event for other in others))))
            met += others
        before = None
        for other in met:
            step = steps[other]
            if step.actor != actor.id and actor.seen.get(step.actor, 0) < step.count:
                before = dict(actor.seen) if before is None else before
                self.races.append(Race(other, place, step.event, actor.id, actor.story, before))
        for other in met:
            _join(actor.seen, steps[other].seen)
        actor.steps += 1
        actor.seen[actor.id] = actor.steps
        actor.story = self._numbers.of("step", actor.story, tuple(told))
        actor.last = touched
        steps.append(Step(actor.id, actor.steps, actor.story, choice, dict(actor.seen)))
        for thing, changes in touched:
            if changes:
                writers[thing] = place
                readers.pop(thing, None)
            else:
                readers.setdefault(thing, []).append(place)

    def state(self, nanos: int, ready: Iterable[Actor]) -> int:
        """A number for the state of the world: equal in two runs whose states are equal."""
        return self._numbers.of(
            "state",
            nanos,
            tuple(sorted(actor.story for actor in ready)),
            tuple(sorted(actor.story for actor in self._actors)),
        )


def _join(seen: dict[int, int], other: dict[int, int]) -> None:
    for number, count in other.items():
        if seen.get(number, 0) < count:
            seen[number] = count
