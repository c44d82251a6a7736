"""What is compared of two runs is free of what their orders alone make different, and of nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from wowspec.messages.ids import IdGenerator
from wowspec.specs.masks import Mask
from wowspec.world.clock import DEFAULT_START_NANOS, NANOS_PER_MILLI, NANOS_PER_SECOND

BEGAN = DEFAULT_START_NANOS + 5 * NANOS_PER_SECOND
ENDED = BEGAN + 2 * NANOS_PER_SECOND
NOW = datetime.fromtimestamp(BEGAN // NANOS_PER_SECOND, UTC)


def mask():
    """A mask of a run of two processes and two commands."""
    return Mask(BEGAN, ENDED, (7, 8), ["command-one", ""])


@dataclass
class Box:
    held: Any
    more: list[Any] = field(default_factory=list)


class Slotted:
    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held


@pytest.mark.parametrize(
    "value",
    [
        BEGAN,
        BEGAN // NANOS_PER_MILLI + 700,
        BEGAN / NANOS_PER_SECOND + 0.5,
        NOW.isoformat(),
        (NOW + timedelta(seconds=2)).isoformat(),
        NOW.replace(tzinfo=None).isoformat(),
    ],
)
def test_instants_of_the_run_are_alike(value):
    """However an event writes when something happened, a later retry makes no other outcome of it."""
    assert mask().value(value) == "<time>"


@pytest.mark.parametrize(
    "value", [0, 80, 1.5, True, None, "text", (NOW - timedelta(days=1)).isoformat(), "2024-99-01T00:00", BEGAN * 3]
)
def test_other_values_stay(value):
    """What is no instant of the run is compared as it is; 1 is not 1.0, and not True."""
    told = mask().value(value)

    assert told != "<time>"
    assert told == mask().value(value)


def test_numbers_of_different_types_differ():
    """Equal in Python, but not the same JSON."""
    assert len({mask().value(1), mask().value(1.0), mask().value(True)}) == 3


def test_ids_of_the_run_are_told_by_their_places():
    """Two runs whose ids differ, but stand in the same places, are alike; an id of another machine stays."""
    ids = IdGenerator(7)
    first, second = ids.next_id(BEGAN // NANOS_PER_MILLI), ids.next_id(BEGAN // NANOS_PER_MILLI)
    foreign = IdGenerator(9).next_id(BEGAN // NANOS_PER_MILLI)

    assert mask().value([first, f"x {second}", first]) == mask().value([second, f"x {first}", second])
    assert mask().value([first, second]) != mask().value([first, first])
    assert mask().text(foreign) == foreign


def test_ids_of_commands_are_told_apart():
    """A command's id means that command, wherever it comes first."""
    one = IdGenerator(7).next_id(BEGAN // NANOS_PER_MILLI)
    two = IdGenerator(8).next_id(BEGAN // NANOS_PER_MILLI)
    masks = [Mask(BEGAN, ENDED, (7, 8), [one, two]) for _ in range(2)]

    assert masks[0].text(one) == masks[1].text(one) == "<command 1>"
    assert masks[0].text(two) == "<command 2>"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Box(1), Box(2)),
        (Slotted(1), Slotted(2)),
        (Box({"a": 1}), Box({"a": 2})),
        (Box([1, 2]), Box([2, 1])),
        (Box({1, 2}), Box({1, 3})),
        (Box(Decimal("1.0")), Box(Decimal("2.0"))),
        (Box(Box(1)), Box(Box(2))),
        (Box(1), Slotted(1)),
    ],
    ids=lambda value: f"{type(value).__name__}-{type(value.held).__name__}",
)
def test_what_services_hold_is_compared(one, other):
    """Objects differ if anything that they hold does."""
    assert mask().structure(one) == mask().structure(one)
    assert mask().structure(one) != mask().structure(other)
    assert hash(mask().structure(one)) is not None


def test_sets_and_addresses_make_no_difference():
    """Neither the order of a set nor where an object lies in memory is anything that it holds."""
    assert mask().structure({"b", "a", "c"}) == mask().structure({"c", "b", "a"})
    assert mask().structure(Box(object())) == mask().structure(Box(object()))


def test_circles_end():
    """An object that holds itself is told once."""
    box = Box(None)
    box.held = box

    assert mask().structure(box) == mask().structure(box)
