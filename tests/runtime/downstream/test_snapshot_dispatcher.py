"""The snapshot branch: each state event of each aggregate type, in order, and what its failures do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runtime.downstream.shop import ORDER, OTHER, Bench, Book, Place, Placed, Ship, state_event_of
from wowspec.errors import ErrorCode
from wowspec.faults.values import Fault
from wowspec.messages.stages import CommandStage
from wowspec.modeling.identity import SNAPSHOT_FUNCTION, AggregateRef, FunctionInfo, FunctionKind
from wowspec.runtime.downstream.compensation import CompensationTarget, mark_for_compensation
from wowspec.runtime.receivers import Delivery
from wowspec.runtime.snapshots import NoOpSnapshotStrategy
from wowspec.world.points import SNAPSHOT_SAVE, FaultKind


class Strategy:
    """Writes down what it saves."""

    def __init__(self, bench: Bench, wait: int = 0) -> None:
        self.bench = bench
        self.wait = wait
        self.log: list[str] = []

    def should_save(self, _: Any) -> bool:
        """Always."""
        return True

    async def save_now(self, state_event: Any) -> None:
        """Takes its time."""
        name = f"{state_event.aggregate_id.id} v{state_event.version}"
        self.log.append(f"{name} begins")
        if self.wait:
            await self.bench.world.scheduler.sleep(self.wait)
        self.log.append(f"{name} ends")


@pytest.mark.clause("SNP-018")
def test_every_aggregate_type_has_snapshots():
    """Each type that the world holds is listened to."""
    bench = Bench()

    bench.send(Place())
    bench.send(Book(id="l-1"))

    assert bench.runtime.snapshot_store.load_now(ORDER).version == 1
    assert bench.runtime.snapshot_store.load_now(AggregateRef("shop", "ledger", "l-1")).version == 1


@pytest.mark.clause("SNP-018", "SNP-020")
def test_in_order_for_each_aggregate():
    """State events of one aggregate are saved one at a time, those of another beside them."""
    bench = Bench()
    bench.runtime.snapshot_strategy = strategy = Strategy(bench, 1_000)
    bus = bench.runtime.state_event_bus

    bus.send_now(state_event_of(Placed(), version=1))
    bus.send_now(state_event_of(Placed(), version=2))
    bus.send_now(state_event_of(Placed(), version=1, ref=OTHER))
    bench.run()

    assert strategy.log == [
        "o-1 v1 begins",
        "o-2 v1 begins",
        "o-1 v1 ends",
        "o-1 v2 begins",
        "o-2 v1 ends",
        "o-1 v2 ends",
    ]


@pytest.mark.clause("SNP-019")
def test_its_function():
    """The branch is a function of state events like any other, under a name of the runtime's own."""
    assert FunctionInfo(FunctionKind.STATE_EVENT, "wow", "SnapshotDispatcher", "save") == SNAPSHOT_FUNCTION


@pytest.mark.clause("SNP-019")
@pytest.mark.parametrize(
    ("function", "saved"),
    [(SNAPSHOT_FUNCTION, True), (FunctionInfo(FunctionKind.STATE_EVENT, "shop", "View", "on_state_event"), False)],
)
def test_compensation_messages_for_others_are_skipped(function, saved):
    """A state event that is sent again for another function is acknowledged and not saved."""
    bench, acknowledged = Bench(), []
    state_event = state_event_of(Placed())
    mark_for_compensation(state_event.header, CompensationTarget("f-1", function))

    dispatcher = bench.runtime.snapshot_dispatcher
    dispatcher._receive(state_event, Delivery(state_event, lambda: acknowledged.append("acknowledged")))
    bench.run()

    assert (bench.runtime.snapshot_store.load_now(ORDER) is not None) is saved
    assert acknowledged == ["acknowledged"]


@pytest.mark.clause("SNP-020")
def test_a_failed_save_is_acknowledged_and_logged():
    """The acknowledgement comes before the error goes on; the handler logs it, and the next one is saved."""
    bench, log = Bench(), []
    bench.runtime.arm().arm(Fault(SNAPSHOT_SAVE, FaultKind.FAIL))
    dispatcher = bench.runtime.snapshot_dispatcher

    def acknowledge():
        log.append(f"acknowledged, {len(bench.world.log)} logged")

    for version in (1, 2):
        state_event = state_event_of(Placed(), version=version)
        dispatcher._receive(state_event, Delivery(state_event, acknowledge))
    bench.run()

    assert log == ["acknowledged, 0 logged", "acknowledged, 1 logged"]
    assert bench.logged == ["snapshot.handler InjectedFault"]
    assert bench.runtime.snapshot_store.load_now(ORDER).version == 2


@pytest.mark.clause("SNP-021", "EVT-126", "DOC-009", "CMD-437")
def test_the_signal_of_the_branch():
    """SNAPSHOT is signalled when the chain ends, saved or not; it tells a failure, which is not retried."""
    bench = Bench()
    assert bench.send(Place(), CommandStage.SNAPSHOT) == "Ok"
    bench.runtime.snapshot_strategy = NoOpSnapshotStrategy()
    assert bench.send(Ship(), CommandStage.SNAPSHOT) == "Ok"

    signals = [signal for _, signal in bench.runtime.notifier.received if signal.stage is CommandStage.SNAPSHOT]
    streams = bench.runtime.event_store.peek(ORDER)
    assert [signal.id for signal in signals] == [stream.id for stream in streams]
    assert [signal.aggregate_version for signal in signals] == [1, 2]
    assert {signal.is_last_projection for signal in signals} == {False}
    assert {signal.function for signal in signals} == {SNAPSHOT_FUNCTION}

    bench = Bench()
    bench.runtime.arm().arm(Fault(SNAPSHOT_SAVE, FaultKind.TIMEOUT))
    assert bench.send(Place(), CommandStage.SNAPSHOT) == ErrorCode.REQUEST_TIMEOUT
    assert bench.runtime.snapshot_store.load_now(ORDER) is None
