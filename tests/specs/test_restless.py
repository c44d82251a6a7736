"""A world that never comes to rest fails its spec, and says who goes on and on."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import Phase, settings, strategies as st
from hypothesis.stateful import run_state_machine_as_test
from pydantic import BaseModel

from wowspec import (
    Clock,
    DomainEvent,
    Gateway,
    SpecFailure,
    aggregate_root,
    allow_create,
    given,
    on_command,
    on_sourcing,
    spec,
    state_machine,
    stateless_saga,
)


@allow_create
class Go(BaseModel):
    """Goes on, or waits for ever."""

    id: str
    waits: bool = False


class Went(BaseModel):
    """It went on."""


class State(BaseModel):
    """How often."""

    id: str
    times: int = 0

    @on_sourcing
    def went(self, event: Went) -> None:
        """Once more."""
        self.times += 1


@aggregate_root(context="rounds")
class Walker:
    """Walks."""

    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    async def go(self, command: Go, clock: Clock) -> Went:
        """Wait as long as something is wanted, which may be for ever."""
        while command.waits:
            await clock.sleep(60)
        return Went()


@stateless_saga(context="rounds")
class Follower:
    """Answers each event with the command that leads to it."""

    def on_event(self, event: DomainEvent[Went]) -> Go:
        """On and on."""
        return Go(id=event.aggregate_id.id)


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    """Less patience than usual."""
    monkeypatch.setattr("wowspec.world.scheduler.MOST_TIMERS", 200)
    monkeypatch.setattr("wowspec.world.scheduler.MOST_STEPS", range(200))


def sleeper():
    """A command whose function sleeps for ever."""
    return given().when(Go(id="w-1", waits=True))


def circle():
    """A saga and a command that follow each other for ever."""
    return given().using(Walker, Follower).when(Go(id="w-1"))


@pytest.mark.parametrize(
    "spec",
    [
        sleeper,
        lambda: given(Go(id="w-1", waits=True)).when(Go(id="w-1")),
        lambda: given().when_concurrently(Go(id="w-1", waits=True), Go(id="w-2")),
    ],
    ids=["when", "given", "concurrently"],
)
def test_who_sleeps_for_ever(spec):
    """The author's line is told that sleeps again and again."""
    with pytest.raises(SpecFailure, match="the world never comes to rest: after 1,000,000 sleeps") as caught:
        spec().expect_version(1)

    text = str(caught.value)
    assert "in Walker.go\n      await clock.sleep(60)\n" in text
    assert "instead: a bound in the loop" in text


def test_a_condition_that_should_always_hold():
    """It is asked while the world runs, which ends here too."""
    with pytest.raises(SpecFailure, match="never comes to rest"):
        sleeper().always(lambda world: world.now() is not None)


def test_what_follows_itself_for_ever():
    """The circle is told, point by point."""
    with pytest.raises(SpecFailure, match="the world never comes to rest; after") as caught:
        circle().expect_events(Went())

    text = str(caught.value)
    assert "\nFollower.on_event@w-1 event.deliver:Follower.on_event ok Went v" in text
    assert "instead: a condition under which nothing more follows" in text


def test_a_gateway(gateway):
    """Its calls run the world, too."""
    with pytest.raises(SpecFailure, match="never comes to rest"):
        gateway.send_and_wait(Go(id="w-1", waits=True))


@pytest.mark.parametrize(
    ("parts", "waits", "text"),
    [((Walker,), True, "in Walker.go\n"), ((Walker, Follower), False, "Follower.on_event@w-1 event.deliver")],
    ids=["sleeps", "circle"],
)
def test_a_gateway_in_an_event_loop(gateway, parts, waits, text):
    """Its asynchronous calls have the same bounds, also where results are streamed."""
    gateway.world.using(*parts)

    async def calls() -> None:
        with pytest.raises(SpecFailure, match="never comes to rest") as caught:
            await gateway.aio.send_and_wait(Go(id="w-1", waits=waits))
        assert text in str(caught.value)
        other = Gateway()
        other.world.using(*parts)
        with pytest.raises(SpecFailure, match="never comes to rest"):
            _ = [each async for each in other.aio.send_and_wait_stream(Go(id="w-1", waits=waits))]

    asyncio.run(calls())


@pytest.mark.parametrize(
    ("machine", "text"),
    [
        (lambda: state_machine(Walker, waits=st.just(True)), "after 50 sleeps, somebody sleeps again\n"),
        (lambda: state_machine(spec(Walker).using(Follower)), "Follower.on_event@1 event.deliver"),
    ],
    ids=["sleeps", "circle"],
)
def test_a_state_machine(monkeypatch, machine, text):
    """Each of its many runs comes to an end soon, and the test to paste has the command that does not."""
    monkeypatch.setattr("wowspec.generation.games._VISITS_OF_STEP", 100)
    monkeypatch.setattr("wowspec.generation.games._TIMERS_OF_STEP", 50)
    few = settings(database=None, max_examples=5, stateful_step_count=1, derandomize=True, phases=[Phase.generate])

    with pytest.raises(SpecFailure, match="never comes to rest") as caught:
        run_state_machine_as_test(machine(), settings=few)

    assert text in str(caught.value)
    assert "    spec = spec.when(Go(id=" in "\n".join(caught.value.__notes__)


def test_patience_is_for_each_drive(monkeypatch):
    """A world in which much happens, a little at a time, is none that never rests."""
    monkeypatch.setattr("wowspec.world.scheduler.MOST_STEPS", range(100))
    spec = given(*(Go(id="w-1") for _ in range(100))).when(Go(id="w-1"))

    spec.expect_state(times=101)
