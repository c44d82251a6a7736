"""Differences: the laws' own equality, with matchers that explain themselves and lists that tell what they gained."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from wowspec.messages.equality import MISSING, Difference, deep_equal
from wowspec.specs.compare import below, differences, equals, join, line_of
from wowspec.specs.matchers import any_of, some
from wowspec.specs.render import Limits

from .shop import Hostile, Line, NoteWritten, OrderPaid, Plain, Positive


def lines(expected, actual, root=""):
    """The lines of the differences."""
    return [line_of(each, root) for each in differences(expected, actual)]


@pytest.mark.parametrize(
    ("expected", "actual", "told"),
    [
        (3, 4, ["value: 3 ≠ 4"]),
        (OrderPaid(id="a"), OrderPaid(id="b", total=1), ['id: "a" ≠ "b"', "total: 0 ≠ 1"]),
        ({"a": [1]}, {"a": [2]}, ["['a'][0]: 1 ≠ 2"]),
        ({"a": 1}, {}, ["['a']: expected 1, but there is none"]),
        ({}, {"a": 1}, ["['a']: unexpected 1"]),
        ([1, 2], [1], ["[1]: expected 2, but there is none"]),
        ([1, 2, 3], [0, 1, 2, 3], ["[0]: unexpected 0"]),
        ([1, 2, 3, 4], [1, 4], ["[1]: expected 2, but there is none", "[2]: expected 3, but there is none"]),
        ([], [1, 2], ["value: [] ≠ [1, 2]"]),
        (Plain(a=[1]), Plain(a=[]), ["a: [1] ≠ []"]),
        (any_of(OrderPaid(id="b", total=4), OrderPaid(id="a", total=4)), OrderPaid(id="a", total=3), ["total: 4 ≠ 3"]),
        ([1, 2], [3, 1, 4], ["[0]: 1 ≠ 3", "[1]: 2 ≠ 1", "[2]: unexpected 4"]),
        ([[1, 2], 5], [[0, 1, 2], 6], ["[0][0]: unexpected 0", "[1]: 5 ≠ 6"]),
        ({1, 2}, {2, 3, 4}, ["value: 1 missing; 3, 4 unexpected"]),
        ({1: {2}}, {1: {2}}, []),
        (True, 1, ["value: True ≠ 1"]),
        (Plain(a=1), Plain(a=1), []),
        (Plain(a=Positive()), Plain(a=2), []),
        (Plain(a=Positive()), Plain(a=-2), ["a: Positive() ≠ -2"]),
        (
            some(OrderPaid, lines=[some(Line, sku="a")]),
            OrderPaid(id="x", lines=[Line(sku="b")]),
            ['lines[0].sku: "a" ≠ "b"'],
        ),
        (some(OrderPaid, id="x"), 3, ['value: some(OrderPaid, id="x") ≠ 3']),
        (some(Plain, colour=1), Plain(a=1), ["colour: expected 1, but there is none"]),
        (any_of(1, 2), 3, ["value: any_of(1, 2) ≠ 3"]),
    ],
)
def test_differences_as_lines(expected, actual, told):
    """Each difference is a line: path, expected, actual."""
    assert lines(expected, actual) == told
    assert equals(expected, actual) is not bool(told)


def test_an_insertion_at_the_front_of_a_long_list():
    """One element more is one line, however many follow it."""
    many = [Line(sku=str(n)) for n in range(200)]

    assert lines(OrderPaid(id="x", lines=many), OrderPaid(id="x", lines=[Line(sku="new"), *many]), "events[3]") == [
        'events[3].lines[0]: unexpected Line(sku="new")'
    ]


@given(st.lists(st.integers(0, 3)), st.lists(st.integers(0, 3)), st.booleans())
def test_differences_lead_from_one_list_to_the_other(left, right, wrapped):
    """Lists are told apart exactly when they differ, wherever they stand."""
    expected, actual = (Plain(a=left), Plain(a=right)) if wrapped else (left, right)

    assert bool(differences(expected, actual)) is (left != right)
    assert equals(expected, actual) is deep_equal(expected, actual)


def test_a_comparison_that_raises_is_a_difference():
    """What a user's `__eq__` raises is told, not raised."""
    assert lines(Plain(a=Hostile()), Plain(a=1)) == [
        "value: comparing raises RuntimeError: compared (expected Plain(a=<Hostile, whose repr raises RuntimeError>))"
    ]
    assert not equals(Hostile(), 1)


def test_members_of_a_set_are_counted():
    """Of many members the first are named, the rest counted."""
    [difference] = differences({0}, set(range(40)))

    assert line_of(difference, limits=Limits(items=3)) == "value: 1, 2, 3 and 36 more unexpected"


def test_paths_join():
    """An index follows without a dot, a name with one."""
    assert join("events[1]", "lines[0]") == "events[1].lines[0]"
    assert join("events", "[0].a") == "events[0].a"
    assert join("", "a") == "a"
    assert join("state", "") == "state"
    assert below("a", [Difference("[0]", 1, MISSING)]) == [Difference("a[0]", 1, MISSING)]


def test_long_texts_are_shown_where_they_part():
    """Of two long texts only the surroundings of the first difference are shown."""
    left, right = "a" * 500 + "b" + "c" * 500, "a" * 500 + "d" + "c" * 500
    [difference] = differences(NoteWritten(text=left), NoteWritten(text=right))

    assert line_of(difference, limits=Limits(text=20)) == (
        'text: …"aaaaabcccc"… ≠ …"aaaaadcccc"… (from character 500 on)'
    )


def test_values_that_read_the_same_are_told_apart():
    """Classes are named where the texts are equal."""
    twin = type("Line", (), {"__repr__": lambda self: "Line()", "__module__": "other"})
    mine = type("Line", (), {"__repr__": lambda self: "Line()", "__module__": "mine"})

    assert line_of(Difference("a", "1", type("Text", (str,), {})("1"))) == 'a: "1" ≠ Text("1")'
    assert line_of(Difference("a", mine(), twin())) == "a: Line() (mine.Line) ≠ Line() (other.Line)"
    assert line_of(Difference("a", mine(), mine())).endswith(
        "they read the same, but == of Line says that they differ)"
    )
