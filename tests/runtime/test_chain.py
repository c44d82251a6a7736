"""The handler chain: who takes part, in which order, and where each error stops."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from tests.runtime.pipeline import Pipeline
from wowspec import SpecError, aggregate_root, create_aggregate, faults, on_command
from wowspec.errors import IllegalStateError, InjectedFault, InjectedTimeout
from wowspec.messages.envelopes import CommandMessage
from wowspec.messages.exchange import ServerCommandExchange
from wowspec.messages.header import Header
from wowspec.modeling.builtin import IgnoreSourcing
from wowspec.modeling.identity import AggregateRef
from wowspec.modeling.ordering import ORDER_FIRST, ORDER_LAST, Order
from wowspec.modeling.processors import ProcessorKind
from wowspec.runtime.chain import (
    COMMAND_DISPATCHER,
    EVENT_DISPATCHERS,
    SNAPSHOT_DISPATCHER,
    NamedFilter,
    build_chain,
    handle,
    log_error,
)
from wowspec.runtime.command_filters import (
    AGGREGATE_PROCESSOR,
    COMMAND_FILTERS,
    PROCESSED_NOTIFIER,
    SEND_DOMAIN_EVENT_STREAM,
    SEND_STATE_EVENT,
    AggregateProcessorFilter,
)
from wowspec.runtime.downstream.event_filters import EVENT_FILTERS
from wowspec.runtime.downstream.snapshot_dispatcher import SNAPSHOT_FILTERS
from wowspec.runtime.processor import RetryableAggregateProcessor
from wowspec.world.world import World


@create_aggregate
class Open(BaseModel):
    """Creates a lock."""

    id: str = "a-1"


class Turn(BaseModel):
    """Changes it."""

    id: str = "a-1"
    fails: bool = False


class Idle(BaseModel):
    """Does nothing."""

    id: str = "a-1"


@create_aggregate
class Refuse(BaseModel):
    """Is refused by an event that no state remembers."""

    id: str = "a-1"


class Opened(BaseModel):
    """The lock is there."""


class Turned(BaseModel):
    """It was turned."""


class Refused(BaseModel, IgnoreSourcing):
    """A refusal that is no history."""

    error_code: str = "Refused"
    error_msg: str = "no"


class LockState(BaseModel):
    """Counts turns."""

    id: str
    turns: int = 0

    def on_sourcing(self, event: Turned) -> None:
        self.turns += 1


@aggregate_root(context="house")
class Lock:
    """A lock."""

    def __init__(self, state: LockState) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened()

    @on_command
    def turn(self, command: Turn) -> Turned:
        if command.fails:
            raise KeyError("stuck")
        return Turned()

    @on_command
    def idle(self, command: Idle) -> None:
        return None

    @on_command
    def refuse(self, command: Refuse) -> Refused:
        return Refused()


class Recording:
    """Notes that it was passed, before and after the rest."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name, self.log = name, log

    async def filter(self, exchange, next):
        self.log.append(f"{self.name} before")
        await next(exchange)
        self.log.append(f"{self.name} after")


def run(world, coro):
    """Run one coroutine of a world to its end: its task."""
    task = world.scheduler.spawn(coro, "run")
    world.scheduler.run()
    return task


def exchange():
    """A command on its way."""
    message = CommandMessage("c-1", Open(), AggregateRef("house", "lock", "a-1"), "open", "c-1", Header())
    return ServerCommandExchange(message)


@pytest.fixture
def house():
    """A pipeline with a lock."""
    pipeline = Pipeline(Lock)
    assert pipeline.send(Open()).code == "Ok"
    return pipeline


# --- building a chain ---


@pytest.mark.clause("CMD-175", "EVT-123")
def test_an_empty_chain_completes():
    """There is nothing to do."""
    assert run(World(), build_chain([])(exchange())).result() is None


