"""The plugin behind `--wowspec-report`; loaded only where the option is given."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from traceback import extract_tb
from typing import Any, Final, NamedTuple

import pytest

from ..errors import SpecError
from ..specs import tracking
from ..specs.run_json import error_text
from .collecting import Collector, json_of_test, lost_test, outcome_of, uncollected
from .document import DocumentJson, TestJson
from .mermaid import INDEX_MARKER, is_ours

#: Attribute of a report that carries a test from one process to another; and the one that carries its exploration.
CARRIED: Final = "wowspec_test"
EXPLORED: Final = "wowspec_faults"
#: The same for a part of a test that is reported alone, by `subtests`.
PART: Final = "wowspec_part"
#: What the call of a test made; there once the call has ended. And what it and its parts failed with.
_MADE: Final = pytest.StashKey["tracking.Tracker | None"]()
_ERRORS: Final = pytest.StashKey[list[BaseException]]()
_OPTION: Final = "--wowspec-report"
#: How a file begins that such a report may be written over.
_BEGINS: Final = {"html": b"<", "json": b"{"}
_HALVES: Final = re.compile(r"[\ud800-\udfff]")


def write_json(document: DocumentJson, path: Path) -> None:
    """The document itself."""
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    # JSON can hold half a character, a file cannot.
    text = _HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", text)
    path.write_text(f"{text}\n", encoding="utf-8", newline="\n")


def _write_html(document: DocumentJson, path: Path) -> None:
    from .html import write_html

    write_html(document, path)


def _write_mermaid(document: DocumentJson, path: Path) -> None:
    from .mermaid import write_mermaid

    write_mermaid(document, path)


def _write_docs(document: DocumentJson, path: Path) -> None:
    from .living import write_docs

    write_docs(document, path)


#: Who writes each kind of report, loaded when it is asked for.
WRITERS: Final[Mapping[str, Callable[[DocumentJson, Path], None]]] = {
    "html": _write_html,
    "json": write_json,
    "mermaid": _write_mermaid,
    "docs": _write_docs,
}


class Asked(NamedTuple):
    """A report that is asked for: its kind, its path as it was said, and the whole one."""

    kind: str
    said: str
    path: Path


class ReportPlugin:
    """Collects the tests of a session, and writes the reports when it ends.

    Args:
        config: whose options are read.
        kinds: the kinds of reports: whether each is a folder.

    Raises:
        pytest.UsageError: for a report that cannot be written.
    """

    def __init__(self, config: pytest.Config, kinds: Mapping[str, bool]) -> None:
        self._config = config
        self._collector = Collector()
        self._written: list[Asked] = []
        self._failed: list[str] = []
        self._begun = False
        self._kinds = kinds
        folder = config.invocation_params.dir
        try:
            self.asked: list[Asked] = asked(config.getoption("wowspec_report") or (), kinds, folder)
        except (SpecError, OSError) as error:
            raise pytest.UsageError(f"{_OPTION}: {error}" if isinstance(error, OSError) else str(error)) from None

    def open(self) -> None:
        """The session begins."""
        tracking.want_inner()

    def close(self) -> None:
        """The session is over."""
        tracking.no_longer_want_inner()

    def seen(self, item: pytest.Item, tracker: tracking.Tracker | None) -> None:
        """The call of a test has ended, however it did."""
        item.stash[_MADE] = tracker

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Let the report of what cannot be collected carry why."""
        report = yield
        if report.failed:
            call: pytest.CallInfo[Any] | None = getattr(report, "call", None)
            error = None if call is None or call.excinfo is None else call.excinfo.value
            root = collector.config.rootpath
            setattr(report, CARRIED, uncollected(report.nodeid, error, report.longreprtext, root))
        return report

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep what could not be collected, once, whoever tried."""
        told: TestJson | None = getattr(report, CARRIED, None)
        if told is not None:
            self._collector.add(told)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Tests are run: not with an option that only shows something, nor after a mistake in the command line."""
        self._begun = True
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Let the report carry what the test was."""
        report = yield
        if report.when != "call":
            if not report.passed:
                setattr(report, CARRIED, _told(item, report, call))
            return report
        errors = item.stash.setdefault(_ERRORS, [])
        if report.failed and call.excinfo is not None:
            errors.append(call.excinfo.value)
        if _MADE not in item.stash:
            setattr(report, PART, _told(item, report, call))
        else:
            setattr(report, CARRIED, _told(item, report, call, item.stash[_MADE], errors))
            del item.stash[_MADE], item.stash[_ERRORS]
        return report

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a report brings, wherever the test ran; others may have changed its outcome since."""
        told: TestJson | None = getattr(report, CARRIED, None)
        part: TestJson | None = getattr(report, PART, None)
        if part is not None:
            self._collector.add_part(part)
        elif told is not None:
            self._collector.add({**told, "outcome": outcome_of(report)})
        elif report.failed:
            self._collector.add(lost_test(report, self._config.rootpath))
        results = getattr(report, EXPLORED, None)
        if results:
            self._collector.explored(report.nodeid, results)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the reports."""
        config = self._config
        only_shows = config.getoption("collectonly") or config.getoption("setuponly", False)
        if hasattr(config, "workerinput") or only_shows or not self._begun:
            return
        plugins = [config.pluginmanager.get_plugin(name) for name in ("wowspec-strength", "wowspec-unreachable")]
        strength, unreachable = (None if plugin is None else plugin.document() for plugin in plugins)
        document = self._collector.document(config.rootpath, strength, unreachable)
        ended_early = self._ended_early(session)
        for each in self.asked:
            if ended_early and self._kinds[each.kind] and _holds_files(each.path):
                self._failed.append(f"{each.kind} report not written: {ended_early}; {each.said} stays as it is")
                continue
            try:
                WRITERS[each.kind](document, each.path)
                self._written.append(each)
            except OSError as error:
                self._failed.append(f"{each.kind} report not written: {error}")
                session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
            except Exception as error:  # noqa: BLE001 - the other reports, and what pytest tells, are not lost for it
                line = extract_tb(error.__traceback__)[-1]
                where = f"{Path(line.filename).name}:{line.lineno}"
                told = f"{type(error).__name__}: {error} ({where}), which is a mistake of wowspec"
                self._failed.append(f"{each.kind} report not written: {told}")
                session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    @staticmethod
    def _ended_early(session: pytest.Session) -> str:
        """Why tests that belong to the suite were not run: files of theirs are not to be removed; empty: all were."""
        if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            return "no test was run"
        stopped = session.shouldstop or session.shouldfail
        early = session.exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)
        return "the session ended before all tests were run" if stopped or early else ""

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say where the reports are."""
        for line in self._failed:
            terminalreporter.line(f"wowspec: {line}", red=True)
        for each in self._written:
            terminalreporter.write_sep("-", f"wowspec: {each.kind} report: {each.said}")


