"""The plugin behind `--wowspec-faults`, `--wowspec-plan` and their like; loaded only where one of them is given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from ..errors import SpecError, SpecFailure
from ..faults.plans import Plan
from ..specs import injecting, tracking
from ..specs.placing import place_of_function, raise_at
from .baseline import read_baseline, told_of_profile, write_baseline
from .collected import Demands, demand, demand_no_more, note
from .coverage import coverage_percent
from .crew import Crew
from .decorator import ATTRIBUTE, Exploration
from .executors import shop_of
from .gone import GoneTests
from .jobs import suite_of
from .progress import Progress, is_looked_at
from .results import ResultJson, document, empty_result
from .serving import PLANS
from .settings import Settings, percentage, settings, shard_of
from .summary import results_of
from .sweeping import NO_SPECS, Sweep, judge_results, plans_of, replay, why_no_specs

NO_SWEEP: Final = "wowspec_no_sweep"


class FaultsPlugin:
    """Sweeps tests, replays plans, keeps the baseline.

    Args:
        config: whose options are read.

    Attributes:
        demands: what is asked of every test.
        crew: who runs specs elsewhere; None: all is done here.

    Raises:
        pytest.UsageError: for an option that makes no sense.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        option = config.getoption
        try:
            tells_known = bool(option("wowspec_strict")) or option("wowspec_plan") is not None
            draws = bool(option("wowspec_report", None))
            self._said = replace(_settings(config), tells_known=tells_known, draws=draws)
            plan: str | None = option("wowspec_plan")
            self._plan = None if plan is None else Plan.parse(plan)
            self._writes = _path(config, "wowspec_write_baseline", option("wowspec_write_baseline"))
            self._json = _path(config, "wowspec_fault_json", option("wowspec_fault_json"))
            baseline = _path(config, "wowspec_baseline", option("wowspec_baseline"))
            if baseline is None and config.getini("wowspec_baseline"):
                baseline = config.rootpath / config.getini("wowspec_baseline")
            shop = shop_of(option("wowspec_executor"))
            self._baseline = read_baseline(None if self._writes else baseline)
            self._other_profile = "" if self._writes else told_of_profile(baseline, option("wowspec_profile"))
            self._least = percentage("--wowspec-fault-cov-fail-under", option("wowspec_fault_cov_fail_under"))
        except SpecError as error:
            raise pytest.UsageError(str(error)) from None
        if self._baseline and baseline is not None and self._plan is None:
            config.pluginmanager.register(GoneTests(config, self._baseline, baseline.name), "wowspec-gone")
        self._sweep = Sweep()
        self._sweeps = option("wowspec_faults") == "sweep" and self._plan is None
        if option("wowspec_check_determinism") and self._plan is None and not self._sweeps:
            # Each sweep begins with it.
            self._sweeps, self._said = True, replace(self._said, depth=0)
        self._progress: Progress | None = None
        self._strict = bool(option("wowspec_strict"))
        self.crew: Crew | None = None if shop is None else Crew(shop, suite_of(config))
        elsewhere = None if self.crew is None else self.crew.run_many
        self.demands: Demands = Demands(
            self._plan, self._strict, self._said.shard, self._baseline, bool(self._writes), elsewhere, draws
        )

    @property
    def _reruns(self) -> bool:
        """Whether specs are run again; a baseline alone concerns `@explore_faults`, which sees to itself."""
        return self._sweeps or self._plan is not None

    def open(self) -> None:
        """The session begins."""
        demand(self.demands)
        if self._reruns:
            injecting.want_kept()

    def close(self) -> None:
        """The session is over."""
        if self.crew is not None:
            self.crew.close()
        if self._reruns:
            injecting.no_longer_want_kept()
        demand_no_more()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Somebody may look on."""
        if is_looked_at(self._config):
            self._progress = Progress(self._config, len(session.items))
            self.demands.watched = self._progress.watched

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins."""
        if self._progress is not None:
            self._progress.begin(nodeid)

    def after_test(self, item: pytest.Item, tracker: tracking.Tracker | None) -> None:
        """A test passed: sweep what it made, or replay the plan over it.

        Raises:
            SpecFailure: for what was found.
        """
        __tracebackhide__ = True
        if (not self._sweeps and self._plan is None) or item.get_closest_marker(NO_SWEEP) is not None:
            return
        own = getattr(getattr(item, "obj", None), ATTRIBUTE, None)
        if own is not None:
            if self._sweeps and not isinstance(own, Exploration):
                note(empty_result(item.nodeid, 0, not_swept=NO_SPECS["orderings"]))
            return
        paths = [] if tracker is None else tracking.paths(tracker)
        test = item.nodeid
        if not paths:
            reason = why_no_specs(item)
            if reason:
                note(empty_result(test, 0, not_swept=reason))
            return
        if self.demands.serve is not None:
            self.demands.serve({PLANS: plans_of(paths, self._said_of(test), test)})
            return
        try:
            results = self._results(paths, test)
            for result in results:
                note(result)
            if not self._writes:
                judge_results(results, strict=self._strict or self._plan is not None)
        except (SpecError, SpecFailure) as failure:
            raise_at(place_of_function(getattr(item, "obj", None)), failure)

    def _results(self, paths: list[Any], test: str) -> list[ResultJson]:
        if self._plan is not None:
            return replay(paths, self._said, test, self._plan)
        return self._sweep.run(paths, self._said_of(test), test)

    def _said_of(self, test: str) -> Settings:
        return replace(self._said, expected=self._baseline.get(test, ()))

    # Below the section of explorations, which speaks of the same numbers.
    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Tell what was explored, found, left out."""
        results = results_of(terminalreporter)
        if self._writes:
            count = write_baseline(self._writes, results, self._config.getoption("wowspec_profile"))
            said = self._config.getoption("wowspec_write_baseline")
            terminalreporter.line(f"wowspec: {count} findings declared in {said}")
        if self._other_profile:
            terminalreporter.line(self._other_profile, yellow=True)
        least, percent = self._least, coverage_percent(results)
        if least is not None and percent < least:
            text = f"fault coverage {percent:.0f} % is below --wowspec-fault-cov-fail-under={least:g}"
            terminalreporter.line(text, red=True)
        if self._json:
            write_json(self._json, results)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the session where too few faults were explored."""
        least = self._least
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if least is None or reporter is None or hasattr(self._config, "workerinput"):
            return
        if coverage_percent(results_of(reporter)) < least and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def write_json(path: Path | None, results: list[ResultJson]) -> None:
    """The results as a file."""
    import json

    if path is not None:
        path.write_text(json.dumps(document(results), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _path(config: pytest.Config, flag: str, text: str | None) -> Path | None:
    """A path as the command line says it, from where pytest was called; refused where its folder is missing.

    Raises:
        SpecError: before anything is run, and not when all of it is done.
    """
    if not text:
        return None
    path = config.invocation_params.dir / text
    if not path.parent.is_dir():
        raise SpecError(
            f"--{flag.replace('_', '-')}={text}: there is no folder {path.parent}",
            why="the file is written when everything was run, or read before",
            instead="a folder that is there",
        )
    return path


def _settings(config: pytest.Config) -> Settings:
    option = config.getoption
    return settings(
        depth=option("wowspec_depth") or 0,
        points=option("wowspec_points") or None,
        kinds=option("wowspec_kinds") or None,
        max_runs=option("wowspec_max_runs"),
        max_seconds=option("wowspec_max_seconds"),
        profile=option("wowspec_profile"),
        recovery=option("wowspec_recovery") or None,
        shard=shard_of(option("wowspec_shard")),
    )
