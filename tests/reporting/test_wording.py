"""Names and values in words."""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, NamedTuple
from unittest.mock import ANY

import pytest
from pydantic import BaseModel, Field, RootModel, SecretStr

from wowspec import AggregateDeleted, DeleteAggregate, any_of, command_builder, command_of, some
from wowspec.reporting.wording import details, fields_in_words, joined, message, ordinal, title, value_in_words, words

from .scenes import CollectParcel, Line, ParcelCollected, ParcelPlaced, Price


class Colour(Enum):
    DARK_BLUE = "b"


class Where(NamedTuple):
    row: int
    seat: str


class Tags(RootModel[list[str]]):
    pass


@dataclass
class Stay:
    nights: int
    extras: tuple[str, ...] = ()


@dataclass
class Euro:
    value: Decimal
    currency: str = "EUR"


class Plain:
    def __init__(self) -> None:
        self.depth = 3
        self._hidden = 1

    def __repr__(self) -> str:
        # The id of a test: the same one in each process.
        return "Plain()"


class Rude:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Sour(BaseModel):
    name: str

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]


class Sweet(BaseModel):
    sour: Sour = Sour(name="x")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("OrderPaid", "order paid"),
        ("order_paid", "order paid"),
        ("orderPaid", "order paid"),
        ("HTTPRequestReceived", "HTTP request received"),
        ("PayVAT", "pay VAT"),
        ("EXTRA_LARGE", "extra large"),
        ("Step2Done", "step 2 done"),
        ("BestellungGeändert", "bestellung geändert"),
        ("注文", "注文"),
        ("_x", "x"),
    ],
)
def test_names_fall_into_words(name, said):
    """Whatever the style of a name; acronyms stay."""
    assert words(name) == said


def test_a_title_begins_with_a_capital():
    """The rest is as it is."""
    assert title("PayVAT") == "Pay VAT"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "none"),
        (True, "yes"),
        (False, "no"),
        (60, "60"),
        (0.1, "0.1"),
        (Decimal("12.50"), "12.50"),
        (Decimal("1E+3"), "1000"),
        (Decimal("NaN"), "NaN"),
        (Decimal("1E+999999999"), "1E+999999999"),
        (Decimal("1E-40"), "1E-40"),
        ("o-1", "o-1"),
        ("Wangjing 1", "Wangjing 1"),
        ("", "(empty)"),
        (" ", "“ ”"),
        ("yes", "“yes”"),
        ("a, b: c", "“a, b: c”"),
        ("two\nlines", "“two ⏎ lines”"),
        (b"abc", "3 bytes"),
        (Colour.DARK_BLUE, "dark blue"),
        (dt.date(2024, 5, 1), "1 May 2024"),
        (dt.datetime(2024, 5, 1, 9, 5, tzinfo=dt.UTC), "1 May 2024, 09:05 UTC"),
        (dt.datetime(2024, 5, 1, 9, 5, 7, 250_000, dt.UTC), "1 May 2024, 09:05:07.25 UTC"),
        (dt.time(23, 59), "23:59"),
        (dt.timedelta(hours=2, minutes=1), "2 hours and 1 minute"),
        (dt.timedelta(), "no time"),
        (-dt.timedelta(days=1), "minus 1 day"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (SecretStr("x"), "a secret"),
        ([], "none"),
        ([1, 2, 3], "1, 2 and 3"),
        ([[1, 2], [3]], "(1 and 2) and (3)"),
        (frozenset({"b", "a"}), "a and b"),
        ({"o-1": 2}, "(o-1: 2)"),
        ({}, "none"),
        (list(range(40)), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 29 more"),
        (Where(3, "b"), "(row: 3, seat: b)"),
        (Tags(["x"]), 'Tags(["x"])'),
        (Stay(2), "(nights: 2)"),
        (Price(amount=Decimal("9.90")), "9.90 EUR"),
        (Euro(Decimal(5)), "5 EUR"),
        (Line(sku="a"), "(sku: a)"),
        (ANY, "anything"),
        (pytest.approx(3.5), "about 3.5"),
        (any_of(1, 2), "either 1 or 2"),
        (some(Line, sku="a"), "Line (sku: a; the rest may be anything)"),
        (lambda value: value, "anything that meets its condition"),
        (int, "Int"),
    ],
)
def test_values_are_readable(value, said):
    """Each kind of value as people write it; what could be mistaken stands in quotes."""
    assert value_in_words(value) == said


