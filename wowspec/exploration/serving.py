"""Runs plans for other processes: what a worker answers, and how it is read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, Final

from ..faults.plans import Plan, PlannedFault
from .determinism import lines_of
from .enumeration import Step
from .explore import SpecExploration
from .jobs import JobJson, ReplyJson
from .results import PlanJson

#: The task of running plans.
PLANS: Final = "plans"


class Plans:
    """Answers jobs about the specs of a test.

    Args:
        makers: for each of them, makes what explores it.
    """

    def __init__(self, makers: Sequence[Callable[[], SpecExploration]]) -> None:
        self._makers = makers
        self._made: dict[int, SpecExploration] = {}

    def __call__(self, job: JobJson) -> ReplyJson:
        """Run the plans of a job."""
        spec = job["spec"]
        if spec >= len(self._makers):
            return {"results": [], "refused": f"it makes {len(self._makers)} specs there"}
        if spec not in self._made:
            self._made[spec] = self._makers[spec]()
        exploration = self._made[spec]
        if base_of(exploration) != job["said"]["base"]:
            return {"results": [], "refused": "its fault-free run comes to something else there"}
        results = [_ran(exploration, text, deeper=job["said"]["deeper"]) for text in job["items"]]
        return {"results": results, "refused": ""}


def base_of(exploration: SpecExploration) -> str:
    """The same text in processes in which the spec comes to the same."""
    lines = "\n".join(lines_of(exploration.explorer.base.played))
    return hashlib.blake2b(lines.encode(errors="replace"), digest_size=16).hexdigest()


def _ran(exploration: SpecExploration, text: str, *, deeper: bool) -> dict[str, Any] | None:
    """One plan; None where it raises: whoever asks runs it too, and gets the error itself."""
    try:
        step = exploration.step(Plan.parse(text), deeper=deeper)
        following = [str(plan.faults[-1]) for plan in step.following]
    except Exception:  # noqa: BLE001 - whatever an author's mistake is
        return None
    return {"result": step.result, "extends": step.extends, "world": step.world, "following": following}


def step_of(plan: Plan, said: dict[str, Any], faults: dict[str, PlannedFault]) -> Step[PlanJson]:
    """Read what a worker says of a plan.

    Args:
        plan: the plan.
        said: the answer.
        faults: those that were read before, by their text.
    """
    following = []
    for text in said["following"]:
        if text not in faults:
            faults[text] = Plan.parse(text).faults[0]
        following.append(plan.with_(faults[text]))
    return Step(said["result"], said["extends"], said["world"], following)


def killed_by(plan: Plan) -> Step[PlanJson]:
    """What is said of a plan that ends the process in which it is run."""
    faults = [[fault.address.point, fault.kind.value] for fault in plan]
    return Step(PlanJson(plan=str(plan), faults=faults, recovery="", finding=None, killed=True))
