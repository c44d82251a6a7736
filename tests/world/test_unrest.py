"""What faults leave behind in a world of plain effects: late messages, dead processes."""

from __future__ import annotations

from functools import partial

import pytest

from tests.world.test_world import OneStrike, Strike
from wowspec.errors import DecodeError, SpecError
from wowspec.world.points import FaultKind, Room
from wowspec.world.profiles import port_profile
from wowspec.world.trace import Lane
from wowspec.world.world import World

SEND = "domain_event_bus.send"


class Bus:
    """A world that sends messages and writes down what arrives."""

    def __init__(self, profile, strike):
        self.world = World()
        self.world.ports = port_profile(profile)
        self.world.injector = OneStrike(strike)
        self.arrived = []

    def send(self, *messages):
        """Send messages `<aggregate>.<n>` in one task, and let the world come to rest."""

        async def sending():
            for message in messages:
                lane = Lane(Room.COMMAND, message.partition(".")[0])
                arrive = partial(self.arrived.append, message)
                assert await self.world.at(SEND, lane, message, "", arrive) is None
                await self.world.scheduler.sleep(0)

        task = self.world.scheduler.spawn(sending(), "send")
        self.world.scheduler.run()
        return task


@pytest.mark.parametrize(
    ("profile", "kind", "payload", "arrived"),
    [
        ("redis", FaultKind.DUPLICATE, None, ["a.1", "a.1", "b.1", "a.2", "b.2"]),
        ("redis", FaultKind.DROP, None, ["b.1", "a.2", "b.2"]),
        ("redis", FaultKind.DELAY, None, ["b.1", "a.1", "a.2", "b.2"]),
        ("redis", FaultKind.DELAY, 1, ["b.1", "a.1", "a.2", "b.2"]),
    ],
)
def test_messages(profile, kind, payload, arrived):
    """Twice, never, or after so many others."""
    bus = Bus(profile, Strike(kind, payload))

    assert bus.send("a.1", "b.1", "a.2", "b.2").error is None
    assert sorted(bus.arrived) == sorted(arrived)
    assert bus.world.trace.rows[0].outcome == kind.value


def sent_at_once(profile, kind, payload, *messages):
    """What arrives of messages that are sent without a pause."""
    bus = Bus(profile, Strike(kind, payload))

    async def sending():
        for message in messages:
            lane = Lane(Room.COMMAND, message.partition(".")[0])
            await bus.world.at(SEND, lane, message, "", partial(bus.arrived.append, message))

    _ = bus.world.scheduler.spawn(sending(), "send")
    bus.world.scheduler.run()
    return bus.arrived


def test_a_bus_that_keeps_order():
    """What follows a late message of the same aggregate waits behind it; others pass."""
    messages = ("a.1", "b.1", "a.2", "b.2")

    assert sent_at_once("kafka", FaultKind.DELAY, 50, *messages) == ["b.1", "b.2", "a.1", "a.2"]
    assert sent_at_once("redis", FaultKind.DELAY, 50, *messages) == ["b.1", "a.2", "b.2", "a.1"]


def test_reordering_is_within_an_aggregate():
    """A message of another aggregate does not call the late one; the next of its own does."""
    assert sent_at_once("redis", FaultKind.REORDER, None, "a.1", "b.1", "a.2")[:2] == ["b.1", "a.2"]


def test_a_late_message_that_fails():
    """Its sender was told that it was accepted: the failure is logged."""
    bus = Bus("kafka", Strike(FaultKind.DELAY, 1))

    def refuse():
        message = "full"
        raise ValueError(message)

    task = bus.world.scheduler.spawn(bus.world.at(SEND, Lane(Room.COMMAND, "a"), "a.1", "", refuse), "send")
    bus.world.scheduler.run()

    assert task.result() is None
    assert [(entry.point, str(entry.error)) for entry in bus.world.log] == [(SEND, "full")]


@pytest.mark.parametrize(("loaded", "fails"), [([], False), (None, False), (["stream"], True)])
def test_what_cannot_be_read(loaded, fails):
    """Only what is there can be unreadable."""
    world = World()
    world.injector = OneStrike(Strike(FaultKind.CORRUPT))
    load = world.at("event_store.load", Lane(Room.COMMAND, "a"), "ref", "", lambda: loaded)
    task = world.scheduler.spawn(load, "load")
    world.scheduler.run()

    assert isinstance(task.error, DecodeError) is fails
    assert fails or task.result() == loaded
    assert world.trace.rows[0].outcome == ("corrupt" if fails else "ok")


@pytest.mark.parametrize(("kind", "happened"), [(FaultKind.CRASH_BEFORE, 0), (FaultKind.CRASH_AFTER, 1)])
def test_a_crash(kind, happened):
    """Who was struck, who slept and who was ready never go on, not even to a `finally`; then it starts again."""
    world = World()
    world.injector = OneStrike(Strike(kind))
    done, started = [], []

    def restart():
        world.unrest.bury(bus_survives=True)
        started.append(world.clock.nanos)
        _ = world.scheduler.spawn(working("again"), "again")

    world.restart = restart

    async def working(name):
        done.append(name)

    async def sleeping():
        try:
            await world.scheduler.sleep(10)
        finally:
            done.append("sleeping")

    async def struck():
        try:
            await world.at("event_store.append", Lane(Room.COMMAND, "a"), "s", "", partial(done.append, "effect"))
        finally:
            done.append("struck")

    _ = world.scheduler.spawn(sleeping(), "sleeping")
    task = world.scheduler.spawn(struck(), "struck")
    _ = world.scheduler.spawn(working("ready"), "ready")
    world.scheduler.run()

    assert done == ["effect"] * happened + ["again"]
    assert (world.deaths, started) == (1, [world.clock.nanos])
    assert not task.done
    assert world.scheduler.is_idle


def test_a_world_that_cannot_start_again():
    """A crash there is the author's error."""
    world = World()
    world.injector = OneStrike(Strike(FaultKind.CRASH_BEFORE))
    passing = world.at("event_store.append", Lane(Room.COMMAND, "a"), "s", "", lambda: None)
    task = world.scheduler.spawn(passing, "pass")
    world.scheduler.run()

    assert isinstance(task.error, SpecError)
    assert world.spec_errors == [task.error]
