"""The closing lines of a golden run, with and without pytest-xdist."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final

import pytest

from tests.golden.cases import FAMILIES, load

_MODULES: Final = {f"tests/golden/test_{family}.py": family for family in FAMILIES}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None, Any, Any]:
    """Print the failed cases with their first difference, then one line for each family that ran."""
    result = yield
    passed, failed = _outcomes(terminalreporter)
    asked_for = _asked_for(terminalreporter, passed, failed)
    for family in FAMILIES:
        for case_id, text in sorted(failed[family].items()):
            terminalreporter.write_line(f"{case_id}: {text}", red=True)
    for family in FAMILIES:
        if family in asked_for:
            came, fell = len(passed[family]), len(failed[family])
            counts = f"{came} passed, {fell} failed, {len(load(family)) - came - fell} not yet"
            terminalreporter.write_line(f"golden {family}: {counts}", bold=True)
    return result


def _outcomes(reporter: pytest.TerminalReporter) -> tuple[dict[str, set[str]], dict[str, dict[str, str]]]:
    passed: dict[str, set[str]] = {family: set() for family in FAMILIES}
    failed: dict[str, dict[str, str]] = {family: {} for family in FAMILIES}
    for key in ("passed", "failed", "error"):
        for report in reporter.stats.get(key, ()):
            family = _MODULES.get(report.nodeid.partition("::")[0])
            if family is None:
                continue
            case_id = report.nodeid.partition("[")[2].removesuffix("]") or report.nodeid
            if key != "passed":
                failed[family][case_id] = _reason(report.longrepr)
            elif report.when == "call":
                passed[family].add(case_id)
    return passed, failed


def _reason(longrepr: Any) -> str:
    crash = getattr(longrepr, "reprcrash", None)
    return str(longrepr if crash is None else crash.message).strip().removeprefix("Failed: ")


def _asked_for(
    reporter: pytest.TerminalReporter, passed: dict[str, set[str]], failed: dict[str, dict[str, str]]
) -> set[str]:
    """The families that ran, and those that have no case in the folder."""
    ran = {family for family in FAMILIES if passed[family] or failed[family]}
    skipped = {_MODULES.get(report.nodeid.partition("::")[0]) for report in reporter.stats.get("skipped", ())}
    return ran | {family for family in FAMILIES if family in skipped}
