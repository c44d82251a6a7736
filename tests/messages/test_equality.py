"""Comparing events and states field by field."""

from __future__ import annotations

import collections
import dataclasses
import enum
import math
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, strategies as st
from pydantic import BaseModel, ConfigDict, PrivateAttr

from wowspec.messages.equality import MISSING, Difference, all_differences, deep_difference, deep_equal


class Line(BaseModel):
    quantity: int
    price: float = 1.0


class Order(BaseModel):
    id: str
    lines: list[Line] = []
    _seen: int = PrivateAttr(0)

    @cached_property
    def total(self) -> int:
        return sum(line.quantity for line in self.lines)


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = 0


class Entity:
    """Compares by its id alone."""

    def __init__(self, id: int, balance: int = 0) -> None:
        self.id = id
        self.balance = balance

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entity) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)


class Account(Entity):
    """The same, with what matters kept private."""

    def __init__(self, id: int, balance: int) -> None:
        super().__init__(id)
        self._secret = balance


class Address:
    """A value that keeps what it computed to itself."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Address) and self.text == other.text

    def __hash__(self) -> int:
        self._hash = hash(self.text)
        return self._hash


class Status(enum.StrEnum):
    OPEN = "open"


class Nothing:
    pass


class Slotted:
    __slots__ = ("__hidden", "shown")

    def __init__(self, shown: int, hidden: int) -> None:
        self.shown = shown
        self.__hidden = hidden


Pair = collections.namedtuple("Pair", "left right")  # noqa: PYI024


def _order(*quantities: int) -> Order:
    return Order(id="o-1", lines=[Line(quantity=quantity) for quantity in quantities])


def _text(expected: Any, actual: Any) -> str:
    found = deep_difference(expected, actual)
    return "equal" if found is None else str(found)


def test_the_first_difference_is_named_by_its_path():
    """The path leads through fields, lists and keys to the value that differs."""
    assert deep_difference(_order(1, 2), _order(1, 3)) == Difference("lines[1].quantity", 2, 3)
    assert _text({"a": {"b": [1]}}, {"a": {"b": [2]}}) == "['a']['b'][0]: expected 1, got 2"
    assert _text(Pair(1, 2), Pair(1, 3)) == "right: expected 2, got 3"
    assert _text(1, 2) == "value: expected 1, got 2"


def test_all_differences_come_in_the_order_of_the_fields_and_are_bounded():
    """Every difference is listed, in order, up to the limit."""
    left, right = _order(*range(10)), _order(*range(1, 11))
    assert [found.path for found in all_differences(left, right, limit=3)] == [
        "lines[0].quantity",
        "lines[1].quantity",
        "lines[2].quantity",
    ]
    assert len(all_differences(left, right)) == 10


def test_a_missing_element_or_key_is_told():
    """A longer or shorter list, and a key on one side, show as missing."""
    assert deep_difference([1], [1, 2]) == Difference("[1]", MISSING, 2)
    assert deep_difference([1, 2], [1]) == Difference("[1]", 2, MISSING)
    assert deep_difference({"a": 1}, {}) == Difference("['a']", 1, MISSING)
    assert repr(MISSING) == "<missing>"


@pytest.mark.parametrize(
    ("expected", "actual", "text"),
    [
        (1, True, "value: expected 1 (int), got True (bool)"),
        ({1: "a"}, {True: "a"}, "[1]: expected 'a' (str), got <missing> (Missing)"),
        ([1], (1,), "value: expected [1] (list), got (1,) (tuple)"),
        ({1}, {True}, "value: expected {1}, got {True}"),
        (Status.OPEN, "open", "value: expected <Status.OPEN: 'open'> (Status), got 'open' (str)"),
        ({"x": 1, "y": 0}, Point(1), "value: expected {'x': 1, 'y': 0} (dict), got Point(x=1, y=0) (Point)"),
        (
            collections.defaultdict(list),
            {},
            "value: expected defaultdict(<class 'list'>, {}) (defaultdict), got {} (dict)",
        ),
        (Point(Point(1)), Point(Point(2)), "x.x: expected 1, got 2"),
        (Slotted(1, 2), Slotted(1, 3), "_Slotted__hidden: expected 2, got 3"),
        (ValueError("a"), ValueError("b"), "args[0]: expected 'a', got 'b'"),
    ],
)
def test_classes_and_hidden_parts_count(expected, actual, text):
    """Values that Python holds for equal, or does not look into, differ where their classes or parts do."""
    assert _text(expected, actual) == text


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (math.nan, math.nan),
        ([float("nan")], [float("nan")]),
        (1, 1.0),
        (1, Decimal(1)),
        ("open", Status.OPEN),
        ({}, collections.defaultdict(list)),
        ({1, 2}, frozenset({2, 1})),
        (Nothing(), Nothing()),
        (Path("a/b"), Path("a") / "b"),
        ({float("nan")}, {float("nan")}),
        ({Pair(1, frozenset({2}))}, {Pair(1, frozenset({2}))}),
        (collections.deque([1]), collections.deque([1])),
    ],
)
def test_values_of_equal_content_are_equal(expected, actual):
    """Not-a-number equals itself, numbers equal by value, and a literal equals a richer value of its content."""
    assert deep_equal(expected, actual)


def test_an_entity_is_looked_into_although_it_compares_by_its_id():
    """An `__eq__` that looks at the id alone does not hide a different balance."""
    assert Entity(1, 5) == Entity(1, 6)
    assert _text(Entity(1, 5), Entity(1, 6)) == "balance: expected 5, got 6"
    assert _text([Entity(1, 5)], [Entity(1, 6)]) == "[0].balance: expected 5, got 6"
    assert _text(Account(1, 5), Account(1, 6)) == "_secret: expected 5, got 6"


def test_what_an_object_computed_for_itself_does_not_count():
    """A cached property, or a private cache of an object that compares itself, is no difference."""
    used = _order(1)
    assert used.total == 1
    assert deep_equal(used, _order(1))
    hashed = Address("a")
    hash(hashed)
    assert deep_equal(hashed, Address("a"))


def test_private_attributes_and_extra_fields_of_a_model_count():
    """What a model holds besides its fields is compared too."""

    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")

    changed = _order(1)
    changed._seen = 2
    assert _text(changed, _order(1)) == "_seen: expected 2, got 0"
    assert _text(Open.model_validate({"a": 1}), Open.model_validate({"a": 2})) == "a: expected 1, got 2"


def test_a_matcher_on_the_expected_side_decides():
    """Matchers are asked, at any depth; one that refuses is the difference."""

    class Even:
        def __eq__(self, other: object) -> bool:
            return isinstance(other, int) and other % 2 == 0

        __hash__ = None  # type: ignore[assignment]

        def __repr__(self) -> str:
            return "even"

    assert deep_equal(Point(mock.ANY, [Even()]), Point(object(), [4]))
    assert deep_equal(Point(pytest.approx(1.0)), Point(1.0000000001))
    assert _text(Point(0, Even()), Point(0, 3)) == "y: expected even (Even), got 3 (int)"


def test_cycles_end_and_depth_has_no_limit():
    """Objects that hold themselves, and thousands of levels, are compared."""
    left: list[Any] = [1]
    right: list[Any] = [1]
    left.append(left)
    right.append(right)
    assert deep_equal(left, right)
    left.append(2)
    assert not deep_equal(left, right)
    deep: Any = 1
    other: Any = 2
    for _ in range(5000):
        deep, other = [deep], [other]
    found = deep_difference(deep, other)
    assert found is not None
    assert (found.path.count("[0]"), found.expected, found.actual) == (5000, 1, 2)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(_JSON)
def test_a_copy_is_equal_and_a_changed_copy_is_not(value):
    """A deep copy equals its original; putting something else inside is found."""

    def copied(part: Any) -> Any:
        if isinstance(part, list):
            return [copied(item) for item in part]
        if isinstance(part, dict):
            return {key: copied(item) for key, item in part.items()}
        return part

    assert deep_equal([value, 1], [copied(value), 1])
    assert deep_difference([value, 1], [copied(value), 2]) == Difference("[1]", 1, 2)


def test_what_holds_nothing_is_judged_by_its_own_comparison():
    """An object without attributes is equal to another only if its class says so."""

    class Never:
        def __eq__(self, other: object) -> bool:
            return False

        __hash__ = None  # type: ignore[assignment]

    assert not deep_equal(Never(), Never())
    assert not deep_equal([Never()], [Never()])


@pytest.mark.parametrize(
    ("other", "path"),
    [
        ([*range(30), True], "[30]"),
        ([*range(30), 1.0], None),
        ([*range(30), 2], "[30]"),
        ([*range(30)], "[30]"),
        ([*range(30), float("nan")], "[30]"),
    ],
)
def test_long_lists(other, path):
    """A long list is compared as strictly as a short one."""
    found = deep_difference([*range(30), 1], other)

    assert (found.path if found else None) == path


def test_long_lists_of_what_is_no_number():
    """A NaN equals a NaN in a long list too."""
    assert deep_equal([float("nan")] * 30, [float(text) for text in ["nan"] * 30])


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        ({"a", "b"}, {"b", "a"}, True),
        (set(), set(), True),
        ({"a"}, {"b"}, False),
        ({1}, {True}, False),
        (frozenset({"a"}), frozenset({"a"}), True),
    ],
)
def test_sets_of_texts(left, right, equal):
    """Sets are equal by their members, and members by their classes."""
    assert deep_equal([left], [right]) is equal
