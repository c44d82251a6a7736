"""What attempts to break the exploration came upon: each once was a hang, a lie, or a false alarm."""

from __future__ import annotations

import shlex

import pytest
from pydantic import BaseModel

from tests.exploration.defects.sweeping import assert_nothing_found, sweep
from tests.exploration.shop import Order, OrderPlaced, PayOrder, PlaceOrder
from wowspec import Clock, DomainEvent, SpecError, Views, on_event, projection, stateless_saga
from wowspec.exploration.baseline import read_baseline
from wowspec.exploration.explorer import Explorer
from wowspec.exploration.playing import Way
from wowspec.exploration.report import replay_line
from wowspec.exploration.settings import settings
from wowspec.exploration.sweeping import Sweep
from wowspec.specs.builder import spec
from wowspec.world.unrest import SwallowedCrashError

#: They start many processes, or sweep a great deal.
pytestmark = pytest.mark.long


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


@projection(context="shop")
class Careless:
    """Lets nothing through, not even the death of its process."""

    @on_event
    def placed(self, event: DomainEvent[OrderPlaced], views: Views[Row]) -> None:
        try:
            views[event.aggregate_id.id] = Row()
        except:  # noqa: E722 - it is what is told of
            views["failed"] = Row()


def test_code_that_survives_its_process_fails_the_sweep():
    """It is no reason why a spec is not swept, which nobody reads."""
    said = spec(Order).using(Careless).when(PlaceOrder(id="o-1")).expect_any_outcome()
    with pytest.raises(SwallowedCrashError, match="swallowed the crash of its process"):
        Sweep().run([said._node.path()], settings(profile="kafka", points=["projection.write"]), "test")


class Counted:
    """Counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    async def is_open(self) -> bool:
        """It always is."""
        self.calls += 1
        return True


@projection(context="shop")
class Asking:
    """Asks a service."""

    @on_event
    async def placed(self, event: DomainEvent[OrderPlaced], counted: Counted) -> None:
        await counted.is_open()


def test_asserts_on_an_injected_object_are_refused_where_they_say_nothing():
    """Runs use copies of it: an assertion that fails without any fault would be left out of all judgement."""

    def test(spec):
        counted = Counted()
        spec.using(Order, Asking).inject(counted).when(PlaceOrder(id="o-1")).run()
        assert counted.calls == 1

    with pytest.raises(SpecError, match="called again without any fault"):
        sweep(test, points=["service"])


@pytest.mark.parametrize("test", ["test_a.py::test_b[it's]", "test_a.py::test_b[a b | c]", "test_a.py::test_b"])
def test_a_replay_line_is_read_by_a_shell_as_it_is_meant(test):
    """Whatever stands in the brackets of a test's id."""
    assert shlex.split(replay_line(test, "A/event_store.append@1=fail"))[1] == test


def test_a_baseline_that_is_no_text_is_the_authors_error(tmp_path):
    """And no traceback of this library's; a mark of byte order is none of a line."""
    path = tmp_path / "findings.txt"
    path.write_bytes(b"\xff\xfe broken")
    with pytest.raises(SpecError, match="cannot be read"):
        read_baseline(path)
    path.write_bytes("\ufefft.py::test_a | A/event_store.append@1=fail → publication\r\n".encode())
    assert list(read_baseline(path)) == ["t.py::test_a"]
