"""The line that tells how far a long exploration is: when, to whom, what, and that nothing is left of it."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tests.exploration.shop import PlaceOrder, shop
from wowspec import spec
from wowspec.exploration.collected import Demands
from wowspec.exploration.explore import SOUGHT, SpecExploration
from wowspec.exploration.playing import Way
from wowspec.exploration.progress import EVERY, FIRST_AFTER, Progress, is_looked_at
from wowspec.exploration.settings import settings

TEST = "test_shop.py::test_order"


class Config:
    """As much of pytest's as is asked for."""

    def __init__(self, verbosity=0, width=100, column=0, **plugins):
        self.plugins = plugins
        self.verbosity = verbosity
        self.pluginmanager = SimpleNamespace(get_plugin=self.plugins.get)
        self._writer = SimpleNamespace(fullwidth=width, width_of_current_line=column)

    def get_verbosity(self):
        return self.verbosity

    def get_terminal_writer(self):
        return self._writer


@pytest.fixture
def terminal():
    """What is written to it."""
    return io.StringIO()


def explore(terminal, seconds, width=100, column=0, points=("projection.write", "event_store.append"), **more):
    """Explore a spec with a clock that goes on so many seconds a plan; gives the progress and the result."""
    said = spec().using(shop).when(PlaceOrder(id="o-1"))
    said.run()
    exploration = SpecExploration(Way(tuple(said._node.path()), explores=SOUGHT), settings(points=points, **more), TEST)
    time = iter(range(1_000_000))
    progress = Progress(Config(width=width, column=column), 7, lambda: next(time) * seconds)
    progress.begin("another")
    progress.begin(TEST)
    with contextlib.redirect_stdout(terminal):
        return Demands(watched=progress.watched).run(exploration)


def lines(terminal):
    """The lines that were written over each other."""
    return [text.rstrip() for text in terminal.getvalue().split("\r")]


def test_a_long_exploration_says_how_far_it_is(terminal):
    """Test, plans done, found, left; in the end nothing stands there."""
    result = explore(terminal, 1)
    told = lines(terminal)
    done = [re.fullmatch(r"wowspec: test 2 of 7, test_order: (\d+) plans done, (\d+) found, (\d+) left", text)
            for text in told[1:-2]]  # fmt: skip

    assert [told[0], *told[-2:]] == ["", "", ""]
    assert [int(each[1]) + int(each[3]) for each in done] == [result["plans"]] * len(done)
    assert [int(each[1]) for each in done] == list(range(int(FIRST_AFTER), result["plans"] + 1))
    assert int(done[-1][2]) == result["outcomes"]["never heals"]


def test_the_line_of_pytest_is_left_alone(terminal):
    """Ours is the one below it; in the end the cursor is where it was."""
    explore(terminal, 1, column=13)
    text = terminal.getvalue()

    assert text.startswith("\n\rwowspec: ")
    assert text.count("\n") == 1
    assert re.search(r"\r +\r\x1b\[A\x1b\[13C$", text)


def test_deeper_plans_say_so(terminal):
    """What is left of a level is said by its depth; the plans done are those of all levels."""
    result = explore(terminal, 1, depth=2, max_runs=60, points=["projection.write", "event.deliver"])
    told = [text for text in lines(terminal) if "left at depth 2" in text]

    assert told
    assert f"{result['plans']} plans done" in told[-1]


def test_a_short_exploration_says_nothing(terminal):
    """Nobody needs to know."""
    explore(terminal, FIRST_AFTER / 1_000_000)

    assert terminal.getvalue() == ""


def test_a_line_stays_for_a_while(terminal):
    """It is written no more often than a person reads."""
    result = explore(terminal, EVERY / 4, points=None)
    plans = result["plans"] - FIRST_AFTER / (EVERY / 4)

    assert 1 < len(lines(terminal)) - 3 <= plans / 4 + 1


