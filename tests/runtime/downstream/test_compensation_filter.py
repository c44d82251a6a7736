"""Recording of failed executions, and the loop that runs them again until they succeed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runtime.downstream.shop import ORDER, Bench, Place, Placed, state_event_of, stream_of
from wowspec import (
    DomainEvent,
    IllegalStateError,
    event_processor,
    on_event,
    on_state_event,
    projection,
    retry,
    stateless_saga,
)
from wowspec.error_policy import ErrorPolicy
from wowspec.errors import BindingError, CommandValidationError, Recoverability
from wowspec.faults.values import Fault
from wowspec.messages.json_reading import read_event_stream
from wowspec.messages.json_shapes import write_event_stream
from wowspec.modeling.annotations import Retry
from wowspec.modeling.identity import SNAPSHOT_FUNCTION, AggregateRef
from wowspec.runtime.branch import branch
from wowspec.runtime.downstream.compensation import CompensateSupporter, CompensationTarget
from wowspec.runtime.downstream.compensation_filter import (
    BATCH,
    PERIOD_NANOS,
    CompensationEventProcessor,
    CompensationScheduler,
    recoverability_by,
)
from wowspec.runtime.downstream.execution_failed import (
    EXECUTION_FAILED,
    CompensationPrepared,
    ExecutionFailedState,
    FailedAggregate,
    Status,
)
from wowspec.runtime.downstream.retry_times import RetrySpec
from wowspec.world.points import COMMAND_BUS_SEND, SNAPSHOT_SAVE, FaultKind


class Failing(list):
    """Errors to raise, one for each call; a service by name."""

    calls = 0

    def fail(self) -> None:
        """Raise the next error, if one is left."""
        self.calls += 1
        if self:
            raise self.pop(0)


@projection(context="shop")
class View:
    """Fails as it is told."""

    def on_event(self, event: Placed, failing: Failing) -> None:
        failing.fail()


@event_processor(context="shop")
class WithSpec:
    """Says how it is to be tried again."""

    @retry(max_retries=3, min_backoff=7, execution_timeout=11, unrecoverable=(KeyError,))
    @on_event
    def placed(self, event: Placed, failing: Failing) -> None:
        failing.fail()


@event_processor(context="shop")
class OptedOut:
    """Is never compensated."""

    @retry(enabled=False)
    @on_event
    def placed(self, event: Placed, failing: Failing) -> None:
        failing.fail()


def bench_of(*parts: Any, errors: tuple[Exception, ...] = ()) -> tuple[Bench, Failing]:
    """A bench with compensation, and what its functions fail with."""
    failing = Failing(errors)
    return Bench(*parts, services={"failing": failing}, compensation=True), failing


def records(bench: Bench, runtime: Any = None) -> list[ExecutionFailedState]:
    """The failed executions on record."""
    runtime = runtime or bench.runtime
    refs = [ref for ref in runtime.event_store.aggregate_ids() if ref.named_aggregate == EXECUTION_FAILED]
    return [runtime.snapshot_store.load_now(ref).state for ref in refs]


@pytest.mark.clause("EVT-139", "EVT-141")
@pytest.mark.parametrize("kind", [projection, event_processor, stateless_saga])
def test_a_failure_is_recorded(kind):
    """The failed event, the function, the error and its class go on record; the failure itself goes on."""

    @kind(context="shop")
    class Any3:
        def on_event(self, event: Placed, failing: Failing) -> None:
            failing.fail()

    bench, _ = bench_of(Any3, errors=(IllegalStateError("no"),))
    start = bench.world.now_millis()

    bench.publish(stream_of(Placed(), version=4))

    (record,) = records(bench)
    assert (record.event_id.id, record.event_id.aggregate_id.ref(), record.event_id.version) == ("o-1/v4#1", ORDER, 4)
    assert record.function.info().processor_name == "Any3"
    assert (record.error.error_code, record.error.error_msg) == ("IllegalState", "no")
    trace = record.error.stack_trace.splitlines()
    assert [line for line in trace if "IllegalStateError" in line] == ["IllegalStateError: no"]
    assert [line for line in trace if line.startswith("  at ")]
    assert not any(line.startswith("  at wowspec.") or "/" in line for line in trace)
    assert (record.execute_at, record.recoverable, record.status) == (start, Recoverability.UNKNOWN, Status.FAILED)
    assert record.retry_spec == RetrySpec()
    assert bench.logged == ["event.handler:Any3.on_event IllegalStateError"]


@pytest.mark.clause("EVT-139", "EVT-129")
def test_without_failure_and_without_compensation_nothing_is_recorded():
    """A function that succeeds, one that opted out, and a world without compensation record nothing."""
    bench, _ = bench_of(View)
    bench.publish(stream_of(Placed()))
    assert records(bench) == []

    bench, _ = bench_of(OptedOut, errors=(KeyError("no"),))
    bench.publish(stream_of(Placed()))
    assert records(bench) == []
    assert bench.logged == ["event.handler:OptedOut.placed KeyError"]

    bench = Bench(View, services={"failing": Failing([KeyError("no")])})
    bench.publish(stream_of(Placed()))
    assert EXECUTION_FAILED not in bench.runtime.catalog.aggregates


@pytest.mark.clause("EVT-129", "EVT-130", "EVT-141")
def test_what_retry_says_goes_on_record():
    """The spec of the annotation, and the class of the error by it."""
    bench, _ = bench_of(WithSpec, errors=(KeyError("no"),))

    bench.publish(stream_of(Placed()))

    (record,) = records(bench)
    assert record.retry_spec == RetrySpec(max_retries=3, min_backoff=7, execution_timeout=11)
    assert record.recoverable is Recoverability.UNRECOVERABLE


@pytest.mark.clause("EVT-129", "EVT-141")
def test_what_retry_says_of_an_overridden_function_holds():
    """Annotations are looked for on what a function overrides, too; the nearest one counts."""

    @event_processor(context="shop")
    class Overriding(WithSpec):
        @on_event
        def placed(self, event: Placed, failing: Failing) -> None:
            failing.fail()

    @event_processor(context="shop")
    class OwnSpec(WithSpec):
        @retry(max_retries=4)
        @on_event
        def placed(self, event: Placed, failing: Failing) -> None:
            failing.fail()

    bench, _ = bench_of(Overriding, OwnSpec, errors=(KeyError("no"), KeyError("no")))

    bench.publish(stream_of(Placed()))

    assert {record.function.processor_name: record.retry_spec.max_retries for record in records(bench)} == {
        "Overriding": 3,
        "OwnSpec": 4,
    }


@pytest.mark.clause("EVT-130")
@pytest.mark.parametrize(
    ("recoverable", "unrecoverable", "expected"),
    [
        ((), (), Recoverability.UNKNOWN),
        ((LookupError,), (), Recoverability.RECOVERABLE),
        ((), (LookupError,), Recoverability.UNRECOVERABLE),
        ((LookupError,), (KeyError,), Recoverability.UNRECOVERABLE),
        ((KeyError,), (LookupError,), Recoverability.RECOVERABLE),
        ((KeyError,), (KeyError,), Recoverability.RECOVERABLE),
        ((ValueError,), (TypeError,), Recoverability.UNKNOWN),
    ],
)
def test_the_nearest_listed_class_wins(recoverable, unrecoverable, expected):
    """The nearest listed class in the hierarchy counts, on a tie as recoverable; without one, the usual rule."""
    mark = Retry(recoverable=recoverable, unrecoverable=unrecoverable)

    assert recoverability_by(mark, KeyError("x"), ErrorPolicy()) is expected
    assert recoverability_by(None, TimeoutError(), ErrorPolicy()) is Recoverability.RECOVERABLE
    assert recoverability_by(mark, TimeoutError(), ErrorPolicy()) is Recoverability.RECOVERABLE


@pytest.mark.clause("EVT-141")
def test_refused_fields_go_on_record():
    """The binding errors of a failure are kept."""
    error = CommandValidationError(None, [BindingError("amount", "too small")])
    bench, _ = bench_of(View, errors=(error,))

    bench.publish(stream_of(Placed()))

    (record,) = records(bench)
    assert [(item.name, item.msg) for item in record.error.binding_errors] == [("amount", "too small")]


@pytest.mark.clause("EVT-139", "EVT-141", "EVT-126")
def test_a_failed_snapshot_is_recorded():
    """The snapshot function is compensated like any other; its message is the stream."""
    bench, _ = bench_of()
    bench.runtime.arm().arm(Fault(SNAPSHOT_SAVE, FaultKind.FAIL, aggregate="o-1"))

    bench.publish(state_event_of(Placed(), version=2))

    (record,) = records(bench)
    assert record.function.info() == SNAPSHOT_FUNCTION
    assert (record.event_id.id, record.event_id.version) == ("o-1/v2", 2)


@pytest.mark.clause("EVT-142", "EVT-124")
def test_exhausted_retries_are_recorded_as_their_wrapper():
    """The filter stands outside the retries: it records the wrapper's code, and records once."""
    bench, failing = bench_of(View, errors=tuple(TimeoutError(str(n)) for n in range(4)))

    bench.publish(stream_of(Placed()))

    assert failing.calls == 4
    (record,) = records(bench)
    assert record.error.error_code == "IllegalState"
    assert record.recoverable is Recoverability.UNKNOWN


