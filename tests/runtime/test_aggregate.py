"""One command inside its aggregate: what each check, each step and each failure leaves behind."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from tests.runtime.pipeline import Pipeline, Working
from wowspec import (
    AggregateDeleted,
    AggregateRecovered,
    AggregateVersion,
    ApplyResourceTags,
    DeleteAggregate,
    OwnerTransferred,
    RecoverAggregate,
    SpaceTransferred,
    aggregate_root,
    allow_create,
    create_aggregate,
    faults,
    on_command,
)
from wowspec.errors import (
    CommandExpectVersionConflictError,
    IllegalAccessDeletedAggregateError,
    IllegalAccessOwnerAggregateError,
    IllegalAccessSpaceAggregateError,
    IllegalArgumentError,
    IllegalStateError,
    InjectedFault,
    NotFoundError,
    SourcingVersionConflictError,
    UnsupportedOperationError,
)
from wowspec.modeling.identity import PROCESS_FUNCTION, AggregateRef
from wowspec.runtime.aggregate import CommandState
from wowspec.runtime.processor import RetryableAggregateProcessor


@create_aggregate
class Open(BaseModel):
    """Creates a box."""

    id: str = "a-1"


class Put(BaseModel):
    """Changes it."""

    id: str = "a-1"
    thing: str = "ball"


class PutAt(BaseModel):
    """Changes it at a version."""

    id: str = "a-1"
    version: Annotated[int, AggregateVersion()] = 1


@allow_create
class Ensure(BaseModel):
    """Creates it where there is none."""

    id: str = "a-1"


class Nothing(BaseModel):
    """Does nothing."""

    id: str = "a-1"


class Break(BaseModel):
    """Fails: in its function, or where its event is sourced."""

    id: str = "a-1"
    where: str = "function"


class Give(BaseModel):
    """Gives the box to someone, somewhere."""

    id: str = "a-1"


class Unheard(BaseModel):
    """No function takes it."""

    id: str = "a-1"


@allow_create
class Revive(BaseModel, RecoverAggregate):
    """A recover command of one's own."""

    id: str = "a-1"


class Opened(BaseModel):
    """The box is there."""


class ThingPut(BaseModel):
    """Something is in it."""

    thing: str


class Broken(BaseModel):
    """Its sourcing function fails."""


class Given(BaseModel, OwnerTransferred):
    """It belongs to someone else."""

    to_owner_id: str = "u-2"


class Moved(BaseModel, SpaceTransferred):
    """It is somewhere else."""

    to_space_id: str = "s-2"


class Revived(BaseModel, AggregateRecovered):
    """It is back."""


class BoxState(BaseModel):
    """What is in it."""

    id: str
    things: list[str] = []

    def on_sourcing(self, event: ThingPut | Broken) -> None:
        """Put it in, or fail."""
        if isinstance(event, Broken):
            raise LookupError("no such thing")
        self.things.append(event.thing)


@aggregate_root(context="attic", commands=[Unheard])
class Box:
    """A box of things."""

    def __init__(self, state: BoxState) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened()

    @on_command
    def put(self, command: Put | PutAt | Ensure) -> ThingPut:
        return ThingPut(thing=getattr(command, "thing", "ball"))

    @on_command
    def idle(self, command: Nothing) -> None:
        return None

    @on_command
    def fall(self, command: Break) -> Broken:
        if command.where == "function":
            raise KeyError("broken")
        return Broken()

    @on_command
    def give(self, command: Give) -> list[Given | Moved]:
        return [Given(), Moved()]

    @on_command
    def revive(self, command: Revive) -> Revived:
        return Revived()


REF = AggregateRef("attic", "box", "a-1")
BUILT_IN = {"named_aggregate": "attic.box", "aggregate_id": "a-1"}


@pytest.fixture
def attic():
    """A pipeline whose box is open."""
    pipeline = Pipeline(Box)
    assert pipeline.send(Open(), owner_id="u-1", space_id="s-1").code == "Ok"
    return pipeline


# --- what is on the exchange ---


