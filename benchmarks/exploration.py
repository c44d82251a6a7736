"""What exploring failures costs: runs under faults beside runs without, pairs, a whole suite, memory."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

from wowspec import spec
from wowspec.exploration.enumeration import Bounds
from wowspec.exploration.explorer import Explorer
from wowspec.exploration.playing import Way
from wowspec.exploration.settings import settings
from wowspec.exploration.sweeping import Sweep, way_of
from wowspec.faults.plans import Plan
from wowspec.specs.nodes import Node

from .domain import Account, Deposit, OpenAccount
from .downstream import BalanceView
from .measure import interleave, timed
from .rows import Row as TableRow, at_most, beside

#: Kinds that leave some two thousand pairs of the spec of three commands.
PAIRED = ("fail", "timeout", "hang", "ack_lost")


def steps(account: str = "a-1", amount: int = 1) -> list[Node]:
    """Three commands, and a projection that hears of them."""
    said = (
        spec()
        .using(Account, BalanceView)
        .when(OpenAccount(id=account, holder="ann", balance=5))
        .when(Deposit(id=account, amount=amount))
        .when(Deposit(id=account, amount=2))
        .expect_version(3)
    )
    return said._node.path()


def explorer(**said: Any) -> Explorer:
    """An explorer of these steps."""
    return Explorer(Way(tuple(steps())), selection=settings(**said).selection)


def fault_free(times: int) -> Callable[[], float]:
    """A run without faults, judged by every law."""
    return lambda: timed(partial(explorer().run, Plan()), times)


def faulted() -> Callable[[], float]:
    """The mean over every plan of one fault."""
    kept = explorer()
    plans = kept.singles()

    def measure() -> float:
        started = perf_counter()
        for plan in plans:
            kept.run(plan)
        return (perf_counter() - started) / len(plans)

    return measure


def pairs() -> tuple[int, float]:
    """How many pairs there are, and the seconds that all of them take, with the plans of one fault before."""
    kept = explorer(kinds=PAIRED)
    singles = len(kept.singles())
    started = perf_counter()
    explored = kept.explore(Bounds(depth=2))
    return len(explored.results) - singles, perf_counter() - started


def growth() -> float:
    """Seconds of a plan among the last of a long exploration, over those among the first."""
    kept = explorer()
    plans = kept.singles()
    run = partial(_all, kept, plans)
    first = min(timed(run, 1) for _ in range(3))
    kept.explore(Bounds(depth=2, max_runs=3_000))
    return min(timed(run, 1) for _ in range(3)) / first


def _all(kept: Explorer, plans: list[Plan]) -> None:
    for plan in plans:
        kept.run(plan)


def suite(specs: int) -> float:
    """Seconds of a sweep of so many specs, over those of the same runs alone: of the same ways, under the same plans.

    The sweep of a spec and its runs alone take turns, so that both meet the same moods of the machine.
    """
    paths = [steps(f"a-{number}", number + 1) for number in range(specs)]
    sweep, said = Sweep(), settings()
    # The witness is swept once a process, whatever the size of the suite.
    sweep.run([steps("a-0", 9)], said, "test")
    whole = alone = 0.0
    for number, path in enumerate(paths):
        started = perf_counter()
        results = sweep.run([path], said, f"test_{number}")
        whole += perf_counter() - started
        kept = Explorer(way_of(path, said))
        plans = kept.singles()
        if len(plans) != sum(result["plans"] for result in results):
            raise RuntimeError(f"{len(plans)} plans alone, {results[0]['plans']} in the sweep")
        alone += timed(partial(_all, kept, plans), 1)
    return whole / alone


def megabytes(runs: int) -> float:
    """Megabytes that so many runs leave behind, with their results."""
    kept = explorer()
    kept.explore(Bounds(max_runs=50))
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        explored = kept.explore(Bounds(depth=2, max_runs=runs))
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    if len(explored.results) != runs:
        raise RuntimeError(f"{len(explored.results)} runs instead of {runs}")
    return (after - before) / 1e6


def rows(*, quick: bool) -> list[TableRow]:
    """The rows of the table about exploration."""
    one = interleave({"fault-free": fault_free(50 if quick else 200), "faulted": faulted()}, 3 if quick else 7)
    count, seconds = pairs()
    return [
        at_most("run of three commands under a fault / without", one["faulted"] / one["fault-free"], "×", 1.5),
        beside("runs under a fault, laws included", 1 / one["faulted"], "a second"),
        beside("run of three commands without a fault, laws included", one["fault-free"] * 1e6, "µs"),
        at_most(f"all {count:,} pairs, in runs without a fault", seconds / one["fault-free"], "", 3_000),
        at_most("cost of a plan after 3,000 others / before", growth(), "×", 1.2),
        at_most(f"sweep of {20 if quick else 200} specs / its runs alone", suite(20 if quick else 200), "×", 1.2),
        at_most("memory of 2,000 more runs", megabytes(3_000) - megabytes(1_000), "MB", 5),
    ]