@pytest.mark.clause("EVT-139")
def test_the_record_passes_the_gateway():
    """The command is sent by the gateway: if that fails, its error takes the place of the failure."""
    bench, _ = bench_of(View, errors=(KeyError("no"),))
    bench.runtime.arm().arm(Fault(COMMAND_BUS_SEND, FaultKind.FAIL))

    bench.publish(stream_of(Placed()))

    assert bench.logged == ["event.handler:View.on_event InjectedFault"]
    assert records(bench) == []
    points = [row.point for row in bench.world.trace]
    assert points.index("request_id.check") < points.index("command.validate") < points.index(COMMAND_BUS_SEND)


def with_json(bench: Bench) -> None:
    """Let streams that are loaded go through JSON, so that marks reach the events."""
    store = bench.runtime.event_store
    load = type(store).load_now

    class Loaded:
        async def load(self, *args: Any) -> list[Any]:
            return [read_event_stream(write_event_stream(stream)) for stream in load(store, *args)]

    compensators = bench.runtime.compensation.supporter._compensators
    for compensator in compensators.values():
        compensator._event_store = Loaded()


def due(bench: Bench, seconds: int) -> int:
    """Let time pass, then run the scheduler once; how many tries it prepared."""
    bench.world.clock.move_to(bench.world.clock.nanos + seconds * 1_000_000_000)
    return bench.run(CompensationScheduler(bench.runtime).run_once())