@pytest.mark.clause("CMD-208", "CMD-226")
def test_function_and_version_before_anything_runs():
    """The call alone puts function and version on the exchange, the first step the command aggregate."""
    working = Working(Box)
    working.state.version = 4
    exchange = working.exchange(Put())

    processing = working.aggregate.process(exchange)
    assert (exchange.function, exchange.aggregate_version) == (PROCESS_FUNCTION, 4)
    assert exchange.command_aggregate is None

    working.world.scheduler.spawn(processing, "process")
    working.world.scheduler.run()
    assert exchange.command_aggregate is working.aggregate


@pytest.mark.clause("CMD-226")
def test_processor_names():
    """The working instance and what retries around it have names of the runtime."""
    assert (PROCESS_FUNCTION.context_name, PROCESS_FUNCTION.name) == ("wow", "process")
    assert Working(Box).aggregate.processor_name == PROCESS_FUNCTION.processor_name == "SimpleCommandAggregate"
    assert RetryableAggregateProcessor.processor_name == "RetryableAggregateProcessor"


@pytest.mark.clause("CMD-225")
@pytest.mark.parametrize(
    ("body", "name"), [(Put(), "put"), (Break(), "fall"), (Break(where="sourcing"), "fall"), (Nothing(), "idle")]
)
def test_the_function_while_and_after_it_runs(attic, body, name):
    """Whatever becomes of it, the command function is the exchange's function, and the result's."""
    outcome = attic.send(body)

    assert outcome.exchange.function.name == name
    assert outcome.result.function == outcome.exchange.function


@pytest.mark.clause("CMD-225")
@pytest.mark.parametrize(("body", "options"), [(Put(), {"owner_id": "u-9"}), (PutAt(version=7), {}), (Unheard(), {})])
def test_the_function_of_a_refused_command(attic, body, options):
    """A failed check leaves the processor's function."""
    outcome = attic.send(body, **options)

    assert outcome.error is not None
    assert outcome.result.function == PROCESS_FUNCTION


@pytest.mark.clause("CMD-223")
def test_the_version_of_a_failure(attic):
    """Before the append it is the old version, after a failed one the attempted, without a state none."""
    attic.send(Put())

    assert attic.send(Break()).result.aggregate_version == 2
    assert attic.send(Break(where="sourcing")).result.aggregate_version == 2
    assert attic.send(Put(), owner_id="u-9").result.aggregate_version == 2
    attic.arm(faults.event_store.append.fails())
    assert attic.send(Put()).result.aggregate_version == 3
    attic.arm(faults.event_store.load.fails(at=1))
    assert attic.send(Put()).result.aggregate_version is None


# --- the checks ---


@pytest.mark.clause("CMD-209", "CMD-210", "CMD-211")
@pytest.mark.parametrize(
    ("version", "body", "error"),
    [
        (0, PutAt(version=1), CommandExpectVersionConflictError),
        (0, Put(), NotFoundError),
        (3, PutAt(version=2), CommandExpectVersionConflictError),
        (3, PutAt(version=3), None),
        (3, Put(), None),
        (3, Open(), CommandExpectVersionConflictError),
    ],
)
def test_the_expected_version(version, body, error):
    """It comes first, and is compared where there is one; a create command expects 0."""
    working = Working(Box)
    working.state.version = version

    _, task = working.process(body)

    assert (None if task.error is None else type(task.error)) is error
    if error is CommandExpectVersionConflictError:
        assert (task.error.expect_version, task.error.actual_version) == (
            0 if isinstance(body, Open) else body.version,
            version,
        )


@pytest.mark.clause("CMD-211")
def test_a_create_message_without_a_version_is_an_update():
    """There is no check of its own that something exists already."""
    working = Working(Box)
    working.state.version = 3
    exchange = working.exchange(Open())
    exchange.message.aggregate_version = None

    task = working.world.scheduler.spawn(working.aggregate.process(exchange), "process")
    working.world.scheduler.run()

    assert exchange.message.is_create
    assert task.result().version == 4


