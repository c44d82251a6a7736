"""Results of the running test, until its report takes them along; and what the command line asks of every test."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from ..faults.plans import Plan
from .results import ResultJson
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
    """

    plan: Plan | None = None
    strict: bool = False
    shard: tuple[int, int] = (1, 1)
    baseline: dict[str, tuple[Declared, ...]] = field(default_factory=dict)
    writes_baseline: bool = False


#: Innermost last: one test session may run another.
_demands: list[Demands] = []
_results: list[ResultJson] = []


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


def take() -> list[ResultJson]:
    """The results since the last time."""
    found = list(_results)
    _results.clear()
    return found


def current_test() -> str:
    """Node id of the running test; empty outside one."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
