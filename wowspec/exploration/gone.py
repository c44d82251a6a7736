"""Tests that a baseline names and the suite no longer has: their lines would excuse nothing for ever."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import pytest

from ..specs.layout import several

#: What a process of pytest-xdist hands to the one that started it.
_HANDED: Final = "wowspec_gone"
_MOST_NAMED: Final = 8


class GoneTests:
    """Looks for the tests of a baseline among those that were collected.

    A test is gone where its file is, or where its whole file was collected without it. What the command line narrows,
    to one test of a file or to those that failed last time, says nothing of the others.

    Args:
        config: of the session.
        tests: node ids that the baseline names.
        baseline: how texts call it.
    """

    def __init__(self, config: pytest.Config, tests: Iterable[str], baseline: str) -> None:
        self._config = config
        self._tests = list(tests)
        self._baseline = baseline
        self._files: set[str] = set()
        self._collected: set[str] = set()
        self._elsewhere: set[str] = set()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file was collected, or something else."""
        if report.passed:
            self._files.add(report.nodeid)

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """There is a test, whether or not it is run."""
        self._collected.add(item.nodeid)

    def gone(self) -> list[str]:
        """The tests that are no more, in the baseline's order."""
        if hasattr(self._config, "workerinput") or not self._files:
            return [test for test in self._tests if test in self._elsewhere]
        return self._missing()

    def _missing(self) -> list[str]:
        narrowed = bool(self._config.getoption("lf", default=False))
        singled = {argument.partition("::")[0] for argument in self._config.args if "::" in argument}
        missing = []
        for test in self._tests:
            file = test.partition("::")[0]
            path = self._config.rootpath / file
            if test in self._collected:
                continue
            is_whole = file in self._files and not narrowed
            is_singled = any(
                (self._config.invocation_params.dir / each).resolve() == path.resolve() for each in singled
            )
            if not path.exists() or (is_whole and not is_singled):
                missing.append(test)
        return missing

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the session; a process of pytest-xdist leaves that to the one that started it."""
        handed: dict[str, Any] | None = getattr(self._config, "workeroutput", None)
        if handed is not None:
            handed[_HANDED] = self._missing()
        elif self.gone() and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A process of pytest-xdist is done: it collected the tests."""
        self._elsewhere |= set(getattr(node, "workeroutput", {}).get(_HANDED, ()))

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say which they are."""
        gone = self.gone()
        if not gone:
            return
        lines = [f"{self._baseline} names {several(len(gone), 'test')} that the suite no longer has:"]
        lines += [f"  {test}" for test in gone[:_MOST_NAMED]]
        if len(gone) > _MOST_NAMED:
            lines.append(f"  … and {len(gone) - _MOST_NAMED} more")
        lines.append("  why: what is declared is excused, and an excuse for nothing hides the next finding")
        lines.append("  instead: remove their lines, or write there what the tests are called now")
        for line in lines:
            terminalreporter.line(line, red=True)
