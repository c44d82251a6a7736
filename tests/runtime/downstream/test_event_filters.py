"""The chains around event functions: their order, retries of recoverable errors, and the signals at their ends."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runtime.downstream.shop import Bench, Place, Placed, Rushed, Ship, Shipped, stream_of
from wowspec import (
    DomainEventExchange,
    IllegalStateError,
    on_event,
    projection,
    recoverable,
    retry,
)
from wowspec.errors import ErrorCode, RetriesExhaustedError
from wowspec.faults.values import Fault
from wowspec.messages.stages import CommandStage
from wowspec.messages.wait_plans import wait_for_stage
from wowspec.modeling.decorators import on_state_event
from wowspec.modeling.ordering import Order, sorted_by_order
from wowspec.modeling.processors import ProcessorKind, event_processor, stateless_saga
from wowspec.runtime.catalog import catalog_of
from wowspec.runtime.chain import EVENT_DISPATCHERS, NamedFilter
from wowspec.runtime.downstream.compensation_filter import EVENT_COMPENSATION, SNAPSHOT_COMPENSATION
from wowspec.runtime.downstream.event_filters import EVENT_FILTERS, STAGE_OF
from wowspec.runtime.downstream.snapshot_dispatcher import SNAPSHOT_FILTERS
from wowspec.runtime.system import Runtime
from wowspec.world.points import FaultKind
from wowspec.world.world import World

DECORATORS = {
    ProcessorKind.EVENT_PROCESSOR: event_processor,
    ProcessorKind.PROJECTION: projection,
    ProcessorKind.STATELESS_SAGA: stateless_saga,
}
KINDS = pytest.mark.parametrize("kind", list(ProcessorKind))


class Journal(list):
    """When functions were tried, in milliseconds from the start; a service by name."""


class Failing:
    """What to fail with, one error for each try; a service by name."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)

    def fail(self) -> None:
        """Raise the next error, if one is left."""
        if self.errors:
            raise self.errors.pop(0)


def bench_of(kind: ProcessorKind, *errors: Exception, **options: Any) -> tuple[Bench, Journal]:
    """A bench with one processor of a kind that fails so."""

    @DECORATORS[kind](context="shop")
    class Trying:
        def on_event(self, exchange: DomainEventExchange[Placed], journal: Journal, failing: Failing) -> None:
            journal.append(exchange)
            failing.fail()

    journal = Journal()
    return Bench(Trying, services={"journal": journal, "failing": Failing(*errors)}, **options), journal


@recoverable
class Busy(Exception):
    """Worth another try."""


def names(rows: Any) -> list[str]:
    """The names of the rows of a chain in the order in which they stand around each other."""
    return [row.name for row in sorted_by_order(rows, lambda row: row.order, lambda row: row.name)]


@pytest.mark.clause("EVT-124", "EVT-125", "PRJ-001")
@KINDS
def test_the_order_of_the_chain(kind):
    """Notifier, then compensation where there is one, then retry, then the function: the same for each kind."""
    notifier = f"{STAGE_OF[kind].name}NotifierFilter"

    assert names(EVENT_FILTERS[kind]) == [notifier, "RetryableFilter", "EventFunctionFilter"]
    assert names((*EVENT_FILTERS[kind], EVENT_COMPENSATION)) == [
        notifier,
        "DomainEventCompensationFilter",
        "RetryableFilter",
        "EventFunctionFilter",
    ]


@pytest.mark.clause("EVT-126")
def test_the_order_of_the_snapshot_chain_with_compensation():
    """Notifier, compensation, the function; no retry."""
    assert names((*SNAPSHOT_FILTERS, SNAPSHOT_COMPENSATION)) == [
        "SnapshotNotifierFilter",
        "StateEventCompensationFilter",
        "SnapshotFunctionFilter",
    ]


@pytest.mark.clause("PRJ-005")
def test_each_kind_signals_its_stage():
    """Event processors, projections and sagas each have a stage, and one dispatcher."""
    assert STAGE_OF == {
        ProcessorKind.EVENT_PROCESSOR: CommandStage.EVENT_HANDLED,
        ProcessorKind.PROJECTION: CommandStage.PROJECTED,
        ProcessorKind.STATELESS_SAGA: CommandStage.SAGA_HANDLED,
    }
    assert set(EVENT_DISPATCHERS) == set(ProcessorKind)


@pytest.mark.clause("PRJ-005", "PRJ-010")
@KINDS
def test_one_signal_for_each_event_and_function(kind):
    """Each execution of a function signals the stage of its kind once, as the last of its event's or not."""
    bench, _ = bench_of(kind)
    stage = STAGE_OF[kind]

    assert bench.send(Place(items=("1", "2")), stage) == "Ok"

    signals = [signal for _, signal in bench.runtime.notifier.received if signal.stage is stage]
    assert [signal.is_last_projection for signal in signals] == [False, True]
    assert {signal.function.processor_name for signal in signals} == {"Trying"}


class Marking:
    """A filter of a user's own."""

    def __init__(self, journal: list[Any], name: str) -> None:
        self._journal = journal
        self._name = name

    async def filter(self, exchange: Any, next: Any) -> None:
        """Write down whose exchange passes."""
        self._journal.append(f"{self._name}: {exchange.function.processor_name}")
        await next(exchange)


