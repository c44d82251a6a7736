"""What the runtime's own specifications of its gateway and dispatcher assert, on a domain like theirs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from tests.runtime.pipeline import Pipeline
from tests.runtime.stores_domain import wait
from wowspec import (
    CommandStage,
    DomainEvent,
    DuplicateAggregateIdError,
    IgnoreSourcing,
    aggregate_root,
    create_aggregate,
    on_command,
    on_error,
    on_sourcing,
    void_command,
)
from wowspec.messages.envelopes import DomainEventStream
from wowspec.messages.header import Header
from wowspec.messages.wait_headers import write_wait_plan
from wowspec.messages.wait_plans import wait_for_stage
from wowspec.modeling.aggregates import aggregate_metadata
from wowspec.modeling.identity import AggregateRef

# --- the domain -------------------------------------------------------------------------------------------------------


@create_aggregate
class MockCreate(BaseModel):
    """A command that creates."""

    id: str = "m-1"
    data: str = "created"


class MockChange(BaseModel):
    """A command that changes."""

    id: str = "m-1"
    data: str = "changed"


@void_command
class MockVoid(BaseModel):
    """A command that no aggregate processes."""

    id: str = "m-1"


class MockInvalid(BaseModel):
    """A command that refuses itself."""

    id: str = "m-1"

    def validate_command(self) -> None:
        """Always."""
        raise ValueError("refused by itself")


class MockCreated(BaseModel):
    """One text."""

    data: str


class MockChanged(BaseModel):
    """One text."""

    data: str


@aggregate_root(context="tck", commands=[MockVoid, MockInvalid])
class Mock:
    """Keeps the last text."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.data = ""

    @on_command
    def create(self, command: MockCreate) -> MockCreated:
        """Create."""
        return MockCreated(data=command.data)

    @on_command
    def change(self, command: MockChange) -> MockChanged:
        """Change."""
        return MockChanged(data=command.data)

    @on_error
    def create_failed(self, command: MockCreate, error: Exception) -> None:
        """Raises the error again."""
        raise error

    @on_sourcing
    def created(self, event: MockCreated) -> None:
        """The first text."""
        self.data = event.data

    @on_sourcing
    def changed(self, event: MockChanged) -> None:
        """The next text."""
        self.data = event.data


def mock_stream(
    ref: AggregateRef,
    *,
    version: int = 0,
    count: int = 10,
    created: Any = lambda: MockCreated(data="created"),
    changed: Any = lambda: MockChanged(data="changed"),
) -> DomainEventStream:
    """The stream after `version`: the first event from `created`, the rest from `changed`."""
    bodies = [created(), *(changed() for _ in range(count - 1))]
    events = tuple(
        DomainEvent(
            f"e-{number}", body, ref, version + 1, "mock", "c-1", Header(), sequence=number, is_last=number == count
        )
        for number, body in enumerate(bodies, 1)
    )
    return DomainEventStream("s-1", "r-1", Header(), events)


REF = AggregateRef("tck", "mock", "m-1")

# --- streams and the domain -------------------------------------------------------------------------------------------


@pytest.mark.clause("TCK-005")
def test_a_domain_event_stream():
    """It has its events' aggregate, their count, the version after the given one; no other id makes an equal one."""
    stream = mock_stream(REF, version=4, count=3)
    assert stream.aggregate_id == REF
    assert (stream.aggregate_id.context_name, stream.aggregate_id.aggregate_name) == ("tck", "mock")
    assert (len(stream.events), stream.version) == (3, 5)
    assert stream == stream  # noqa: PLR0124 - that is what is asserted
    assert stream != replace(stream, id="s-2")
    assert isinstance(hash(stream), int)


@pytest.mark.clause("TCK-017")
def test_a_mock_stream():
    """Ten events from version 0 on, if nothing else is said; the first is created, the others changed."""
    stream = mock_stream(REF)
    assert stream.version == 1
    assert [type(event.body) for event in stream.events] == [MockCreated, *[MockChanged] * 9]


@pytest.mark.clause("TCK-016")
def test_the_mock_domain():
    """Created, changed, told nothing by a void command, refused by the command itself; an error goes on."""
    pipeline = Pipeline(Mock)
    assert pipeline.send(MockCreate()).code == "Ok"
    changed = pipeline.send(MockChange(data="x"))
    assert pipeline.bodies(changed) == [MockCreated(data="created"), MockChanged(data="x")]
    pipeline.just_send(MockVoid())
    assert isinstance(pipeline.send(MockInvalid()).error, ValueError)
    again = pipeline.send(MockCreate())
    assert isinstance(again.error, DuplicateAggregateIdError)
    assert len(pipeline.stored(again)) == 2


