"""Makes the document of a suite: each test as JSON where it ran, all of them together where the session ends."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import pytest

from ..errors import printable_json
from ..exploration.coverage import coverage_percent
from ..exploration.results import ResultJson, in_order
from ..specs.concurrency import Concurrency
from ..specs.concurrent_spec import ConcurrentSpec
from ..specs.departing import without_faults
from ..specs.nodes import ACTIONS, Node
from ..specs.outcomes import Outcome
from ..specs.run import Run
from ..specs.run_json import RunJson, error_text, run_json, texts
from ..specs.showing import shown
from ..specs.tracking import Tracker, ends_of, paths
from .document import SCHEMA_VERSION, DocumentJson, SpecJson, StepJson, TestJson
from .failing import Line, failure_json, lines_of, place_of_item, soft_lines_of, without_root

#: How many specs of a test are kept: the first ones; how many runs of a spec: the last ones; of commands in flight
#: together how many outcomes: the first ones.
MOST_SPECS: Final = 50
MOST_RUNS: Final = 20
MOST_OUTCOMES: Final = 8


# --- one test ---------------------------------------------------------------------------------------------------------


def json_of_test(
    item: pytest.Item,
    report: pytest.TestReport,
    call: pytest.CallInfo[None],
    made: Tracker | None = None,
    *,
    errors: Sequence[BaseException] = (),
) -> TestJson:
    """A test, as one of its reports tells it.

    Args:
        item: the test.
        report: of its set-up, call or tear-down.
        call: what was raised there, if anything was.
        made: the specs of its call.
        errors: what it and its parts failed with: then specs that it did not come to are told, too.
    """
    root = item.config.rootpath
    file, line = place_of_item(item)
    title = _title(item)
    told = TestJson(
        id=item.nodeid, file=file, line=line, title=title, outcome=outcome_of(report), failure="", place="", specs=[],
        left_out=0,
    )  # fmt: skip
    if report.failed and call.excinfo is not None:
        failure = failure_json(call.excinfo.value, root)
        told["failure"], told["place"] = failure["text"], failure["place"]
    elif report.failed:
        told["failure"] = without_root(report.longreprtext, root)
    if made is not None:
        failed = report.failed or bool(errors)
        trackers = _trackers(made, failed=failed)
        found = [way for tracker in trackers for way in _ways(tracker, failed=failed)]
        flights = _flights(trackers)
        _leave_out_caught(found, set().union(*map(lines_of, errors)))
        soft = set().union(*map(soft_lines_of, errors))
        told["specs"] = [_spec_json(way, title, flights, soft, failed=failed) for way in found[:MOST_SPECS]]
        told["left_out"] = max(0, len(found) - MOST_SPECS)
    printed: TestJson = printable_json(told)
    return printed


def lost_test(report: pytest.TestReport, root: Path) -> TestJson:
    """A test that could not tell what it was, such as one that ended its process."""
    from .subjects import title_of_test

    return TestJson(
        id=report.nodeid,
        file=report.nodeid.partition("::")[0],
        line=(report.location[1] or 0) + 1,
        title=title_of_test(report.nodeid.rpartition("::")[2], None),
        outcome="error",
        failure=without_root(report.longreprtext, root),
        place="",
        specs=[],
        left_out=0,
    )


def uncollected(nodeid: str, error: BaseException | None, text: str, root: Path) -> TestJson:
    """What could not be collected, such as a module that cannot be imported; told as a test that failed.

    Args:
        nodeid: of the module or folder.
        error: why, if that is known.
        text: what pytest says of it.
        root: the root directory.
    """
    cause = error.__cause__ or error if error is not None else None
    failure = None if cause is None else failure_json(cause, root)
    told = TestJson(
        id=nodeid,
        file=nodeid.partition("::")[0],
        line=1,
        title=f"{nodeid} can be collected",
        outcome="error",
        failure=without_root(text, root) if failure is None else failure["text"],
        place="" if failure is None else failure["place"],
        specs=[],
        left_out=0,
    )
    printed: TestJson = printable_json(told)
    return printed


def outcome_of(report: pytest.TestReport) -> str:
    """How a test came out, as one of its reports says."""
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    if report.failed:
        return "failed" if report.when == "call" else "error"
    return "skipped" if report.skipped else "passed"


def _title(item: pytest.Item) -> str:
    from .subjects import title_of_test

    function: Any = getattr(item, "obj", None)
    return title_of_test(item.name, getattr(function, "__doc__", None))


def _trackers(made: Tracker, *, failed: bool) -> list[Tracker]:
    """Who kept the specs of a test: it, and of drawn examples the one that failed, or the first."""
    inner = made.of_failure if failed and made.of_failure is not None else made.inner
    return [made] if inner is None else [made, inner]


def _ways(tracker: Tracker, *, failed: bool) -> list[list[Node]]:
    """The specs that a test looked at; of one that failed also those that it did not come to."""
    found = paths(tracker)
    if failed:
        seen = {id(node) for way in found for node in way}
        rest = [node for node in tracker.nodes if id(node) not in seen and node.parent is not None]
        found += [node.path() for node in ends_of(rest)]
    return found


def _leave_out_caught(ways: Iterable[Sequence[Node]], lines: Collection[Line]) -> None:
    """An expectation that did not hold, and whose failure was caught, is nothing that the test says of the system."""
    for way in ways:
        for node in way:
            if node.broken is not None and node.broken[3:] not in lines:
                node.broken = None


def _flights(trackers: Iterable[Tracker]) -> dict[int, Concurrency]:
    """What became of commands in flight together, by the step that sent them."""
    return {
        id(other._node): other._found
        for tracker in trackers
        for other in tracker.others
        if isinstance(other, ConcurrentSpec) and other._found is not None
    }


def _spec_json(
    way: Sequence[Node], title: str, flights: dict[int, Concurrency], soft: Collection[Line], *, failed: bool
) -> SpecJson:
    from .subjects import context_of, subject_of_way, title_of_spec

    subject = subject_of_way(way)
    steps, places = _steps(way, soft, failed=failed)
    runs: list[RunJson] = []
    left_out = 0
    for place, node in enumerate(way):
        if not isinstance(node.step, ACTIONS):
            continue
        flight = flights.get(id(node))
        if flight is not None:
            runs += [_outcome_json(outcome, places.get(place, -1)) for outcome in flight.outcomes[:MOST_OUTCOMES]]
            left_out += max(0, len(flight.outcomes) - MOST_OUTCOMES)
        elif node.run is not None:
            runs.append(_run_json(node, node.run, places.get(place, -1)))
    return SpecJson(
        subject=subject.__name__ if subject is not None else "",
        context=context_of(subject),
        scenario=title_of_spec(way, title),
        steps=steps,
        runs=runs[-MOST_RUNS:],
        left_out=left_out + max(0, len(runs) - MOST_RUNS),
    )


def _steps(way: Sequence[Node], soft: Collection[Line], *, failed: bool) -> tuple[list[StepJson], dict[int, int]]:
    """The steps in words, and where among them each node's own is."""
    from .sentences import step_places, steps_in_words

    try:
        return steps_in_words(way, failed=failed, soft=soft), step_places(way, failed=failed)
    except Exception as error:  # noqa: BLE001 - one step that cannot be told is no reason to lose the report
        sentence = f"these steps cannot be told: {error_text(error)}"
        return [StepJson(keyword="given", verb="", sentence=sentence, details=[], code="")], {}


