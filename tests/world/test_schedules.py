"""Exploring the orders of tasks: choices, schedules as text, footprints, and a search that misses no outcome."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from wowspec.errors import SpecError
from wowspec.runtime.dispatcher import PARALLELISM
from wowspec.runtime.footprint import FOOTPRINTS
from wowspec.world.choices import Choices, everything
from wowspec.world.points import COMMAND_VALIDATE, POINTS, SERVICE_CALL, Room
from wowspec.world.schedules import parse_schedule, schedule_text
from wowspec.world.search import Search
from wowspec.world.trace import Lane
from wowspec.world.world import World

READ = "event_store.load"
WRITE = "event_store.append"


def by_key(row, process):
    """A footprint: a load looks at its key, an append changes it."""
    return ((row.key, row.point == WRITE),)


class Board:
    """Named values that scripts of loads and appends work on, in a world of their own."""

    def __init__(self, choices, *scripts):
        self.world = World()
        self.values = {}
        self.seen = []
        choices.attach(self.world)
        tasks = [
            self.world.scheduler.spawn(self.play(number, script), str(number)) for number, script in enumerate(scripts)
        ]
        self.world.scheduler.run()
        for task in tasks:
            task.result()

    async def play(self, number, script):
        """Play steps: `r:x` looks at x, `w:x` increments what was seen of it, `s` sleeps, `f:x` fails at x."""
        held = {}
        for step in script:
            kind, _, key = step.partition(":")
            if kind == "s":
                await self.world.scheduler.sleep(1)
            elif kind == "r":
                held[key] = await self.at(READ, number, key, lambda key=key: self.values.get(key, 0))
                self.seen.append((number, key, held[key]))
            else:
                value = held.get(key, 0) + 1
                await self.at(WRITE, number, key, lambda key=key, value=value: self.values.__setitem__(key, value))

    async def at(self, point, number, key, effect):
        """Pass a point."""
        return await self.world.at(point, Lane(Room.COMMAND, key), number, "", effect)

    def outcome(self):
        """What can be told: the values, and what each script saw."""
        return tuple(sorted(self.values.items())), tuple(sorted(self.seen))


def outcomes_of(scripts, footprint, **bounds):
    """Every outcome of the scripts, and the search."""
    search = Search(footprint=footprint, **bounds)
    found = {board.outcome() for _, board in search.outcomes(lambda choices: Board(choices, *scripts))}
    return found, search


INCREMENT = ("r:x", "w:x")


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ((), "0"),
        ((0, 0), "0"),
        ((0, 2, 1), "0.2.1"),
        ((1, 0, 0, 0, 2), "1.0x3.2"),
        ((0, 0, 3), "0.0.3"),
        ((1, 0), "1"),
    ],
)
def test_a_schedule_is_a_short_text(choices, text):
    """Choices are written with dots, longer runs of zeros by their length, trailing ones not at all."""
    assert schedule_text(choices) == text
    assert schedule_text(parse_schedule(text)) == text
    assert parse_schedule("") == ()


@pytest.mark.parametrize("text", [".", "a", "1.", "-1", "0x", "0x0", "1,2", "²"])
def test_what_is_no_schedule_is_refused(text):
    """A text that no failure ever prints says so."""
    with pytest.raises(SpecError, match="schedule="):
        parse_schedule(text)


def test_no_choice_is_the_ordinary_run():
    """The empty schedule does what a world without choices does, row by row."""
    plain = World()
    rows = []
    for world, choices in ((plain, None), (World(), Choices())):
        if choices is not None:
            choices.attach(world)

        async def pass_points(name, world=world):
            for point in (READ, WRITE):
                await world.at(point, Lane(Room.COMMAND, name), None, "", lambda: None)

        for name in "abc":
            world.scheduler.spawn(pass_points(name), name)
        world.scheduler.run()
        rows.append([str(row) for row in world.trace])

    assert rows[0] == rows[1]


def test_a_choice_puts_another_task_first():
    """At a point a task gives way to whom the schedule names, and goes on later."""
    board = Board(Choices((0, 1)), INCREMENT, INCREMENT)

    assert [row.subject for row in board.world.trace] == [0, 1, 1, 0]
    assert board.values == {"x": 1}


def test_a_schedule_that_names_nobody_is_refused():
    """A stale schedule says that it is one."""
    choices = Choices((5,))
    with pytest.raises(SpecError, match="choice 1 is 5, but 2 tasks are ready"):
        Board(choices, INCREMENT, INCREMENT)
    choices.abandon()


def test_a_schedule_with_choices_to_spare_is_refused():
    """Choices that never came up belong to another spec."""
    choices = Choices((0, 0, 0, 0, 0, 0, 0, 1))
    Board(choices, INCREMENT, INCREMENT)

    with pytest.raises(SpecError, match="has 8 choices, but only 3 came up"):
        choices.require_used()


def test_the_lost_update_is_found_with_one_preemption():
    """Two scripts that look and then write lose an update in just those orders in which one comes between."""
    search = Search(footprint=by_key)
    lost = [
        choices.text
        for choices, board in search.outcomes(lambda choices: Board(choices, INCREMENT, INCREMENT))
        if board.values["x"] == 1
    ]

    assert lost
    assert search.is_complete
    assert all(Board(Choices(parse_schedule(text)), INCREMENT, INCREMENT).values == {"x": 1} for text in lost)


SCRIPTS = {
    "two increments": (INCREMENT, INCREMENT),
    "three increments": (INCREMENT, INCREMENT, INCREMENT),
    "two things": (("r:x", "w:y"), ("r:y", "w:x")),
    "independent": (("r:x", "w:x"), ("r:y", "w:y"), ("r:z",)),
    "a reader between": (("w:x", "w:y"), ("r:y", "r:x"), ("w:y",)),
    "crossing": (("r:x", "w:y", "r:z"), ("r:y", "w:z"), ("w:x",)),
    "sleepers": (("r:x", "s", "w:x"), ("s", "r:x", "w:x")),
    "one waits longer": (("r:x", "s", "s", "w:x"), INCREMENT),
}


@pytest.mark.parametrize("scripts", SCRIPTS.values(), ids=SCRIPTS)
def test_the_search_misses_no_outcome(scripts):
    """Orders that it leaves out end like others: all orders, run one by one, have no other outcomes."""
    expected, all_orders = outcomes_of(scripts, everything, max_schedules=20_000)
    found, search = outcomes_of(scripts, by_key)

    assert all_orders.is_complete
    assert search.is_complete
    assert found == expected
    assert search.runs <= all_orders.runs


def test_independent_scripts_are_run_once():
    """Orders of steps that touch nothing in common are the same to everybody."""
    _, search = outcomes_of((("r:x", "w:x"), ("r:y", "w:y"), ("w:z",)), by_key)

    assert search.runs == 1


def test_the_bound_of_schedules_is_told():
    """What was known and not run is counted, with the fewest preemptions among it."""
    _, search = outcomes_of((INCREMENT, INCREMENT, INCREMENT), by_key, max_schedules=3)

    assert search.runs == 3
    assert search.pending > 0
    assert search.least_pending == 1
    assert not search.is_complete


def test_the_bound_of_preemptions_is_told():
    """Schedules with too many preemptions are counted and left out; without any, one is left: the ordinary run."""
    found, search = outcomes_of((INCREMENT, INCREMENT), by_key, max_preemptions=0)

    assert (search.runs, len(found), search.pending) == (1, 1, 0)
    assert search.refused > 0
    assert not search.is_complete


def test_schedules_near_the_ordinary_come_first():
    """The first schedule that shows an outcome has as few preemptions as any."""
    search = Search(footprint=by_key)
    preemptions = [
        sum(1 for choice in choices.schedule if choice)
        for choices, _ in search.outcomes(lambda choices: Board(choices, INCREMENT, INCREMENT, INCREMENT))
    ]

    assert preemptions[0] == 0
    assert max(preemptions) > 1
    assert preemptions.index(1) < preemptions.index(2)


def test_a_broken_off_run_leaves_nothing_behind(recwarn):
    """Runs that meet a known state are closed: no coroutine waits for a garbage collector to complain."""
    _, search = outcomes_of((("w:x", "w:y"), ("w:y", "w:x"), INCREMENT), by_key)

    assert search.joined > 0
    assert not recwarn.list


def test_every_point_has_a_footprint():
    """A point that no row names would count as the user's own code, and hide what it really touches."""
    named = {row.point for row in FOOTPRINTS}

    assert named == {row.name for row in POINTS} - {COMMAND_VALIDATE, SERVICE_CALL}
    assert PARALLELISM > 1


def schedules_as_text():
    """Each schedule of one search, in order, and what came of it."""
    search = Search(footprint=by_key)
    return "\n".join(
        f"{choices.text} {board.outcome()}"
        for choices, board in search.outcomes(lambda choices: Board(choices, *SCRIPTS["crossing"]))
    )


def test_the_search_does_not_depend_on_the_hash_seed():
    """Under three hash seeds the same schedules are run in the same order."""
    code = "from tests.world.test_schedules import schedules_as_text; print(schedules_as_text())"
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4294967295")
    }

    assert printed == {schedules_as_text() + "\n"}
