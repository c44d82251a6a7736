"""What editors are handed of a failed comparison: the plugin of PyCharm and TeamCity, and that of VS Code."""

from __future__ import annotations

import difflib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from tests.plugin.test_entry import INSTALLED
from wowspec.reporting.editors import COMPARED, EditorsPlugin

ROOT = Path(__file__).parent.parent.parent
SHOP = ROOT / "tests" / "failures" / "shop.py"
SPECS = """
import pytest
from shop import Board, Line, Order, OrderPaid, OrderPlaced, PayOrder, Reservations, ReserveStock, ShipOrder

from wowspec import given, on

PLACED = OrderPlaced(customer="Ann", lines=[Line(product="tea")])


def pay():
    return given(PLACED).when(PayOrder(id="o-1", amount=9))


def in_a_helper():
    pay().expect_version(7)


def test_events():
    pay().expect_events(OrderPaid(amount=8))


def test_a_plain_assert():
    assert pay().run().events == [OrderPaid(amount=8)]


def test_a_state():
    with pytest.raises(AssertionError):
        assert 1 == 2
    pay().expect_state(paid=8)


def test_a_view():
    given(Board, on(Order, "o-1", PLACED)).expect_view("o-1", "Ann: 2 lines")


def test_a_header():
    pay().expect_header(trace_id="t-1", upstream_name="pay")


def test_points():
    pay().expect_order("event_store.append", "event_store.load")


def test_an_error():
    given(PLACED).when(ShipOrder(id="o-1")).expect_error(ValueError)


def test_commands():
    given(Reservations).when_event(PLACED).expect_commands(ReserveStock(quantity=2))


def test_a_snapshot():
    pay().expect_snapshot(paid=8)


def test_a_helper():
    in_a_helper()


def test_something_else():
    raise ValueError("no comparison")
"""
STATE = 'OrderState(id="o-1", customer="Ann", lines=[Line(product="tea")]'
#: Of each test the lines of the one side that the other has not.
SIDES = {
    "test_events": ("OrderPaid(amount=8)", "OrderPaid(amount=9)"),
    "test_a_plain_assert": ("OrderPaid(amount=8)", "OrderPaid(amount=9)"),
    "test_a_state": (f"{STATE}, paid=8, shipped=False)", f"{STATE}, paid=9, shipped=False)"),
    "test_a_view": ('"Ann: 2 lines"', '"Ann: 1 lines"'),
    "test_a_header": ('"trace_id": "t-1", "upstream_name": "pay",', '"trace_id": … "upstream_name": "pay_order",'),
    "test_points": ("event_store.load", ""),
    "test_an_error": ("class: ValueError", "class: IllegalStateError"),
    "test_commands": ("ReserveStock(quantity=2)", "ReserveStock(quantity=1)"),
    "test_a_snapshot": ("paid=8,", "paid=9,"),
    "test_a_helper": ("7", "2"),
}
_ID = re.compile(r'"trace_id": "0\w{14}",')
_PROPERTY = re.compile(r"(\w+)='((?:\|.|[^'|])*)'")
_ESCAPED = re.compile(r"\|(.)")


class _Store(ModuleType):
    """Stands for the module in which the plugin finds comparisons."""

    def __init__(self):
        super().__init__("teamcity.jb_local_exc_store")
        self.kept = None

    def store_exception(self, error):
        self.kept = error

    def get_exception(self):
        found, self.kept = self.kept, None
        return found


@pytest.fixture
def store(monkeypatch):
    """The plugin's modules, as far as they are used."""
    made, tools = _Store(), ModuleType("teamcity.diff_tools")
    tools.EqualsAssertionError = lambda *sides, preformated: (*sides, preformated)
    monkeypatch.setitem(sys.modules, "teamcity", ModuleType("teamcity"))
    monkeypatch.setitem(sys.modules, "teamcity.jb_local_exc_store", made)
    monkeypatch.setitem(sys.modules, "teamcity.diff_tools", tools)
    return made


