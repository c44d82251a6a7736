"""Orders of commands in flight are drawn beside the faults: few changes, shrinking to first in, first out."""

from __future__ import annotations

import re

import pytest
from hypothesis import Phase, example, settings
from pydantic import BaseModel

from wowspec import SpecFailure, aggregate_root, create_aggregate, failure_orderings, on_command
from wowspec.exploration.playing import Way, play
from wowspec.faults.plans import Plan
from wowspec.specs import tracking
from wowspec.specs.builder import spec

#: They start many processes, or sweep a great deal.
pytestmark = pytest.mark.long

QUIET = settings(database=None, max_examples=200, deadline=None, derandomize=True)


class Stock:
    """One seat; looked at and taken in two steps."""

    def __init__(self) -> None:
        self.left = 1

    async def available(self) -> int:
        return self.left

    async def take(self) -> None:
        self.left -= 1


@create_aggregate
class Book(BaseModel):
    id: str


class Booked(BaseModel):
    pass


class SeatState(BaseModel):
    id: str


@aggregate_root(context="seats")
class Seat:
    """Defect: what it saw may not hold any more when it acts on it."""

    def __init__(self, state: SeatState) -> None:
        self.state = state

    @on_command
    async def book(self, command: Book, stock: Stock) -> Booked:
        if await stock.available() < 1:
            raise ValueError("sold out")
        await stock.take()
        return Booked()


def booked_once(world):
    """One of the two is booked at most."""
    return sum(world.aggregate(Seat, each).version for each in ("a", "b")) <= 1


def books(ordering):
    """Two bookings in flight; the exhaustive search of orders is held to the ordinary one."""
    together = ordering.inject(stock=Stock()).when_concurrently(Book(id="a"), Book(id="b"), max_schedules=1)
    together.eventually(booked_once).expect_error(ValueError, times=1)


def test_a_race_is_found_with_the_order_that_shows_it():
    """Two tasks meet in one schedule of few changes; it is told, and pins the failure."""
    prop = QUIET(failure_orderings(Seat, max_faults=0, schedules=True)(books))

    with pytest.raises(SpecFailure, match="eventually") as caught:
        prop()
    found = re.search(r"@hypothesis\.example\(ordering=\('', '([0-9x.]+)'\)\)", str(caught.value))
    assert found is not None, str(caught.value)
    assert len([choice for choice in found[1].split(".") if choice != "0" and "x" not in choice]) == 1

    pinned = failure_orderings(Seat, schedules=True)(books)
    with pytest.raises(SpecFailure, match="eventually"):
        settings(QUIET, phases=[Phase.explicit])(example(ordering=("", found[1]))(pinned))()


def test_without_schedules_all_is_first_in_first_out():
    """No order is drawn where none is asked for: the race stays hidden."""
    settings(QUIET, max_examples=30)(failure_orderings(Seat, max_faults=0)(books))()


def test_a_step_with_a_schedule_of_its_own_keeps_it():
    """What the spec says of the order holds against what was drawn."""
    with tracking.aside():
        together = spec(Seat).inject_factory(stock=Stock).when_concurrently(Book(id="a"), Book(id="b"), schedule="0")
        nodes = tuple(together._node.path())

    played = play(Way(nodes), Plan(), schedule=(1, 1, 1, 1))

    assert played.schedules == ["0"]


def test_a_drawn_choice_among_fewer_tasks_takes_the_last():
    """A drawn schedule always fits; what came of it is told as one that can be replayed."""
    with tracking.aside():
        together = spec(Seat).inject_factory(stock=Stock).when_concurrently(Book(id="a"), Book(id="b"))
        nodes = tuple(together._node.path())

    played = play(Way(nodes), Plan(), schedule=(9,))

    assert played.schedules == ["1"]
