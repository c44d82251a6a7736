"""Values as code: readable, the same in every run, and never an error."""

from __future__ import annotations

import collections
import datetime as dt
import enum
import pathlib
import subprocess
import sys
import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st
from pydantic import BaseModel, Field, RootModel

from wowspec.messages.header import Header
from wowspec.modeling.identity import AggregateRef
from wowspec.specs.render import EVERYTHING, Limits, in_order, quoted, render, render_call, shorten

from .shop import Hostile, Line, OrderPaid, OrderShipped, OrderState, Plain, Status, Stocked


class Perm(enum.Flag):
    READ = 1
    WRITE = 2


class Size(enum.IntEnum):
    BIG = 3


class Sku(str):
    __slots__ = ()


class Money(NamedTuple):
    amount: int
    currency: str = "EUR"


class Tags(RootModel[list[str]]):
    pass


class Secret(BaseModel):
    name: str
    password: str = Field(repr=False)


class Aliased(BaseModel):
    price: int = Field(alias="thePrice")


class ByName(BaseModel, populate_by_name=True):
    price: int = Field(alias="thePrice")


class Slotted:
    __slots__ = ("_hidden", "left")

    def __init__(self) -> None:
        self.left = 1
        self._hidden = 2


class OwnRepr:
    def __repr__(self) -> str:
        return "<OwnRepr at 0x7f00deadbeef>"


class BrokenRepr:
    def __init__(self) -> None:
        self.size = 3

    def __repr__(self) -> str:
        raise ValueError("broken")


@dataclass
class Late:
    now: int
    later: int = field(init=False)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (None, "None"),
        (True, "True"),
        (3, "3"),
        (3.5, "3.5"),
        ("o-1", '"o-1"'),
        ("it's", '"it\'s"'),
        ('say "hi"', "'say \"hi\"'"),
        ("a\nb\udc80", '"a\\nb\\udc80"'),
        (b"ab", "b'ab'"),
        (Sku("a"), 'Sku("a")'),
        (Status.PAID, "Status.PAID"),
        (Size.BIG, "Size.BIG"),
        (Perm.READ | Perm.WRITE, "Perm.READ | Perm.WRITE"),
        (Perm(0), "Perm(0)"),
        (dt.date(2026, 1, 2), "date(2026, 1, 2)"),
        (dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC), "datetime(2026, 1, 2, 3, 4, tzinfo=UTC)"),
        (dt.datetime(2026, 1, 2, 3, 4), "datetime(2026, 1, 2, 3, 4)"),  # noqa: DTZ001
        (
            dt.datetime(2026, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=2))),
            "datetime(2026, 1, 2, 0, 0, tzinfo=timezone(timedelta(seconds=7200)))",
        ),
        (dt.datetime(2026, 1, 2, tzinfo=ZoneInfo("UTC")), 'datetime(2026, 1, 2, 0, 0, tzinfo=ZoneInfo("UTC"))'),
        (dt.timedelta(days=1, seconds=2), "timedelta(days=1, seconds=2)"),
        (Decimal("1.50"), 'Decimal("1.50")'),
        (uuid.UUID(int=1), 'UUID("00000000-0000-0000-0000-000000000001")'),
        (pathlib.PurePosixPath("a/b"), 'PurePosixPath("a/b")'),
        ([1, "a"], '[1, "a"]'),
        ((), "()"),
        ((1,), "(1,)"),
        ({3, 1, 2}, "{1, 2, 3}"),
        (set(), "set()"),
        (frozenset("ba"), 'frozenset({"a", "b"})'),
        ({1, "a", None}, '{None, 1, "a"}'),
        ({"b": 1, "a": 2}, '{"b": 1, "a": 2}'),
        (Header({"a": "b"}), 'Header({"a": "b"})'),
        (MappingProxyType({1: 2}), "mappingproxy({1: 2})"),
        (collections.deque([1]), "deque([1])"),
        (range(3), "range(0, 3)"),
        (Money(3), "Money(amount=3)"),
        (Money(3, "USD"), 'Money(amount=3, currency="USD")'),
        (ValueError("no"), 'ValueError("no")'),
        (OrderPaid, "OrderPaid"),
        (len, "len"),
        (lambda: None, "lambda …"),
        (
            OrderPaid(id="o-1", lines=[Line(sku="a", quantity=3)]),
            'OrderPaid(id="o-1", lines=[Line(sku="a", quantity=3)])',
        ),
        (OrderPaid(id="o-1", total=0), 'OrderPaid(id="o-1", total=0)'),
        (OrderShipped(id="o-1", tags=frozenset({"b", "a"})), 'OrderShipped(id="o-1", tags=frozenset({"a", "b"}))'),
        (Tags(["a"]), 'Tags(["a"])'),
        (Secret(name="n", password="p"), 'Secret(name="n")'),
        (Stocked("a", 1), 'Stocked(sku="a", amount=1)'),
        (Stocked("a", 1, {"x"}), 'Stocked(sku="a", amount=1, tags={"x"})'),
        (Late(1), "Late(now=1)"),
        (Aliased(thePrice=1), "Aliased(thePrice=1)"),
        (ByName(price=1), "ByName(price=1)"),
        (Plain(a=1, _b=2), "Plain(a=1)"),
        (Slotted(), "Slotted(left=1)"),
        (AggregateRef("shop", "order", "o-1"), 'AggregateRef(context_name="shop", aggregate_name="order", id="o-1")'),
        (OwnRepr(), "<OwnRepr>"),
        (BrokenRepr(), "BrokenRepr(size=3)"),
        (Hostile(), "<Hostile, whose repr raises RuntimeError>"),
        (Plain(a=[Hostile()]), "Plain(a=[<Hostile, whose repr raises RuntimeError>])"),
    ],
)
def test_code_of(value, code):
    """Each sort of value reads as the code that makes it."""
    assert render(value) == code