def test_a_value_that_refuses_to_be_read_harms_nobody():
    """A report does not fail for a property of the user's."""
    assert value_in_words(Rude()) == "<Rude, whose repr raises RuntimeError>"
    assert message(Rude()) == "Rude"
    assert message(Sweet()).startswith("Sweet")


def test_long_text_is_cut_and_counted():
    """A field may hold a whole letter."""
    assert "more characters" in value_in_words("x" * 1_000)


def test_circles_end():
    """A list that holds itself is told to some depth."""
    circle: list[Any] = [1]
    circle.append(circle)

    assert value_in_words(circle).startswith("1 and (1 and (")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (
            ParcelPlaced(lines=[Line(sku="a"), Line(sku="b", quantity=2)]),
            "Parcel placed (lines (sku: a) and (sku: b, quantity: 2))",
        ),
        (ParcelPlaced(), "Parcel placed"),
        (ParcelPlaced(lines=[]), "Parcel placed (no lines)"),
        (ParcelPlaced(label="x"), "Parcel placed (name on the label: x)"),
        (ParcelPlaced, "Parcel placed (whatever the details)"),
        (some(ParcelPlaced), "Parcel placed (whatever the details)"),
        (some(ParcelPlaced, express=True), "Parcel placed (express: yes; the rest may be anything)"),
        (command_of(CollectParcel, id="p-1", by="Ann"), "Ann collects the parcel p-1"),
        (command_of(CollectParcel, id="p-1"), "somebody collects the parcel p-1"),
        (command_of(ParcelPlaced, express="?"), "Parcel placed (express: “?”)"),
        (command_of(CollectParcel), "Collect parcel"),
        (ParcelCollected(by="Ann"), "Ann has the parcel"),
        (command_builder(CollectParcel(id="p-1", by="Ann")).aggregate_id("p-9"), "Ann collects the parcel p-1, to p-9"),
        (DeleteAggregate(), "Delete it"),
        (AggregateDeleted(), "It is deleted"),
        (Plain(), "Plain (depth: 3)"),
        ("text", "text"),
    ],
)
def test_messages_are_told_by_phrase_or_by_fields(value, said):
    """Its own phrase, else the class in words and what was set."""
    assert message(value) == said


def test_an_only_field_that_says_what_the_name_says_is_unwrapped():
    """Item added (added (…)) says everything twice."""

    class LineAdded(BaseModel):
        added: Line

    class LineMoved(BaseModel):
        origin: Line

    assert message(LineAdded(added=Line(sku="a"))) == "Line added (sku: a)"
    assert message(LineMoved(origin=Line(sku="a"))) == "Line moved (origin (sku: a))"


def test_fields_stand_in_one_line():
    """Empty collections are told as such."""
    said = fields_in_words({"status": Colour.DARK_BLUE, "items": [], "line": Line(sku="a")}.items())

    assert said == "status: dark blue, no items, line (sku: a)"


def test_details_are_fields_without_brackets():
    """For a place that brings its own words."""
    assert details(Line(sku="a")) == "sku: a"


def test_fields_that_nobody_shows_are_left_out():
    """`repr=False` hides a field from people, too."""

    class Login(BaseModel):
        name: str
        password: str = Field(repr=False)

    assert message(Login(name="ann", password="x")) == "Login (name: ann)"


@pytest.mark.parametrize(("number", "said"), [(1, "first"), (5, "fifth"), (11, "11th"), (22, "22nd"), (113, "113th")])
def test_ordinals(number, said):
    """Small ones are words."""
    assert ordinal(number) == said


def test_joined():
    """One, two, three."""
    assert [joined([]), joined(["a"]), joined("ab"), joined("abc", "or")] == ["", "a", "a and b", "a, b or c"]


def test_of_many_members_the_first_are_looked_at():
    """A list of a million is told in the time of twelve."""
    asked = []

    class Shy:
        def __repr__(self) -> str:
            asked.append(self)
            return "shy"

    text = value_in_words([Shy() for _ in range(1_000)])

    assert text.endswith(" and 989 more")
    assert len(asked) < 100
