"""Schedules as a strategy: few changes of priorities, shrinking to first in, first out."""

from __future__ import annotations

import pytest
from hypothesis import find, given, settings

from wowspec import SpecError
from wowspec.generation.schedules import schedules
from wowspec.world.schedules import parse_schedule

QUIET = settings(database=None, derandomize=True, max_examples=500)


def test_they_shrink_to_first_in_first_out():
    """The simplest schedule is the ordinary order."""
    assert find(schedules(), lambda text: True, settings=QUIET) == "0"


def test_they_shrink_to_one_early_change():
    """Where a change is needed, one is left, at the earliest choice, to the next task."""
    assert find(schedules(), lambda text: text != "0", settings=QUIET) == "1"


def test_they_shrink_to_the_change_that_is_needed():
    """A change at a certain choice stays there, the others go."""
    assert find(schedules(), lambda text: len(parse_schedule(text)) > 4, settings=QUIET) == "0x4.1"


@settings(database=None, derandomize=True, max_examples=100)
@given(schedules(max_changes=2, choices=10))
def test_changes_are_few(text):
    """No schedule has more changes than it may have, nor later ones."""
    choices = parse_schedule(text)
    assert len([choice for choice in choices if choice]) <= 2
    assert len(choices) <= 10


@pytest.mark.parametrize("numbers", [{"max_changes": -1}, {"choices": 0}, {"max_changes": 1.0}])
def test_numbers_that_make_no_sense_are_refused(numbers):
    """A schedule has a first choice, and no negative number of changes."""
    with pytest.raises(SpecError, match="schedules"):
        schedules(**numbers)
