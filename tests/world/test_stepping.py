"""A world that is moved from point to point."""

from __future__ import annotations

import pytest

from wowspec.world.points import COMMAND_VALIDATE, EVENT_STORE_APPEND, EVENT_STORE_LOAD, Room
from wowspec.world.stepping import Stepper
from wowspec.world.trace import Lane
from wowspec.world.world import World


def at(world, point, effect=lambda: None):
    """Pass a point."""
    return world.at(point, Lane(Room.COMMAND, "1"), None, "", effect)


def passed(world):
    """The points that were passed."""
    return [row.point for row in world.trace]


def move(world, rows=1):
    """Move until so many rows are there."""
    return Stepper(world).move(lambda: len(world.trace) >= rows)


def test_a_move_leaves_no_trace_of_itself():
    """Afterwards the world runs as it does without, also after an error."""
    world = World()
    world.scheduler.spawn(at(world, EVENT_STORE_LOAD), "task")

    assert move(world)
    with pytest.raises(ZeroDivisionError):
        Stepper(world).move(lambda: 1 // 0)

    assert world.scheduler.chooser is None
    assert world.injector is None
    assert not move(world, rows=2)


def test_an_effect_that_fails_gives_way_too():
    """What its task does about the error comes later."""
    world, seen = World(), []

    async def task():
        try:
            await at(world, EVENT_STORE_APPEND, lambda: 1 // 0)
        except ZeroDivisionError:
            seen.append("caught")

    world.scheduler.spawn(task(), "task")

    assert move(world)
    assert (passed(world), seen) == ([EVENT_STORE_APPEND], [])
    world.scheduler.run()
    assert seen == ["caught"]


def test_work_within_a_step_does_not_give_way():
    """What a task starts and steps at once comes before what the task does next, as in an ordinary run."""
    world, seen = World(), []

    async def inner():
        await at(world, EVENT_STORE_APPEND, lambda: seen.append("inner"))

    async def outer():
        world.scheduler.start(inner(), "inner")
        seen.append("outer")

    world.scheduler.spawn(outer(), "outer")

    assert move(world)
    assert seen == ["inner", "outer"]


def test_what_is_passed_within_a_plain_call():
    """It cannot give way; so the point that follows does, before it is passed."""
    world = World()
    stepper = Stepper(world)

    async def task():
        world.enter(COMMAND_VALIDATE, Lane(Room.COMMAND, "1"), None, "", lambda: None)
        await at(world, EVENT_STORE_LOAD)

    world.scheduler.spawn(task(), "task")

    assert move(world)
    assert passed(world) == [COMMAND_VALIDATE]
    assert [stepper.gives_way(point) for point in (COMMAND_VALIDATE, "service:clock.now", EVENT_STORE_LOAD)] == [
        False, False, True,
    ]  # fmt: skip


def test_time_passes_when_nothing_is_ready():
    """A sleep ends before the world is said to rest, and not before others have moved."""
    world = World()
    started = world.clock.nanos

    async def sleeper():
        await world.scheduler.sleep(7)
        await at(world, EVENT_STORE_LOAD)

    world.scheduler.spawn(sleeper(), "sleeper")
    world.scheduler.spawn(at(world, EVENT_STORE_APPEND), "other")

    assert move(world)
    assert (passed(world), world.clock.nanos) == ([EVENT_STORE_APPEND], started)
    assert move(world, rows=2)
    assert world.clock.nanos == started + 7
    assert not move(world, rows=3)
