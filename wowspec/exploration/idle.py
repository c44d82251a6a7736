"""What is given and changes nothing: each item is left out once, and the spec is run without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ..specs.again import Failure
from ..specs.items import On, Stream
from ..specs.nodes import History, Node, WhenConcurrently
from ..specs.placing import Place
from ..specs.render import BRIEF, render
from .perturbing import Perturbing
from .pictures import consequence_of
from .strength import run_again

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


def given_items(path: Sequence[Node]) -> list[GivenItem]:
    """The items that are given on a way of steps that held; none where it cannot be run again."""
    if any(isinstance(node.step, WhenConcurrently) for node in path):
        return []
    base = run_again(path, Perturbing(), consequence_of)
    if base.rerun is None or base.failures:
        return []
    found = []
    for at, node in enumerate(path):
        step = node.step
        if not isinstance(step, History):
            continue
        for index, item, rest in _without_one(step.items):
            shorter = [*path[:at], replace(node, step=replace(step, items=rest)), *path[at + 1 :]]
            outcome = run_again(shorter, Perturbing(), consequence_of, _tells)
            idle = outcome.rerun is not None and not outcome.failures and outcome.picture == base.picture
            place = node.place
            exactly = place.instruction if isinstance(place, Place) else at
            found.append(GivenItem(f"{place}@{exactly}[{index}]", str(place), render(item, BRIEF), idle))
    return found


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


def _tells(failure: Failure) -> bool:
    """Whether a failure says more than that fewer versions came before."""
    expected = failure.expected
    if expected is None or expected.verb not in _COUNTS:
        return True
    return any(name not in _COUNTS[expected.verb] for name in expected.kwargs)