def _told(
    item: pytest.Item,
    report: pytest.TestReport,
    call: pytest.CallInfo[None],
    made: tracking.Tracker | None = None,
    errors: Sequence[BaseException] = (),
) -> TestJson:
    """A test as JSON; a test that cannot be told is no reason for the session to end."""
    try:
        return json_of_test(item, report, call, made, errors=errors)
    except Exception as error:  # noqa: BLE001 - whatever an author's objects do when they are looked at
        told = lost_test(report, item.config.rootpath)
        why = f"this test cannot be told: {error_text(error)}"
        return {**told, "outcome": outcome_of(report), "failure": f"{told['failure']}\n{why}".lstrip()}


def asked(said: Iterable[str], kinds: Mapping[str, bool], folder: Path) -> list[Asked]:
    """The reports that the command line asks for.

    Args:
        said: each as `KIND:PATH`.
        kinds: the kinds of reports: whether each is a folder.
        folder: where paths begin.

    Raises:
        SpecError: for a kind that is none, a path that is missing or cannot be written to.
    """
    found: list[Asked] = []
    for text in said:
        kind, _, path = text.partition(":")
        if kind not in kinds:
            close = get_close_matches(kind.lower(), kinds, 1, 0.0)[0] if kind else "html"
            raise SpecError(
                f"{_OPTION}={text}: there is no report of the kind {kind!r}",
                why=f"the kinds are {', '.join(kinds)}",
                instead=f"{_OPTION}={close}:{path or _example(close, kinds)}",
            )
        if not path:
            raise SpecError(
                f"{_OPTION}={text} says no path",
                why="a report is written when everything was run, and must go somewhere",
                instead=f"{_OPTION}={kind}:{_example(kind, kinds)}",
            )
        one = Asked(kind, path, folder / path)
        _require_writable(one, text, is_folder=kinds[kind])
        known = next((each for each in found if each.path.resolve() == one.path.resolve()), None)
        if known is not None:
            raise SpecError(
                f"{_OPTION}={text}: the {known.kind} report goes there, too",
                why="the second one would be written over the first",
                instead="a path for each",
            )
        found.append(one)
    return found


def _example(kind: str, kinds: Mapping[str, bool]) -> str:
    return "reports/" + kind if kinds[kind] else f"report.{kind}"


def _require_writable(one: Asked, text: str, *, is_folder: bool) -> None:
    """Refuse a path now, and not when everything was run.

    Raises:
        SpecError: if there is no folder for it, or something else is there.
    """
    if not one.path.parent.is_dir():
        raise SpecError(
            f"{_OPTION}={text}: there is no folder {one.path.parent}",
            why="the report is written when everything was run",
            instead="a folder that is there",
        )
    if is_folder and one.path.exists() and not one.path.is_dir():
        raise SpecError(
            f"{_OPTION}={text}: {one.said} is a file",
            why=f"a {one.kind} report is a folder of files",
            instead=f"{_OPTION}={one.kind}:{one.said}.d",
        )
    if not is_folder and one.path.is_dir():
        raise SpecError(
            f"{_OPTION}={text}: {one.said} is a folder",
            why=f"a {one.kind} report is one file",
            instead=f"{_OPTION}={one.kind}:{Path(one.said, 'report').as_posix()}.{one.kind}",
        )
    if is_folder and not is_ours(one.path / "index.md", INDEX_MARKER):
        raise SpecError(
            f"{_OPTION}={text}: {Path(one.said, 'index.md').as_posix()} was not written by wowspec",
            why="somebody's own page would be lost",
            instead="a folder for the report alone",
        )
    begins = _BEGINS.get(one.kind)
    if begins is not None and one.path.is_file() and not _begins_with(one.path, begins):
        raise SpecError(
            f"{_OPTION}={text}: {one.said} is there, and is no {one.kind} report",
            why="somebody's own file would be lost",
            instead="another path",
        )
    target = one.path if one.path.exists() else one.path.parent
    if not os.access(target, os.W_OK):
        raise SpecError(
            f"{_OPTION}={text}: {target} cannot be written to",
            why="the report is written when everything was run",
            instead="a path that can",
        )


def _holds_files(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


def _begins_with(path: Path, sign: bytes) -> bool:
    """Whether a file begins so, or is empty."""
    with path.open("rb") as file:
        found = file.read(64).lstrip()
    return not found or found.startswith(sign)
