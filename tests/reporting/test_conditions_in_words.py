"""Conditions in words, where they are simple."""

from __future__ import annotations

from enum import Enum

import pytest

from wowspec.reporting.conditions_in_words import condition_in_words

from .scenes import Desk, Parcel


class Status(Enum):
    IN_TRANSIT = 1


LIMIT = 3


def has_room(parcel):
    return parcel.weight < 3


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        (lambda parcel: parcel.weight == 0, "weight is 0"),
        (lambda parcel: parcel.weight != 0, "weight is not 0"),
        (lambda parcel: parcel.weight < -1.5, "weight is less than -1.5"),
        (lambda parcel: 0 <= parcel.weight <= 3, "weight is from 0 to 3"),
        (lambda parcel: parcel.holder is None, "holder is nothing"),
        (lambda parcel: parcel.address.city == "Rome", "city of address is Rome"),
        (lambda parcel: parcel.status is Status.IN_TRANSIT, "status is in transit"),
        (lambda parcel: parcel.city in ("Rome", "Bonn"), "city is among Rome and Bonn"),
        (lambda parcel: len(parcel.lines) >= 2, "the number of lines is at least 2"),
        (lambda parcel: parcel.sent, "sent"),
        (lambda parcel: not parcel.sent, "not sent"),
        (lambda parcel: parcel.sent and parcel.weight > 3, "sent and weight is more than 3"),
        (lambda parcel: parcel.sent or not parcel.open, "sent or not open"),
        (lambda row: row["holder"] == "Ann", "holder is Ann"),
        (lambda total: total == 3, "it is 3"),
        (lambda world: world.aggregate(Parcel, "p-1").version <= 2, "version of the parcel p-1 is at most 2"),
        (lambda world: world.state(Parcel, "p-1").holder == "Ann", "holder of the parcel p-1 is Ann"),
        (lambda world: len(world.stored(Parcel, "p-1")) == 1, "the number of events of the parcel p-1 is 1"),
        (lambda world: len(world.views(Desk)) <= 1, "the number of rows of the desk is at most 1"),
        (lambda parcel: parcel.weight == LIMIT, "weight is 3"),
        (has_room, "has room"),
        (LIMIT, "3"),
    ],
    ids=range(22),
)
def test_simple_conditions_are_words(condition, said):
    """Comparisons of fields, their number, and what joins them; a function is its name."""
    assert condition_in_words(condition) == said


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        (lambda parcel: parcel.maker == has_room, "`parcel.maker == has_room`"),
        (lambda parcel: parcel.maker == nobody_knows, "`parcel.maker == nobody_knows`"),  # noqa: F821
        (lambda parcel: sum(parcel.weights) < 3, "`sum(parcel.weights) < 3`"),
        (lambda parcel: parcel.a == parcel.b == 3, "`parcel.a == parcel.b == 3`"),
        (lambda parcel: (parcel.a or parcel.b) and parcel.c, "`(parcel.a or parcel.b) and parcel.c`"),
        (lambda world: world.views(Desk)["p-1"].holder, '`world.views(Desk)["p-1"].holder`'),
    ],
    ids=range(6),
)
def test_others_stay_code(condition, said):
    """Half of the words would be wrong."""
    assert condition_in_words(condition) == said


def test_values_of_the_author_s_names_are_told():
    """Those of a test's own, too."""
    wanted = "Ann"

    assert condition_in_words(lambda parcel: parcel.holder == wanted) == "holder is Ann"


def test_what_has_no_source_is_told_somehow():
    """Written at a prompt, or built in."""
    made = eval("lambda parcel: parcel.weight == 3")

    assert condition_in_words(made)
    assert condition_in_words(bool) == "bool"
