"""One line at a terminal that says how far a long exploration is: plans done, found, left; gone when it is done."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, nullcontext
from typing import Any, Final

import pytest

from ..faults.plans import Plan
from .collected import Demands, demand, demand_no_more
from .enumeration import RunMany, Step
from .explore import SpecExploration
from .findings import RecoveryClass
from .results import PlanJson

#: So long a spec is explored before anything is said of it, and so long a line stays as it is, in real seconds.
FIRST_AFTER: Final = 2.0
EVERY: Final = 0.2
_UP: Final = "\x1b[A"
_PROGRESS: Final = pytest.StashKey["Progress"]()


def is_looked_at(config: pytest.Config) -> bool:
    """Whether a person looks on at a terminal: not in another process, a log, a CI job, or with `-q`."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput") or config.get_verbosity() < 0:
        return False
    return bool(getattr(reporter, "isatty", False)) and not os.environ.get("CI") and os.environ.get("TERM") != "dumb"


def watch(item: pytest.Item) -> None:
    """A test with `@explore_faults` begins, in a session that explores nothing else: it has a line of its own."""
    config = item.config
    if config.pluginmanager.has_plugin("wowspec-faults") or not is_looked_at(config):
        return
    progress = config.stash.get(_PROGRESS, None)
    if progress is None:
        progress = config.stash[_PROGRESS] = Progress(config, len(item.session.items))
        demand(Demands(watched=progress.watched))
        config.add_cleanup(demand_no_more)
    progress.begin(item.nodeid, item.session.items.index(item) + 1)


class Progress:
    """Counts the plans of explorations, and writes the line.

    Args:
        config: of the session.
        tests: how many tests there are.
        clock: gives real seconds.
    """

    def __init__(self, config: pytest.Config, tests: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._config = config
        self._tests = tests
        self._clock = clock
        #: Tests by the order in which they began.
        self._begun: dict[str, int] = {}
        self._width = self._column = 0
        self._due = 0.0
        self._done = self._found = 0

    def begin(self, test: str, place: int = 0) -> None:
        """A test begins; its place is counted where it is not said."""
        self._begun.setdefault(test, place or len(self._begun) + 1)

    def watched(self, exploration: SpecExploration, run_many: RunMany[PlanJson]) -> RunMany[PlanJson]:
        """Runs plans as before, and counts them."""
        self._due = self._clock() + FIRST_AFTER
        self._done = self._found = 0
        test = exploration.test

        def run(plans: Sequence[Plan], deeper: bool) -> Generator[Step[PlanJson], None, None]:
            depth = len(plans[0]) if plans else 1
            try:
                with closing(run_many(plans, deeper)) as steps:
                    for place, step in enumerate(steps, 1):
                        self._count(step.result, test, len(plans) - place, depth)
                        yield step
            finally:
                self._erase()

        return run

    def _count(self, result: PlanJson, test: str, left: int, depth: int) -> None:
        self._done += 1
        self._found += result["recovery"] == RecoveryClass.NEVER
        now = self._clock()
        if now >= self._due:
            self._due = now + EVERY
            self._show(self.text(test, left, depth))

    def text(self, test: str, left: int, depth: int) -> str:
        """The line."""
        where = f"test {self._begun[test]} of {self._tests}, " if test in self._begun else ""
        level = f" at depth {depth}" if depth > 1 else ""
        name = test.rpartition("::")[2] or test
        return f"wowspec: {where}{name}: {self._done:,} plans done, {self._found:,} found, {left:,} left{level}"

    def _show(self, text: str) -> None:
        writer = self._config.get_terminal_writer()
        below = ""
        if not self._width:
            # What pytest has written in its line stays, and it will go on there.
            self._column = writer.width_of_current_line
            below = "\n" if self._column else ""
        room = max(writer.fullwidth - 1, 1)
        text = text if len(text) <= room else f"{text[: room - 1]}…"
        self._write(f"{below}\r{text.ljust(self._width)}")
        self._width = len(text)

    def _erase(self) -> None:
        if self._width:
            back = f"{_UP}\x1b[{self._column}C" if self._column else ""
            self._write(f"\r{' ' * self._width}\r{back}")
            self._width = 0

    def _write(self, text: str) -> None:
        """Past pytest's capture, and past its own count of what stands in the line."""
        capture: Any = self._config.pluginmanager.get_plugin("capturemanager")
        with nullcontext() if capture is None else capture.global_and_fixture_disabled():
            sys.stdout.write(text)
            sys.stdout.flush()
