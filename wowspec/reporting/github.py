"""What GitHub Actions is told: failing specs beside their lines, and a summary of the job.

Loaded where GitHub Actions runs a suite, whether it has specs or not: so it imports what it needs when it needs it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

if TYPE_CHECKING:
    from ..exploration.results import BrokenJson, FindingJson, ResultJson
    from .failing import FailureJson

_ERRORS: Final = "wowspec.errors"
#: Attributes of a report that carry a failure, and explorations, from one process to another.
CARRIED: Final = "wowspec_failure"
EXPLORED: Final = "wowspec_faults"
#: This plugin annotates every failed test, ours among them.
_OTHER: Final = "pytest_github_actions_annotate_failures"
#: GitHub shows ten errors of a step.
MOST_ERRORS: Final = 10
#: Characters of an annotation; findings and failures in the summary.
_MOST_MESSAGE: Final = 4_000
_MOST_LISTED: Final = 20
_DATA: Final = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY: Final = {**_DATA, ":": "%3A", ",": "%2C"}


class Failed(NamedTuple):
    """A failed test: its node id, its file and line, seen from the root directory, what it says."""

    test: str
    file: str
    line: int
    text: str


class GithubPlugin:
    """Annotates the failures that wowspec raised, and writes the summary, when the session ends.

    Args:
        config: of the session.

    Raises:
        pytest.UsageError: for a setting that is none.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._failed: list[Failed] = []
        self._results: list[ResultJson] = []
        said = config.getini("wowspec_github")
        if said != "auto":
            raise pytest.UsageError(
                f"wowspec_github = {said}\n"
                "  why: it says whether failing specs are annotated where GitHub Actions runs the suite\n"
                "  instead: auto or off"
            )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Let the report of a test that wowspec failed say why and where."""
        report = yield
        if report.failed and call.excinfo is not None and _ERRORS in sys.modules:
            from .failing import failure_json, place_of_item

            failure = failure_json(call.excinfo.value, item.config.rootpath)
            if failure["is_ours"]:
                file, line = place_of_item(item)
                failure["place"] = failure["place"] or f"{file}:{line}"
                setattr(report, CARRIED, failure)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a report brings, wherever the test ran."""
        failure: FailureJson | None = getattr(report, CARRIED, None)
        if failure is not None:
            file, _, line = failure["place"].rpartition(":")
            self._failed.append(Failed(report.nodeid, file, int(line), failure["text"]))
        self._results += getattr(report, EXPLORED, ())

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write all of it; in the order of tests, whatever process ran which."""
        if not self._failed and not self._results:
            return
        from ..exploration.results import in_order

        failed, results = sorted(self._failed), in_order(self._results)
        terminalreporter.ensure_newline()
        if not self._config.pluginmanager.has_plugin(_OTHER):
            for text in error_lines(failed, self._config.rootpath):
                terminalreporter.line(text)
        if any(result["cells"] for result in results):
            terminalreporter.line(command("notice", covered(results), title="wowspec: fault coverage"))
        path = os.environ.get("GITHUB_STEP_SUMMARY")
        if path:
            try:
                with Path(path).open("a", encoding="utf-8") as file:
                    file.write(summary(failed, results))
            except OSError as error:
                terminalreporter.line(f"wowspec: no job summary was written: {error}")


# --- annotations ------------------------------------------------------------------------------------------------------


def command(kind: str, message: str, **properties: object) -> str:
    """A workflow command, such as `::error file=a.py,line=3,title=no such event::...`, on one line."""
    said = ",".join(f"{name}={_escaped(str(value), _PROPERTY)}" for name, value in properties.items())
    return f"::{kind} {said}::{_escaped(message, _DATA)}"


def _escaped(text: str, signs: dict[str, str]) -> str:
    return "".join(signs.get(sign, sign) for sign in text)


def error_lines(failed: Sequence[Failed], root: Path) -> list[str]:
    """An error for each failure, at its line; of many the first ones, and how many more."""
    shown = failed if len(failed) <= MOST_ERRORS else failed[: MOST_ERRORS - 1]
    lines = [
        command(
            "error",
            _cut(each.text),
            file=_from_workspace(root / each.file),
            line=each.line,
            title=f"wowspec: {each.test.rpartition('::')[2]}",
        )
        for each in shown
    ]
    if len(failed) > len(shown):
        text = f"{len(failed) - len(shown)} more tests fail for their specs; the log has them"
        lines.append(command("error", text, title="wowspec: more failures"))
    return lines


def _from_workspace(path: Path) -> str:
    """A path as GitHub knows it: seen from the checkout."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    base = Path(workspace) if workspace else Path.cwd()
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else path.as_posix()


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_MESSAGE else f"{text[:_MOST_MESSAGE]}\n… the log has the rest"


