"""Calling command functions: what they may return, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from tests.runtime.pipeline import Pipeline, Working
from wowspec import (
    AggregateDeleted,
    ApplyResourceTags,
    Clock,
    CommandMessage,
    DeleteAggregate,
    ResourceTagsApplied,
    ServerCommandExchange,
    SpecError,
    after_command,
    aggregate_root,
    create_aggregate,
    on_command,
)
from wowspec.errors import IllegalArgumentError
from wowspec.messages.exchange import CommandResultAccessor
from wowspec.modeling.annotations import blocking
from wowspec.modeling.identity import FunctionInfo, FunctionKind
from wowspec.runtime.aggregate import CommandAggregate
from wowspec.runtime.sourcing import new_state_aggregate


@create_aggregate
class Make(BaseModel):
    """Creates a log."""

    id: str = "a-1"
    how: str = "value"


@create_aggregate
@dataclass
class MakePlain:
    """The same as a dataclass."""

    id: str = "a-1"


@dataclass
class Said:
    """An event that is a dataclass."""

    text: str


class Noted(BaseModel):
    """An event that is a model."""

    n: int = 0


class Log(BaseModel):
    """What was said."""

    id: str
    texts: list[str] = []

    def on_sourcing(self, event: Said) -> None:
        self.texts.append(event.text)


ONE, TWO = Said("one"), Said("two")


async def soon(value):
    """A value that takes its time."""
    return value


class Awaitable_:
    """Something that can be awaited and is no coroutine."""

    def __await__(self):
        yield from ()
        return ONE


async def gently(*values):
    """An asynchronous generator."""
    for value in values:
        yield value


#: How a function may answer, and what it answers.
ANSWERS: dict[str, Any] = {
    "value": lambda: ONE,
    "model": lambda: Noted(n=1),
    "list": lambda: [ONE, TWO],
    "tuple": lambda: (ONE, TWO),
    "generator": lambda: (item for item in (ONE, TWO)),
    "one-shot": lambda: iter([ONE, TWO]),
    "async value": lambda: soon(ONE),
    "async list": lambda: soon([ONE, TWO]),
    "async generator": lambda: gently(ONE, TWO),
    "awaitable": Awaitable_,
    "nested": lambda: [[ONE], TWO],
    "dict": lambda: {"a": 1},
    "nothing": lambda: None,
    "async nothing": lambda: soon(None),
    "empty list": list,
    "empty tuple": lambda: (),
    "empty generator": lambda: iter(()),
    "empty async generator": gently,
    "none in list": lambda: [ONE, None],
    "none in async generator": lambda: gently(None),
}


@aggregate_root(context="diary")
class Diary:
    """Answers in every way."""

    def __init__(self, state: Log) -> None:
        self.state = state

    @on_command(returns=(Said, Noted))
    def answer(self, command: Make) -> Any:
        return ANSWERS[command.how]()

    @on_command
    async def answer_plain(self, command: MakePlain, clock: Clock) -> Said:
        await clock.sleep(seconds=1)
        return ONE


@pytest.mark.clause("CMD-265", "CMD-266", "CMD-267", "CMD-270")
@pytest.mark.parametrize(
    ("how", "events"),
    [
        ("value", [ONE]),
        ("model", [Noted(n=1)]),
        ("list", [ONE, TWO]),
        ("tuple", [ONE, TWO]),
        ("generator", [ONE, TWO]),
        ("one-shot", [ONE, TWO]),
        ("async value", [ONE]),
        ("async list", [ONE, TWO]),
        ("async generator", [ONE, TWO]),
        ("awaitable", [ONE]),
        ("nested", [[ONE], TWO]),
        ("dict", [{"a": 1}]),
    ],
)
def test_what_is_returned_becomes_one_stream(how, events):
    """A value, several in whatever form, now or later: all are events of one stream, one level deep."""
    working = Working(Diary)

    exchange, task = working.process(Make(how=how))

    assert [event.body for event in task.result().events] == events
    assert exchange.event_stream is task.result()
    assert exchange.invoke_result is not None


@pytest.mark.clause("CMD-265")
@pytest.mark.parametrize(
    ("how", "kept"), [("value", ONE), ("list", [ONE, TWO]), ("async generator", [ONE, TWO]), ("nothing", None)]
)
def test_the_invoke_result(how, kept):
    """What the main function gave is kept on the exchange; nothing is not."""
    exchange, _ = Working(Diary).process(Make(how=how))

    assert exchange.invoke_result == kept


@pytest.mark.clause("CMD-267", "CMD-271", "CMD-224")
@pytest.mark.parametrize("how", ["nothing", "async nothing"])
def test_nothing_is_no_stream(how):
    """Nothing, now or later, is a success without a stream."""
    exchange, task = Working(Diary).process(Make(how=how))

    assert task.result() is None
    assert (exchange.event_stream, exchange.aggregate_version) == (None, 0)


@pytest.mark.clause("CMD-272")
@pytest.mark.parametrize("how", ["empty list", "empty tuple", "empty generator", "empty async generator"])
def test_an_empty_collection_is_refused(how):
    """A collection without events is not nothing: it is an illegal argument."""
    outcome = Pipeline(Diary).send(Make(how=how))

    assert type(outcome.error) is IllegalArgumentError
    assert outcome.code == "IllegalArgument"
    assert outcome.exchange.event_stream is None


@pytest.mark.clause("CMD-273")
@pytest.mark.parametrize(("how", "index"), [("none in list", 1), ("none in async generator", 0)])
def test_an_element_that_is_nothing(how, index):
    """It is refused with its place."""
    outcome = Pipeline(Diary).send(Make(how=how))

    assert type(outcome.error) is IllegalArgumentError
    assert f"event {index} of" in str(outcome.error)


@pytest.mark.clause("CMD-273")
def test_an_element_that_is_nothing_beside_after_functions():
    """The step that flattens fails first, with an error of another code."""

    class Item(BaseModel):
        pass

    @create_aggregate
    class Fill(BaseModel):
        id: str = "a-1"

    @aggregate_root
    class Bin:
        def __init__(self, id: str) -> None:
            self.id = id

        @on_command(returns=Item)
        def fill(self, command: Fill) -> list[Any]:
            return [Item(), None]

        @after_command
        def later(self, command: CommandMessage[Fill]) -> None: ...

    outcome = Pipeline(Bin).send(Fill())

    assert type(outcome.error) is TypeError
    assert outcome.code == "BadRequest"


@pytest.mark.clause("CMD-268", "CMD-286")
def test_what_it_raises_comes_out_unchanged():
    """The very error that a function raised is the command's; its place is in the traceback."""
    raised = ZeroDivisionError("by nothing")

    @create_aggregate
    class Divide(BaseModel):
        id: str = "a-1"

    @aggregate_root
    class Calculator:
        def __init__(self, id: str) -> None:
            self.id = id

        @on_command
        async def divide(self, command: Divide) -> None:
            raise raised

    outcome = Pipeline(Calculator).send(Divide())

    assert outcome.error is raised
    assert outcome.code == "BadRequest"


