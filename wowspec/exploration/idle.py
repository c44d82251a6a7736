"""What is given and changes nothing: each item is left out once, and the spec is run without it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from ..specs.again import Failure
from ..specs.items import On, Stream, TimeStep
from ..specs.nodes import History, Node, WhenConcurrently
from ..specs.placing import Place
from ..specs.render import BRIEF, render
from ..world.clock import NANOS_PER_MILLI, NANOS_PER_SECOND
from .perturbing import Perturbing
from .pictures import consequence_of, runs_of
from .strength import Strength, run_again, strength_of

#: Expectations of a number that counts what was given, too, by verb: what else they may speak of.
_COUNTS: Final[dict[str, tuple[str, ...]]] = {
    "expect_version": (),
    "expect_state_aggregate": ("version",),
    "expect_snapshot": ("version",),
}


@dataclass(frozen=True, slots=True)
class GivenItem:
    """One item of `given(...)`, of an `on(...)` or a `stream(...)` in it.

    Attributes:
        key: equal for what stands at the same place of the source.
        place: file and line of its `given`.
        item: the item.
        idle: whether the spec comes to the same without it.
    """

    key: str
    place: str
    item: str
    idle: bool


class Givens:
    """The items that are given on a way of steps that held; none where it cannot be run again.

    Attributes:
        looking: what was seen of the run as it is.
        items: places of the items.
    """

    def __init__(self, path: Sequence[Node]) -> None:
        self.looking: Perturbing = Perturbing()
        self.items: list[str] = []
        self._path = path
        self._shorter: dict[str, tuple[GivenItem, Sequence[Node]]] = {}
        if any(isinstance(node.step, WhenConcurrently) for node in path):
            return
        base = run_again(path, self.looking, consequence_of)
        if base.rerun is None or base.failures:
            return
        self._picture = base.picture
        self._look = partial(consequence_of, until=runs_of(base.rerun.nodes)[-1].session.world.clock.nanos)
        for at, node in enumerate(path):
            step, place = node.step, node.place
            if not isinstance(step, History):
                continue
            exactly = place.instruction if isinstance(place, Place) else at
            for index, item, rest in _without_one(step.items):
                shorter = [*path[:at], replace(node, step=replace(step, items=rest)), *path[at + 1 :]]
                given = GivenItem(f"{place}@{exactly}[{index}]", str(place), _written(item), idle=False)
                self._shorter[f"{at}[{index}]"] = given, shorter
        self.items = list(self._shorter)

    def item(self, place: str) -> GivenItem:
        """One of the items, not judged."""
        return self._shorter[place][0]

    def judge(self, place: str, seen: set[str]) -> GivenItem:
        """Leave out one of the items, and run the spec without it.

        Args:
            place: the item's.
            seen: names of the perturbations that the spec notices: without an idle item it notices them, too.
        """
        given, shorter = self._shorter[place]
        outcome = run_again(shorter, Perturbing(), self._look, _tells)
        idle = outcome.rerun is not None and not outcome.failures and outcome.picture == self._picture
        if idle and seen:
            without = strength_of(shorter, counts=_tells)
            idle = seen <= {tried.name for tried in without.tried if tried.noticed}
        return replace(given, idle=idle)


#: Judges all the items of a way of steps: gives each, in order.
JudgeMany = Callable[[Givens, set[str]], Iterable[GivenItem]]


def given_items(path: Sequence[Node], strength: Strength, judge_many: JudgeMany | None = None) -> list[GivenItem]:
    """The items that are given on a way of steps that held; none where it cannot be run again.

    An item without which the spec would notice less is not idle.

    Args:
        path: the steps.
        strength: what came of perturbing them.
        judge_many: has the runs made elsewhere; by default they are made here.
    """
    seen = {tried.name for tried in strength.tried if tried.noticed}
    givens = Givens(path)
    return [givens.judge(place, seen) for place in givens.items] if judge_many is None else [*judge_many(givens, seen)]


def _without_one(items: tuple[Any, ...]) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Each item that can be left out alone: its place, itself, and the items without it."""
    for index, item in enumerate(items):
        before, after = items[:index], items[index + 1 :]
        if isinstance(item, On) and item.items:
            for within, inner, rest in _without_one(item.items):
                yield f"{index}.{within}", inner, (*before, replace(item, items=rest), *after)
        elif isinstance(item, Stream) and len(item.events) > 1:
            for place, event in enumerate(item.events):
                fewer = (*item.events[:place], *item.events[place + 1 :])
                yield f"{index}.{place}", event, (*before, replace(item, events=fewer), *after)
        else:
            yield str(index), item, (*before, *after)


def _written(item: Any) -> str:
    if not isinstance(item, TimeStep):
        return render(item, BRIEF)
    if item.to is not None:
        return f"at({render(dt.datetime.fromtimestamp(item.to / NANOS_PER_SECOND, dt.UTC), BRIEF)})"
    unit, size = next((unit for unit in _UNITS if item.by % (unit[1] * NANOS_PER_MILLI) == 0), _UNITS[-1])
    return f"advance({unit}={item.by // (size * NANOS_PER_MILLI)})"


#: Units of `advance`, in milliseconds.
_UNITS: Final = (
    ("days", 86_400_000),
    ("hours", 3_600_000),
    ("minutes", 60_000),
    ("seconds", 1_000),
    ("milliseconds", 1),
)


def _tells(failure: Failure) -> bool:
    """Whether a failure says more than that fewer versions came before."""
    expected = failure.expected
    if expected is None or expected.verb not in _COUNTS:
        return True
    return any(name not in _COUNTS[expected.verb] for name in expected.kwargs)
