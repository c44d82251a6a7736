"""Sweeps the specs that a test made: each is run again under every plan that the settings ask for."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Any

from ..errors import PlanNotReached, SpecError, SpecFailure
from ..faults.plans import Plan
from ..specs.nodes import Node, Setup, WithFaults
from ..world.profiles import PortProfile
from ..world.unrest import SwallowedCrashError
from .collected import demands
from .explore import SOUGHT, SpecExploration, profile_of_way, require_nothing_found
from .pasting import steps_of
from .playing import Way
from .report import replay_line
from .results import ResultJson, empty_result, vanished_from_test
from .serving import Plans
from .settings import Declared, Settings
from .witness import ports_of

#: Why a test has no spec to sweep.
NO_SPECS = {
    "gateway": "it drives the gateway by hand; a spec's steps can be run again, a test's own code cannot",
    "hypothesis": "Hypothesis draws its specs; @failure_orderings draws plans along with them",
    "machine": "a state machine draws its steps; state_machine(..., faults=True) draws faults along with them",
    "orderings": "@failure_orderings draws its plans itself, whether or not there is a sweep",
}


def way_of(path: Sequence[Node], said: Settings) -> Way:
    """The steps that a sweep runs again: those of the spec, without the faults that it arms itself."""
    return Way(tuple(node for node in path if not isinstance(node.step, WithFaults)), said.profile, SOUGHT)


class Sweep:
    """The specs of a suite, each way of steps swept once: specs that differ in what they expect share its result."""

    def __init__(self) -> None:
        self._seen: dict[str, ResultJson] = {}

    def run(self, paths: Sequence[Sequence[Node]], said: Settings, test: str) -> list[ResultJson]:
        """Run every plan over each spec of a test.

        Args:
            paths: the steps of each spec.
            said: how.
            test: node id of the test.

        Raises:
            SpecFailure: if a spec comes to something else when it is simply run again.
        """
        results = [self._result(way_of(path, said), said, test, place) for place, path in enumerate(paths)]
        vanished_from_test(results)
        return results

    def _result(self, way: Way, said: Settings, test: str, place: int) -> ResultJson:
        key = _key(way)
        known = None if key is None else self._seen.get(key)
        if known is not None and _knows_all(known, said):
            return as_of(known, test, place, said, ports_of(profile_of_way(way)))
        try:
            result = demands().run(SpecExploration(way, said, test, place))
        except SwallowedCrashError:
            # It hides what a crash would do, of all things: no mere reason why a spec is not swept.
            raise
        except SpecError as error:
            return empty_result(test, place, not_swept=str(error))
        if key is not None:
            result["steps"] = hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
            self._seen.setdefault(key, result)
        return result


def _knows_all(known: ResultJson, said: Settings) -> bool:
    """Whether a result says of each declared finding if it is gone: where plans were left out, it does not."""
    return not said.expected or (said.shard == (1, 1) and not known["left"])


def _key(way: Way) -> str | None:
    """The same text for the same steps; None where nobody can tell."""
    if any(isinstance(node.step, Setup) and node.step.gives_services for node in way.nodes):
        return None
    lines = steps_of(way.nodes)
    return None if any(line.startswith("#") or "<" in line for line in lines) else "\n".join(lines)


def as_of(known: ResultJson, test: str, place: int, said: Settings, ports: PortProfile) -> ResultJson:
    """The result of the same steps in another test, with what that one declares."""
    expected: Sequence[Declared] = said.expected
    result = copy.deepcopy(known)
    before = result["test"]
    result["test"], result["spec"], result["same_as"] = test, place, before
    found = set()
    for finding in result["findings"]:
        declared = {item.law for item in expected if item.plan == finding["plan"]}
        for item in finding["broken"]:
            item["declared"] = item["law"] in declared
            found.add((finding["plan"], item["law"]))
        replay = finding["replay"]
        finding["replay"] = (
            replay_line(test, finding["plan"]) + replay.partition(f"--wowspec-plan '{finding['plan']}'")[2]
        )
        finding["report"] = [
            line.replace(replay, finding["replay"]) if replay in line else _renamed(line, before, test)
            for line in finding["report"]
        ]
        # Its imports may name the module of the test before, in which the classes are.
        finding["paste"] = finding["paste"].replace(f"def {_short(before)}_pinned(", f"def {_short(test)}_pinned(")
    gone = [item for item in expected if (item.plan, item.law) not in found]
    result["vanished"] = [str(item) for item in gone if said.would_find(item, ports)]
    return result


def _renamed(text: str, before: str, test: str) -> str:
    return text.replace(before, test).replace(_short(before), _short(test))


def _short(test: str) -> str:
    return test.rpartition("::")[2].partition("[")[0]


def plans_of(paths: Sequence[Sequence[Node]], said: Settings, test: str) -> Plans:
    """Answers what other processes ask of the specs of a test."""
    return Plans([partial(SpecExploration, way_of(path, said), said, test, place) for place, path in enumerate(paths)])


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
    function = getattr(item, "obj", None)
    if getattr(function, "hypothesis", None) is not None:
        return NO_SPECS["hypothesis"]
    if getattr(function, "is_hypothesis_test", False):
        return NO_SPECS["machine"]
    return NO_SPECS["gateway"] if "gateway" in getattr(item, "fixturenames", ()) else ""
