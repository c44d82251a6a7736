"""The retrying processor: what is retried, how often, and what an attempt leaves to the next."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from pydantic import BaseModel

from tests.runtime.pipeline import Pipeline
from wowspec import DeleteAggregate, aggregate_root, create_aggregate, faults, on_command
from wowspec.errors import (
    CommandExpectVersionConflictError,
    DuplicateAggregateIdError,
    DuplicateRequestIdError,
    EventVersionConflictError,
    IllegalStateError,
    InjectedFault,
    InjectedTimeout,
    RetriesExhaustedError,
)
from wowspec.messages.exchange import CommandResultAccessor
from wowspec.modeling.annotations import retry

MILLIS = 10**6


@create_aggregate
class Open(BaseModel):
    """Creates a till."""

    id: str = "a-1"


class Pay(BaseModel):
    """Changes it."""

    id: str = "a-1"


class Once(BaseModel):
    """Yields something the first time only."""

    id: str = "a-1"


class Opened(BaseModel):
    """The till is there."""


class Paid(BaseModel):
    """Something was paid in."""


class Till(BaseModel):
    """Counts."""

    id: str
    paid: int = 0

    def on_sourcing(self, event: Paid) -> None:
        self.paid += 1


#: What happened in the running test.
calls: list[Any] = []


@pytest.fixture(autouse=True)
def _fresh():
    calls.clear()


@aggregate_root(context="shop")
class Cashier:
    """Notes the state that it sees."""

    def __init__(self, state: Till) -> None:
        self.state = state
        calls.append(self)

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened()

    @on_command
    @retry(unrecoverable=(TimeoutError,))
    def pay(self, command: Pay, results: CommandResultAccessor) -> Paid:
        results.set_command_result(f"attempt {len(results.get_command_result())}", self.state.paid)
        return Paid()

    @on_command
    def once(self, command: Once, results: CommandResultAccessor) -> Paid | None:
        if results.get_command_result():
            return None
        results.set_command_result("first", True)
        return Paid()


@pytest.fixture
def shop():
    """A pipeline whose till is open."""
    pipeline = Pipeline(Cashier)
    assert pipeline.send(Open()).code == "Ok"
    calls.clear()
    return pipeline


APPEND = faults.event_store.append


@pytest.mark.clause("CMD-189", "CMD-191", "EVT-034")
def test_a_create_command_looks_at_no_store(shop):
    """It runs on a blank state though the aggregate exists; only the append is refused, for good."""
    before = len(shop.lane())

    outcome = shop.send(Open())

    assert type(outcome.error) is DuplicateAggregateIdError
    assert outcome.code == "DuplicateAggregateId"
    assert outcome.exchange.command_aggregate.state.version == 1
    assert outcome.exchange.attempts == 1
    assert shop.lane()[before:] == ["event_store.append", "command.acknowledge", "wait.notify:PROCESSED"]


@pytest.mark.clause("CMD-192")
def test_creating_what_was_deleted(shop):
    """A deleted aggregate is not told as deleted: its first version is taken."""
    shop.send(DeleteAggregate(), named_aggregate="shop.cashier", aggregate_id="a-1")

    assert type(shop.send(Open()).error) is DuplicateAggregateIdError


@pytest.mark.clause("CMD-190")
def test_other_commands_load(shop):
    """From the snapshot, then what comes after it."""
    before = len(shop.lane())

    outcome = shop.send(Pay())

    assert shop.lane()[before : before + 2] == ["snapshot.load", "event_store.load"]
    assert outcome.exchange.command_aggregate.state.version == 2


@pytest.mark.clause("CMD-188")
def test_one_processor_a_command(shop):
    """Each exchange has its own."""
    first, second = shop.send(Pay()).exchange, shop.send(Pay()).exchange

    assert first.aggregate_processor is not second.aggregate_processor


@pytest.mark.clause("CMD-194", "CMD-195", "CMD-196", "EVT-034", "DOC-010")
@pytest.mark.parametrize("fault", [APPEND.times_out(times=3), APPEND.conflicts(times=3)], ids=["timeout", "conflict"])
def test_three_retries_with_growing_delays(shop, fault):
    """It succeeds at the fourth attempt, after 0.5, 1 and 2 seconds; jitter is left out."""
    shop.arm(fault)

    outcome = shop.send(Pay())

    assert outcome.code == "Ok"
    assert outcome.exchange.attempts == 4
    instants = [row.nanos for row in shop.rows("event_store.append")[1:]]
    assert [(later - earlier) // MILLIS for earlier, later in pairwise(instants)] == [
        500,
        1000,
        2000,
    ]


@pytest.mark.clause("CMD-193")
def test_the_error_of_a_retried_attempt_is_gone(shop):
    """A success is a success: the exchange has no error, and PROCESSED neither."""
    shop.arm(APPEND.times_out())

    outcome = shop.send(Pay())

    assert (outcome.exchange.error, outcome.code) == (None, "Ok")


@pytest.mark.clause("CMD-196", "CMD-206", "EVT-034")
@pytest.mark.parametrize(
    ("arrange", "body", "options", "error"),
    [
        (APPEND.fails(), Pay(), {}, InjectedFault),
        (None, Pay(), {"aggregate_version": 9}, CommandExpectVersionConflictError),
        (None, Open(), {}, DuplicateAggregateIdError),
    ],
    ids=["unknown", "expected version", "duplicate id"],
)
def test_what_is_not_retried(shop, arrange, body, options, error):
    """One attempt, and the very error comes out."""
    if arrange is not None:
        shop.arm(arrange)

    outcome = shop.send(body, **options)

    assert type(outcome.error) is error
    assert outcome.exchange.attempts == 1


@pytest.mark.clause("CMD-196", "EVT-034")
def test_a_repeated_request_id_is_final(shop):
    """The store's refusal of a request id is not retried."""
    shop.send(Pay(), request_id="r-1")
    shop.runtime.gateway.request_ids = _LetsThrough()

    outcome = shop.send(Pay(), request_id="r-1")

    assert type(outcome.error) is DuplicateRequestIdError
    assert outcome.exchange.attempts == 1


