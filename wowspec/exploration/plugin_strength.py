"""The plugin behind `--wowspec-strength` and `--wowspec-lint`; loaded only where one of their options is given."""

from __future__ import annotations

import json
from collections.abc import Container, Generator
from dataclasses import asdict, dataclass
from typing import Any, Final, cast

import pytest

from ..errors import SpecError
from ..specs import injecting, tracking
from .idle import given_items
from .settings import in_shard, percentage, shard_of
from .strength import strength_of
from .strength_report import (
    GivenJson,
    TestJson,
    TriedJson,
    document,
    lint_lines,
    percent,
    strength_lines,
    totals,
)
from .strength_serving import Elsewhere, Served

#: Attribute of a report that carries the results of a test from one process to another.
CARRIED: Final = "wowspec_strength_found"
#: Marks a test whose specs must not be run again.
NO_SWEEP: Final = "wowspec_no_sweep"
_FOUND: Final = pytest.StashKey[TestJson]()


class StrengthPlugin:
    """Perturbs what the specs of each passed test reach, and tells in the end what nobody noticed.

    Args:
        config: whose options are read.
        faults: the plugin that knows of other processes, where one is loaded.

    Raises:
        pytest.UsageError: for what parts of the perturbations cannot tell.
    """

    def __init__(self, config: pytest.Config, faults: Any = None) -> None:
        self._config = config
        self._faults = faults
        self._least: float | None = None
        self._json: str | None = config.getoption("wowspec_strength_json")
        self._lints = bool(config.getoption("wowspec_lint"))
        #: Perturbations that a spec of this process noticed; lint wants to know of each expectation that could.
        self._known: set[str] = set()
        self._results: list[TestJson] = []
        try:
            self._least = percentage("--wowspec-strength-fail-under", config.getoption("wowspec_strength_fail_under"))
            self._shard = shard_of(config.getoption("wowspec_shard"))
            if self._shard != (1, 1):
                self._require_parts()
        except SpecError as error:
            raise pytest.UsageError(str(error)) from None
        self._tells = not self._lints or bool(config.getoption("wowspec_strength")) or self._least is not None

    def _require_parts(self) -> None:
        """Require that what is asked can be told of a part of the perturbations alone."""
        shard = f"--wowspec-shard={self._config.getoption('wowspec_shard')}"
        if self._lints:
            raise SpecError(
                f"--wowspec-lint with {shard}",
                why="what a spec could do without is known once every perturbation was tried",
                instead="--wowspec-lint in a job of its own",
            )
        if self._least is not None:
            raise SpecError(
                f"--wowspec-strength-fail-under with {shard}",
                why="the strength is that of all perturbations, and each part tries its own",
                instead="--wowspec-strength-json in each part; then add up their `noticed` and `counted`",
            )

    def open(self) -> None:
        """The session begins."""
        injecting.want_kept()

    def close(self) -> None:
        """The session is over."""
        injecting.no_longer_want_kept()

    def after_test(self, item: pytest.Item, tracker: tracking.Tracker | None) -> None:
        """A test passed: perturb what its specs reach."""
        paths = [] if tracker is None else tracking.paths(tracker)
        if not paths:
            return
        found = item.stash[_FOUND] = TestJson(test=item.nodeid, tried=[], expected={}, given=[], left_out=[])
        if item.get_closest_marker(NO_SWEEP) is not None:
            found["left_out"].append(f"it is marked {NO_SWEEP}")
            return
        if self._faults is not None and self._faults.demands.serve is not None:
            self._faults.demands.serve(Served(paths).tasks())
            return
        crew = None if self._faults is None else self._faults.crew
        for place, path in enumerate(paths):
            elsewhere = None if crew is None else Elsewhere(crew.map_json, item.nodeid, place)
            strength = strength_of(path, self._spared, perturb_many=None if elsewhere is None else elsewhere.perturb)
            self._known.update(tried.name for tried in strength.tried if tried.noticed)
            found["tried"] += [_plain(tried) for tried in strength.tried]
            for text, failed in strength.expected.items():
                before = found["expected"].get(text)
                found["expected"][text] = before if failed is None else failed or bool(before)
            if strength.left_out and strength.left_out not in found["left_out"]:
                found["left_out"].append(strength.left_out)
            if self._lints:
                givens = given_items(path, strength, None if elsewhere is None else elsewhere.judge)
                found["given"] += [cast("GivenJson", asdict(given)) for given in givens]

    @property
    def _spared(self) -> Container[str]:
        """Names of perturbations that are not tried."""
        return () if self._lints else _Spared(self._known, self._shard)

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
        return document(self._results)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the file; fail the session where the specs are too weak."""
        if hasattr(self._config, "workerinput"):
            return
        found = self.document()
        if self._json:
            text = json.dumps(found, indent=1, ensure_ascii=False)
            (self._config.rootpath / self._json).write_text(f"{text}\n", encoding="utf-8")
        if self._is_too_weak() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Tell what nobody noticed, and what specs could do without."""
        if self._tells:
            terminalreporter.section("wowspec: strength of specs")
            for line in strength_lines(self._results):
                terminalreporter.line(line)
            part, parts = self._shard
            if parts > 1:
                terminalreporter.line(f"This is part {part} of {parts} of the perturbations.")
            if self._is_too_weak():
                terminalreporter.line(f"below --wowspec-strength-fail-under={self._least:g}", red=True)
        if self._lints:
            terminalreporter.section("wowspec: what specs could do without")
            for line in lint_lines(self._results):
                terminalreporter.line(line)

    def _is_too_weak(self) -> bool:
        """Whether the least strength is not reached; where nothing was perturbed, it was not."""
        return self._least is not None and (percent(totals(self._results)) or 0.0) < self._least


@dataclass(frozen=True, slots=True)
class _Spared:
    """Perturbations that a spec noticed, and those of other parts: each part has some of the names, in all specs."""

    known: set[str]
    shard: tuple[int, int]

    def __contains__(self, name: object) -> bool:
        return name in self.known or not in_shard(str(name), self.shard)


def _plain(tried: Any) -> TriedJson:
    plain = asdict(tried)
    return cast("TriedJson", {**plain, "noticed": list(plain["noticed"])})