@pytest.mark.clause("CMD-174", "EVT-123")
def test_filters_around_each_other():
    """Outermost first by their order, inner ones within."""
    log: list[str] = []
    filters = [
        NamedFilter("inner", Order(ORDER_LAST), Recording("inner", log)),
        NamedFilter("second", Order(0, before=("inner",)), Recording("second", log)),
        NamedFilter("outer", Order(ORDER_FIRST), Recording("outer", log)),
    ]

    run(World(), build_chain(filters)(exchange()))

    assert log == ["outer before", "second before", "inner before", "inner after", "second after", "outer after"]


@pytest.mark.clause("CMD-173", "CMD-185", "EVT-123")
def test_who_takes_part():
    """A filter that names no dispatcher is in every chain, another in those of the dispatchers that it names."""
    log: list[str] = []
    filters = [
        NamedFilter("all", Order(), Recording("all", log), None),
        NamedFilter("commands", Order(), Recording("commands", log)),
        NamedFilter("compensation", Order(), Recording("compensation", log), (SNAPSHOT_DISPATCHER,)),
    ]

    passed = {}
    for dispatcher in (COMMAND_DISPATCHER, SNAPSHOT_DISPATCHER, *EVENT_DISPATCHERS.values()):
        log.clear()
        run(World(), build_chain(filters, dispatcher)(exchange()))
        passed[dispatcher] = log[: len(log) // 2]

    assert passed == {
        "CommandDispatcher": ["all before", "commands before"],
        "SnapshotDispatcher": ["all before", "compensation before"],
        "DomainEventDispatcher": ["all before"],
        "ProjectionDispatcher": ["all before"],
        "StatelessSagaDispatcher": ["all before"],
    }


@pytest.mark.clause("CMD-173")
def test_a_filter_of_the_users_in_several_chains():
    """What was added for a dispatcher is passed by its messages too."""
    log: list[str] = []
    pipeline = Pipeline(
        Lock,
        filters=(
            NamedFilter("mine", Order(), Recording("mine", log), (COMMAND_DISPATCHER, SNAPSHOT_DISPATCHER)),
            NamedFilter("theirs", Order(), Recording("theirs", log), (EVENT_DISPATCHERS[ProcessorKind.PROJECTION],)),
        ),
    )

    pipeline.send(Open())

    assert log == ["mine before", "mine after", "mine before", "mine after"]


def test_a_filter_comes_too_late():
    """Once a chain is in use, no filter can join it."""
    pipeline = Pipeline(Lock)

    with pytest.raises(SpecError, match=r"the filter late came after the command chain was built"):
        pipeline.runtime.add_filter(NamedFilter("late", Order(), pipeline))


@pytest.mark.clause("CMD-174", "CMD-185")
def test_the_order_of_the_command_filters():
    """Notifier, aggregate, event publication, state-event publication: nothing else takes part."""
    chain = [
        (PROCESSED_NOTIFIER, Order(ORDER_FIRST)),
        (AGGREGATE_PROCESSOR, Order(0)),
        (SEND_DOMAIN_EVENT_STREAM, Order(ORDER_LAST, after=(AGGREGATE_PROCESSOR,))),
        (SEND_STATE_EVENT, Order(ORDER_LAST, after=(SEND_DOMAIN_EVENT_STREAM,))),
    ]

    assert [(row.name, row.order) for row in COMMAND_FILTERS] == chain


@pytest.mark.clause("CMD-186")
def test_the_command_chain_has_no_retrying_filter():
    """The filter that retries an inner chain is there for events alone."""
    retrying = [row.name for rows in EVENT_FILTERS.values() for row in rows if "Retryable" in row.name]

    assert set(retrying) == {"RetryableFilter"}
    assert not any("Retryable" in row.name for row in (*COMMAND_FILTERS, *SNAPSHOT_FILTERS))


# --- the handler ---


@pytest.mark.clause("CMD-170", "CMD-171")
def test_an_error_is_kept_and_logged(house):
    """It stands on the exchange and in the log, and the next command is handled."""
    outcome = house.send(Turn(fails=True))

    assert type(outcome.exchange.error) is KeyError
    assert house.failures() == [("command.handler", outcome.exchange.error)]
    assert house.send(Turn()).code == "Ok"


@pytest.mark.clause("CMD-170", "CMD-172")
def test_an_error_handler_that_raises():
    """The alternative logs and raises again; the error stands on the exchange before."""
    world, failing = World(), exchange()

    class Failing:
        async def filter(self, exchange, next):
            raise KeyError("inner")

    chain = build_chain([NamedFilter("failing", Order(), Failing())])
    task = run(world, handle(chain, failing, world, "here", log_error))

    assert type(task.error) is KeyError
    assert failing.error is task.error
    assert [(entry.point, entry.error) for entry in world.log] == [("here", task.error)]


@pytest.mark.clause("CMD-167")
def test_an_error_at_the_call():
    """What the outermost filter raises before it gives something to await, no error handler sees."""
    world, failing = World(), exchange()

    class Failing:
        def filter(self, exchange, next):
            raise KeyError("at once")

    chain = build_chain([NamedFilter("failing", Order(), Failing())])
    task = run(world, handle(chain, failing, world, "here"))

    assert type(task.error) is KeyError
    assert (failing.error, world.log) == (None, [])


# --- the aggregate filter ---


@pytest.mark.clause("CMD-176", "CMD-188")
def test_what_the_aggregate_filter_leaves_on_the_exchange(house):
    """Services and a processor; the dispatcher's metadata was there before."""
    outcome = house.send(Turn())

    assert outcome.exchange.services is house.world.services
    assert type(outcome.exchange.aggregate_processor) is RetryableAggregateProcessor
    assert outcome.exchange.aggregate_metadata.command_class is Lock


@pytest.mark.clause("CMD-167", "CMD-176")
def test_the_aggregate_filter_needs_metadata(house):
    """Without it nothing is processed, and nothing acknowledged."""
    before = len(house.world.trace)

    task = run(house.world, AggregateProcessorFilter(house.runtime).filter(exchange(), None))

    assert type(task.error) is IllegalStateError
    assert len(house.world.trace) == before


@pytest.mark.clause("CMD-177", "CMD-178", "CMD-179", "EVT-037")
def test_acknowledged_once_between_store_and_publication(house):
    """On success and on failure alike; only a success is published."""
    before = len(house.lane())
    house.send(Turn())
    assert house.lane()[before:][2:] == [
        "event_store.append",
        "command.acknowledge",
        "domain_event_bus.send",
        "state_event_bus.send",
        "wait.notify:PROCESSED",
    ]

    before = len(house.lane())
    house.send(Turn(fails=True))
    assert house.lane()[before:][2:] == ["command.acknowledge", "wait.notify:PROCESSED"]


@pytest.mark.clause("CMD-177", "CMD-178")
@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (faults.command.acknowledge.fails(), InjectedFault),
        (faults.command.acknowledge.times_out(), InjectedTimeout),
    ],
)
def test_a_failed_acknowledgement(house, fault, error, fails):
    """Its error takes the place of the outcome; nothing is published, nothing retried, what is stored stays."""
    house.arm(fault)
    published = len(house.rows("domain_event_bus.send"))

    outcome = house.send(Turn(fails=fails))

    assert type(outcome.error) is error
    assert outcome.exchange.attempts == 1
    assert len(house.rows("command.acknowledge")) == 2
    assert len(house.rows("domain_event_bus.send")) == published
    assert len(house.stored(outcome)) == (1 if fails else 2)