@pytest.mark.clause("CMD-268")
def test_a_generator_runs_to_its_end_first():
    """What a generator does belongs to the command: an error in its middle leaves no event."""

    class Step(BaseModel):
        pass

    @create_aggregate
    class Walk(BaseModel):
        id: str = "a-1"

    @aggregate_root
    class Walker:
        def __init__(self, id: str) -> None:
            self.id = id

        def on_command(self, command: Walk) -> Iterator[Step]:
            yield Step()
            raise KeyError("stumbled")

    pipeline = Pipeline(Walker)
    outcome = pipeline.send(Walk())

    assert type(outcome.error) is KeyError
    assert pipeline.stored(outcome) == []


@pytest.mark.clause("CMD-267")
def test_an_asynchronous_function_takes_virtual_time():
    """It sleeps on the world's clock, and the command waits for it."""
    pipeline = Pipeline(Diary)
    before = pipeline.world.clock.nanos

    outcome = pipeline.send(MakePlain())

    assert pipeline.bodies(outcome) == [ONE]
    assert pipeline.world.clock.nanos - before == 10**9


@pytest.mark.clause("CMD-269")
def test_a_blocking_function_is_called_in_place():
    """Where there is one thread, there is no other to move the call to: the outcome is the same."""

    class Hashed(BaseModel):
        pass

    @create_aggregate
    class Hash(BaseModel):
        id: str = "a-1"

    @aggregate_root
    class Slow:
        def __init__(self, id: str) -> None:
            self.id = id

        @blocking
        def on_command(self, command: Hash) -> Hashed:
            return Hashed()

    pipeline = Pipeline(Slow)
    assert pipeline.bodies(pipeline.send(Hash())) == [Hashed()]