# --- the summary ------------------------------------------------------------------------------------------------------


def covered(results: Sequence[ResultJson]) -> str:
    """How much was explored, in one line."""
    from ..exploration.coverage import coverage_percent
    from ..specs.layout import several

    swept = [result for result in results if not result["not_swept"] and not result["same_as"]]
    plans = sum(result["plans"] for result in swept)
    return (
        f"{coverage_percent(swept):.0f} % of the possible cells (point and kind), "
        f"by {several(plans, 'plan')} over {several(len(swept), 'spec')}"
    )


def summary(failed: Sequence[Failed], results: Sequence[ResultJson]) -> str:
    """The job's summary, as Markdown: what failed, what was found, what was explored."""
    from ..specs.layout import several

    lines = ["### wowspec", ""]
    if failed:
        lines += [f"**{several(len(failed), 'failing test')}**", "", "| test | where | why |", "|---|---|---|"]
        for each in failed[:_MOST_LISTED]:
            why = each.text.partition("\n")[0]
            lines.append(f"| {_cell(each.test)} | {_cell(f'{each.file}:{each.line}')} | {_plain(why)} |")
        lines += _more(failed)
    else:
        lines += ["No test failed for its specs.", ""]
    lines += _findings(results)
    if any(result["cells"] for result in results):
        from ..exploration.coverage import matrix_lines

        lines += [f"**Fault coverage**: {covered(results)}", ""]
        swept = [result for result in results if not result["not_swept"] and not result["same_as"]]
        lines += _block("\n".join(matrix_lines(swept)))
    return "\n".join(lines) + "\n"


def _findings(results: Sequence[ResultJson]) -> list[str]:
    """What fails tests, each with the line that replays it; of what is declared or known, how much there is."""
    from ..exploration.results import undeclared
    from ..specs.layout import several

    own = [result for result in results if not result["same_as"]]
    fresh: list[tuple[ResultJson, FindingJson, list[BrokenJson]]] = [
        (result, finding, broken) for result in own for finding, broken in undeclared(result)
    ]
    others = sum(len(result["findings"]) for result in own) - len(fresh)
    if not fresh and not others:
        return []
    besides = f"; {others} more declared, healed or known" if others else ""
    lines = [f"**{several(len(fresh), 'finding')}**{besides}", ""]
    for result, finding, broken in fresh[:_MOST_LISTED]:
        laws = ", ".join(item["title"] for item in broken)
        lines += [f"{_plain(laws)} in {_code(result['test'])}", "", *_block(finding["replay"])]
    return lines + _more(fresh)


def _more(listed: Sequence[object]) -> list[str]:
    more = len(listed) - _MOST_LISTED
    return ["", f"… {more} more; the log has them", ""] if more > 0 else [""]


def _block(text: str) -> list[str]:
    return ["````text", text, "````", ""]


def _code(text: str) -> str:
    return f"`{text.replace('`', ' ')}`"


def _cell(text: str) -> str:
    return _code(text).replace("|", "\\|")


def _plain(text: str) -> str:
    """A text that says nothing to Markdown."""
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]<>#!|~" else sign for sign in text)