# --- publishing ---


@pytest.mark.clause("CMD-180", "EVT-037")
def test_the_very_stream_is_published(house):
    """The object that was stored and stands on the exchange goes to the bus, before the rest of the chain."""
    outcome = house.send(Turn())

    published = house.rows("domain_event_bus.send")[-1]
    assert published.subject is outcome.exchange.event_stream


@pytest.mark.clause("CMD-180", "CMD-182", "CMD-275", "EVT-038")
def test_without_a_stream_nothing_is_published(house):
    """Both filters just go on."""
    before = len(house.lane())
    outcome = house.send(Idle())

    assert outcome.code == "Ok"
    assert not [point for point in house.lane()[before:] if "bus.send" in point]


@pytest.mark.clause("CMD-181", "EVT-037", "EVT-040")
def test_a_failed_event_publication(house):
    """It stops the chain: no state event, PROCESSED fails, though the events are stored."""
    house.arm(faults.domain_event_bus.send.fails())
    before = len(house.rows("state_event_bus.send"))

    outcome = house.send(Turn())

    assert type(outcome.error) is InjectedFault
    assert outcome.result.aggregate_version == 2
    assert len(house.stored(outcome)) == 2
    assert len(house.rows("state_event_bus.send")) == before


@pytest.mark.clause("CMD-184", "EVT-038", "EVT-040")
def test_a_failed_state_event_publication(house):
    """It is logged, and nothing else: PROCESSED succeeds."""
    house.arm(faults.state_event_bus.send.fails())

    outcome = house.send(Turn())

    assert outcome.code == "Ok"
    [(point, error)] = house.failures()
    assert (point, type(error)) == ("state_event_bus.send", InjectedFault)


