"""Explores a test through `@explore_faults`, and keeps what was found beside what the test would have failed with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wowspec import Spec, SpecFailure, explore_faults
from wowspec.exploration.collected import Demands, demand, demand_no_more, take
from wowspec.exploration.results import BrokenJson, FindingJson, ResultJson
from wowspec.faults.plans import Plan


@dataclass(frozen=True)
class Swept:
    """What a sweep came to.

    Attributes:
        result: as JSON.
        failure: text of the failure of the test; empty if it passed.
    """

    result: ResultJson
    failure: str

    @property
    def plans(self) -> list[str]:
        """The plans of every finding, known to the runtime or not."""
        return [finding["plan"] for finding in self.result["findings"]]

    def finding(self, plan: str) -> FindingJson:
        """The finding of this plan."""
        found = [finding for finding in self.result["findings"] if finding["plan"] == plan]
        assert len(found) == 1, f"{plan} is not among\n" + "\n".join(self.plans)
        return found[0]

    def due_to_domain(self) -> dict[str, list[str]]:
        """Plan → the laws that break and that the runtime is not known for, of findings that nothing healed."""
        found = {
            finding["plan"]: [item["law"] for item in finding["broken"] if not item["known"]]
            for finding in self.result["findings"]
            if not finding["healed_by"]
        }
        return {plan: laws for plan, laws in found.items() if laws}


def sweep(test: Callable[[Spec[Any]], Any], *, strict: bool = False, **options: Any) -> Swept:
    """Explore the one spec of a test."""
    decorated = explore_faults(**options)(test)
    demand(Demands(strict=strict))
    failure = ""
    before = take()
    assert not before
    try:
        decorated()
    except SpecFailure as error:
        failure = str(error)
    finally:
        demand_no_more()
    results = take()
    assert len(results) == 1
    result = results[0]
    assert result["plans"] > 0
    assert not result["left"]
    assert not result["unjudged"]
    return Swept(result, failure)


def laws(broken: list[BrokenJson], *, known: bool) -> list[str]:
    """Names of the laws that the runtime is, or is not, known for."""
    return [item["law"] for item in broken if item["known"] is known]


def assert_due_to_domain(swept: Swept, plan: str, law: str, *, heals: str = "") -> None:
    """The plan breaks the law, which fails the test; it is minimal, and heals by nothing, or by what is said."""
    finding = swept.finding(plan)
    assert law in laws(finding["broken"], known=False), finding["broken"]
    assert finding["healed_by"] == heals
    if not heals:
        assert law in swept.due_to_domain()[plan]
        assert swept.failure, "the test passed"
    assert_minimal(swept, plan)


def assert_known(swept: Swept, plan: str, law: str, *, heals: str = "") -> None:
    """The plan breaks the law, as the runtime is known to; it is minimal, and heals by nothing, or by what is said."""
    finding = swept.finding(plan)
    assert law in laws(finding["broken"], known=True), finding["broken"]
    assert laws(finding["broken"], known=False) == []
    assert finding["healed_by"] == heals
    assert_minimal(swept, plan)


def assert_minimal(swept: Swept, plan: str) -> None:
    """No finding is made of some of its faults alone, the empty plan included: that one was run first."""
    whole = Plan.parse(plan).key
    smaller = [other for other in swept.plans if Plan.parse(other).key < whole]
    assert not smaller, f"{plan} is no minimal plan: {smaller}"


def assert_nothing_found(swept: Swept) -> None:
    """The test passes, and nothing that broke is due to the domain."""
    assert swept.due_to_domain() == {}
    assert swept.failure == ""