def _run_json(node: Node, run: Run, step: int) -> RunJson:
    command = "" if run.command is None else shown(run.command)
    usual = without_faults(node) if run.fired and node.driver is None else None
    return run_json(run, step, command, None if usual is None else usual.rows)


def _outcome_json(outcome: Outcome, step: int) -> RunJson:
    """One outcome of commands in flight together."""
    runs = outcome.runs
    own = [run.message for run in runs]
    failed = [run for run in runs if run.failure is not None]
    told = run_json(runs[0], step, ", ".join(shown(run.command) for run in runs))
    told["schedule"] = outcome.schedule
    told["outcome"] = "succeeded" if not failed else "unknown" if any(run.is_unknown for run in failed) else "failed"
    told["error"] = error_text(failed[0].error) if failed else ""
    told["attempts"] = max(run.attempts for run in runs)
    told["ledgers"] = {name: sum(len(getattr(run, name)) for run in runs) for name in told["ledgers"]}
    told["events"] = texts(outcome.events)
    sent = runs[0].commands
    told["sent"] = texts(
        body for body, message in zip(sent, sent.envelopes, strict=True) if not any(message is each for each in own)
    )
    return told


# --- the whole document -----------------------------------------------------------------------------------------------


class Collector:
    """What the reports of a session bring, wherever their tests ran."""

    def __init__(self) -> None:
        self._tests: dict[str, TestJson] = {}
        self._parts: dict[str, list[TestJson]] = {}
        self._results: dict[str, list[ResultJson]] = {}

    def add(self, told: TestJson) -> None:
        """Take in what a report says of a test; what its set-up or tear-down failed for comes to what its call made."""
        known = self._tests.get(told["id"])
        if known is None or told["outcome"] != "error":
            self._tests[told["id"]] = told
            failed = [part for part in self._parts.pop(told["id"], ()) if part["failure"]]
            if failed:
                told["failure"] = "\n\n".join([*(part["failure"] for part in failed), told["failure"]]).rstrip()
                told["place"] = failed[0]["place"]
                # unittest says of the parts alone that they failed.
                told["outcome"] = "failed" if told["outcome"] == "passed" else told["outcome"]
            return
        texts_of = list(dict.fromkeys(each["failure"] for each in (known, told) if each["failure"]))
        known["outcome"], known["failure"] = "error", "\n\n".join(texts_of)
        known["place"] = known["place"] or told["place"]

    def add_part(self, told: TestJson) -> None:
        """Take in what came of a part of a test, which is told with it when it ends."""
        self._parts.setdefault(told["id"], []).append(told)

    def explored(self, test: str, results: Iterable[ResultJson]) -> None:
        """Take in what came of the exploration of a test; of one that is run again the last counts."""
        self._results[test] = list(results)

    @property
    def results(self) -> list[ResultJson]:
        """What came of all explorations."""
        return in_order(result for results in self._results.values() for result in results)

    def document(
        self, root: Path, strength: dict[str, Any] | None = None, unreachable: dict[str, Any] | None = None
    ) -> DocumentJson:
        """All of it.

        Args:
            root: the root directory.
            strength: what perturbations came to, if they were asked for.
            unreachable: likewise what was found of the givens.
        """
        strength, unreachable, found = (_seen_from(root, each) for each in (strength, unreachable, self.results))
        results = [_without_stories(result) if result["same_as"] else result for result in found]
        explored = {result["test"] for result in results}
        tests = [
            test
            for _, test in sorted(self._tests.items())
            if test["specs"] or test["outcome"] in ("failed", "error") or test["id"] in explored
        ]
        return DocumentJson(
            schema=SCHEMA_VERSION,
            tool="wowspec",
            version=_version(),
            title=root.name,
            tests=tests,
            other_tests=len(self._tests) - len(tests),
            exploration=results,
            coverage=coverage_percent(results) if any(result["cells"] for result in results) else None,
            strength=strength,
            unreachable=unreachable,
        )


def _seen_from(root: Path, value: Any) -> Any:
    """Plain JSON whose texts name files as seen from the root directory, wherever pytest was called."""
    if Path.cwd() == root:
        return value
    if isinstance(value, str):
        return without_root(value, root) if ".py:" in value else value
    if isinstance(value, dict):
        return {key: _seen_from(root, item) for key, item in value.items()}
    return [_seen_from(root, item) for item in value] if isinstance(value, list) else value


def _without_stories(result: ResultJson) -> ResultJson:
    told = result.copy()
    told["findings"] = [{**finding, "story": None} for finding in result["findings"]]
    return told


def _version() -> str:
    try:
        return version("wowspec")
    except PackageNotFoundError:
        return ""
