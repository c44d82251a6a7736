"""Aggregates within functions of their own share event classes; only what is bare is then ambiguous."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from wowspec import (
    DefinitionError,
    SpecError,
    aggregate_root,
    event_processor,
    faults,
    given,
    on,
    on_command,
    on_sourcing,
    spec,
)
from wowspec.modeling.claims import aggregate_of_event, aggregates_of_event, claim_event
from wowspec.modeling.processors import processor_metadata


class Start(BaseModel):
    id: str = "d-1"


class Started(BaseModel):
    pass


class DoorState(BaseModel):
    id: str
    starts: int = 0

    @on_sourcing
    def started(self, event: Started) -> None:
        self.starts += 1


def one_door():
    """An aggregate of its own for a test."""

    @aggregate_root(context="doors")
    class Front:
        def __init__(self, state: DoorState) -> None: ...

        @on_command
        def start(self, command: Start) -> Started:
            return Started()

    return Front


def another_door():
    """Another one, with the same classes of messages."""

    @aggregate_root(context="doors")
    class Back:
        def __init__(self, state: DoorState) -> None: ...

        @on_command
        def start(self, command: Start) -> Started:
            return Started()

    return Back


FRONT, BACK = one_door(), another_door()
OUTSIDE = given()


@pytest.mark.parametrize("door", [FRONT, BACK], ids=["front", "back"])
def test_a_spec_of_one_of_them(door):
    """Its bare events and commands are its own."""
    spec(door).given(Started()).when(Start()).expect_events(Started()).expect_state(starts=2)


@pytest.mark.parametrize(("door", "other"), [(FRONT, BACK), (BACK, FRONT)], ids=["front", "back"])
def test_an_instance_of_one_of_them(door, other):
    """What `on(...)` says holds for what follows, beside an instance of the other too."""
    run = given(on(door, "d-1", Started())).when(Start()).expect_state(starts=2).run()
    assert run.reference.aggregate_name == door.__name__.lower()
    both = spec(door).given(on(other, "d-1", Started()), on(door, "d-1", Started(), Started())).when(Start())
    both.expect_state(starts=3)


def test_a_bare_event_is_ambiguous():
    """It would have two homes; the text says which."""
    with pytest.raises(SpecError) as caught:
        given(Started()).when(Start()).run()
    assert caught.value.what == "the event Started belongs to several aggregates: Front, Back"
    assert caught.value.instead == "spec(Front).given(...), which says the aggregate"


def test_not_all_of_many_claimants_are_named():
    """Every test of a module may have one of its own."""

    class Knocked(BaseModel):
        pass

    claimants = [type("Knocker", (), {"__qualname__": f"place_{n}.<locals>.Knocker"}) for n in range(4)]
    for claimant in claimants:
        claim_event(Knocked, claimant)
    with pytest.raises(SpecError, match=r"several aggregates: \S+place_0\S+, \S+place_1\S+, \S+place_2\S+, …\n"):
        aggregate_of_event(Knocked)


def test_an_event_is_no_command_whoever_claims_it():
    """And a rival may store it."""
    with pytest.raises(SpecError, match="Started is an event of Front, and when"):
        OUTSIDE.when(Started())
    faulty = spec(FRONT).given(Started()).with_faults(faults.event_store.append.rival_appends(Started()))
    faulty.when(Start()).expect_attempts(2).expect_state(starts=3)


def test_a_function_takes_it_of_each():
    """An event function without names listens to all that claim its event."""

    @event_processor(context="doors")
    class Bell:
        def on_event(self, event: Started) -> None: ...

    (function,) = processor_metadata(Bell).functions
    assert sorted(str(topic) for topic in function.topics()) == ["doors.back", "doors.front"]
    assert aggregates_of_event(Started) == (FRONT, BACK)


def test_two_in_one_place_may_not():
    """Within one function, or where one holds the other, a line could mean both."""

    class Rung(BaseModel):
        pass

    @aggregate_root(context="doors")
    class First:
        def __init__(self, id: str) -> None: ...

        def on_sourcing(self, event: Rung) -> None: ...

    with pytest.raises(DefinitionError, match=r"^both First and Second claim the event Rung\n"):

        @aggregate_root(context="doors")
        class Second:
            def __init__(self, id: str) -> None: ...

            def on_sourcing(self, event: Rung) -> None: ...

    def inner():
        @aggregate_root(context="doors", name="third")
        class First:
            def __init__(self, id: str) -> None: ...

            def on_sourcing(self, event: Rung) -> None: ...

    with pytest.raises(DefinitionError) as caught:
        inner()
    here = f"{__name__}.test_two_in_one_place_may_not.<locals>"
    assert caught.value.what == f"both {here}.First and {here}.inner.<locals>.First claim the event Rung"