@pytest.mark.clause("EVT-134", "EVT-138", "EVT-140", "EVT-143", "EVT-147", "EVT-148")
def test_the_loop_ends_with_a_success():
    """Failed, prepared when due, published again, failed again, prepared later, succeeded: on one record."""
    bench, failing = bench_of(View, errors=(KeyError("one"), KeyError("two")))
    with_json(bench)
    bench.send(Place())
    (record,) = records(bench)
    assert (record.status, record.error.error_msg) == (Status.FAILED, "one")

    assert due(bench, 179) == 0
    assert due(bench, 1) == 1
    (record,) = records(bench)
    assert (record.status, record.error.error_msg, record.retry_state.retries) == (Status.FAILED, "two", 1)

    assert due(bench, 359) == 0
    assert due(bench, 1) == 1
    (record,) = records(bench)
    assert (record.status, record.retry_state.retries) == (Status.SUCCEEDED, 2)
    assert failing.calls == 3
    assert due(bench, 100_000) == 0


@pytest.mark.clause("EVT-137")
def test_in_memory_the_mark_is_lost():
    """With streams from memory, a failed re-delivery is a new failure, and the first record is never answered."""
    bench, _ = bench_of(View, errors=(KeyError("one"), KeyError("two")))
    bench.send(Place())

    assert due(bench, 180) == 1

    assert [(record.status, record.error.error_msg) for record in records(bench)] == [
        (Status.PREPARED, "one"),
        (Status.FAILED, "two"),
    ]


@pytest.mark.clause("EVT-136", "EVT-140", "SNP-019")
def test_a_snapshot_is_compensated():
    """State events for the snapshot function carry their mark where it is looked for, in memory too."""
    bench, _ = bench_of()
    bench.runtime.arm().arm(Fault(SNAPSHOT_SAVE, FaultKind.FAIL, aggregate="o-1"))
    bench.send(Place())
    assert bench.runtime.snapshot_store.load_now(ORDER) is None

    assert due(bench, 180) == 1

    (record,) = records(bench)
    assert record.status is Status.SUCCEEDED
    assert bench.runtime.snapshot_store.load_now(ORDER).version == 1