@pytest.mark.clause("CMD-212", "CMD-213")
def test_allow_create(attic):
    """It creates at version 1 where there is nothing, and is an ordinary update where there is something."""
    made = attic.send(Ensure(id="a-2"))
    again = attic.send(Ensure(id="a-2"))

    assert (made.result.aggregate_version, again.result.aggregate_version) == (1, 2)


@pytest.mark.clause("CMD-214", "CMD-215")
@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"owner_id": "u-2"}, IllegalAccessOwnerAggregateError),
        ({"owner_id": "u-2", "space_id": "s-2"}, IllegalAccessOwnerAggregateError),
        ({"owner_id": "  ", "space_id": "s-2"}, IllegalAccessSpaceAggregateError),
        ({"owner_id": "u-1", "space_id": "s-1"}, None),
        ({}, None),
    ],
)
def test_owner_and_space(attic, options, error):
    """Compared where the command names them; each refusal knows whose aggregate it is."""
    outcome = attic.send(Put(), **options)

    assert (None if outcome.error is None else type(outcome.error)) is error
    if error is not None:
        assert outcome.error.aggregate_id == REF


@pytest.mark.clause("CMD-216")
def test_the_tenant_is_part_of_the_id(attic):
    """Another tenant's box is another box: it does not exist."""
    assert attic.send(Put(), tenant_id="t-2").code == "NotFound"
    assert attic.send(Ensure(), tenant_id="t-2").result.aggregate_version == 1
    assert attic.send(Put()).result.aggregate_version == 2


@pytest.mark.clause("CMD-217", "CMD-263")
def test_a_recover_command_of_ones_own(attic):
    """Any recover command passes on a deleted aggregate; what brings it back is its event."""
    attic.send(DeleteAggregate(), **BUILT_IN)

    assert attic.send(Revive()).code == "Ok"
    assert attic.send(Put()).code == "Ok"


@pytest.mark.clause("CMD-218")
def test_recovering_what_never_was():
    """A recover command that may create meets a blank state, which is not deleted."""
    outcome = Pipeline(Box).send(Revive(id="a-9"))

    assert type(outcome.error) is IllegalStateError


@pytest.mark.clause("CMD-219", "STA-022", "STA-024")
def test_versions_of_delete_and_recover(attic):
    """Delete and recover are a version each; a deleted box refuses all but recovery, also its deletion."""
    deleted = attic.send(DeleteAggregate(), **BUILT_IN)
    again = attic.send(DeleteAggregate(), **BUILT_IN)
    recovered = attic.send(Revive())
    live = attic.send(Revive())

    assert (deleted.result.aggregate_version, recovered.result.aggregate_version) == (2, 3)
    assert type(again.error) is IllegalAccessDeletedAggregateError
    assert type(live.error) is IllegalStateError


@pytest.mark.clause("STA-022")
def test_a_deleted_aggregate_is_loaded():
    """Deletion blocks commands, not loading."""
    pipeline = Pipeline(Box)
    pipeline.send(Open())
    pipeline.send(DeleteAggregate(), **BUILT_IN)

    task = pipeline.world.scheduler.spawn(pipeline.runtime.repository.load(REF), "load")
    pipeline.world.scheduler.run()

    assert (task.result().version, task.result().deleted) == (2, True)


@pytest.mark.clause("CMD-220", "STA-023")
def test_an_undefined_command_is_the_last_to_be_told(attic):
    """Without a function it is an illegal argument, on a deleted aggregate it is deleted first."""
    assert type(attic.send(Unheard()).error) is IllegalArgumentError
    attic.send(DeleteAggregate(), **BUILT_IN)
    assert type(attic.send(Unheard()).error) is IllegalAccessDeletedAggregateError


# --- the steps ---


@pytest.mark.clause("CMD-221", "EVT-035")
def test_sourced_before_appended():
    """The state is changed, and the version on the exchange, before the stream is appended; the stream is returned."""
    seen: list[Any] = []

    class Watching(Working):
        async def append(self, stream, exchange):
            seen.append((list(self.state.state.things), self.state.version, exchange.aggregate_version))
            await super().append(stream, exchange)

    working = Watching(Box)
    exchange, task = working.process(Ensure())

    assert seen == [(["ball"], 1, 1)]
    assert working.appended == [task.result()]
    assert exchange.event_stream is task.result()
    assert working.aggregate.command_state is CommandState.STORED