def test_a_number_too_long_to_be_written():
    """Python refuses to write integers of more than 4,300 digits; the text says that."""
    assert render(Plain(a=10**5000)) == "Plain(a=<int, whose repr raises ValueError>)"


def test_a_field_that_was_changed_in_place_is_shown():
    """A default that was appended to is no default any more."""
    state = OrderState(id="o-1")
    state.lines.append(Line(sku="a"))

    assert render(state) == 'OrderState(id="o-1", lines=[Line(sku="a")])'


def test_a_cycle_ends():
    """A value that holds itself is shown once."""
    held: list[Any] = [1]
    held.append(held)
    plain = Plain(a=1)
    plain.me = plain

    assert render(held) == "[1, …]"
    assert render(plain) == "Plain(a=1, me=…)"


def test_depth_is_limited():
    """Below the limit only the class is named; atoms are always shown."""
    value: Any = 1
    for _ in range(5):
        value = [value]

    assert render(value, Limits(depth=2)) == "[[list(…)]]"
    assert render([[1]], Limits(depth=2)) == "[[1]]"


def test_a_very_deep_value_does_not_raise():
    """Ten thousand levels of nesting are cut by depth, or named as what they are."""
    value: Any = 1
    for _ in range(10_000):
        value = [value]

    assert render(value).startswith("[[[")
    assert render(value, Limits(depth=10**6))


def test_long_values_are_cut_in_the_middle():
    """What is left out is counted where it was, and both ends stay."""
    assert shorten("a" * 50 + "b" * 50, 50) == "aaaaaaaaaaaaaaa… 78 more characters …bbbbbbb"
    assert render(list(range(100)), Limits(items=6)) == "[0, 1, 2, 3, … 94 more …, 98, 99]"
    assert render({n: n for n in range(5)}, Limits(items=3)) == "{0: 0, 1: 1, … 2 more …, 4: 4}"
    assert len(render("x" * 10_000)) < 200
    assert len(render([["x" * 100] * 12] * 12)) <= 400
    assert render("x" * 10_000, EVERYTHING) == '"' + "x" * 10_000 + '"'


@given(st.text(), st.integers(0, 80))
def test_shorten_keeps_the_limit(text, limit):
    """A shortened text is no longer than asked for, but for the count itself."""
    assert len(shorten(text, limit)) <= max(limit, 30)
    assert shorten(text, len(text)) == text


@given(st.text())
def test_quoted_text_is_code(text):
    """A quoted string evaluates to itself."""
    assert eval(quoted(text)) == text


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.binary()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(), inner)
        | st.frozensets(st.integers() | st.text())
        | st.tuples(inner, inner)
    ),
)


@given(VALUES)
def test_plain_values_are_code(value):
    """What is made of built-in values evaluates to itself."""
    assert eval(render(value, EVERYTHING)) == value


@given(VALUES, st.builds(Limits, st.integers(0, 9), st.integers(0, 4), st.integers(0, 4), st.integers(0, 60)))
def test_never_raises(value, limits):
    """Whatever the value and the limits, there is one line of text."""
    assert "\n" not in render(value, limits)
    assert "\n" not in render(Plain(a=value, b=Hostile()), limits)


def test_a_call_is_rendered():
    """Arguments without a name are positional."""
    assert render_call("some", [("", OrderPaid), ("total", 3)]) == "some(OrderPaid, total=3)"


def test_sets_are_in_order_of_their_members():
    """Numbers by value, other things by how they read."""
    assert in_order({10, 9, 1}) == [1, 9, 10]
    assert in_order({Status.SHIPPED, Status.PAID}) == [Status.PAID, Status.SHIPPED]


@pytest.mark.parametrize("seed", ["0", "1", "77"])
def test_the_hash_seed_does_not_show(seed):
    """A process with another hash seed prints the same."""
    code = (
        "from wowspec.specs.render import render\n"
        "print(render([{'a', 'b', 'c', 'd'}, frozenset((('x', 1), ('y', 2), 3)), {None, 'q', 2.5, (1,)}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
    )

    assert done.stdout == '[{"a", "b", "c", "d"}, frozenset({3, ("x", 1), ("y", 2)}), {None, 2.5, "q", (1,)}]\n'
