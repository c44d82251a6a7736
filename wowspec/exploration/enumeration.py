"""The order of exploration: breadth first, in canonical order, each plan once; how a plan is run is another's business.

Whoever runs plans gets a whole level at once, so that they can be run elsewhere: what follows from one plan of a level
changes nothing for the others of it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import combinations
from typing import Generic, TypeVar

from ..faults.plans import Plan

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far exploration goes.

    Attributes:
        depth: how many faults a plan has at most.
        max_runs: how many runs are made at most; None: any number.
        out_of_time: says that the time is over; None: there is no limit.
    """

    depth: int = 1
    max_runs: int | None = None
    out_of_time: Callable[[], bool] | None = None


@dataclass(frozen=True, slots=True)
class Step(Generic[R]):
    """What came of one plan, and where it leads.

    Attributes:
        result: what came of it.
        extends: whether longer plans begin with it: there are any, and no law broke.
        world: the same text for runs that came to the same world; empty where it does not extend.
        following: plans of one fault more.
    """

    result: R
    extends: bool = False
    world: str = ""
    following: Iterable[Plan] = ()


#: Runs plans, in order; says of each where it leads, if asked.
RunMany = Callable[[Sequence[Plan], bool], Generator[Step[R], None, None]]


@dataclass(slots=True)
class Explored(Generic[R]):
    """What exploration of one spec came to.

    Attributes:
        results: of each plan that was run, in order.
        left: how many plans of each depth a bound left out, by what bound: text → count.
        joined: plans that were not extended because another one came to the same world.
    """

    results: list[R] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict)
    joined: int = 0


def explore(
    singles: Iterable[Plan], bounds: Bounds, run_many: RunMany[R], keep: Callable[[int], bool] | None = None
) -> Explored[R]:
    """Run every plan up to a depth; one that breaks a law for good is not extended, nor one that came to a known world.

    Args:
        singles: the plans of one fault, in canonical order.
        bounds: how far to go.
        run_many: runs them.
        keep: which plans of each depth are this shard's, by their place. The others are run only where it takes them
            to know which plans follow: shards are parts of one and the same whole.
    """
    explored: Explored[R] = Explored()
    level = list(singles)
    known: set[frozenset[str]] = set()
    broken: set[frozenset[str]] = set()
    for depth in range(1, bounds.depth + 1):
        deeper = depth < bounds.depth
        places = [place for place in range(len(level)) if deeper or keep is None or keep(place)]
        mine = places if keep is None else [place for place in places if keep(place)]
        within = _within(places, mine, bounds, len(explored.results))
        following: list[Plan] = []
        worlds: set[str] = set()
        with closing(run_many([level[place] for place in within], deeper)) as steps:
            for place in places:
                cut = _cut(bounds, place, within)
                if cut:
                    left = sum(1 for other in mine if other >= place)
                    explored.left[f"{cut}, at {depth} faults a plan" if depth > 1 else cut] = left
                    return explored
                step = next(steps)
                kept = keep is None or keep(place)
                if kept:
                    explored.results.append(step.result)
                if not step.extends:
                    broken.add(level[place].key)
                    continue
                if step.world in worlds:
                    explored.joined += kept
                    continue
                worlds.add(step.world)
                for extended in step.following:
                    if extended.key not in known:
                        known.add(extended.key)
                        following.append(extended)
        # What breaks a law with fewer faults is found already, and minimal.
        level = [plan for plan in following if not _holds_one_of(broken, plan)]
    return explored


def _holds_one_of(broken: set[frozenset[str]], plan: Plan) -> bool:
    """Whether some of a plan's faults break a law without the others."""
    parts = plan.key
    return any(frozenset(some) in broken for size in range(1, len(parts)) for some in combinations(sorted(parts), size))


def _within(places: Sequence[int], mine: Sequence[int], bounds: Bounds, runs: int) -> Sequence[int]:
    """The places that `max_runs` lets be run: up to the first plan of this shard that it does not."""
    if bounds.max_runs is None:
        return places
    most = max(0, bounds.max_runs - runs)
    return places if len(mine) <= most else places[: places.index(mine[most])]


def _cut(bounds: Bounds, place: int, within: Sequence[int]) -> str:
    if not within or place > within[-1]:
        return f"max_runs={bounds.max_runs}"
    if bounds.out_of_time is not None and bounds.out_of_time():
        return "max_seconds"
    return ""
