"""Why tests failed: errors of all sorts, with texts of all sorts, in one suite."""

from __future__ import annotations

import json

import pytest

from wowspec.reporting import plugin

from .sessions import run_session

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