@pytest.mark.clause("CMD-311", "CMD-182", "EVT-038")
def test_no_state_event_of_an_uninitialised_state(house):
    """A refusal that is no history is stored and published; the state stays at 0, and has no state event."""
    outcome = house.send(Refuse(id="a-2"))

    assert outcome.code == "Refused"
    assert [stream.version for stream in house.stored(outcome)] == [1]
    assert [row.point for row in house.world.trace if row.key == "a-2" and "bus.send" in row.point] == [
        "command_bus.send",
        "domain_event_bus.send",
    ]
    assert outcome.exchange.command_aggregate.state.version == 0
    assert house.send(Open(id="a-2")).code == "DuplicateAggregateId"


@pytest.mark.clause("CMD-182")
def test_no_state_event_without_a_command_aggregate(house):
    """A stream alone is not enough."""
    [filter_] = [row.make(house.runtime) for row in COMMAND_FILTERS if row.name == SEND_STATE_EVENT]
    done: list[Any] = []
    lonely = exchange()
    lonely.event_stream = house.send(Turn()).exchange.event_stream
    before = len(house.world.trace)

    async def rest(exchange):
        done.append(exchange)

    run(house.world, filter_.filter(lonely, rest))

    assert done == [lonely]
    assert len(house.world.trace) == before


@pytest.mark.clause("CMD-183", "EVT-038", "EVT-039")
def test_a_state_event_is_a_copy_of_the_stream(house):
    """Headers of its own with what stood there before, the live state object, and the facts of its aggregate."""
    outcome = house.send(Turn())
    [row] = house.rows("state_event_bus.send")[-1:]
    state_event, stream = row.subject, outcome.exchange.event_stream
    state = outcome.exchange.command_aggregate.state

    assert state_event.stream is not stream
    assert state_event.header is not stream.header
    assert dict(state_event.header) == dict(stream.header)
    assert state_event.header.get("upstream_id") == outcome.message.id
    assert all(copy.header is not event.header for copy, event in zip(state_event.events, stream.events, strict=True))
    assert state_event.state is state.state
    assert (state_event.first_operator, state_event.first_event_time, state_event.tags, state_event.deleted) == (
        state.first_operator,
        state.first_event_time,
        state.tags,
        state.deleted,
    )


@pytest.mark.clause("CMD-426", "EVT-040")
def test_processed_is_told_last(house):
    """The notifier is outermost: it tells when all inside has ended."""
    house.send(Turn())

    assert house.lane()[-1] == "wait.notify:PROCESSED"