@pytest.mark.clause("CMD-270")
def test_a_set_of_events():
    """Its events have no order, so it is an error of the author's that names the function."""

    @create_aggregate
    class Scatter(BaseModel):
        id: str = "a-1"

    @dataclass(frozen=True)
    class Grain:
        n: int

    @aggregate_root
    class Field:
        def __init__(self, id: str) -> None:
            self.id = id

        @on_command
        def scatter(self, command: Scatter) -> set[Grain]:
            return {Grain(1), Grain(2)}

    outcome = Pipeline(Field).send(Scatter())

    assert type(outcome.error) is SpecError
    assert str(outcome.error).startswith("Field.scatter: a command function returned a set of events")


# --- looking functions up ---


@pytest.mark.clause("CMD-252", "CMD-255", "CMD-257", "CMD-220")
def test_the_exact_class_decides():
    """A subclass of a handled command, a mounted command, a built-in one that is switched off: each is undefined."""

    class Sub(Make):
        pass

    class Burn(BaseModel, DeleteAggregate):
        id: str = "a-1"

    @aggregate_root(commands=[Burn])
    class Notes:
        def __init__(self, id: str) -> None:
            self.id = id

        @on_command
        def make(self, command: Make) -> None: ...

    # a subclass of a create command creates too
    for body in (Sub(), Burn(), DeleteAggregate()):
        working = Working(Notes)
        working.state.version = 0 if isinstance(body, Sub) else 1
        _, task = working.process(body)
        assert type(task.error) is IllegalArgumentError, body
        assert type(body).__name__ in str(task.error)


@pytest.mark.clause("CMD-253")
def test_a_missing_function_is_looked_for_again():
    """That there was none is not remembered."""
    working = Working(Diary)
    functions = dict(working.metadata.functions)
    known = working.metadata.functions
    del known[Make]
    try:
        exchange, task = working.process(Make())
        assert type(task.error) is IllegalArgumentError
        known.update(functions)
        task = working.world.scheduler.spawn(working.aggregate.process(exchange), "again")
        working.world.scheduler.run()
        assert [event.body for event in task.result().events] == [ONE]
    finally:
        known.update(functions)


@pytest.mark.clause("CMD-247", "CMD-258")
def test_a_function_for_a_built_in_command_wins():
    """The aggregate's own function for the built-in class answers in place of the runtime's."""

    class Shredded(BaseModel, AggregateDeleted):
        pass

    @create_aggregate
    class Print(BaseModel):
        id: str = "a-1"

    class Printed(BaseModel):
        pass

    @aggregate_root(context="office")
    class Paper:
        def __init__(self, id: str) -> None:
            self.id = id

        @on_command
        def write(self, command: Print) -> Printed:
            return Printed()

        @on_command
        def shred(self, command: DeleteAggregate) -> Shredded:
            return Shredded()

    pipeline = Pipeline(Paper)
    pipeline.send(Print())
    outcome = pipeline.send(DeleteAggregate(), named_aggregate="office.paper", aggregate_id="a-1")

    assert pipeline.bodies(outcome)[1:] == [Shredded()]
    assert outcome.result.function.name == "shred"


