"""Matchers: what they let pass, what they refuse at once, and how they show themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from unittest.mock import ANY

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, computed_field

from wowspec.errors import SpecError
from wowspec.specs.alignment import match_events
from wowspec.specs.matchers import ANY_EVENTS, any_of, some, unordered

from .shop import Line, OrderCreated, OrderPaid, OrderPaidTwice, Plain, Positive, Stocked

PAID = OrderPaid(id="o-1", lines=[Line(sku="a", quantity=3)], total=30)


@pytest.mark.parametrize(
    ("matcher", "value", "met"),
    [
        (some(OrderPaid), PAID, True),
        (some(OrderPaid, id="o-1"), PAID, True),
        (some(OrderPaid, id="o-2"), PAID, False),
        (some(OrderPaid), OrderCreated(id="o-1"), False),
        (some(OrderPaid), OrderPaidTwice(id="o-1"), False),
        (some(OrderPaid, total=Positive()), PAID, True),
        (some(OrderPaid, total=ANY), PAID, True),
        (some(OrderPaid, total=pytest.approx(30.0)), PAID, True),
        (some(OrderPaid, total=any_of(3, 30)), PAID, True),
        (some(OrderPaid, total=any_of(3, Positive())), PAID, True),
        (some(OrderPaid, total=any_of(3, 4)), PAID, False),
        (some(OrderPaid, lines=[some(Line, sku="a")]), PAID, True),
        (some(OrderPaid, lines=[some(Line, sku="b")]), PAID, False),
        (some(OrderPaid, lines=[]), PAID, False),
        (some(Stocked, amount=3), Stocked("a", 3), True),
        (some(Plain, b=1), Plain(a=1), False),
        (any_of(some(OrderCreated), PAID), PAID, True),
        (any_of(some(OrderCreated), PAID), OrderCreated(id="x"), True),
        (any_of(some(OrderCreated), PAID), OrderPaid(id="x"), False),
    ],
)
def test_meets(matcher, value, met):
    """A matcher is equal to just what it describes, from either side."""
    assert (matcher == value) is met
    assert (value == matcher) is met
    assert match_events([matcher], [value]).matched is met


@dataclass
class Narrow:
    amount: int

    @property
    def double(self) -> int:
        return 2 * self.amount


class Rich(BaseModel):
    price: int = Field(1, alias="thePrice")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def gross(self) -> int:
        return self.price * 2


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


@dataclass
class Slotted:
    shown: int

    @property
    def _hidden(self) -> int:
        return self.shown


class Pair(NamedTuple):
    left: int
    right: int


@pytest.mark.parametrize(
    ("kind", "field", "says"),
    [
        (OrderPaid, "totl", "instead: total"),
        (OrderPaid, "colour", "instead: one of id, lines, total"),
        (Stocked, "amnt", "instead: amount"),
        (Narrow, "duble", "instead: double"),
        (Rich, "thePrice", "instead: price, whose alias is thePrice"),
        (Pair, "lft", "instead: left"),
        (Slotted, "_hiden", "instead: one of shown"),
    ],
)
def test_unknown_field_is_refused(kind, field, says):
    """A field that no object of the class can have is refused at once, with what may have been meant."""
    with pytest.raises(SpecError, match="has no field") as refused:
        some(kind, **{field: 1})

    assert says in str(refused.value)
    assert field in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (OrderPaidTwice, {"total": 1}),
        (Narrow, {"double": 4}),
        (Rich, {"price": 1, "gross": 2}),
        (Open, {"whatever": 1}),
        (Plain, {"whatever": 1}),
        (Pair, {"left": 1}),
    ],
)
def test_known_fields_are_taken(kind, fields):
    """Inherited fields, properties, computed fields, and whatever a class of open form may hold."""
    assert some(kind, **fields).fields == fields


def test_properties_and_computed_fields_are_read():
    """A field of `some` may be any attribute."""
    assert some(Narrow, double=4) == Narrow(2)
    assert some(Rich, gross=2) == Rich()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: some(PAID), "some(OrderPaid, field=...)"),
        (any_of, "nothing to choose from"),
        (lambda: any_of(ANY_EVENTS), "any_of(...) holds ANY_EVENTS"),
        (lambda: any_of(unordered(PAID)), "any_of(...) holds unordered("),
        (lambda: unordered(PAID, unordered(PAID)), "unordered(...) holds unordered("),
        (lambda: unordered(PAID, ANY_EVENTS), "stand side by side"),
    ],
)
def test_senseless_matchers_are_refused(make, says):
    """A matcher that could never do what it says is an error of the spec."""
    with pytest.raises(SpecError) as refused:
        make()

    assert says in str(refused.value)


@pytest.mark.parametrize(
    "matcher", [some(Line), some(OrderPaid, total=Positive(), lines=[some(Line, sku="abc")]), any_of(3, 4)]
)
def test_pydantic_shows_what_to_write(matcher):
    """A matcher inside a model is refused by pydantic first, and what it shows of the matcher says what to write."""
    with pytest.raises(ValidationError) as refused:
        OrderPaid(id="o-1", total=matcher)

    assert "write some(Event, x=...)" in str(refused.value)


def test_a_group_inside_a_model_says_where_it_belongs():
    """`unordered` as a field is refused by pydantic with the place where it belongs."""
    with pytest.raises(ValidationError, match=r"expect_events\(\.\.\.\)"):
        OrderPaid(id="o-1", total=unordered(1, 2))


def test_code_and_repr():
    """A matcher as text is the code that makes it; its repr adds the hint."""
    assert str(some(OrderPaid, total=3)) == "some(OrderPaid, total=3)"
    assert repr(some(OrderPaid, total=3)).startswith("some(OrderPaid, total=3): a matcher")
    assert str(unordered(some(Line), any_of(1, 2))) == "unordered(some(Line), any_of(1, 2))"
    assert repr(ANY_EVENTS) == "ANY_EVENTS"


def test_a_property_that_raises_is_not_met():
    """A field that cannot be read is a difference with its reason, not an error."""

    class Broken:
        @property
        def total(self):
            raise RuntimeError("broken")

    assert some(Broken, total=3) != Broken()


def test_a_field_named_like_a_parameter():
    """Every field name can be asked for."""

    @dataclass
    class Odd:
        kind: str
        fields: int

    assert some(Odd, kind="k", fields=3) == Odd("k", 3)
