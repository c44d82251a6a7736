"""Sagas that would have sent what is missing, and events of another aggregate: each hint says where to look."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
from pydantic import BaseModel

from wowspec import (
    DomainEvent,
    SpecFailure,
    aggregate_root,
    allow_create,
    create_aggregate,
    faults,
    given,
    on,
    on_command,
    on_event,
    on_sourcing,
    some,
    spec,
    stateless_saga,
)
from wowspec.specs import absent

from .ending import a_test


@create_aggregate
class Ring(BaseModel):
    id: str = "bell-1"


class Rung(BaseModel):
    pass


class BellState(BaseModel):
    id: str
    rings: int = 0

    @on_sourcing
    def rung(self, event: Rung) -> None:
        pass


@aggregate_root(context="house")
class Bell:
    def __init__(self, state: BellState) -> None:
        self.state = state

    @on_command
    def ring(self, command: Ring) -> Rung:
        return Rung()


@allow_create
class OpenDoor(BaseModel):
    id: str


@allow_create
class CloseDoor(BaseModel):
    id: str


class DoorOpened(BaseModel):
    pass


class DoorClosed(BaseModel):
    pass


class DoorState(BaseModel):
    id: str
    ajar: bool = False

    @on_sourcing
    def opened(self, event: DoorOpened) -> None:
        pass


@aggregate_root(context="house")
class Door:
    def __init__(self, state: DoorState) -> None:
        self.state = state

    @on_command
    def open(self, command: OpenDoor) -> DoorOpened:
        return DoorOpened()

    @on_command
    def close(self, command: CloseDoor) -> DoorClosed:
        return DoorClosed()


@stateless_saga(context="house")
class Butler:
    @on_event
    def rung(self, event: DomainEvent[Rung]):
        return [OpenDoor(id=f"door-{number}") for number in range(1, 2)]


@stateless_saga(context="house")
class Forgetful:
    @on_event
    def rung(self, event: Rung):
        CloseDoor(id="door-1")


@stateless_saga(context="house")
class Deaf:
    @on_event
    def rung(self, event: Rung) -> OpenDoor | None:
        return None


def hints(make) -> list[str]:
    """What the failure says to write."""
    with pytest.raises(SpecFailure) as caught, a_test():
        make()
    kept = ("  hint: ", "  if it is right: ")
    return [
        line.strip().replace("tests/specs/", "") for line in str(caught.value).splitlines() if line.startswith(kept)
    ]


NO_RETURN = "hint: Forgetful.rung (test_absent.py:{}) returned None: a `return` may be missing"
LINE = Forgetful.rung.__code__.co_firstlineno + 1


def test_a_saga_that_is_not_in_the_world():
    """The one that takes what was stored and names the missing command; that nothing was sent is not offered."""
    expected = "hint: Butler takes Rung and is not in this world: .using(Butler) before when(...)"
    assert hints(lambda: given().when(Ring()).expect_commands(OpenDoor(id="door-1"))) == [expected]
    assert hints(lambda: given().when(Ring()).expect_commands(some(OpenDoor))) == [expected]
    assert hints(lambda: given().using(Deaf).when(Ring()).expect_commands(some(OpenDoor))) == [expected]


def test_no_saga_at_all():
    """Where none is known either, nobody could send it."""
    assert hints(lambda: given().when(Ring()).expect_commands(Ring(id="bell-2"))) == [
        "hint: this world has no saga, and sagas send commands: .using(...) brings one, before when(...)"
    ]


def test_a_forgotten_return():
    """A saga whose function returns nothing anywhere; also where it alone is run."""
    expected = [NO_RETURN.format(LINE)]
    assert hints(lambda: given().using(Forgetful).when(Ring()).expect_commands(Ring(id="bell-2"))) == expected
    assert hints(lambda: given(Forgetful).when_event(Rung()).expect_commands(some(CloseDoor))) == expected


def test_a_saga_that_may_return_nothing():
    """What it did may be right."""
    assert hints(lambda: given(Deaf).when_event(Rung()).expect_commands(some(CloseDoor))) == [
        "if it is right: .expect_no_commands()"
    ]


def test_another_command_came():
    """A saga that sent something is not looked for."""
    assert hints(lambda: given().using(Butler).when(Ring()).expect_commands(some(Ring))) == [
        'if it is right: .expect_commands(OpenDoor(id="door-1"))'
    ]


def test_a_command_that_failed():
    """What was never stored no saga could take."""
    fault = faults.event_store.append.fails()
    found = hints(lambda: given().with_faults(fault).when(Ring()).expect_commands(some(OpenDoor)))
    assert not [line for line in found if "Butler" in line or "no saga" in line]


def test_modules_are_looked_at_without_being_loaded(monkeypatch):
    """What stands for something else until it is asked is not asked."""

    class Asked:
        @property
        def __class__(self):
            raise AssertionError("asked")

    class Lazy(ModuleType):
        def __getattribute__(self, name):
            raise AssertionError("loaded")

    lazy, plain = Lazy("lazy"), ModuleType("plain")
    plain.asked = Asked()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "lazy", lazy)
    monkeypatch.setitem(sys.modules, "plain", plain)

    assert Butler in dict(absent._known_sagas())


def test_what_the_hint_of_a_saga_says_to_write():
    """Written so, the spec holds."""
    given().using(Butler).when(Ring()).expect_commands(some(OpenDoor))


# -- events of another aggregate


EXPECT = {
    "events": lambda ran: ran.expect_events(DoorOpened()),
    "a matcher": lambda ran: ran.expect_events(Rung(), some(DoorOpened)),
    "an event": lambda ran: ran.expect_event(DoorOpened),
    "types": lambda ran: ran.expect_event_types(DoorOpened),
    "published": lambda ran: ran.expect_published(DoorOpened()),
}


@pytest.mark.parametrize("name", EXPECT)
def test_an_event_of_another_aggregate(name):
    """It is told whose it is, and where it is found, or which saga is missing."""
    expect = EXPECT[name]
    assert hints(lambda: expect(given().using(Butler, Door).when(Ring()))) == [
        (
            "hint: DoorOpened is an event of Door, door(door-1) stored it: "
            'write expect_stored(on(Door, "door-1"), ...) for its whole history'
        )
    ]
    assert hints(lambda: expect(given().when(Ring()))) == [
        (
            "hint: DoorOpened is an event of Door; Butler takes Rung and is not in this world: "
            ".using(Butler) before when(...)"
        )
    ]


def test_an_event_of_another_aggregate_that_nobody_stored():
    """Where no saga leads there, the command's own aggregate is named."""
    assert hints(lambda: given().when(OpenDoor(id="door-1")).expect_events(Rung())) == [
        "hint: Rung is an event of Bell, and OpenDoor went to door(door-1)"
    ]