@pytest.mark.clause("EVT-148", "EVT-089")
def test_only_local_aggregates_are_published_again():
    """A try of another process's aggregate is left to that process; the compensation's id is the record's."""
    calls = []

    class Supporter(CompensateSupporter):
        __slots__ = ()

        async def compensate(self, aggregate_id, *, target, version=None, **_):
            calls.append((aggregate_id, version, target))
            return 1

    bench, failing = bench_of(View, errors=(KeyError("one"),))
    failing.append(KeyError("two"))
    bench.send(Place())
    (record,) = records(bench)
    processor = CompensationEventProcessor(Supporter(None, None, lambda named: named == ORDER.named_aggregate))

    def prepared(ref):
        event_id = record.event_id.model_copy(update={"aggregate_id": FailedAggregate.of(ref)})
        body = CompensationPrepared(event_id=event_id, function=record.function, retry_state=record.retry_state)
        ref_of_record = AggregateRef(EXECUTION_FAILED.context_name, EXECUTION_FAILED.aggregate_name, "f-1")
        return DomainEvent("e", body, ref_of_record, 2, "n", "c", {})

    bench.run(processor.prepared(prepared(AggregateRef("elsewhere", "thing", "t-1"))))
    assert calls == []
    bench.run(processor.prepared(prepared(ORDER)))
    assert calls == [(ORDER, 1, CompensationTarget("f-1", record.function.info()))]


@pytest.mark.clause("EVT-148", "EVT-139")
def test_the_processor_of_compensations_is_not_compensated():
    """A re-delivery that fails, here because the bus refuses it, is logged and makes no record of its own."""
    bench, _ = bench_of(View, errors=(KeyError("one"),))
    bench.send(Place())

    async def refuse(_: Any) -> None:
        raise ConnectionError("down")

    for compensator in bench.runtime.compensation.supporter._compensators.values():
        compensator._send = refuse
    assert due(bench, 180) == 1

    assert len(records(bench)) == 1
    assert bench.logged[-1] == "event.handler:CompensationEventProcessor.prepared ConnectionError"


@pytest.mark.clause("EVT-147")
def test_batches_and_periods():
    """A hundred at a time, in order of their ids, each minute; a command that cannot be sent stops no other."""
    assert (BATCH, PERIOD_NANOS) == (100, 60 * 1_000_000_000)
    bench, _ = bench_of(View, errors=tuple(KeyError(str(n)) for n in range(3)))
    for n in range(3):
        bench.publish(stream_of(Placed(), version=1, ref=AggregateRef("shop", "order", f"o-{n}")))
    bench.world.clock.move_to(bench.world.clock.nanos + 180 * 1_000_000_000)
    ids = sorted(ref.id for ref in bench.runtime.event_store.aggregate_ids() if ref.named_aggregate == EXECUTION_FAILED)

    scheduler = CompensationScheduler(bench.runtime, batch=2)
    assert scheduler.due() == ids[:2]
    bench.runtime.arm().arm(Fault(COMMAND_BUS_SEND, FaultKind.FAIL))
    assert bench.run(scheduler.run_once()) == 2
    assert bench.logged[-1] == "compensation.scheduler InjectedFault"
    assert scheduler.due() == [ids[0], ids[2]]

    start = bench.world.clock.nanos
    bench.run(scheduler.run_until(start + 2 * PERIOD_NANOS))
    assert bench.world.clock.nanos == start + 2 * PERIOD_NANOS
    assert scheduler.due() == []


@projection(context="shop")
class StateView:
    """Fails on state events."""

    @on_state_event
    def placed(self, event: Placed, failing: Failing) -> None:
        failing.fail()


@pytest.mark.clause("EVT-135", "EVT-136", "EVT-137")
def test_a_function_of_state_events_is_compensated():
    """Its state event is published again; in memory the mark does not reach the events, so the record stays open."""
    bench, failing = bench_of(StateView, errors=(KeyError("one"),))
    bench.send(Place())

    assert due(bench, 180) == 1

    assert failing.calls == 2
    assert [record.status for record in records(bench)] == [Status.PREPARED]


def test_a_branch_compensates_in_its_own_world():
    """After a branch the record, its processor and its buses are the branch's."""
    bench, failing = bench_of(View, errors=(KeyError("one"),))
    bench.send(Place())
    other = branch(bench.runtime)
    other.world.clock.move_to(other.world.clock.nanos + 180 * 1_000_000_000)
    task = other.world.scheduler.spawn(CompensationScheduler(other).run_once(), "due")
    other.world.scheduler.run()

    assert task.result() == 1
    assert failing.calls == 2
    assert [record.status for record in records(bench, other)] == [Status.PREPARED]
    assert [record.status for record in records(bench)] == [Status.FAILED]
