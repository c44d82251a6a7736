"""Services that a spec injects."""

from __future__ import annotations

from typing import Protocol

import pytest
from pydantic import BaseModel

from wowspec import (
    DomainEvent,
    SpecError,
    aggregate_root,
    given,
    on,
    on_command,
    on_event,
    on_sourcing,
    projection,
)
from wowspec.errors import IllegalArgumentError


class Ask(BaseModel):
    id: str


class Answered(BaseModel):
    by: str


class ClerkState(BaseModel):
    id: str
    answers: list[str] = []

    @on_sourcing
    def answered(self, event: Answered) -> None:
        self.answers.append(event.by)


class Oracle(Protocol):
    def name(self) -> str: ...


@aggregate_root(context="offices")
class Clerk:
    def __init__(self, state: ClerkState) -> None:
        self.state = state

    @on_command
    def ask(self, command: Ask, oracle: Oracle) -> Answered:
        return Answered(by=oracle.name())


class Named:
    def __init__(self, name: str = "made") -> None:
        self._name = name

    def name(self) -> str:
        return self._name


HISTORY = Answered(by="given")


class Asked(BaseModel):
    by: str


class DeskState(BaseModel):
    id: str

    @on_sourcing
    def asked(self, event: Asked) -> None: ...


@aggregate_root(context="desk")
class Desk:
    def __init__(self, state: DeskState) -> None:
        self.state = state


@projection(context="desk")
class Listing:
    @on_event
    def asked(self, event: DomainEvent[Asked], table: dict) -> None:
        table[event.body.by] = table.get(event.body.by, 0) + 1


def test_an_injected_service_replaces_a_factory_for_good():
    """After `inject(name=...)` no later copy of the world gets the factory's service of that name."""
    (
        given(HISTORY)
        .inject_factory(oracle=Named)
        .inject(oracle=Named("mine"))
        .when(Ask(id="c-1"))
        .expect_events(Answered(by="mine"))
        .when(Ask(id="c-1"))
        .expect_events(Answered(by="mine"))
    )


def test_a_factory_makes_a_service_for_each_copy():
    """Each step after the first runs in a copy of the world, with a service of its own."""
    made = []

    def oracle():
        made.append(Named(f"made {len(made)}"))
        return made[-1]

    spec = given(HISTORY).inject_factory(oracle=oracle).when(Ask(id="c-1")).expect_events(Answered(by="made 0"))

    spec.when(Ask(id="c-1")).expect_events(Answered(by="made 1"))


def test_a_bare_protocol_is_asked_for_by_name():
    """Nothing is known to be of a Protocol that cannot be checked at run time: the error says so, not `Oracle(...)`."""
    with pytest.raises(SpecError) as caught:
        given(HISTORY).inject(Named()).when(Ask(id="c-1")).run()

    text = str(caught.value)
    assert "nothing supplies parameter 'oracle' of Clerk.ask" in text
    assert ".inject(oracle=...), or @runtime_checkable above Oracle" in text
    assert "Oracle(...)" not in text


def test_a_world_is_asked_for_a_bare_protocol():
    """It cannot know who is one: the name is to be asked for, or the Protocol made one that can be checked."""
    spec = given(HISTORY).inject(oracle=Named()).when(Ask(id="c-1"))
    with pytest.raises(SpecError) as caught:
        spec.eventually(lambda world: world.service(Oracle))

    text = str(caught.value)
    assert "instead: its name, as in world.service('name'), or @runtime_checkable above Oracle" in text
    spec.eventually(lambda world: world.service("oracle"))
    with pytest.raises(IllegalArgumentError, match="no object is known to be of a Protocol"):
        spec.run().session.world.services.require_type(Oracle)


def test_a_dictionary_is_told_by_its_name():
    """A message's header is a dictionary, too: what was injected under the parameter's name is what is meant."""
    table: dict[str, int] = {}
    other = {"other": 1}
    given(Listing, on(Desk, "d-1", Asked(by="ann"))).inject(other=other, table=table).run()
    assert table == {"ann": 1}
    assert other == {"other": 1}
