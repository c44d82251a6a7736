"""What specs could do without: items that change nothing, expectations that hold whatever the system does."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tests.exploration.parcels import REGISTERED, Board, Halt, Halted, Letter, LetterSaga, Parcel, Register, Send, Sent
from tests.exploration.suites import HEAD
from tests.plugin.test_entry import run_pytest
from wowspec import Spec, advance, at, faults, given, on, stream
from wowspec.exploration.idle import given_items
from wowspec.exploration.strength import strength_of
from wowspec.exploration.strength_report import idle_expectations, idle_givens


def items(made: Spec[Any]) -> dict[str, bool]:
    """What is given, and whether it is idle."""
    path = made._node.path()
    return {item.item: item.idle for item in given_items(path, strength_of(path))}


def idle(made: Spec[Any]) -> list[str]:
    return [item for item, is_idle in items(made).items() if is_idle]


def result(test: str, **found: Any) -> Any:
    return {"test": test, "tried": [], "expected": {}, "given": [], "left_out": [], **found}


def test_an_event_that_no_command_looks_at_is_idle():
    """A command that is refused by a guard of its own needs no other history than what the guard looks at."""
    made = (
        given(on(Parcel, "p-1", REGISTERED, Sent(by="van"), Halted()))
        .when(Send(id="p-1"))
        .expect_error(match="it was halted")
    )

    assert items(made) == {
        'Registered(grams=500, label="to p-1")': True,
        'Sent(by="van")': True,
        "Halted()": False,
    }


def test_an_event_that_the_state_shows_is_not():
    """What a command leaves behind is compared field by field."""
    made = given(on(Parcel, "p-1", REGISTERED, Sent(by="van"))).when(Halt(id="p-1")).expect_events(Halted())

    assert idle(made) == []


def test_one_event_of_a_stream_may_be_idle():
    """It is left out alone."""
    made = (
        given(on(Parcel, "p-1", stream(REGISTERED, Halted()))).when(Send(id="p-1")).expect_error(match="it was halted")
    )

    assert idle(made) == ['Registered(grams=500, label="to p-1")']


def test_another_instance_that_nobody_reaches_is_idle():
    """What is given to it is no outcome of the command."""
    made = (
        given(on(Parcel, "p-1", REGISTERED), on(Parcel, "p-2", Sent(by="train")))
        .when(Send(id="p-1"))
        .expect_event_count(2)
    )

    assert idle(made) == ['Sent(by="train")']


def test_time_that_nobody_asks_for_is_idle():
    """As code that could go; times of the run itself do not count as a difference."""
    made = given(on(Parcel, "p-1", REGISTERED), advance(hours=2)).when(Send(id="p-1")).expect_event_count(2)
    assert idle(made) == ["advance(hours=2)"]

    assert idle(given(advance(milliseconds=1)).when(Register(id="p-1", grams=1)).expect_event_count(1)) == [
        "advance(milliseconds=1)"
    ]


def test_an_instant_is_told_as_one():
    """`at(...)` is written as it is typed."""
    made = given(at(datetime(2031, 5, 1, tzinfo=UTC))).when(Register(id="p-1", grams=1)).expect_event_count(1)

    assert idle(made) == ["at(datetime(2031, 5, 1, 0, 0, tzinfo=UTC))"]


def test_a_command_that_is_given_may_be_idle():
    """Another instance's, for one."""
    made = given(Register(id="p-2", grams=1), on(Parcel, "p-1", REGISTERED)).when(Send(id="p-1")).expect_event_count(2)

    assert idle(made) == ['Register(id="p-2", grams=1)']


def test_a_number_of_versions_protects_nothing():
    """It counts what is given; what else is said of an aggregate does."""
    base = given(on(Parcel, "p-1", REGISTERED, Halted())).when(Send(id="p-1")).expect_error(match="it was halted")

    assert len(idle(base.expect_version(2))) == 1
    assert len(idle(base.expect_state_aggregate(version=2))) == 1
    assert idle(base.expect_state_aggregate(version=2, deleted=False).expect_state(grams=500)) == []


def test_an_item_that_keeps_a_fault_in_reach_is_not_idle():
    """Without it the fault would not strike."""
    made = (
        given(Register(id="p-1", grams=1))
        .with_faults(faults.event_store.append.fails())
        .when(Send(id="p-1"))
        .expect_not_stored()
        .expect_any_outcome()
    )

    assert idle(made) == []


def test_an_item_that_makes_a_spec_notice_more_is_not_idle():
    """The outcome is the same without it; but then nobody would see that a sourcing function is missing."""
    made = (
        given(on(Parcel, "p-1", REGISTERED, Halted(), Sent(by="van")))
        .using(LetterSaga, Letter, Board)
        .when(Halt(id="p-1"))
        .expect_events(Halted())
        .expect_state(halted=True)
    )

    found = items(made)

    assert found['Registered(grams=500, label="to p-1")'] is False
    assert found["Halted()"] is True
    assert found['Sent(by="van")'] is False


def test_what_is_idle_in_one_case_alone_stays():
    """A line that several tests share is idle where it is so in each."""
    shared = {"key": "shop.py:3@4[0]", "place": "shop.py:3", "item": "Sent()"}
    module = {"key": "@0[0]", "place": "", "item": "Sent()"}

    found = idle_givens(
        [
            result("a.py::one", given=[{**shared, "idle": True}, {**module, "idle": True}]),
            result("a.py::two", given=[{**shared, "idle": False}, {**module, "idle": True}]),
            result("b.py::three", given=[{**module, "idle": False}]),
        ]
    )

    assert [(item["place"], tests) for item, tests in found] == [("", ["a.py::one", "a.py::two"])]


def test_an_expectation_that_fails_in_one_case_is_at_work():
    """And one that nothing could make fail is not to blame."""
    found = idle_expectations(
        [
            result("one", expected={"x.py:1: expect_version(...)": False, "x.py:2: expect_state(...)": False}),
            result("two", expected={"x.py:1: expect_version(...)": True, "x.py:3: expect_state(...)": None}),
        ]
    )

    assert found == [("x.py:2: expect_state(...)", ["one"])]


def test_the_option_tells_both(tmp_path):
    """Each with its place and its test; without the section of the strength."""
    (tmp_path / "test_it.py").write_text(
        HEAD
        + """
def test_it():
    (
        given(on(Parcel, "p-1", REGISTERED, Halted()))
        .when(Send(id="p-1"))
        .expect_error(IllegalStateError)
        .expect_any_outcome()
    )


def test_strong():
    given(on(Parcel, "p-1", REGISTERED)).when(Send(id="p-1")).expect_events(Sent(by="van"), Weighed(by="scales"))
    given().when(Register(id="p-1", grams=1)).expect_event(Registered).expect_version(1)
"""
    )

    output = run_pytest(tmp_path, "--wowspec-lint").stdout

    assert "1 given item that changes nothing:" in output
    assert '  test_it.py:8: Registered(grams=500, label="to p-1"), in test_it.py::test_it' in output
    assert "strength of specs" not in output
    assert "expect_version(...), in" not in output


def test_a_suite_without_idle_parts_is_told_so(tmp_path):
    """The section is there, so that nobody wonders."""
    (tmp_path / "test_it.py").write_text(
        HEAD + "\ndef test_it():\n    given().when(Register(id='p-1', grams=1)).expect_event_count(1)\n"
    )

    output = run_pytest(tmp_path, "--wowspec-lint", "--wowspec-strength").stdout

    assert "nothing is given in vain, and each expectation can fail" in output
    assert "strength of specs: " in output
