"""Calling a user's function, and what becomes of one that wants an event loop."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from tests.runtime.pipeline import Pipeline
from wowspec import aggregate_root, create_aggregate, on_command
from wowspec.messages.envelopes import CommandMessage
from wowspec.messages.exchange import ServerCommandExchange
from wowspec.runtime.invocation import adapt
from wowspec.world.foreign import ForeignAwaitError
from wowspec.world.world import World


@create_aggregate
class Go(BaseModel):
    """Does something with an event loop."""

    id: str = "a-1"
    how: str = "sleep"


class Gone(BaseModel):
    """It went well."""


@aggregate_root
class Traveller:
    """Goes in several ways."""

    def __init__(self, id: str) -> None:
        self.id = id

    @on_command
    async def go(self, command: Go) -> Gone:
        if command.how == "sleep":
            await asyncio.sleep(1)
        elif command.how == "loop":
            asyncio.get_running_loop()
        elif command.how == "bare":
            await asyncio.sleep(0)
        elif command.how == "error":
            raise RuntimeError("no luck")
        return Gone()


@pytest.mark.parametrize("how", ["sleep", "loop", "bare"])
def test_a_function_that_wants_an_event_loop(how):
    """It is the author's error, with the function's name and what to write; the runtime sees it as a failure."""
    pipeline = Pipeline(Traveller)

    outcome = pipeline.send(Go(how=how))

    assert type(outcome.error) is ForeignAwaitError
    assert str(outcome.error).startswith("Traveller.go: the code ")
    assert "clock: Clock" in outcome.error.instead
    assert pipeline.world.spec_errors == [outcome.error]
    assert pipeline.stored(outcome) == []


def test_another_runtime_error():
    """It comes out as it is."""
    pipeline = Pipeline(Traveller)

    outcome = pipeline.send(Go(how="error"))

    assert (type(outcome.error), str(outcome.error)) == (RuntimeError, "no luck")
    assert pipeline.world.spec_errors == []


async def _value(value):
    return value


async def _asynchronously(*values):
    for value in values:
        yield value


def _one_by_one(*values):
    yield from values


class _Awaitable:
    def __await__(self):
        yield from ()
        return 5


#: What a function may give back, and what that is adapted to.
RESULTS: dict[str, tuple[Any, Any]] = {
    "value": (lambda: 1, 1),
    "nothing": (lambda: None, None),
    "text": (lambda: "text", "text"),
    "later": (lambda: _value(1), 1),
    "nothing later": (lambda: _value(None), None),
    "list later": (lambda: _value([1, 2]), [1, 2]),
    "generator": (lambda: _one_by_one(1, 2), [1, 2]),
    "empty generator": (_one_by_one, []),
    "generator later": (lambda: _value(_one_by_one(1, 2)), [1, 2]),
    "async generator": (lambda: _asynchronously(1, 2), [1, 2]),
    "empty async generator": (_asynchronously, []),
    "async generator later": (lambda: _value(_asynchronously(1, 2)), [1, 2]),
    "awaitable": (_Awaitable, 5),
}


@pytest.mark.clause("CMD-267", "EVT-112")
@pytest.mark.parametrize(("make", "adapted"), RESULTS.values(), ids=RESULTS)
def test_what_comes_back(make, adapted):
    """A value as it is, now or later; a generator of either sort as one list."""
    world = World()
    task = world.scheduler.spawn(adapt(make()), "adapt")
    world.scheduler.run()

    assert task.result() == adapted


@pytest.mark.clause("CMD-248", "CMD-293")
@pytest.mark.parametrize("kind", ["body", "message", "exchange"])
def test_the_first_argument(kind):
    """Body, message or exchange, as the annotation says; the very object."""
    got: list[Any] = []

    @create_aggregate
    class Ask(BaseModel):
        id: str = "a-1"

    class Asked(BaseModel):
        pass

    annotation = {"body": Ask, "message": CommandMessage[Ask], "exchange": ServerCommandExchange[Ask]}[kind]

    class Root:
        def __init__(self, id: str) -> None:
            self.id = id

        def on_command(self, command: Any) -> Asked:
            got.append(command)
            return Asked()

    Root.on_command.__annotations__["command"] = annotation
    outcome = Pipeline(aggregate_root(Root)).send(Ask())

    exchange = outcome.exchange
    assert got[0] is {"body": exchange.message.body, "message": exchange.message, "exchange": exchange}[kind]
