"""Hints on mistakes within handlers: each is told where its error or the source shows it, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from wowspec import (
    Clock,
    SpecFailure,
    Views,
    aggregate_root,
    create_aggregate,
    given,
    on,
    on_command,
    on_sourcing,
    projection,
    spec,
    stateless_saga,
)
from wowspec.modeling.places import short_path

from .ending import a_test

NAIVE = datetime(2024, 1, 1)  # noqa: DTZ001 - the mistake itself
TIMELESS = "datetime(2024, 1, 1, 0, 0), without a time zone: write it with tzinfo=UTC, as clock.now() has it"
AWARE = datetime(2024, 1, 1, tzinfo=UTC)


@create_aggregate
class Check(BaseModel):
    id: str = "till-1"
    name: str


class Pay(BaseModel):
    id: str = "till-1"
    times: dict[str, datetime] = {}


class Leave(BaseModel):
    id: str = "till-1"


class Checked(BaseModel):
    rate: int = 0


class Paid(BaseModel):
    at: datetime


class Left(BaseModel):
    pass


class Rates:
    async def rate(self) -> int:
        return 3

    def now(self) -> int:
        return 3


async def audit() -> None:
    raise ValueError("no")


class TillState(BaseModel):
    id: str
    paid: datetime = AWARE

    @on_sourcing
    def pay(self, event: Paid) -> None:
        self.paid = event.at


@aggregate_root(context="shop")
class Till:
    def __init__(self, state: TillState) -> None:
        self.state = state

    @on_command
    async def check(self, command: Check, rates: Rates) -> Checked:
        if command.name == "field":
            return Checked(rate=rates.rate())  # type: ignore[arg-type]
        return Checked(rate=await rates.rate())

    @on_command
    def pay(self, command: Pay, clock: Clock) -> Paid:
        for moment in command.times.values():
            assert clock.now() >= moment
        return Paid(at=clock.now())

    @on_command
    def leave(self, command: Leave, clock: Clock) -> Left:
        if clock.now() < self.state.paid:
            raise ValueError("not yet")
        return Left()


@stateless_saga(context="shop")
class LeaveSaga:
    def on_event(self, event: Checked) -> Leave:
        return Leave(id="till-9")


@stateless_saga(context="shop")
class OtherSaga:
    def on_event(self, event: Paid) -> Leave:
        return Leave(id="till-8")


@projection(context="shop")
class Board:
    def on_event(self, event: Paid, views: Views[bool]) -> None:
        views["late"] = event.at > AWARE


def hints_of(make: Callable[[], Any]) -> list[str]:
    """The hints of a failure."""
    with pytest.raises(SpecFailure) as caught, a_test():
        make()
    text = str(caught.value).partition("  pipeline")[0]
    return [line.removeprefix("  hint: ") for line in text.splitlines() if line.startswith("  hint: ")]


def test_a_class_is_sent():
    """Where a command's class stands for a command, and needs fields."""
    assert hints_of(lambda: spec(Till).inject(Rates()).when(Check).expect_events(Checked(rate=3))) == [
        "Check is a class, and is given no field: when(Check(...)), or when(Check, name=...)"
    ]
    assert hints_of(lambda: spec(Till).inject(Rates()).when(Check, id="x").expect_events(Checked(rate=3))) == []


def test_a_coroutine_in_a_field():
    """The field is named, and what gives it; the text is the same in each run, and Python warns of nothing."""
    with pytest.raises(SpecFailure) as caught, a_test():
        spec(Till).inject(Rates()).when(Check(name="field")).expect_events(Checked(rate=3))

    text = str(caught.value)
    assert "  hint: Checked.rate is given the coroutine of Rates.rate(...): write `await` before the call\n" in text
    assert "input_value=<coroutine object Rates.rate>, input_type=coroutine" in text


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (
            lambda: given(on(Till, "till-1", Paid(at=NAIVE))).when(Leave()).expect_events(Left()),
            f"Paid.at is {TIMELESS}",
        ),
        (
            lambda: given(Checked()).when(Pay(times={"due": NAIVE})).expect_event(Paid),
            f"Pay.times['due'] is {TIMELESS}",
        ),
        (
            lambda: spec(Till).given_state(TillState(id="till-1", paid=NAIVE)).when(Leave()).expect_events(Left()),
            "a time without a zone meets one that has one, as the times of clock.now() have: UTC",
        ),
    ],
    ids=["given", "sent", "elsewhere"],
)
def test_a_time_without_a_zone(make, named):
    """The field that holds it is named, where one that came from outside does."""
    assert hints_of(make) == [named]