class _LetsThrough:
    async def check(self, command):
        return True

    def begin(self, command):
        return True


@pytest.mark.clause("CMD-207")
def test_the_retry_annotation_is_not_for_commands(shop):
    """It tells compensation of event functions; a command function is retried all the same."""
    shop.arm(APPEND.times_out())

    assert shop.send(Pay()).exchange.attempts == 2


@pytest.mark.clause("CMD-196")
def test_a_failed_load_is_retried_too(shop):
    """A time-out of the store is recoverable wherever it strikes."""
    shop.arm(faults.event_store.load.times_out(times=2))

    outcome = shop.send(Pay())

    assert (outcome.code, outcome.exchange.attempts, len(calls)) == ("Ok", 3, 1)


@pytest.mark.clause("CMD-197", "CMD-222", "CMD-238")
def test_every_attempt_builds_anew(shop):
    """State, root and command aggregate are new; what the failed one sourced is not seen."""
    shop.arm(APPEND.times_out())

    outcome = shop.send(Pay())

    first, second = calls
    assert first is not second
    assert first.state is not second.state
    assert outcome.result.result == {"attempt 0": 0, "attempt 1": 0}
    assert outcome.exchange.command_aggregate.root is second


@pytest.mark.clause("CMD-197")
def test_a_create_command_starts_from_nothing_again():
    """Its second attempt makes a new blank state."""
    pipeline = Pipeline(Cashier)
    pipeline.arm(APPEND.times_out())

    outcome = pipeline.send(Open())

    assert (outcome.code, outcome.exchange.attempts) == ("Ok", 2)
    assert pipeline.rows("event_store.load") == []


@pytest.mark.clause("CMD-198")
def test_what_the_exchange_keeps(shop):
    """Result map, invoke result, function, version and stream of an attempt are there in the next."""
    shop.arm(APPEND.times_out())
    shop.arm(faults.event_store.load.fails(at=2))

    outcome = shop.send(Pay())

    exchange = outcome.exchange
    assert type(outcome.error) is InjectedFault
    assert exchange.command_result == {"attempt 0": 0}
    assert exchange.invoke_result == Paid()
    assert exchange.function.name == "pay"
    assert exchange.aggregate_version == 2
    assert exchange.event_stream.version == 2


@pytest.mark.clause("CMD-199")
def test_a_stale_stream_is_published(shop):
    """An attempt that yields nothing leaves the unsaved stream of the one before, and the filters send it."""
    shop.arm(APPEND.times_out())

    outcome = shop.send(Once())

    assert outcome.code == "Ok"
    assert len(shop.stored(outcome)) == 1
    published = shop.rows("domain_event_bus.send")[-1]
    assert [event.body for event in published.subject.events] == [Paid()]
    assert published.subject.version == 2


@pytest.mark.clause("CMD-200", "CMD-201")
def test_when_the_retries_run_out(shop):
    """The last failure is told to whoever waits for PROCESSED; otherwise the wrapper reaches the handler."""
    shop.arm(APPEND.times_out(times=4))
    waited = shop.send(Pay())
    assert type(waited.error) is InjectedTimeout
    assert waited.exchange.attempts == 4
    assert type(shop.failures()[-1][1]) is InjectedTimeout

    shop.arm(APPEND.conflicts(times=4))
    message = shop.just_send(Pay())
    error = shop.exchanges[message.id].error
    assert type(error) is RetriesExhaustedError
    assert isinstance(error, IllegalStateError)
    assert type(error.__cause__) is EventVersionConflictError


@pytest.mark.clause("CMD-202")
def test_ids_of_attempts(shop):
    """Command and request id stay, stream and event ids are new."""
    shop.arm(APPEND.times_out())

    outcome = shop.send(Pay(), request_id="r-1")

    first, second = (row.subject for row in shop.rows("event_store.append")[1:])
    assert first.command_id == second.command_id == outcome.message.id
    assert first.request_id == second.request_id == "r-1"
    assert first.id != second.id
    assert first.events[0].id != second.events[0].id


@pytest.mark.clause("CMD-203")
def test_a_lost_reply():
    """Stored, but told otherwise: the next attempt is refused, as a duplicate id or a duplicate request."""
    pipeline = Pipeline(Cashier)
    pipeline.arm(APPEND.loses_reply())
    created = pipeline.send(Open())
    assert type(created.error) is DuplicateAggregateIdError

    pipeline.arm(APPEND.loses_reply())
    paid = pipeline.send(Pay())

    assert type(paid.error) is DuplicateRequestIdError
    assert [stream.version for stream in pipeline.stored(paid)] == [1, 2]


@pytest.mark.clause("EVT-034", "CMD-230", "DOC-010")
def test_a_rival_is_overtaken(shop):
    """Someone else stored the version first: the conflict is retried on what they stored."""
    shop.arm(APPEND.rival_appends(Paid()))

    outcome = shop.send(Pay())

    assert outcome.result.aggregate_version == 3
    assert outcome.result.result == {"attempt 0": 0, "attempt 1": 1}