@pytest.mark.clause("CMD-222", "CMD-238", "EVT-035")
def test_a_failed_append_is_forgotten(attic):
    """The next command works on a new object, which knows nothing of what was sourced in vain."""
    attic.arm(faults.event_store.append.fails())
    failed = attic.send(Put(thing="lost"))
    assert type(failed.error) is InjectedFault
    assert failed.exchange.command_aggregate.command_state is CommandState.EXPIRED
    assert failed.exchange.command_aggregate.state.state.things == ["lost"]

    after = attic.send(Put(thing="kept"))

    assert after.exchange.command_aggregate.state.state.things == ["kept"]
    assert after.result.aggregate_version == 2


@pytest.mark.clause("CMD-224", "CMD-271", "CMD-274", "CMD-275")
def test_a_function_that_yields_nothing(attic):
    """Nothing is sourced, stored or published; PROCESSED is told as a success, with function and old version."""
    before = len(attic.lane())
    outcome = attic.send(Nothing())

    assert outcome.exchange.event_stream is None
    assert (outcome.code, outcome.result.aggregate_version, outcome.result.function.name) == ("Ok", 1, "idle")
    assert attic.lane()[before:] == [
        "snapshot.load",
        "event_store.load",
        "command.acknowledge",
        "wait.notify:PROCESSED",
    ]


@pytest.mark.clause("CMD-314", "EVT-035")
def test_a_sourcing_function_that_fails(attic):
    """Its error is the command's; nothing is appended, and the object stays STORED."""
    outcome = attic.send(Break(where="sourcing"))

    assert type(outcome.error) is LookupError
    assert outcome.exchange.command_aggregate.command_state is CommandState.STORED
    assert len(attic.stored(outcome)) == 1


@pytest.mark.clause("CMD-264", "CMD-315")
def test_transfers(attic):
    """Owner and space are transferred by events; the stream that carries them still shows the old ones."""
    given = attic.send(Give(), owner_id="u-1", space_id="s-1")
    [stream] = attic.stored(given)[1:]
    state = given.exchange.command_aggregate.state

    assert (stream.owner_id, stream.space_id) == ("u-1", "s-1")
    assert (state.owner_id, state.space_id) == ("u-2", "s-2")


@pytest.mark.clause("CMD-264", "CMD-315", "STA-043")
def test_a_snapshot_forgets_a_transfer(attic):
    """The state event has the stream's owner, so a state loaded from its snapshot has the old one; a replay the new."""
    attic.arm(faults.state_event_bus.send.fails())
    attic.send(Give(), owner_id="u-1", space_id="s-1")
    assert attic.send(Put(), owner_id="u-1").code == "IllegalAccessOwnerAggregate"
    assert attic.send(Put(), owner_id="u-2", space_id="s-1").code == "IllegalAccessSpaceAggregate"

    attic.send(Give(), owner_id="u-2", space_id="s-2")
    assert attic.send(Put(), owner_id="u-2", space_id="s-2").code == "Ok"
    attic.send(Open(id="a-2"), owner_id="u-1", space_id="s-1")
    attic.send(Give(id="a-2"))
    assert attic.send(Put(id="a-2"), owner_id="u-1", space_id="s-1").code == "Ok"


@pytest.mark.clause("CMD-264")
def test_there_are_three_built_in_commands():
    """None of them transfers anything."""
    assert set(Working(Box).metadata.built_in) == {DeleteAggregate, ApplyResourceTags}


# --- the command state ---


def stream_of(working, body):
    """A stream that the working aggregate could source."""
    other = Working(Box)
    other.state.version = working.state.version
    _, task = other.process(body)
    return task.result()