def test_a_time_in_a_projection():
    """What is logged and swallowed is told likewise."""
    with pytest.raises(SpecFailure) as caught, a_test():
        given(Board, on(Till, "till-1", Paid(at=NAIVE))).expect_no_view("late")

    assert "  hint: Paid.at is datetime(2024, 1, 1, 0, 0), without a time zone: " in str(caught.value)


def test_an_error_that_says_something_else():
    """Another error of a handler has no such hint."""
    assert hints_of(lambda: given(Paid(at=datetime(2025, 1, 1, tzinfo=UTC))).when(Leave()).expect_events(Left())) == []


def test_a_sagas_command_fails():
    """Its sender is named, with its line, and what would mend the command."""
    base = given(on(Till, "till-2", Left())).using(LeaveSaga, OtherSaga).inject(Rates())
    with pytest.raises(SpecFailure) as caught, a_test():
        base.when(Check(name="x")).expect_events(Checked(rate=3))

    text = str(caught.value)
    line = LeaveSaga.on_event.__code__.co_firstlineno
    assert f"\n  sent by LeaveSaga.on_event ({short_path(str(Path(__file__)))}:{line})\n" in text
    assert (
        "\n  hint: what is given is of till(till-2), till(till-1): mend the id, or @create_aggregate above Leave"
        in text
    )


# --- calls that are not awaited ---------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
@pytest.mark.parametrize("how", ["function", "self", "service", "local"])
def test_a_call_that_is_not_awaited(how):
    """An async function of the module, of the class, of a service, or of the test; in its source only."""

    async def local() -> None:
        raise ValueError("no")

    @create_aggregate
    class Begin(BaseModel):
        id: str = "b-1"

    class Begun(BaseModel):
        pass

    class Base:
        def __init__(self, id: str) -> None: ...

        async def own(self) -> None:
            raise ValueError("no")

    if how == "function":

        @aggregate_root(context="shop")
        class Careless(Base):
            @on_command
            async def begin(self, command: Begin) -> Begun:
                audit()
                return Begun()
    elif how == "self":

        @aggregate_root(context="shop")
        class Careless(Base):  # type: ignore[no-redef]
            @on_command
            def begin(self, command: Begin) -> Begun:
                if command.id:
                    self.own()
                return Begun()
    elif how == "service":

        @aggregate_root(context="shop")
        class Careless(Base):  # type: ignore[no-redef]
            @on_command
            def begin(self, command: Begin, rates: Rates) -> Begun:
                rates.now()
                rates.rate()
                return Begun()
    else:

        @aggregate_root(context="shop")
        class Careless(Base):  # type: ignore[no-redef]
            @on_command
            def begin(self, command: Begin) -> Begun:
                local()
                return Begun()

    called = {"function": "audit", "self": "self.own", "service": "rates.rate", "local": "local"}[how]
    (hint,) = hints_of(lambda: spec(Careless).inject(Rates()).when(Begin()).expect_error(ValueError))
    assert hint.startswith(f"Careless.begin calls {called}(...) without `await` ({short_path(str(Path(__file__)))}:")
    assert hint.endswith("): nothing in it runs")


def test_calls_that_are_awaited():
    """Whatever is awaited, or is no async function, is not spoken of."""
    assert hints_of(lambda: spec(Till).inject(Rates()).when(Check(name="x")).expect_error(ValueError)) == []


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
def test_what_would_raise_is_not_awaited():
    """A line that never runs is not told as one that was nearly reached."""

    @create_aggregate
    class Begin(BaseModel):
        id: str = "b-1"

    class Begun(BaseModel):
        pass

    @aggregate_root(context="shop")
    class Careless:
        def __init__(self, id: str) -> None: ...

        @on_command
        async def begin(self, command: Begin) -> Begun:
            audit()
            return Begun()

    with pytest.raises(SpecFailure) as caught, a_test():
        spec(Careless).when(Begin()).expect_error(ValueError)

    assert "not reached" not in str(caught.value)
    assert "\n  instead: await what would raise ValueError, or .expect_events(...) if it may succeed\n" in str(
        caught.value
    )


def test_a_slip_is_nothing_to_expect():
    """An error that a forgotten `await` leads to is not offered as one that a spec may expect."""
    with pytest.raises(SpecFailure) as caught, a_test():
        spec(Till).inject(Rates()).when(Check(name="field")).expect_events(Checked(rate=3))

    assert "if it should" not in str(caught.value)