def test_an_event_of_its_own():
    """It is missing, and of no other aggregate."""
    assert hints(lambda: given().when(OpenDoor(id="door-1")).expect_events(DoorClosed())) == [
        "if it is right: .expect_events(DoorOpened())"
    ]


def test_what_the_hint_of_an_event_says_to_write():
    """Written so, the spec holds."""
    ran = spec().using(Butler, Bell, Door).when(Ring())
    ran.expect_stored(on(Door, "door-1"), DoorOpened())


# -- fields of another aggregate's state


def test_a_field_of_another_state():
    """It is told whose it is, with the instance where there is only one; no far name of its own is meant."""
    ran = spec().using(Butler, Bell, Door).when(Ring())
    assert hints(lambda: ran.expect_state(ajar=True)) == [
        "hint: BellState has no field ajar, but id, rings",
        'hint: DoorState has a field ajar: expect_state(on(Door, "door-1"), ajar=...)',
    ]
    two = given(on(Door, "door-1", DoorOpened()), on(Door, "door-2", DoorOpened()), on(Bell, "bell-1")).when(Ring())
    assert hints(lambda: two.expect_state(ajar=True))[1:] == [
        "hint: DoorState has a field ajar: expect_state(on(Door, ...), ajar=...)"
    ]
    ran.expect_state(on(Door, "door-1"), ajar=False)


def test_a_field_of_no_state():
    """A name that is close to one of its own is meant for that."""
    ran = spec().using(Butler, Bell, Door).when(Ring())
    assert hints(lambda: ran.expect_state(ring=0)) == ["hint: BellState has no field ring: did you mean rings?"]
    assert hints(lambda: ran.expect_state(colour=0)) == ["hint: BellState has no field colour, but id, rings"]
