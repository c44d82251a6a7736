"""What attempts to break the exploration came upon: each once was a hang, a lie, or a false alarm."""

from __future__ import annotations

from pydantic import BaseModel

from tests.exploration.defects.sweeping import assert_nothing_found, sweep
from tests.exploration.shop import Order, OrderPlaced, PayOrder, PlaceOrder
from wowspec import Clock, DomainEvent, Views, on_event, projection, stateless_saga
from wowspec.exploration.explorer import Explorer
from wowspec.exploration.playing import Way
from wowspec.specs.builder import spec


class Gate:
    """A service that says when to go on."""

    async def is_open(self) -> bool:
        """It always is."""
        return True


class Row(BaseModel):
    done: bool = True


@projection(context="shop")
class Waiting:
    """Waits for ever where its service fails once: it sleeps in a loop, and passes no point there."""

    @on_event
    async def placed(self, event: DomainEvent[OrderPlaced], views: Views[Row], gate: Gate, clock: Clock) -> None:
        try:
            await gate.is_open()
        except Exception:
            while True:
                await clock.sleep(seconds=1)
        views[event.aggregate_id.id] = Row()


def test_code_that_sleeps_for_ever_is_no_quiescence():
    """The sweep ends, and says which law that breaks."""

    def test(spec):
        spec.using(Order, Waiting).inject_factory(Gate).when(PlaceOrder(id="o-1")).run()

    swept = sweep(test, points=["service"], kinds=["fail"])
    assert swept.due_to_domain() == {
        "PlaceOrder>OrderPlaced>Waiting/service:gate.is_open@1=fail": ["quiescence"],
    }
    assert "code sleeps again and again" in swept.failure


def test_a_long_spec_is_run_to_its_end():
    """However many points the run without faults passes: the spec itself came to rest."""
    said = spec(Order)
    for number in range(2_300):
        said = said.when(PlaceOrder(id=f"o-{number}")).expect_any_outcome()
    base = Explorer(Way(tuple(said._node.path()))).base.played
    assert not base.livelock
    assert len(base.runs) == 2_300
    assert len(base.rows) > 20_000


@stateless_saga(context="shop")
class Patient:
    """Takes its time, and is right."""

    @on_event
    async def placed(self, event: DomainEvent[OrderPlaced], clock: Clock) -> PayOrder:
        await clock.sleep(seconds=2)
        return PayOrder(id=event.aggregate_id.id)


def test_what_a_crash_meets_on_its_way_is_nobodys_fault_where_no_bus_delivers_again():
    """A saga that waits loses its event to crashes at later points than the witness's does."""

    def test(spec):
        spec.using(Order, Patient).when(PlaceOrder(id="o-1")).run()

    swept = sweep(test, profile="mongo", kinds=["crash_before", "crash_after"])
    assert_nothing_found(swept)
    known = swept.finding("PlaceOrder/snapshot.save@1=crash_before")
    assert [(item["law"], item["known"]) for item in known["broken"]] == [("saga_completeness", True)]
