"""The plugin behind `--wowspec-unreachable`; loaded only where the option is given."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Sequence
from typing import Any, Final, TypedDict

import pytest

from ..errors import SpecError, SpecFailure
from ..specs import injecting, tracking
from ..specs.layout import several
from .unreachable import LIMIT, Searcher, UnreachedJson

#: Attribute of a report that carries the results of a test from one process to another.
CARRIED: Final = "wowspec_unreachable_found"
#: Marks a test whose specs must not be run again.
NO_SWEEP: Final = "wowspec_no_sweep"
#: So many command classes, and tests of the same line, are told of.
_MOST_TRIED, _MOST_TESTS = 3, 3


class TestJson(TypedDict):
    """What came of the givens of one test.

    Attributes:
        test: node id.
        judged: how many histories were looked at.
        unreached: those that were not reached.
        assumed: versions that were taken as given, and why.
        left_out: why some were not looked at.
    """

    test: str
    judged: int
    unreached: list[UnreachedJson]
    assumed: list[str]
    left_out: list[str]


_FOUND: Final = pytest.StashKey[TestJson]()


class UnreachablePlugin:
    """Looks for commands that make what the specs of each passed test give, and lists in the end what was not reached.

    Args:
        config: whose options are read.

    Raises:
        pytest.UsageError: for a number that is none.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._json: str | None = config.getoption("wowspec_unreachable_json")
        self._limit = _limit(config.getoption("wowspec_unreachable"))
        self._searcher = Searcher(self._limit)
        self._results: list[TestJson] = []

    def open(self) -> None:
        """The session begins."""
        injecting.want_kept()

    def close(self) -> None:
        """The session is over."""
        injecting.no_longer_want_kept()

    def after_test(self, item: pytest.Item, tracker: tracking.Tracker | None) -> None:
        """A test passed: judge what its specs give."""
        paths = [] if tracker is None else tracking.paths(tracker)
        if not paths:
            return
        found = item.stash[_FOUND] = TestJson(test=item.nodeid, judged=0, unreached=[], assumed=[], left_out=[])
        if item.get_closest_marker(NO_SWEEP) is not None:
            found["left_out"].append(f"it is marked {NO_SWEEP}")
            return
        for path in paths:
            try:
                for judged in self._searcher.judge(path):
                    found["judged"] += 1
                    found["assumed"] += [why for why in judged.assumed if why not in found["assumed"]]
                    if judged.unreached is not None and judged.unreached not in found["unreached"]:
                        found["unreached"].append(judged.unreached)
            except (SpecError, SpecFailure) as error:
                why = str(error).partition("\n")[0]
                if why not in found["left_out"]:
                    found["left_out"].append(why)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Generator[None, Any, Any]:  # noqa: ARG002
        """Let the report of a passed test carry what was found."""
        report = yield
        if report.when == "call" and report.passed and _FOUND in item.stash:
            setattr(report, CARRIED, item.stash[_FOUND])
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a report brings, wherever the test ran."""
        found: TestJson | None = getattr(report, CARRIED, None)
        if found is not None:
            self._results.append(found)

    def document(self) -> dict[str, Any]:
        """All that was found, as the file has it."""
        self._results.sort(key=lambda result: result["test"])
        return {"schema": 1, "tool": "wowspec", "limit": self._limit, "tests": self._results}

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Write the file."""
        found = self.document()
        if self._json and not hasattr(self._config, "workerinput"):
            text = json.dumps(found, indent=1, ensure_ascii=False)
            (self._config.rootpath / self._json).write_text(f"{text}\n", encoding="utf-8")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """List what was not reached."""
        terminalreporter.section("wowspec: givens that commands were not found to produce")
        for line in lines_of(self._results, self._limit):
            terminalreporter.line(line)


def _limit(said: str | None) -> int:
    if said is None:
        return LIMIT
    if not said.isdecimal() or not int(said):
        error = SpecError(
            f"--wowspec-unreachable={said}",
            why="it says how many commands are sent for one given at most; what follows it is taken for that number",
            instead=f"--wowspec-unreachable={LIMIT}, or --wowspec-unreachable after the paths",
        )
        raise pytest.UsageError(str(error))
    return int(said)


def lines_of(results: Sequence[TestJson], limit: int) -> list[str]:
    """The section's lines."""
    tests: dict[str, list[str]] = {}
    for result in results:
        for unreached in result["unreached"]:
            tests.setdefault(text_of(unreached), []).append(result["test"])
    lines: list[str] = []
    for text, nodes in tests.items():
        lines += [*text.splitlines(), f"  in {_listed(nodes)}"]
    judged = sum(result["judged"] for result in results)
    histories = "1 history" if judged == 1 else f"{judged} histories"
    tail = f"{histories} judged, {len(tests)} not reached within {several(limit, 'command')}"
    lines += [*([""] if lines else []), f"{tail}; what is not found may exist all the same"]
    assumed = [(result["test"], result["assumed"]) for result in results]
    left_out = [(result["test"], result["left_out"]) for result in results]
    lines += _reasons("taken as given, since their commands could not be tried:", assumed)
    return lines + _reasons("not looked at:", left_out)


def text_of(unreached: UnreachedJson) -> str:
    """What is told of a history that was not reached."""
    version = unreached["version"]
    tried = unreached["tried"]
    more = f"; {len(tried) - _MOST_TRIED} more" if len(tried) > _MOST_TRIED else ""
    head = f"{unreached['place']}: given({', '.join(unreached['given'])}) of {unreached['aggregate']}"
    what = f"no command was found that stores {unreached['events']} as version {version}"
    lines = [
        f"{head}: not reached within {several(unreached['limit'], 'command')} ({unreached['sent']} sent)",
        f"  {what}; commands tried: {'; '.join(tried[:_MOST_TRIED]) or 'none that could be made'}{more}",
        *(f"  taken as given: {why}" for why in unreached["assumed"]),
    ]
    return "\n".join(lines)


def _reasons(head: str, told: Iterable[tuple[str, list[str]]]) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for test, whys in told:
        for why in whys:
            reasons.setdefault(why, []).append(test)
    if not reasons:
        return []
    return ["", head, *(f"  {why}, in {_listed(nodes)}" for why, nodes in reasons.items())]


def _listed(nodes: Sequence[str]) -> str:
    more = f" and {len(nodes) - _MOST_TESTS} more" if len(nodes) > _MOST_TESTS else ""
    return f"{', '.join(nodes[:_MOST_TESTS])}{more}"