@pytest.mark.parametrize("text", ["one frame", "two\n_ _ _ _ _\nframes"])
def test_sides_are_there_while_a_report_is_passed_on(store, text):
    """Then they are gone, whoever took them: the next failure has none of its own."""
    report = SimpleNamespace(longreprtext=text, **{COMPARED: ("why\nmore", "left", "right")})
    passing = EditorsPlugin().pytest_runtest_logreport(report)
    next(passing)

    assert store.kept == ("left", "right", "why" if text == "one frame" else "why\nmore", True)
    with pytest.raises(StopIteration):
        passing.send(None)
    assert store.kept is None


def test_a_report_without_sides(store):
    """Nothing is handed over, and nothing is taken away."""
    store.kept = "another's"
    passing = EditorsPlugin().pytest_runtest_logreport(SimpleNamespace())
    next(passing)

    assert store.kept == "another's"


def _run(folder, *arguments, **environment):
    shutil.copy(SHOP, folder)
    (folder / "test_it.py").write_text(SPECS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    plugin = [] if INSTALLED else ["-p", "wowspec.plugin"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    kept["PYTHONPATH"] = os.pathsep.join([str(ROOT), kept.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *plugin, *arguments]
    finished = subprocess.run(
        command, cwd=folder, env=kept | environment, capture_output=True, text=True, check=False, timeout=120
    )
    return finished.stdout


def _apart(expected, actual):
    lines = list(difflib.ndiff(*(_ID.sub('"trace_id": …', text).splitlines() for text in (expected, actual))))
    return tuple(" ".join(line[2:].strip() for line in lines if line.startswith(mark)) for mark in ("- ", "+ "))


@pytest.mark.long
@pytest.mark.skipif(
    importlib.util.find_spec("teamcity") is None, reason="needs PyCharm's plugin: pip install teamcity-messages"
)
@pytest.mark.parametrize("processes", [[], ["-n2"]], ids=["alone", "xdist"])
def test_pycharm_gets_comparisons(tmp_path, processes):
    """The real plugin writes each of our comparisons as one, with both sides, under xdist too."""
    output = _run(tmp_path, "--teamcity", *processes)
    failed = [dict(_PROPERTY.findall(line)) for line in output.splitlines() if "##teamcity[testFailed" in line]
    found = {
        each["name"].rpartition(".")[2]: {
            key: _ESCAPED.sub(lambda mark: "\n" if mark[1] == "n" else mark[1], re.sub(r"\|0x\w{4}", "…", value))
            for key, value in each.items()
        }
        for each in failed
    }

    assert len(found) == 11
    assert "type" not in found["test_something_else"]
    apart = {name: _apart(each["expected"], each["actual"]) for name, each in found.items() if "expected" in each}
    assert apart == SIDES
    assert "if it is right" in found["test_a_helper"]["message"]


@pytest.mark.long
@pytest.mark.skipif(
    importlib.util.find_spec("vscode_pytest") is None,
    reason="needs the plugin of VS Code's Python extension: its `python_files` on PYTHONPATH",
)
def test_vs_code_gets_the_whole_text(tmp_path):
    """It has no diff viewer: it shows the text of a failure, which must not be counted as an error of the test."""
    pipe = tmp_path / "pipe"
    pipe.touch()
    _run(tmp_path, "-p", "vscode_pytest", TEST_RUN_PIPE=str(pipe))
    parts = pipe.read_text(encoding="utf-8").split("content-length: ")[1:]
    told = [json.loads(part.partition("\n\n")[2] or part.partition("\r\n\r\n")[2])["params"] for part in parts]
    results = {name.rpartition("::")[2]: each for one in told for name, each in (one.get("result") or {}).items()}

    assert {each["outcome"] for each in results.values()} == {"failure"}
    text = results["test_events"]["message"]
    assert "1 event expected and stored: events[0].amount: 8 ≠ 9" in text
    assert "if it is right: .expect_events(OrderPaid(amount=9))" in text
    assert "wowspec/specs" not in text
