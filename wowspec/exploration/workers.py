"""The worker's side: opens the suite, runs one test, and holds it open while jobs about its specs come in.

The test is held within its own call, so that its fixtures, patches and warning filters are what they were when it made
its specs. A process can only hold a call open beside the one that answers jobs: hence a thread, of which one or the
other waits. Nothing of the model runs in two of them at a time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing.util import Finalize
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

import pytest

from ..specs import tracking
from .collected import demands
from .jobs import JobJson, ReplyJson, SuiteJson, this_process

#: Answers the jobs of one task.
Task = Callable[[JobJson], ReplyJson]


def work(job: JobJson) -> ReplyJson:
    """Do one job, in this process; opens the test that it is about, unless it is open."""
    if job["suite"]["asker"] == this_process():
        return _refused("the executor works in the process that asks, not in others")
    with _one_at_a_time:
        held = _held.get("test")
        if held is None or not held.is_about(job):
            end()
            held = _held["test"] = Held(job["suite"], job["test"])
        return held.ask(job)


def probe() -> bool:
    """Say that a worker lives."""
    return True


def end() -> None:
    """Let go of the test that is held open."""
    held = _held.pop("test", None)
    if held is not None:
        held.end()


class Held:
    """A test that is held open.

    Args:
        suite: how to open its suite.
        test: its node id.
    """

    def __init__(self, suite: SuiteJson, test: str) -> None:
        self.suite = suite
        self.test = test
        self._jobs: SimpleQueue[JobJson | None] = SimpleQueue()
        self._replies: SimpleQueue[ReplyJson] = SimpleQueue()
        self._next: list[JobJson | None] = []
        self._why = "it made no spec there"
        self._thread = Thread(target=self._main, name="wowspec-held-test", daemon=True)
        self._thread.start()

    def is_about(self, job: JobJson) -> bool:
        """Whether a job is about this test."""
        return self.test == job["test"] and self.suite == job["suite"]

    def ask(self, job: JobJson) -> ReplyJson:
        """Have a job done."""
        self._jobs.put(job)
        return self._replies.get()

    def end(self) -> None:
        """Let the test end, and its session."""
        self._jobs.put(None)
        self._thread.join()

    def serve(self, tasks: Mapping[str, Task]) -> None:
        """Within the call of the test: answer jobs until one comes that is none of these."""
        while True:
            job = self._take()
            if job is None or job["task"] not in tasks:
                self._next.append(job)
                return
            try:
                reply = tasks[job["task"]](job)
            except BaseException as error:  # noqa: BLE001 - a job that raises is answered, too: whoever asks does it
                reply = _refused(f"{type(error).__name__}: {error}")
            self._replies.put(reply)

    def _take(self) -> JobJson | None:
        return self._next.pop() if self._next else self._jobs.get()

    def _main(self) -> None:
        try:
            self._session()
        except BaseException as error:  # noqa: BLE001 - a worker outlives a suite that cannot be opened
            self._why = f"{type(error).__name__}: {error}"
        while self._take() is not None:
            self._replies.put(_refused(self._why))

    def _session(self) -> None:
        suite = self.suite
        # The environment speaks of the test that asks: here none is running yet.
        os.environ.pop("PYTEST_CURRENT_TEST", None)
        tracking.begin_without_test()
        folder = Path(suite["folder"])
        if Path.cwd() != folder:
            os.chdir(folder)
        sys.path += [entry for entry in suite["path"] if entry not in sys.path]
        file, colons, rest = self.test.partition("::")
        options = {**suite["options"], "rootdir": suite["root"]}
        if suite["ini"]:
            options["inifilename"] = suite["ini"]
        config = pytest.Config.fromdictargs(options, [f"{Path(suite['root'], file)}{colons}{rest}"])
        config.pluginmanager.register(self, "wowspec-worker")
        config.hook.pytest_cmdline_main(config=config)

    # --- hooks of the session that is held open -----------------------------------------------------------------------

    def pytest_sessionstart(self) -> None:
        """What passed tests made is served, not explored."""
        demands().serve = self.serve

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Run the one test alone."""
        items[:] = [item for item in items if item.nodeid == self.test]
        if not items:
            self._why = "it is not found there"

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep why nothing was collected."""
        if report.failed:
            self._why = f"it cannot be collected there: {_last_line(report.longreprtext)}"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep why the test did not pass."""
        if not report.passed:
            self._why = f"it {report.outcome} there: {_last_line(report.longreprtext)}"


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]


def _refused(why: str) -> ReplyJson:
    return {"results": [], "refused": why}


_held: dict[str, Held] = {}
_one_at_a_time = Lock()


def _end_quietly(_: Any = None) -> None:
    with suppress(Exception):
        end()


# The processes of a pool end without `atexit`; fixtures of a session are torn down all the same.
Finalize(None, _end_quietly, exitpriority=100)