@pytest.mark.clause("DOC-014")
def test_an_event_that_is_not_sourced_still_takes_the_id():
    """Ignored as the first event of all, its stream is stored at version 1, and the id is taken."""

    @create_aggregate
    class Try(BaseModel):
        id: str = "m-1"

    class Refused(BaseModel, IgnoreSourcing):
        pass

    @aggregate_root(context="tck", name="trial")
    class Trial:
        def __init__(self, id: str) -> None:
            self.id = id

        def on_command(self, command: Try) -> Refused:
            return Refused()

    pipeline = Pipeline(Trial)
    first, second = pipeline.send(Try()), pipeline.send(Try())
    assert [stream.version for stream in pipeline.stored(first)] == [1]
    assert isinstance(second.error, DuplicateAggregateIdError)


@pytest.mark.clause("DOC-015")
def test_a_state_that_is_made_with_its_id_survives_its_json():
    """No constructor without arguments is needed: a snapshot of such a state is read back."""
    pipeline = Pipeline(Mock)
    pipeline.send(MockCreate(data="kept"), stage=CommandStage.SNAPSHOT)
    back = wait(pipeline.runtime.snapshot_store.load(REF))
    assert (back.version, type(back.state), back.state.id, back.state.data) == (1, Mock, "m-1", "kept")


# --- the gateway ------------------------------------------------------------------------------------------------------


def stream_results(
    pipeline: Pipeline, body: Any, stage: CommandStage
) -> tuple[list[CommandStage], BaseException | None]:
    """The stages of the results of a stream, and the error that ended it."""
    message = pipeline.runtime.message(body)
    stages: list[CommandStage] = []

    async def read() -> None:
        async for result in pipeline.runtime.gateway.send_and_wait_stream(
            message, wait_for_stage(stage).plan(message.id)
        ):
            stages.append(result.stage)

    task = pipeline.world.scheduler.spawn(read(), "read")
    pipeline.world.scheduler.run()
    assert pipeline.runtime.gateway.coordinator.waiting == ()
    return stages, task.error


@pytest.mark.clause("TCK-011")
@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        (CommandStage.SENT, [CommandStage.SENT]),
        (CommandStage.PROCESSED, [CommandStage.SENT, CommandStage.PROCESSED]),
        (CommandStage.SNAPSHOT, [CommandStage.SENT, CommandStage.PROCESSED, CommandStage.SNAPSHOT]),
    ],
)
def test_waiting_for_each_stage(stage, expected):
    """A stream has each stage on the way, a single result the last one; nobody waits afterwards."""
    pipeline = Pipeline(Mock)
    assert stream_results(pipeline, MockCreate(), stage) == (expected, None)
    assert pipeline.send(MockChange(), stage=stage).result.stage is stage
    assert pipeline.runtime.gateway.coordinator.waiting == ()


@pytest.mark.clause("TCK-011")
def test_what_the_gateway_refuses():
    """A repeated request, an invalid command, a failure on the way: results with their codes; waits are removed."""
    pipeline = Pipeline(Mock)
    pipeline.send(MockCreate(), request_id="r-1")
    assert pipeline.send(MockChange(), request_id="r-1").code == "DuplicateRequestId"
    assert pipeline.send(MockInvalid()).result.error_code == "IllegalArgument"
    stages, error = stream_results(pipeline, MockCreate(), CommandStage.SNAPSHOT)
    assert stages == [CommandStage.SENT, CommandStage.PROCESSED]
    assert error is None
    assert pipeline.runtime.gateway.coordinator.waiting == ()


@pytest.mark.clause("TCK-011")
@pytest.mark.parametrize(("body", "succeeded"), [(MockCreate(), True), (MockInvalid(), False)])
def test_a_plain_send_notifies_sent(body, succeeded):
    """Whoever waits elsewhere hears that it was sent, or why it was not."""
    pipeline = Pipeline(Mock)
    message = pipeline.runtime.message(body)
    plan = wait_for_stage(CommandStage.SENT).plan(message.id)
    write_wait_plan(plan, "elsewhere", message.header)
    pipeline.world.scheduler.spawn(pipeline.runtime.gateway.send(message), "send")
    pipeline.world.scheduler.run()
    [(endpoint, signal)] = [pair for pair in pipeline.runtime.notifier.received if pair[1].stage is CommandStage.SENT]
    assert (endpoint, signal.wait_command_id) == ("elsewhere", message.id)
    assert (signal.error_code == "Ok") is succeeded


# --- the dispatcher ---------------------------------------------------------------------------------------------------


@pytest.mark.clause("TCK-012")
def test_two_hundred_creates_and_ten_changes():
    """All of them at once through gateway, dispatcher, store and filters: each is told a success."""
    pipeline = Pipeline(Mock)
    tasks = [pipeline.start(MockCreate(id=f"m-{number}"))[1] for number in range(200)]
    pipeline.world.scheduler.run()
    tasks += [pipeline.start(MockChange(id=f"m-{number * 17 % 200}"))[1] for number in range(10)]
    pipeline.world.scheduler.run()
    assert [task.result().error_code for task in tasks] == ["Ok"] * 210
    assert len(pipeline.runtime.event_store.aggregate_ids()) == 200
    assert aggregate_metadata(Mock).is_single_class
