"""Verbs and fields that do not exist: the nearest are named, and `hasattr` and copies still work."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import pytest
from pydantic import BaseModel

from wowspec import SpecError, SpecFailure, aggregate_root, create_aggregate, given, on_command, on_sourcing

from .ending import a_test
from .language_domain import CreateOrder

UNTRACKED = given()
SPEC = given().when(CreateOrder(id="o-1"))
TOGETHER = given().when_concurrently(CreateOrder(id="o-1"), CreateOrder(id="o-2"))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda gateway: SPEC.expect_event_s,
            "a spec has no 'expect_event_s'\n  instead: .expect_events or .expect_event or .expect_event_types",
        ),
        (lambda gateway: UNTRACKED.wen, "a spec has no 'wen'\n  instead: .when"),
        (lambda gateway: UNTRACKED.zzz, "a spec has no 'zzz'"),
        (
            lambda gateway: TOGETHER.expect_serialisable,
            "a spec of commands in flight together has no 'expect_serialisable'\n  instead: .expect_serializable",
        ),
        (
            lambda gateway: gateway.send_and_wai,
            "a gateway has no 'send_and_wai'\n  instead: .send_and_wait",
        ),
        (
            lambda gateway: gateway.aio.sent,
            "gateway.aio has no 'sent'\n  instead: .send",
        ),
        (lambda gateway: gateway.world.storde, "a gateway's world has no 'storde'\n  instead: .stored"),
    ],
    ids=["expectation", "step", "nothing near", "in flight", "gateway", "aio", "world"],
)
def test_the_nearest_are_named(gateway, call, text):
    """A verb that does not exist is refused with those that may be meant."""
    with pytest.raises(SpecError) as caught:
        call(gateway)

    assert str(caught.value) == text
    assert isinstance(caught.value, AttributeError)


def test_asking_is_no_mistake():
    """What asks for a name that may be missing gets Python's usual answer; a copy can be made."""
    assert not hasattr(SPEC, "expect_nothing_at_all")
    assert getattr(SPEC, "__wrapped__", None) is None
    assert copy.copy(SPEC)._node is SPEC._node


# -- fields


@create_aggregate
class OpenTab(BaseModel):
    id: str = "tab-1"
    round: str = ""


class TabOpened(BaseModel):
    round: str


@dataclass
class TabRows:
    beers: int = 0


class TabState(BaseModel):
    id: str
    total: int = 0

    @on_sourcing
    def opened(self, event: TabOpened) -> None:
        if event.round == "set":
            self.totl = 1  # type: ignore[attr-defined]
        elif event.round == "read":
            self.total = self.totel  # type: ignore[attr-defined]
        elif event.round == "far":
            self.zzz = 1  # type: ignore[attr-defined]
        elif event.round == "a row":
            self.total = TabRows().beer  # type: ignore[attr-defined]
        elif event.round == "refused":
            raise ValueError('"Nobody" object has no field "totl"')


@aggregate_root(context="bar")
class Tab:
    def __init__(self, state: TabState) -> None:
        self.state = state

    @on_command
    def open(self, command: OpenTab) -> TabOpened:
        return TabOpened(round=command.round)


@pytest.mark.parametrize(
    ("round", "hint"),
    [
        ("set", "TabState has no field totl: did you mean total?"),
        ("read", "TabState has no field totel: did you mean total?"),
        ("far", "TabState has no field zzz, but id, total"),
        ("a row", "TabRows has no field beer: did you mean beers?"),
    ],
)
def test_a_field_that_is_misspelt(round, hint):
    """Of what has it, the nearest is named; nobody is told to expect the error."""
    with pytest.raises(SpecFailure) as caught, a_test():
        given().when(OpenTab(round=round)).expect_state(total=1)
    assert f"  hint: {hint}\n" in str(caught.value)
    assert "if it should" not in str(caught.value)


def test_an_error_that_reads_the_same():
    """An object of that class must be there."""
    with pytest.raises(SpecFailure) as caught, a_test():
        given().when(OpenTab(round="refused")).expect_state(total=1)
    assert "hint: " not in str(caught.value)
    assert "  if it should: .expect_error(ValueError)\n" in str(caught.value)
