"""Failure texts of values: fields, maps, whole values, orders of points."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from wowspec.specs.matchers import any_of
from wowspec.specs.value_diff import fields_text, mapping_text, order_gap, order_text, value_text

from .shop import Hostile, Line, OrderState, Plain, Positive

STATE = OrderState(id="o-1", status="PAID", lines=[Line(sku="a")])


def test_nothing_wrong_is_no_text():
    """A text that is empty says that all is as expected."""
    assert not fields_text({"status": "PAID", "id": any_of("o-1", "o-2")}, STATE, subject="the state")
    assert not fields_text({}, STATE, subject="the state")
    assert not value_text(STATE, STATE.model_copy(deep=True), subject="the state", root="state")
    assert not mapping_text({"a": Positive()}, {"a": 1, "b": 2}, subject="the header")
    assert not mapping_text({"a": 1}, {"a": 1}, subject="the result", exact=True)
    assert not order_text(["a", "c"], ["a", "b", "c"])


def test_fields_of_a_plain_object():
    """Properties and attributes count as fields; what raises is told."""

    class Account(Plain):
        @property
        def broken(self):
            raise RuntimeError("no")

    text = fields_text({"balance": 3, "broken": 1, "absent": 2}, Account(balance=3), subject="the state")

    assert text.startswith("the state: 2 of 3 fields are not as expected: broken, absent")
    assert "state.broken: reading it raises RuntimeError: no (expected 1)" in text
    assert "hint: Account has no field absent" in text


def test_hostile_fields_are_told():
    """Nothing that a user's class does keeps the text from being written."""
    assert "state.a: comparing raises" in fields_text({"a": Hostile()}, Plain(a=1), subject="the state")
    assert "whose repr raises" in value_text(Plain(a=1), Plain(a=Hostile()), subject="the state", root="state")
    assert "whose repr raises" in mapping_text({"a": 1}, {"a": Hostile()}, subject="the header")


def test_an_alias_is_explained():
    """A misspelt field names those that are close."""
    assert "did you mean lines?" in fields_text({"line": []}, STATE, subject="the state")


def test_exact_maps_refuse_other_entries():
    """An entry that nobody expected is an error only where the map is exact."""
    text = mapping_text({}, {"fee": 1}, subject="the result of PayOrder", root="result", exact=True)

    assert text.splitlines()[0] == "the result of PayOrder: 'fee' unexpected"
    assert "result['fee']: unexpected 1" in text


def test_many_differences_are_counted():
    """A value that differs everywhere shows a dozen paths."""
    text = value_text(list(range(50)), [n + 100 for n in range(50)], subject="the list", root="list")

    assert text.startswith("the list differs in at least 20 places: list[0]: 0 ≠ 100")
    assert "… at least 8 more differences …" in text


@pytest.mark.parametrize(
    ("expected", "actual", "gap"),
    [
        ([], ["a"], None),
        (["a"], ["a"], None),
        (["a", "a"], ["a"], 1),
        (["a", "a"], ["a", "b", "a"], None),
        (["a", "b"], ["b", "a"], 1),
        (["a"], [], 0),
        ([any_of("x", "b"), "c"], ["a", "b", "c"], None),
    ],
)
def test_order_gap(expected, actual, gap):
    """The first step that does not follow those before it."""
    assert order_gap(expected, actual) == gap


@given(st.lists(st.sampled_from("abc"), max_size=4), st.lists(st.sampled_from("abc"), max_size=6))
def test_order_is_a_subsequence(expected, actual):
    """There is a gap exactly if the steps are no subsequence, and then there is a text that names the step."""
    points = iter(actual)
    subsequence = all(step in points for step in expected)
    gap = order_gap(expected, actual)

    assert (gap is None) is subsequence
    assert bool(order_text(expected, actual)) is not subsequence
    if gap is not None:
        assert f"step {gap + 1} of {len(expected)} is missing: {expected[gap]} was " in order_text(expected, actual)
