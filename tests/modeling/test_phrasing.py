"""Phrases: what people say for a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel, computed_field

from wowspec import DefinitionError, phrase
from wowspec.modeling.phrasing import phrase_of


class Address(BaseModel):
    city: str = "Rome"


class Placed(BaseModel):
    customer: str
    quantity: int = 1
    address: Address = Address()

    @property
    def total(self) -> float:
        return self.quantity * 2.5

    @computed_field
    def double(self) -> int:
        return self.quantity * 2


def said(cls: type, source: Any = None) -> str | None:
    return phrase_of(cls, source, lambda value: f"<{value}>")


def phrased(template: str, cls: type = Placed) -> type:
    """A subclass that has this phrase."""
    made: type = phrase(template)(type("Phrased", (cls,), {"__module__": __name__}))
    return made


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{customer} orders {quantity} pieces", "Ann orders <3> pieces"),
        ("an order to {address.city}", "an order to Rome"),
        ("{total:.2f} €", "7.50 €"),
        ("{double} times", "<6> times"),
        ("{{{customer}}}", "{Ann}"),
        ("words alone", "words alone"),
    ],
)
def test_a_phrase_is_filled_in(template, text):
    """From fields, fields of fields, properties; with a format where one is said."""
    cls = phrased(template)

    assert said(cls, cls(customer="Ann", quantity=3)) == text


def test_a_phrase_of_fields_alone():
    """A command whose fields are refused was never made; defaults count."""
    cls = phrased("{customer} orders {quantity}")

    assert said(cls, {"customer": "Ann"}) == "Ann orders <1>"
    assert said(cls, {"customer": " "}) == "< > orders <1>"
    assert said(cls, {"quantity": 2}) is None


def test_a_phrase_of_a_class_alone():
    """An expectation may name no more than an error's class."""
    assert said(phrased("only {quantity} left")) == "only … left"


def test_a_subclass_speaks_as_its_base_does():
    """Unless it has a phrase of its own."""
    base = phrased("{customer} orders")

    assert said(type("Sub", (base,), {}), base(customer="Ann")) == "Ann orders"
    assert said(phrased("{customer} asks", base), base(customer="Ann")) == "Ann asks"


def test_the_first_line_of_a_docstring_is_a_phrase_if_it_names_a_field():
    """That is how it is told from a docstring for programmers."""

    class Shipped(BaseModel):
        """{parcel} is on its way.

        More of it.
        """

        parcel: str

    assert said(Shipped, Shipped(parcel="p-1")) == "p-1 is on its way"


@pytest.mark.parametrize(
    "doc",
    [
        "A docstring.",
        "A dictionary such as {}.",
        "JSON: {'a': 1}.",
        "Made by {nobody}.",
        "An open { brace of {customer}.",
        "{customer} and {nobody}.",
        "{customer!r} as code.",
        "",
        None,
    ],
)
def test_other_docstrings_are_no_phrases(doc):
    """Braces that are no fields stay what they are."""
    cls = type("Documented", (Placed,), {"__doc__": doc})

    assert said(cls, cls(customer="Ann")) is None


def test_a_docstring_of_a_base_is_the_base_s():
    """It speaks of the base."""

    class Base(BaseModel):
        """{name} is based."""

        name: str

    class Sub(Base):
        pass

    assert said(Sub, Sub(name="x")) is None


@pytest.mark.parametrize(
    ("template", "what", "instead"),
    [
        ("", "says nothing", "@phrase("),
        (None, "says nothing", "@phrase("),
        ("{customer", "expected '}'", "{{ and }}"),
        ("{}", "{} is no field", "{amount}"),
        ("{0}", "{0} is no field", "{amount}"),
        ("{customer[0]}", "{customer[0]} is no field", "{amount}"),
        ("{__class__}", "{__class__} is no field", "{amount}"),
        ("{address.__class__.__name__}", "is no field", "{amount}"),
        ("{quantity:{width}}", "{quantity:{width}} is no field", "{amount}"),
        ("{customer!r}", "{customer!r}", "{customer}"),
        ("{costumer} orders", "Placed has no field 'costumer'", "{customer}"),
        ("{address.town}", "Address has no field 'town'", "one of city"),
    ],
)
def test_bad_phrases_are_refused_where_they_stand(template, what, instead):
    """With what is wrong, and what may have been meant."""
    with pytest.raises(DefinitionError) as caught:
        phrase(template)(Placed)

    assert what in caught.value.what
    assert instead in caught.value.instead


def test_a_phrase_stands_above_a_class_once():
    """Only one can count."""
    with pytest.raises(DefinitionError, match="stands twice on Phrased"):
        phrase("again")(phrased("once"))
    with pytest.raises(DefinitionError, match="is no class"):
        phrase("x")(len)  # type: ignore[arg-type]


def test_dataclasses_named_tuples_and_errors():
    """Fields of errors are known when there is one: a misspelt one leaves the class without a phrase."""

    @phrase("{left} left")
    @dataclass(slots=True)
    class Left:
        left: int

    @phrase("{row}")
    class Seat(NamedTuple):
        row: int

    @phrase("only {left} are left")
    class OutOfStockError(Exception):
        def __init__(self, left: int) -> None:
            super().__init__(f"{left} left")
            self.left = left

    assert said(Left, Left(2)) == "<2> left"
    assert said(Seat, Seat(2)) == "<2>"
    assert said(OutOfStockError, OutOfStockError(3)) == "only <3> are left"
    assert said(phrased("{lost}", OutOfStockError), OutOfStockError(3)) is None
    with pytest.raises(DefinitionError, match="has no field 'seat'"):
        phrased("{seat}", Seat)


def test_a_phrase_that_cannot_be_said_is_not_said():
    """A report does not fail for a format or a property of the user's."""

    class Odd(BaseModel):
        name: str

        @property
        def broken(self) -> str:
            raise RuntimeError("no")

    assert said(phrased("{name:d}", Odd), Odd(name="x")) is None
    assert said(phrased("{broken}", Odd), Odd(name="x")) is None
