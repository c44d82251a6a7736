"""What the summary says: numbers that agree with one another, and tests that were not swept."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from wowspec.exploration.results import FindingJson, ResultJson, empty_result
from wowspec.exploration.summary import summary_lines
from wowspec.exploration.sweeping import NO_SPECS, why_no_specs


def known(plan: str, healed_by: str = "") -> FindingJson:
    """A finding that the runtime is known for."""
    return {
        "plan": plan,
        "broken": [{"law": "convergence", "title": "convergence", "text": "", "known": True, "declared": False}],
        "recovery": "healed" if healed_by else "never heals",
        "healed_by": healed_by,
        "tried": [],
        "would_heal": "",
        "replay": "",
        "report": [],
        "paste": "",
        "functions": [],
        "story": None,
    }


def result(*findings: FindingJson) -> ResultJson:
    """A spec that was swept."""
    made = empty_result("test_a.py::test_a", 0)
    made["plans"] = 3
    made["outcomes"] = {"known to the runtime": 2, "healed": len(findings) - 2}
    made["findings"] = list(findings)
    return made


def head_of(lines: list[str]) -> str:
    """The line that counts what is known."""
    return next(line for line in lines if line.startswith("known to the runtime"))


def test_healed_plans_that_the_runtime_is_known_for_are_told_apart():
    """The first line counts them as healed: the numbers would not agree otherwise."""
    plans = [known("A/event_store.append@1=fail"), known("A/event_store.append@1=timeout")]
    healed = known("A/event_store.append@1=hang", "restart")

    told = summary_lines([result(*plans, healed)])

    assert told[0].endswith("2 known to the runtime, 1 healed")
    assert head_of(told).endswith(": 3 plans, 1 of which healed (--wowspec-strict fails for the others)")
    assert head_of(summary_lines([result(*plans)])).endswith(": 2 plans (--wowspec-strict fails for them)")


def test_nothing_was_swept():
    """Then nothing is said of traces."""
    told = summary_lines([empty_result("test_a.py::test_a", 0, not_swept="it is by hand")])

    assert told == ["no specs, no plans", "", "not swept:", "  test_a.py::test_a: it is by hand"]


class Machine(RuleBasedStateMachine):
    """A state machine of Hypothesis."""

    @rule()
    def step(self) -> None:
        """Nothing."""


@given(st.none())
def drawn(_: None) -> None:
    """A property."""


@pytest.mark.parametrize(
    ("function", "fixtures", "reason"),
    [
        (drawn, (), NO_SPECS["hypothesis"]),
        (Machine.TestCase("runTest").runTest, (), NO_SPECS["machine"]),
        (print, ("gateway",), NO_SPECS["gateway"]),
        (print, (), ""),
    ],
)
def test_why_a_test_is_not_swept(function, fixtures, reason):
    """What draws its steps, or drives the gateway, says so; a test without specs is no news."""
    assert why_no_specs(SimpleNamespace(obj=function, fixturenames=fixtures)) == reason