@pytest.mark.clause("EVT-123")
def test_filters_of_chosen_chains():
    """A filter stands in the chains of the dispatchers that it names, and in all if it names none."""

    @projection(context="shop")
    class View:
        def on_event(self, event: Placed) -> None: ...

    @event_processor(context="shop")
    class Listener:
        def on_event(self, event: Placed) -> None: ...

    journal: list[Any] = []
    runtime = Runtime(World())
    projections = (EVENT_DISPATCHERS[ProcessorKind.PROJECTION],)
    runtime.add_filter(NamedFilter("Some", Order(), Marking(journal, "some"), projections))
    runtime.add_filter(NamedFilter("All", Order(), Marking(journal, "all"), None))
    runtime.use(catalog_of([View, Listener]))

    runtime.domain_event_bus.send_now(stream_of(Placed()))
    runtime.world.scheduler.run()

    assert sorted(journal) == ["all: Listener", "all: View", "some: View"]


@pytest.mark.clause("EVT-122")
@KINDS
def test_the_function_runs_before_the_rest_of_the_chain(kind):
    """The exchange has the services when the function runs; what stands behind it sees what it left there."""
    journal: list[Any] = []

    class Behind:
        async def filter(self, exchange: Any, next: Any) -> None:
            journal.append((exchange.services is runtime.world.services, exchange.get_command_result()))
            await next(exchange)

    @DECORATORS[kind](context="shop")
    class Noting:
        def on_event(self, exchange: DomainEventExchange[Placed]) -> None:
            exchange.set_command_result("services", exchange.services is runtime.world.services)

    runtime = Runtime(World())
    behind = Order(after=("EventFunctionFilter",))
    runtime.add_filter(NamedFilter("Behind", behind, Behind(), (EVENT_DISPATCHERS[kind],)))
    runtime.use(catalog_of([Noting]))
    runtime.domain_event_bus.send_now(stream_of(Placed()))
    runtime.world.scheduler.run()

    assert journal == [(True, {"services": True})]


@pytest.mark.clause("EVT-127", "EVT-125")
@KINDS
def test_recoverable_errors_are_tried_again(kind):
    """Up to three more tries, two, four and eight seconds apart, on one exchange."""
    bench, journal = bench_of(kind, TimeoutError(), Busy(), Busy())
    start = bench.world.clock.nanos

    bench.publish(stream_of(Placed()))

    assert len(journal) == 4
    assert len({id(exchange) for exchange in journal}) == 1
    assert bench.world.clock.nanos - start == (2 + 4 + 8) * 1_000_000_000
    assert bench.logged == []
    assert journal[0].error is None


@pytest.mark.clause("EVT-127")
@KINDS
def test_exhausted_retries(kind):
    """After the third more try the error is a wrapper around the last failure."""
    last = Busy("last")
    bench, journal = bench_of(kind, Busy(), Busy(), Busy(), last)

    bench.publish(stream_of(Placed()))

    assert len(journal) == 4
    (failure,) = bench.world.log
    assert isinstance(failure.error, RetriesExhaustedError)
    assert failure.error.__cause__ is last


@pytest.mark.clause("EVT-128", "EVT-129", "DOC-003")
@pytest.mark.parametrize("error", [IllegalStateError("no"), KeyError("no"), ValueError("no")])
def test_other_errors_are_not_tried_again(error):
    """An error of no known kind fails the function at once, whatever its @retry says."""

    @projection(context="shop")
    class View:
        @retry(max_retries=5, recoverable=(Exception,))
        @on_event
        def placed(self, event: Placed, journal: Journal, failing: Failing) -> None:
            journal.append(event)
            failing.fail()

    journal = Journal()
    bench = Bench(View, services={"journal": journal, "failing": Failing(error)})

    bench.publish(stream_of(Placed()))

    assert len(journal) == 1
    assert [row.error for row in bench.world.log] == [error]


@pytest.mark.clause("EVT-127", "PRJ-011")
@KINDS
def test_what_a_waiting_caller_hears_of_exhausted_retries(kind):
    """The signal tells the last failure, not the wrapper."""
    bench, _ = bench_of(kind, *(TimeoutError("slow") for _ in range(4)))

    assert bench.send(Place(), STAGE_OF[kind]) == ErrorCode.REQUEST_TIMEOUT


@pytest.mark.clause("EVT-127")
def test_a_fault_in_delivery_is_retried():
    """A time-out on the way to the function counts as any other."""
    bench, journal = bench_of(ProcessorKind.PROJECTION)
    bench.runtime.arm().arm(Fault("event.deliver:Trying.on_event", FaultKind.TIMEOUT, times=2))

    bench.publish(stream_of(Placed()))

    assert len(journal) == 1
    assert [row.outcome for row in bench.world.trace if row.point.startswith("event.deliver")] == [
        "timeout",
        "timeout",
        "ok",
    ]


@pytest.mark.clause("PRJ-010")
def test_a_projection_of_an_earlier_event_never_completes_the_wait():
    """PROJECTED waits for the signal of the stream's last event; a projection of another one leaves the wait open."""

    @projection(context="shop")
    class Early:
        def on_event(self, event: Rushed) -> None: ...

    bench = Bench(Early)
    message = bench.runtime.message(Place(items=("1", "2")))
    task = bench.world.scheduler.spawn(
        bench.runtime.gateway.send_and_wait(message, wait_for_stage(CommandStage.PROJECTED).plan(message.id)), "send"
    )
    bench.world.scheduler.run()

    assert isinstance(task.error, TimeoutError)


@pytest.mark.clause("PRJ-001", "PRJ-002")
def test_a_projection_of_events_and_states():
    """One projector may take some events and the state after others; each signals for itself."""

    @projection(context="shop")
    class View:
        def on_event(self, event: Placed, journal: Journal) -> None:
            journal.append("event")

        @on_state_event
        def shipped(self, event: Shipped, journal: Journal) -> None:
            journal.append("state")

    journal = Journal()
    bench = Bench(View, services={"journal": journal})

    assert bench.send(Place(), CommandStage.PROJECTED) == "Ok"
    assert bench.send(Ship(), CommandStage.PROJECTED) == "Ok"
    assert journal == ["event", "state"]