@pytest.mark.clause("CMD-256", "CMD-262")
def test_built_in_commands_answer_themselves():
    """Each gives its event under the function's own name."""
    pipeline = Pipeline(Diary)
    pipeline.send(Make())
    target = {"named_aggregate": "diary.diary", "aggregate_id": "a-1"}

    tagged = pipeline.send(ApplyResourceTags({"k": ["v"]}), **target)
    deleted = pipeline.send(DeleteAggregate(), **target)

    assert pipeline.bodies(deleted)[1:] == [ResourceTagsApplied({"k": ["v"]}), AggregateDeleted()]
    assert tagged.exchange.command_aggregate.state.tags == {"k": ["v"]}
    assert deleted.exchange.command_aggregate.state.deleted
    assert deleted.result.function == FunctionInfo(
        FunctionKind.COMMAND, "diary", "Diary", "Diary.DefaultDeleteAggregate"
    )


# --- the result map, the error events ---


@pytest.mark.clause("CMD-318", "CMD-293", "CMD-296")
def test_results_for_the_caller():
    """A function hands values to whoever waits, through the accessor or the exchange; each set is a new map."""
    maps = []

    class Counted(BaseModel):
        pass

    @create_aggregate
    class Count(BaseModel):
        id: str = "a-1"

    @aggregate_root
    class Counter:
        def __init__(self, id: str) -> None:
            self.id = id

        def on_command(self, exchange: ServerCommandExchange[Count], results: CommandResultAccessor) -> Counted:
            maps.append(results.get_command_result())
            results.set_command_result("n", 1)
            maps.append(results.get_command_result())
            exchange.set_command_result("n", 2)
            exchange.set_command_result("m", exchange.message.body.id)
            return Counted()

    outcome = Pipeline(Counter).send(Count())

    assert maps == [{}, {"n": 1}]
    assert outcome.result.result == {"n": 2, "m": "a-1"}


class Denied(BaseModel):
    """An event that is an error."""

    error_code: str = "Denied"
    error_msg: str = "not today"


@create_aggregate
class Ask(BaseModel):
    """May be denied."""

    id: str = "a-1"


@aggregate_root
class Desk:
    """Denies everything."""

    def __init__(self, id: str) -> None:
        self.id = id

    def on_command(self, command: Ask) -> Denied:
        return Denied()


@pytest.mark.clause("CMD-320")
def test_an_error_event():
    """It is stored and published and moves the version, but its command is told as failed, with the event's code."""
    pipeline = Pipeline(Desk)
    outcome = pipeline.send(Ask())

    assert (outcome.code, outcome.result.error_msg, outcome.result.binding_errors) == ("Denied", "not today", ())
    assert outcome.result.aggregate_version == 1
    assert pipeline.bodies(outcome) == [Denied()]
    assert [row.outcome for row in pipeline.rows("domain_event_bus.send")] == ["ok"]
    assert [row.outcome for row in pipeline.rows("state_event_bus.send")] == ["ok"]
    assert pipeline.failures() == []


@pytest.mark.clause("CMD-316", "CMD-317")
def test_an_exchange_is_empty_at_first():
    """What no one has set reads as None."""
    working = Working(Diary)
    exchange = working.exchange(Make())

    for name in (
        "aggregate_metadata", "services", "aggregate_processor", "function", "aggregate_version", "command_aggregate",
        "invoke_result", "event_stream", "error",
    ):  # fmt: skip
        assert getattr(exchange, name) is None, name
    assert exchange.failure() is None


def test_a_command_aggregate_for_one_command():
    """It is made around any state aggregate; nothing is kept elsewhere."""
    working = Working(Diary)
    state = new_state_aggregate(working.metadata.state, working.state.aggregate_id)
    aggregate = CommandAggregate(working.metadata, state, working.append, working.world)

    assert aggregate.aggregate_id == working.state.aggregate_id
    assert aggregate.root.state is state.state