@pytest.mark.clause("CMD-234", "CMD-235", "CMD-236", "EVT-036")
def test_illegal_operations():
    """STORED takes only sourcing, SOURCED only storing, EXPIRED neither; storing refuses at the call."""
    working = Working(Box)
    first = stream_of(working, Ensure())
    exchange = working.exchange(Ensure())

    with pytest.raises(UnsupportedOperationError, match=r"STORED .* cannot store .*a-1.* v1"):
        working.aggregate.store(first, exchange)
    working.aggregate.source(first)
    assert working.aggregate.command_state is CommandState.SOURCED
    with pytest.raises(UnsupportedOperationError, match=r"SOURCED .* cannot source .*a-1.* v1"):
        working.aggregate.source(first)

    working.append_error = OSError("gone")
    task = working.world.scheduler.spawn(working.aggregate.store(first, exchange), "store")
    working.world.scheduler.run()
    assert type(task.error) is OSError
    assert working.aggregate.command_state is CommandState.EXPIRED
    with pytest.raises(UnsupportedOperationError, match="EXPIRED"):
        working.aggregate.source(first)
    with pytest.raises(UnsupportedOperationError, match="EXPIRED"):
        working.aggregate.store(first, exchange)


@pytest.mark.clause("CMD-234", "CMD-314")
def test_a_stream_that_does_not_fit():
    """A refused stream leaves the object STORED."""
    working = Working(Box)
    later = Working(Box)
    later.state.version = 5
    _, task = later.process(Ensure())

    with pytest.raises(SourcingVersionConflictError):
        working.aggregate.source(task.result())
    assert working.aggregate.command_state is CommandState.STORED


@pytest.mark.clause("CMD-237")
@pytest.mark.parametrize("error", [OSError("gone"), TimeoutError("late")], ids=["final", "recoverable"])
def test_any_failed_append_expires(error):
    """Recoverable or not."""
    working = Working(Box)
    working.append_error = error

    working.process(Ensure())

    assert working.aggregate.command_state is CommandState.EXPIRED


@pytest.mark.clause("CMD-239", "CMD-240")
def test_a_second_command_meets_the_guard():
    """The state is a guard: a command that comes while another is being stored is refused, not queued."""
    working = Working(Box)
    working.aggregate.source(stream_of(working, Ensure()))

    _, task = working.process(Put())

    assert type(task.error) is IllegalStateError
    assert working.aggregate.command_state is CommandState.SOURCED


@pytest.mark.clause("CMD-240")
def test_each_command_has_its_own_object(attic):
    """Two commands of one aggregate never share a command aggregate."""
    first, second = attic.send(Put()), attic.send(Put())

    assert first.exchange.command_aggregate is not second.exchange.command_aggregate
    assert second.exchange.command_aggregate.state.state.things == ["ball", "ball"]


@pytest.mark.clause("CMD-241")
def test_text_of_a_command_aggregate():
    """It shows the root's class, the state and the command state."""
    text = repr(Working(Box).aggregate)

    assert text.startswith("CommandAggregate(Box, StateAggregate(box(a-1), version=0")
    assert text.endswith("STORED)")


@pytest.mark.clause("CMD-263")
def test_a_custom_delete_command_deletes_by_its_event():
    """A delete command whose event is none of the runtime's deletes nothing."""

    class Wipe(BaseModel, DeleteAggregate):
        id: str = "a-1"
        really: bool = False

    class Wiped(BaseModel):
        pass

    class Gone(BaseModel, AggregateDeleted):
        pass

    @create_aggregate
    class Draw(BaseModel):
        id: str = "a-1"

    class Drawn(BaseModel):
        pass

    @aggregate_root
    class Board:
        def __init__(self, id: str) -> None:
            self.id = id

        @on_command
        def draw(self, command: Draw) -> Drawn:
            return Drawn()

        @on_command
        def wipe(self, command: Wipe) -> Wiped | Gone:
            return Gone() if command.really else Wiped()

    pipeline = Pipeline(Board)
    pipeline.send(Draw())
    assert not pipeline.send(Wipe()).exchange.command_aggregate.state.deleted
    assert pipeline.send(Wipe(really=True)).exchange.command_aggregate.state.deleted
