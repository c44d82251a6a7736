"""Sweeps the specs that a test made: each is run again under every plan that the settings ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import PlanNotReached, SpecError, SpecFailure
from ..faults.plans import Plan
from ..specs.nodes import Node, Setup, WithFaults
from .explore import SOUGHT, SpecExploration, require_nothing_found
from .pasting import steps_of
from .playing import Way
from .results import ResultJson, empty_result
from .settings import Settings

#: Why a test has no spec to sweep.
NO_SPECS = {
    "gateway": "it drives the gateway by hand; a spec's steps can be run again, a test's own code cannot",
    "hypothesis": "Hypothesis draws its specs; @failure_orderings draws plans along with them",
}


def way_of(path: Sequence[Node], said: Settings) -> Way:
    """The steps that a sweep runs again: those of the spec, without the faults that it arms itself."""
    return Way(tuple(node for node in path if not isinstance(node.step, WithFaults)), said.profile, SOUGHT)


class Sweep:
    """The specs of a suite, each way of steps swept once: specs that differ in what they expect have the same."""

    def __init__(self) -> None:
        self._seen: dict[str, str] = {}

    def run(self, paths: Sequence[Sequence[Node]], said: Settings, test: str) -> list[ResultJson]:
        """Run every plan over each spec of a test.

        Args:
            paths: the steps of each spec.
            said: how.
            test: node id of the test.

        Raises:
            SpecFailure: if a spec comes to something else when it is simply run again.
        """
        results = []
        for place, path in enumerate(paths):
            way = way_of(path, said)
            same = self._same_as(way, said, test)
            result = empty_result(test, place)
            result["same_as"] = same
            if not same:
                try:
                    result = SpecExploration(way, said, test, place).run()
                except SpecError as error:
                    result = empty_result(test, place, not_swept=str(error))
            results.append(result)
        return results

    def _same_as(self, way: Way, said: Settings, test: str) -> str:
        """The test in which the same steps were swept before; empty if there is none, or nobody can tell."""
        if said.expected or any(isinstance(node.step, Setup) and node.step.gives_services for node in way.nodes):
            return ""
        lines = steps_of(way.nodes)
        if any(line.startswith("#") or "<" in line for line in lines):
            return ""
        key = "\n".join(lines)
        known = self._seen.get(key, "")
        self._seen.setdefault(key, test)
        return known


def replay(paths: Sequence[Sequence[Node]], said: Settings, test: str, plan: Plan) -> list[ResultJson]:
    """Run one plan over each spec of a test that reaches it.

    Raises:
        PlanNotReached: if none does.
    """
    results: list[ResultJson] = []
    unreached: list[PlanNotReached] = []
    for place, path in enumerate(paths):
        try:
            results.append(SpecExploration(way_of(path, said), said, test, place).replay(plan))
        except PlanNotReached as error:
            unreached.append(error)
    if not results and unreached:
        raise unreached[0]
    return results


def judge_results(results: Sequence[ResultJson], *, strict: bool) -> None:
    """Fail the test for what was found.

    Raises:
        SpecFailure: with the reports of all its specs.
    """
    __tracebackhide__ = True
    texts = []
    for result in results:
        try:
            require_nothing_found(result, strict=strict)
        except SpecFailure as failure:
            texts.append(str(failure))
    if texts:
        raise SpecFailure("\n\n".join(texts))


def why_no_specs(item: Any) -> str:
    """Why a test that made no spec of its own cannot be swept; empty where it has nothing to do with specs."""
    if getattr(getattr(item, "obj", None), "hypothesis", None) is not None:
        return NO_SPECS["hypothesis"]
    return NO_SPECS["gateway"] if "gateway" in getattr(item, "fixturenames", ()) else ""
