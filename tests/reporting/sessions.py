"""Runs small suites within the test's own process, and gives the document that is made of them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from importlib.metadata import entry_points
from typing import Any, Final, NamedTuple

import pytest

_INSTALLED: Final = "wowspec" in {entry.name for entry in entry_points(group="pytest11")}
#: Plugins that only cost time in a session within a session.
_NOT_NEEDED: Final = ("asyncio", "xdist", "cacheprovider", "faulthandler", "randomly")

SUITE: Final = '''
"""Specs of a shop, of all sorts."""

import pytest
from hypothesis import example, given as drawn, settings, strategies as st

from tests.exploration.shop import *
from wowspec import explore_faults, faults, given, spec


def test_order():
    """An order is placed, and the stock hears of it."""
    spec().using(shop).when(PlaceOrder(id="o-1")).expect_events(OrderPlaced(sku="s-1", quantity=1))


def test_a_wrong_expectation():
    given(PlaceOrder(id="o-1")).when(PayOrder(id="o-1")).expect_events(OrderPlaced(sku="s-1", quantity=1))


def test_a_lost_reply():
    (
        given(PlaceOrder(id="o-1"))
        .with_faults(faults.event_store.append.loses_reply())
        .when(PayOrder(id="o-1"))
        .expect_error(Exception)
    )


def test_branches():
    placed = given(PlaceOrder(id="o-1"))
    placed.fork("paid", lambda spec: spec.when(PayOrder(id="o-1")).expect_events(OrderPaid()))
    placed.fork("of nobody", lambda spec: spec.when(PayOrder(id="o-2")).expect_error(Exception))


def test_never_looked_at():
    given(PlaceOrder(id="o-1")).when(PayOrder(id="o-1"))


def test_together():
    given(PlaceOrder(id="o-1")).when_concurrently(PayOrder(id="o-1"), PayOrder(id="o-1")).expect_any_outcome()


@drawn(st.integers(1, 3))
@example(7)
@settings(max_examples=3, derandomize=True, database=None)
def test_an_example(quantity):
    spec(Order).when(PlaceOrder(id="o-1", quantity=quantity)).expect_state(lambda state: True)


@drawn(st.integers(1, 9))
@settings(max_examples=9, derandomize=True, database=None, print_blob=False)
def test_a_failing_example(quantity):
    spec(Order).when(PlaceOrder(id="o-1", quantity=quantity)).expect_events(OrderPlaced(sku="s-1", quantity=1))


@explore_faults(Order, max_runs=2)
def test_explored(spec):
    spec.when(PlaceOrder(id="o-1")).expect_version(1)


def test_parts(subtests):
    with subtests.test("first"):
        spec(Order).when(PlaceOrder(id="o-1")).expect_version(2)
    with subtests.test("second"):
        assert 1 == 2
    spec(Order).when(PlaceOrder(id="o-2")).expect_version(1)


def test_plain():
    assert True


def test_plain_failure():
    assert 1 == 2


@pytest.fixture
def broken():
    raise ValueError("no such thing")


@pytest.fixture
def broken_after():
    yield
    raise ValueError("too late")


def test_set_up(broken):
    pass


def test_tear_down(broken_after):
    spec(Order).when(PlaceOrder(id="o-1")).expect_version(1)


@pytest.mark.xfail(reason="not yet", strict=True)
def test_expected_to_fail():
    spec(Order).when(PlaceOrder(id="o-1")).expect_version(2)


def test_skipped_halfway():
    spec(Order).when(PlaceOrder(id="o-1")).expect_version(1)
    pytest.skip("enough")
'''


class Session(NamedTuple):
    """A session that is over: its exit code, what it printed."""

    code: int
    output: str


def run_session(
    folder: Any, *arguments: str, plugins: tuple[object, ...] = (), suite: str = SUITE, github_too: bool = False
) -> Session:
    """Run a suite in a folder, within this process; GitHub is told of it only if `github_too` says so."""
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (folder / "test_it.py").write_text(suite, encoding="utf-8")
    here = os.getcwd()  # noqa: PTH109
    # What GitHub is told is told by the session around this one.
    github = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("GITHUB_") and not github_too}
    said = io.StringIO()
    own = [] if _INSTALLED else ["-p", "wowspec.plugin"]
    options = ["-q", "-s", "--import-mode=importlib", *own, *(f"-pno:{name}" for name in _NOT_NEEDED)]
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(said):
            code = pytest.main([*options, *arguments], plugins=[*plugins])
    finally:
        os.chdir(here)
        os.environ.update(github)
        # Each folder's module has the same name.
        sys.modules.pop("test_it", None)
    return Session(int(code), said.getvalue())


def document_of(folder: Any, *arguments: str, suite: str = SUITE) -> dict[str, Any]:
    """The document of a suite."""
    run_session(folder, "--wowspec-report=json:report.json", *arguments, suite=suite)
    return json.loads((folder / "report.json").read_text(encoding="utf-8"))
