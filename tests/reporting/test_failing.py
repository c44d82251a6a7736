"""Why tests failed: errors of all sorts, with texts of all sorts, in one suite."""

from __future__ import annotations

import json

import pytest

from wowspec.reporting import plugin
from wowspec.reporting.collecting import Collector
from wowspec.reporting.failing import without_root

from .sessions import document_of, run_session

SUITE = """
import unittest

import pytest
from pydantic import BaseModel
from wowspec import aggregate_root, allow_create, given, on_command, spec


@allow_create
class Say(BaseModel):
    id: str = "x"
    text: str


class State(BaseModel):
    id: str


@aggregate_root(context="talk")
class Talk:
    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    def say(self, command: Say) -> None:
        raise ValueError(command.text)


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("nothing to say")


def test_half_of_a_character():
    given().when(Say(text="\\ud800\\x1b[31m")).expect_error(ValueError)


def test_half_in_an_assertion():
    assert given().when(Say(text="\\ud800")).run().failure is None, "\\ud800"


def test_a_group_that_was_never_raised():
    raise ExceptionGroup("many", [ValueError("one"), ExceptionGroup("inner", [KeyError("two")])])


def test_mute():
    raise Mute


BASE = given().when(Say(text="base"))


def test_caught():
    with pytest.raises(AssertionError):
        BASE.expect_version(7)
    BASE.expect_error(ValueError).expect_no_events()
    BASE.expect_events("what holds not")


def test_caught_by_another():
    BASE.expect_error(ValueError)
    assert not BASE


def test_soft():
    given().when(Say(text="soft")).soft().expect_error(ValueError).expect_version(7).expect_events("none")


def test_soft_at_once():
    soft = given().when(Say(text="soft")).soft().expect_error(ValueError).expect_version(8)
    soft.verify()


def test_in_a_loop():
    said = given().when(Say(text="loop"))
    for each in (ValueError, Exception, KeyError):
        said.expect_error(each)


def helper(spec):
    try:
        spec.expect_error(KeyError)
    except AssertionError as error:
        raise RuntimeError("so it is") from error


def test_led_to_another():
    helper(given().when(Say(text="x")))


class TestParts(unittest.TestCase):
    def test_parts(self):
        for each in ("a", "b"):
            with self.subTest(each=each):
                given().when(Say(text=each)).expect_error(ValueError, match="a")
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """The suite with all reports, and what was on the reports of pytest."""
    folder = tmp_path_factory.mktemp("failing")
    seen = []

    class Listener:
        def pytest_runtest_logreport(self, report):
            seen.append(getattr(report, plugin.CARRIED, None))

    asked = [f"--wowspec-report={kind}:{kind}" for kind in plugin.WRITERS]
    return folder, run_session(folder, *asked, suite=SUITE, plugins=(Listener(),)), seen


@pytest.fixture(scope="module")
def told(session):
    """The tests by name."""
    document = json.loads((session[0] / "json").read_text(encoding="utf-8"))
    return {test["id"].rpartition("::")[2]: test for test in document["tests"]}


def test_halves_of_characters_go_to_other_processes_and_into_files(session, told):
    """As their numbers: UTF-8 has no bytes for them, and a terminal no place."""
    _, (_, output), seen = session

    assert "not written" not in output
    assert json.dumps([each for each in seen if each], ensure_ascii=False).encode()
    assert "“\\ud800\\x1b[31m”" in told["test_half_of_a_character"]["specs"][0]["steps"][1]["sentence"]
    assert "\\ud800" in told["test_half_in_an_assertion"]["failure"]


def test_errors_of_a_group_are_told_although_nobody_raised_them(told):
    """One below the other."""
    assert told["test_a_group_that_was_never_raised"]["failure"].splitlines() == [
        "ExceptionGroup: many (2 sub-exceptions)",
        "ValueError: one",
        "ExceptionGroup: inner (1 sub-exception)",
        "KeyError: 'two'",
    ]


def test_an_error_without_words_is_told(told):
    """Its class at least."""
    assert told["test_mute"]["failure"].startswith("test_it.Mute: <exception str() failed>")


def test_a_test_whose_part_failed_has_failed(told):
    """Although unittest reports the test itself as passed."""
    assert told["test_parts"]["outcome"] == "failed"
    assert told["test_parts"]["failure"]


def broken(test):
    """The codes of the steps that did not hold."""
    return [step["code"] for spec in test["specs"] for step in spec["steps"] if step.get("failed")]


def test_what_did_not_hold_is_marked_and_nothing_that_was_caught(told):
    """Also where the test failed for something else, or another test did."""
    assert broken(told["test_caught"]) == ['expect_events("what holds not")']
    assert broken(told["test_caught_by_another"]) == []
    assert broken(told["test_led_to_another"]) == ["expect_error(KeyError)"]
    assert broken(told["test_in_a_loop"]) == ["expect_error(KeyError)"]
    assert broken(told["test_parts"]) == ['expect_error(ValueError, match="a")']


def test_soft_expectations_that_do_not_hold_are_marked(told):
    """They were noted as if they held."""
    assert broken(told["test_soft"]) == ["expect_version(7)", 'expect_events("none")']
    assert broken(told["test_soft_at_once"]) == ["expect_version(8)"]


def test_what_cannot_be_collected_is_told_once(tmp_path):
    """A report that is silent of it would say that all is well."""
    document = document_of(tmp_path, suite="import test_it_needs_this")
    [test] = document["tests"]

    assert (test["id"], test["outcome"], test["place"]) == ("test_it.py", "error", "test_it.py:1")
    assert test["failure"] == "ModuleNotFoundError: No module named 'test_it_needs_this'"

    collector = Collector()
    for _ in ("one process", "another one"):
        collector.add({**test})
    assert collector.document(tmp_path)["tests"] == [test]


@pytest.mark.parametrize("option", ["--setup-only", "--setup-plan", "--fixtures", "nowhere.py"])
def test_no_report_where_no_test_is_run(tmp_path, option):
    """It would take the place of one that says something."""
    run_session(tmp_path, "--wowspec-report=json:report.json", option, suite="def test_a(): pass")

    assert not (tmp_path / "report.json").exists()


def test_a_test_outside_the_root_directory_says_its_file(tmp_path):
    """Although pytest gives it no path."""
    (tmp_path / "root").mkdir()
    (tmp_path / "test_outside.py").write_text("def test_a(): assert False", encoding="utf-8")
    document = document_of(tmp_path / "root", f"--rootdir={tmp_path / 'root'}", str(tmp_path / "test_outside.py"))

    assert [test["file"] for test in document["tests"] if test["id"].endswith("test_a")] == ["../test_outside.py"]


def test_files_are_named_from_the_root_directory(tmp_path, monkeypatch):
    """From wherever pytest was called; code elsewhere as it is imported."""
    root, elsewhere = tmp_path / "root", tmp_path / "else where"
    for file in (root / "tests" / "test_a.py", elsewhere / "shop" / "domain.py"):
        file.parent.mkdir(parents=True)
        file.touch()
    monkeypatch.syspath_prepend(str(elsewhere))
    text = f"made by Shop.sell ({elsewhere / 'shop' / 'domain.py'}:3), {elsewhere} and nowhere.py:7"
    told = f"made by Shop.sell (shop/domain.py:3), {elsewhere} and nowhere.py:7"

    for here, name in ((root, "tests/test_a.py"), (root / "tests", "test_a.py"), (tmp_path, "root/tests/test_a.py")):
        monkeypatch.chdir(here)
        assert without_root(f"{name}:5: {text}", root) == f"tests/test_a.py:5: {told}"


def test_a_test_that_cannot_be_told_ends_no_session(tmp_path):
    """What its author made of it is told to fail; the others are told."""
    suite = """
class Title(str):
    def strip(self, *args):
        raise RuntimeError("no title")

def test_a():
    assert False

def test_b():
    assert False

test_a.__doc__ = Title("a")
"""
    a, b = document_of(tmp_path, suite=suite)["tests"]

    assert a["outcome"] == b["outcome"] == "failed"
    assert a["failure"].endswith("\nthis test cannot be told: RuntimeError: no title")
    assert b["failure"] == "AssertionError: assert False"
