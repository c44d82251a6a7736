"""What a failing example tells: the plan, made minimal, how to replay it, and tests to paste that pin it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..exploration.collected import current_test
from ..exploration.findings import Finding
from ..exploration.pasting import paste
from ..exploration.report import finding_lines, replay_line
from ..exploration.run_laws import Broken
from ..exploration.trial import Trial
from ..faults.plans import Plan
from ..specs.render import EVERYTHING, render
from ..world.schedules import Schedule, schedule_text


def minimal(plan: Plan, still_fails: Callable[[Plan], bool]) -> Plan:
    """The plan without faults that are not needed, the latest tried first."""
    for index in reversed(range(len(plan))):
        fewer = plan.without(index)
        if still_fails(fewer):
            plan = fewer
    return plan


def story(plan: Plan, trial: Trial, broken: list[Broken], test: str) -> list[str]:
    """One failure as reports of exploration tell it; no recovery was tried."""
    assert trial.base is not None
    lines = finding_lines(Finding(plan, broken), trial, trial.base, test, broken)
    kept = [line for line in lines if not line.startswith(("  class ", "  replay "))]
    return [*kept, f"  replay {replay_line(test, plan)}"] if plan else kept


def pins(
    name: str, plan: Plan, schedule: Schedule, values: Mapping[str, Any], trial: Trial, test: str, *, own: bool
) -> list[str]:
    """How to keep a failure.

    Args:
        name: the parameter that gets the ordering.
        plan: the plan.
        schedule: the order of commands in flight.
        values: what else was drawn.
        trial: the run that failed.
        test: node id of the test.
        own: whether an assertion of the test itself failed.
    """
    said = repr((str(plan), schedule_text(schedule))) if schedule else repr(str(plan))
    arguments = [f"{name}={said}", *(f"{key}={render(value, EVERYTHING)}" for key, value in values.items())]
    lines = ["  pin it, above the test:", f"    @hypothesis.example({', '.join(arguments)})"]
    if schedule:
        return lines
    short = (test.rpartition("::")[2] or test.rpartition(".")[2]).partition("[")[0]
    lines.append(f"  or in a test of its own{', with the assertions of this one' if own else ''}:")
    code = paste(trial.way.nodes, plan, name=f"{short}_pinned")
    return lines + [f"    {line}".rstrip() for line in code.splitlines()]


def test_name(function: Callable[..., Any]) -> str:
    """Node id of the running test; outside pytest the function's name."""
    return current_test() or function.__qualname__.rpartition(".")[2]


def shown_trial(trials: Iterable[Trial]) -> Trial | None:
    """The way that a failure is told of: the first on which a fault struck, else the last."""
    last = None
    for last in trials:
        if any(strike.struck for strike in last.played.armory.strikes):
            return last
    return last
