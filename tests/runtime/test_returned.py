"""What functions return that can be no event, or no command: the function is named, with its line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from wowspec import SpecError, after_command, aggregate_root, create_aggregate, given, on_command, spec, stateless_saga
from wowspec.errors import NotSerializableError
from wowspec.modeling.places import short_path


@create_aggregate
class Go(BaseModel):
    """Makes whatever it says."""

    id: str = "g-1"
    how: str = "class"


@create_aggregate
class GoOn(BaseModel):
    """Is followed by an after-function."""

    id: str = "g-1"


class Went(BaseModel):
    """What it makes if all is well."""

    place: Any = None


@dataclass
class Held:
    """The same, as a dataclass."""

    place: int = 0


async def find() -> Any:
    """Is to be awaited."""
    return Went()


MAKE: dict[str, Callable[[], Any]] = {
    "class": lambda: Went,
    "class in a list": lambda: [Went(), Went],
    "coroutine in a list": lambda: [find()],
    "coroutine in a model": lambda: Went(place=find()),
    "coroutine in a list in a model": lambda: Went(place=[1, find()]),
    "coroutine in a dataclass": lambda: Held(find()),  # type: ignore[arg-type]
    "a number": lambda: 7,
}


class State(BaseModel):
    """Nothing."""

    id: str


@aggregate_root(context="road")
class Traveller:
    """Returns all sorts of things."""

    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    def go(self, command: Go) -> list[Went | Held]:
        return MAKE[command.how]()

    @on_command
    def go_on(self, command: GoOn) -> Went:
        return Went()

    @after_command(include=GoOn)
    def rest(self, command: GoOn) -> Any:
        return Went


@stateless_saga(context="road")
class ClassSaga:
    """Returns a class."""

    def on_event(self, event: Went) -> Any:
        return [GoOn(), Go]


@stateless_saga(context="road")
class CoroutineSaga:
    """Forgets to await."""

    def on_event(self, event: Went) -> Any:
        return [find()]


def place(function: Any) -> str:
    """`Traveller.go (tests/runtime/test_returned.py:87)`."""
    lines, first = inspect.getsourcelines(function)
    line = first + next(number for number, text in enumerate(lines) if text.lstrip().startswith("def "))
    return f"{function.__qualname__} ({short_path(str(Path(__file__)))}:{line})"


@pytest.mark.parametrize("how", ["class", "class in a list"])
def test_a_class_for_an_event(how):
    """The class itself is returned, where an object of it is meant."""
    with pytest.raises(SpecError) as caught:
        spec(Traveller).when(Go(how=how)).expect_events(Went())

    assert caught.value.what == f"{place(Traveller.go)} returned the class Went"
    assert caught.value.instead == "return Went(...)"


def test_a_function_after_the_command():
    """Whichever of several functions returned it: all are named."""
    with pytest.raises(SpecError) as caught:
        spec(Traveller).when(GoOn()).expect_events(Went())

    assert caught.value.what == f"{place(Traveller.go_on)} or {place(Traveller.rest)} returned the class Went"


def test_a_coroutine_for_an_event():
    """An `await` is missing; no warning of Python's follows, which would be an error here."""
    with pytest.raises(SpecError) as caught:
        spec(Traveller).when(Go(how="coroutine in a list")).expect_events(Went())

    assert caught.value.what == f"{place(Traveller.go)} returned the coroutine of find(...), where an event belongs"
    assert caught.value.instead == "`await` before find(...), in an async def"


@pytest.mark.parametrize(
    ("how", "field"),
    [
        ("coroutine in a model", "Went.place"),
        ("coroutine in a list in a model", "Went.place[1]"),
        ("coroutine in a dataclass", "Held.place"),
    ],
)
def test_a_coroutine_in_an_event(how, field):
    """The field that holds it is named, and the function that made the event."""
    with pytest.raises(NotSerializableError) as caught:
        spec(Traveller).when(Go(how=how)).expect_events(Went())

    assert caught.value.what == f"{place(Traveller.go)}: {field} is the coroutine of find(...), which has no JSON"
    assert caught.value.instead == "hold its result: `await` before find(...)"


def test_another_value():
    """What is neither is shown as it is."""
    with pytest.raises(SpecError) as caught:
        spec(Traveller).when(Go(how="a number")).expect_events(Went())

    assert caught.value.what == f"{place(Traveller.go)} returned 7, which is no event"


@pytest.mark.parametrize(
    ("saga", "what", "instead"),
    [
        (ClassSaga, "the class Go", "return Go(...)"),
        (
            CoroutineSaga,
            "the coroutine of find(...), where a command belongs",
            "`await` before find(...), in an async def",
        ),
    ],
)
def test_a_saga(saga, what, instead):
    """A saga's function is named, too."""
    with pytest.raises(SpecError) as caught:
        given(saga).when_event(Went(), aggregate_id="g-1").expect_commands(Go())

    assert caught.value.what == f"{place(saga.on_event)} returned {what}"
    assert caught.value.instead == instead
