"""Where the real runtime has a race, the model can run it both ways: each recorded outcome has a schedule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from tests.golden.cases import load
from tests.golden.compare import first_difference
from tests.golden.drive_pipeline import Run, comparable
from wowspec.runtime.footprint import footprint
from wowspec.world.choices import Choices
from wowspec.world.schedules import parse_schedule
from wowspec.world.search import Search

#: More than ten times as many as the costliest of the recorded cases needs.
MAX_SCHEDULES: Final = 2_000

Json = dict[str, Any]

#: Recorded outcomes that no schedule of the model gives, by rule: whether it means an outcome of a case; the
#: reason. There is none.
CANNOT: Final[tuple[tuple[Callable[[Json, Json], bool], str], ...]] = ()

RACES: Final = [case for case in load("pipeline") if len(case.data["expect_one_of"]) > 1]


def alternatives(case):
    """The recorded outcomes as they are compared, each once, but for those that are known to be out of reach."""
    found = []
    for expected in case["expect_one_of"]:
        if any(is_meant(case, expected) for is_meant, _ in CANNOT):
            continue
        outcome = comparable(expected, case)
        if all(first_difference(outcome, other) is not None for other in found):
            found.append(outcome)
    return found


def schedules_of(case, wanted):
    """A schedule for each wanted outcome that one was found for, by the outcome's place."""
    found = {}
    search = Search(footprint=footprint, max_schedules=MAX_SCHEDULES)
    for choices, result in search.outcomes(lambda choices: Run(case, choices).result()):
        actual = comparable(result, case)
        for place, outcome in enumerate(wanted):
            if place not in found and first_difference(outcome, actual) is None:
                found[place] = choices.text
        if len(found) == len(wanted):
            break
    return found


@pytest.mark.skipif(not RACES, reason="none of the chosen cases has several recorded outcomes")
@pytest.mark.parametrize("case", RACES, ids=lambda case: case.id)
def test_every_recorded_outcome_has_a_schedule(case):
    """The search finds an order of tasks for each outcome that the real runtime was seen to have."""
    wanted = alternatives(case.data)

    found = schedules_of(case.data, wanted)

    missing = [wanted[place] for place in range(len(wanted)) if place not in found]
    assert not missing, f"{len(found)} of {len(wanted)} outcomes found; the first that was not: {missing[0]}"


def test_a_found_schedule_replays_its_outcome():
    """The text of a schedule is enough to run it again, whatever the search knew."""
    for case in [case for case in RACES if len(alternatives(case.data)) > 1]:
        wanted = alternatives(case.data)
        for place, text in schedules_of(case.data, wanted).items():
            again = Run(case.data, Choices(parse_schedule(text))).result()

            assert first_difference(wanted[place], comparable(again, case.data)) is None
