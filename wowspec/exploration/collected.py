"""Results of the running test, until its report takes them along; and what the command line asks of every test."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..errors import printable_json
from ..faults.plans import Plan
from .enumeration import RunMany
from .explore import SpecExploration
from .jobs import JobJson, ReplyJson
from .results import PlanJson, ResultJson
from .settings import Declared


@dataclass(slots=True)
class Demands:
    """What the command line asks.

    Attributes:
        plan: run this plan alone.
        strict: what the runtime is known for fails a test, too.
        shard: which part of the plans.
        baseline: declared findings by test.
        writes_baseline: findings fail no test, since they are about to be declared.
        elsewhere: says for a spec who runs its plans; None: they are run here.
        watched: runs plans as they would be run, and tells somebody at a terminal how far they are.
        draws: findings keep the stories of their runs, for a report.
        serve: here plans are run for another process: called within a passed test, by tasks and who does them.
    """

    plan: Plan | None = None
    strict: bool = False
    shard: tuple[int, int] = (1, 1)
    baseline: dict[str, tuple[Declared, ...]] = field(default_factory=dict)
    writes_baseline: bool = False
    elsewhere: Callable[[SpecExploration], RunMany[PlanJson]] | None = None
    draws: bool = False
    watched: Callable[[SpecExploration, RunMany[PlanJson]], RunMany[PlanJson]] | None = None
    serve: Callable[[Mapping[str, Callable[[JobJson], ReplyJson]]], None] | None = None

    def run(self, exploration: SpecExploration) -> ResultJson:
        """Explore a spec, wherever its plans are run."""
        run_many = exploration.each if self.elsewhere is None else self.elsewhere(exploration)
        return exploration.run(run_many if self.watched is None else self.watched(exploration, run_many))


#: Innermost last: one test session may run another.
_demands: list[Demands] = []
_results: list[ResultJson] = []
_told: list[str] = []


def demands() -> Demands:
    """What is asked right now."""
    return _demands[-1] if _demands else Demands()


def demand(said: Demands) -> None:
    """A session begins."""
    _demands.append(said)


def demand_no_more() -> None:
    """It is over."""
    _demands.pop()


def note(result: ResultJson) -> None:
    """Keep the result of a spec."""
    _results.append(result)


def tell(text: str) -> None:
    """Have the summary say something of how the running test was explored, once."""
    if text not in _told:
        _told.append(text)


def take_told() -> list[str]:
    """What is to be told since the last time."""
    found = list(_told)
    _told.clear()
    return found


def take() -> list[ResultJson]:
    """The results since the last time."""
    found: list[ResultJson] = printable_json(_results)
    _results.clear()
    return found


def current_test() -> str:
    """Node id of the running test; empty outside one."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
