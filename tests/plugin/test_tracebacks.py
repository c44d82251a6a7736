"""What a failed test shows of a traceback: the lines of its author."""

from __future__ import annotations

import re

from .test_entry import run_pytest
from .test_fixtures import DOMAIN

SUITE = (
    DOMAIN
    + """
from wowspec import given

def test_gateway(gateway):
    gateway.send_and_wait(AddItem(quantity=1))
    gateway.send_and_wait(AddItem(quantity=9), aggregate_id="c-1", expected_version=7)

def test_handler():
    def twice(cart):
        assert cart.count == 4
    given().when(AddItem()).expect_state(twice)

def test_verb():
    given().when(AddItem()).expect_state()

def test_definition():
    @aggregate_root(context="x")
    class A:
        def __init__(self, a, b): ...

def test_defect(gateway, monkeypatch):
    monkeypatch.setattr("wowspec.runtime.gateway.result_of_signal", None)
    gateway.send_and_wait(AddItem(quantity=1))
"""
)


def shown(text, test):
    """What is shown of one failed test."""
    return re.split(r"\n_{3,} \w+ _{3,}\n|\n=+ short", text.partition(f" {test} ")[2].partition("\n")[2])[0]


def frames(text):
    """The files that a traceback leads through."""
    return re.findall(r"^(\S+\.py):\d+: ", text, flags=re.MULTILINE)


def test_the_lines_of_the_author_alone(tmp_path):
    """Our frames are left out, of the error itself and of those that led to it, wherever they stand."""
    (tmp_path / "test_it.py").write_text(SUITE)
    text = run_pytest(tmp_path, "-p", "no:randomly").stdout

    assert frames(shown(text, "test_gateway")) == ["test_it.py"]
    assert frames(shown(text, "test_handler")) == ["test_it.py", "test_it.py"]
    assert frames(shown(text, "test_verb")) == ["test_it.py"]
    assert frames(shown(text, "test_definition")) == ["test_it.py"]


def test_the_place_of_a_defect_of_ours(tmp_path):
    """An error of Python's own that our code raised keeps its frames."""
    (tmp_path / "test_it.py").write_text(SUITE)
    text = run_pytest(tmp_path, "-k", "defect", "--tb=short").stdout

    assert "runtime/gateway.py" in text
    assert "TypeError" in text


def test_all_frames_can_be_asked_for(tmp_path):
    """With `--full-trace`, nothing is left out."""
    (tmp_path / "test_it.py").write_text(SUITE)
    text = run_pytest(tmp_path, "-k", "test_verb", "--full-trace").stdout

    assert "event_expectations.py" in text


def test_the_story_of_a_gateway(tmp_path):
    """A failed test that was given a gateway tells what passed the points of its world."""
    (tmp_path / "test_it.py").write_text(SUITE)
    text = run_pytest(tmp_path, "-k", "test_gateway").stdout
    story = text.partition("- wowspec gateway -")[2]

    assert re.search(r"event_store\.append +v1 ItemAdded\n", story)
    assert re.search(r"wait\.notify:PROCESSED +CommandExpectVersionConflict\n", story)