def test_a_narrow_terminal_has_it_cut(terminal):
    """Within its width, so that the line is one line."""
    explore(terminal, 1, width=30)
    told = [text for text in lines(terminal) if text]

    assert told[0] == "wowspec: test 2 of 7, test_o…"
    assert max(map(len, told)) < 30


def test_the_results_are_the_same(terminal):
    """Whoever looks on changes nothing."""
    assert explore(terminal, 1) == explore(terminal, 0)


@pytest.mark.parametrize(
    ("changes", "environment", "looks"),
    [
        ({}, {}, True),
        ({"verbosity": 2}, {}, True),
        ({"verbosity": -1}, {}, False),
        ({"terminalreporter": None}, {}, False),
        ({"terminalreporter": SimpleNamespace(isatty=False)}, {}, False),
        ({}, {"CI": "true"}, False),
        ({}, {"TERM": "dumb"}, False),
    ],
    ids=["terminal", "verbose", "quiet", "no reporter", "log", "CI", "dumb"],
)
def test_who_looks_on(monkeypatch, changes, environment, looks):
    """A person at a terminal."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    config = Config(**{"terminalreporter": SimpleNamespace(isatty=True), **changes})

    assert is_looked_at(config) is looks


def test_workers_are_quiet(monkeypatch):
    """Their terminal is the controller's."""
    monkeypatch.delenv("CI", raising=False)
    config = Config(terminalreporter=SimpleNamespace(isatty=True))
    config.workerinput = {}

    assert not is_looked_at(config)


EXPLORING = """
import wowspec.exploration.progress as progress
from tests.exploration.shop import PlaceOrder, shop
from wowspec import explore_faults

progress.FIRST_AFTER = progress.EVERY = 0


def test_other():
    pass


@explore_faults
def test_order(spec):
    print("noise of the test")
    spec.using(shop).when(PlaceOrder(id="o-1")).expect_any_outcome()
"""
SUITE = """
import wowspec.exploration.progress as progress
from tests.exploration.shop import PlaceOrder, shop
from wowspec import spec

progress.FIRST_AFTER = progress.EVERY = 0


def test_order():
    print("noise of the test")
    spec().using(shop).when(PlaceOrder(id="o-1")).expect_version(1)


def test_other():
    pass
"""


@pytest.mark.long
@pytest.mark.parametrize("options", [[], ["-s"], ["-v"]], ids=["captured", "not captured", "verbose"])
def test_a_real_terminal(tmp_path, options):
    """The line goes past pytest's capture, which goes on as before; pytest's own line goes on where it was."""
    status, text = at_a_terminal(tmp_path, SUITE, "--wowspec-faults=sweep", *options)

    assert status == 1
    assert re.search(r"\rwowspec: test 1 of 2, test_order: \d+ plans done, 0 found, \d+ left", text)
    progressed, _, rest = text.partition("= FAILURES =")
    assert progressed.count("noise of the test") == ("-s" in options)
    assert "plans done" not in rest
    assert ("noise of the test" in rest) is ("-s" not in options)
    assert re.search(r"\r +\r(\x1b\[A\x1b\[\d+C)?(FAILED|F)", progressed)


@pytest.mark.long
def test_what_explores_by_itself_has_a_line(tmp_path):
    """Without any option; with the place of the test among all."""
    status, text = at_a_terminal(tmp_path, EXPLORING)

    assert status == 1
    assert re.search(r"\rwowspec: test 2 of 2, test_order: \d+ plans done, \d+ found, \d+ left", text)


def at_a_terminal(folder, suite, *options):
    """What a pytest session there comes to, and all that it writes."""
    pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_it.py").write_text(suite)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "CI", "GITHUB_"))
    }
    environment |= {"TERM": "xterm", "PYTHONPATH": os.getcwd(), "COLUMNS": "120"}  # noqa: PTH109
    own, theirs = pty.openpty()
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", "--color=no", *options]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        said = b""
        with contextlib.suppress(OSError):
            while more := os.read(own, 65536):
                said += more
    os.close(own)
    return process.returncode, said.decode()
