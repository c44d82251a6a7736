"""The section *wowspec story* of a failed test, and what the plugin says of misspelt options and plain asserts."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

from .test_entry import run_pytest

DOMAIN = Path(__file__).parent.parent / "specs" / "reports" / "domain.py"
SPEC = """
import hypothesis
from domain import OrderCreated, OrderPaid, PayOrder
from hypothesis import strategies as st

from wowspec import faults, given


def test_a_payment():
    (
        given(OrderCreated())
        .with_faults(faults.event_store.append.loses_reply())
        .when(PayOrder(id="o-1"))
        .expect_published(OrderPaid())
    )


def test_that_passes():
    given(OrderCreated()).when(PayOrder(id="o-1")).expect_events(OrderPaid())


def test_plain():
    run = given(OrderCreated()).when(PayOrder(id="o-1")).run()
    assert run.events == [OrderPaid(amount=3)]


@hypothesis.given(st.integers(1, 9))
@hypothesis.settings(derandomize=True, database=None, max_examples=5, print_blob=False)
def test_an_example(amount):
    given_order = given(OrderCreated())
    given_order.when(PayOrder(id="o-1", amount=amount)).expect_state(paid=1)
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with the specs."""
    shutil.copy(DOMAIN, tmp_path)
    (tmp_path / "test_it.py").write_text(SPEC)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def stories(output):
    """The stories that were printed."""
    return [part.partition("\n____")[0] for part in output.split("wowspec story")[1:]]


@pytest.mark.long
def test_the_whole_story_comes_with_vv(folder):
    """Below each failure, that of the example that failed too, and of no test that passed; not without `-vv`."""
    finished = run_pytest(folder, "-vvv", "-pno:xdist", "-pno:randomly")
    shown = stories(finished.stdout)

    assert len(shown) == 3, finished.stdout + finished.stderr
    assert "  retries: 1, so that it was processed 2 times" in shown[0]
    assert "  first departure from the fault-free run: snapshot.load of o-1" in shown[0]
    assert "OrderPaid(amount=1)    yes     yes        -          -" in shown[0]
    assert 'PayOrder(id="o-1", amount=2): succeeded' in shown[2]
    assert stories(run_pytest(folder, "-v").stdout) == []


@pytest.mark.skipif(importlib.util.find_spec("xdist") is None, reason="the extra `test` brings pytest-xdist")
@pytest.mark.long
def test_stories_come_from_other_processes_as_they_are(folder):
    """A section is plain text, so it travels."""
    here = stories(run_pytest(folder, "-vvv", "-pno:xdist", "-pno:randomly", "-k", "payment").stdout)
    there = stories(run_pytest(folder, "-vvv", "-n1", "-pno:randomly", "-k", "payment").stdout)

    assert len(here) == len(there) == 1
    assert here[0].partition("=====")[0] == there[0].partition("=====")[0]


@pytest.mark.long
def test_colours_are_for_terminals_alone(folder):
    """With colours what was struck stands out; a file of results gets plain text."""
    coloured = run_pytest(folder, "-vvv", "--color=yes", "--junitxml=results.xml", "-k", "payment", "-pno:xdist")

    assert "\x1b[31m  fault: event_store.append@1=ack_lost struck o-1\x1b[0m" in coloured.stdout
    assert "\x1b" not in (folder / "results.xml").read_text()
    assert "\x1b" not in run_pytest(folder, "-vvv", "--color=no", "-k", "payment").stdout


def test_a_plain_assert_shows_what_differs(folder):
    """Path, both sides, and how it would be right."""
    finished = run_pytest(folder, "-k", "plain")

    assert "assert 1 event expected and there: events[0].amount: 3 ≠ 1" in finished.stdout
    assert "if it is right: [OrderPaid(amount=1)]" in finished.stdout


def test_a_misspelt_option_is_refused_with_the_one_that_is_meant(folder):
    """Nothing is run; options of others are none of our business."""
    finished = run_pytest(folder, "--wowspec-fault=sweep")

    assert finished.returncode == pytest.ExitCode.USAGE_ERROR
    assert "there is no option --wowspec-fault\n" in finished.stderr
    assert "  instead: --wowspec-faults\n" in finished.stderr
    assert "there is no option" not in run_pytest(folder, "--other-fault=sweep").stderr
