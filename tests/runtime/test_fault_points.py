"""Points of the user's own, and points of writes to views."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

import wowspec
from wowspec import (
    DeadlineExceeded,
    FaultPoints,
    InjectedFault,
    SpecError,
    Views,
    aggregate_root,
    event_processor,
    fault_point,
    faults,
    given,
    on,
    on_command,
    on_event,
    on_sourcing,
    projection,
)
from wowspec.errors import InjectedTimeout
from wowspec.world.points import Room

from .crash_domain import Order, OrderPaid, OrderPlaced, PayOrder

PLACED = on(Order, "o-1", OrderPlaced())
PAY = PayOrder(id="o-1")


class Till:
    """Counts charges; outlives a process."""

    def __init__(self):
        self.charged = 0


class Charge(BaseModel):
    id: str


class ChargeAsync(BaseModel):
    id: str


class Charged(BaseModel):
    """Done."""


class PurseState(BaseModel):
    id: str
    charged: int = 0

    @on_sourcing
    def on_charged(self, event: Charged) -> None:
        self.charged += 1


@aggregate_root(context="fault_points")
class Purse:
    def __init__(self, state: PurseState) -> None:
        self.state = state

    @on_command
    def charge(self, command: Charge, till: Till, world: FaultPoints) -> Charged:
        with world.fault_point("payment.charge", key=7):
            till.charged += 1
        return Charged()

    @on_command
    async def charge_async(self, command: ChargeAsync, till: Till) -> Charged:
        async with fault_point("payment.charge", key="k"):
            till.charged += 1
        return Charged()


OPEN = on(Purse, "p-1", Charged())
BOTH = pytest.mark.parametrize("command", [Charge(id="p-1"), ChargeAsync(id="p-1")], ids=["with", "async with"])
CHARGE = faults.point("payment.charge")


def charging(command, *armed, name="in_memory"):
    """The run of a charge, and what the till says then."""
    till = Till()
    run = given(OPEN).with_profile(name).inject(till).with_faults(*armed).when(command).expect_any_outcome().run()
    return run, till.charged


@BOTH
def test_a_row_in_the_trace(command):
    """It stands in the lane of whose work it is, with the message that is handled and its key."""
    run, charged = charging(command)
    row = next(row for row in run.rows if row.point == "payment.charge")

    assert charged == 1
    assert (row.outcome, row.key, row.lane.room, row.subject) == ("ok", "p-1", Room.COMMAND, run.message)
    assert row.detail == ("7" if isinstance(command, Charge) else "k")


@BOTH
def test_faults_before_and_after(command):
    """What stands below is the effect: it has not happened, or it has."""
    for armed, error, charges in (
        (CHARGE.fails(), InjectedFault, 0),
        (CHARGE.times_out(times=4), InjectedTimeout, 0),
        (CHARGE.times_out(), None, 1),
        (CHARGE.loses_reply(recoverable=False), InjectedFault, 1),
        (CHARGE.loses_reply(), None, 2),
    ):
        run, charged = charging(command, armed)
        assert charged == charges, str(armed)
        assert type(run.error) is (type(None) if error is None else error), str(armed)


@BOTH
@pytest.mark.parametrize(("fault", "charges"), [(CHARGE.crashes_before(), 1), (CHARGE.crashes_after(), 2)])
def test_crashes(command, fault, charges):
    """The process dies before or after the effect; the command comes again."""
    run, charged = charging(command, fault, name="kafka")

    assert charged == charges
    assert isinstance(run.error, DeadlineExceeded)
    assert run.session.runtime.event_store.head_version(run.session.reference(on(Purse, "p-1"))) == 2


def test_hanging():
    """What is awaited can hang; plain code cannot, and the author is told."""
    run, charged = charging(ChargeAsync(id="p-1"), CHARGE.hangs())
    assert (type(run.error), charged) == (DeadlineExceeded, 0)

    with pytest.raises(SpecError, match=r"payment\.charge cannot hang: it is a plain call"):
        charging(Charge(id="p-1"), CHARGE.hangs())


def test_whose_visits_count():
    """`aggregate=` means the aggregate that is at work."""
    run, _ = charging(Charge(id="p-1"), CHARGE.fails(aggregate="p-1"))
    assert isinstance(run.error, InjectedFault)


class Locked(Till):
    """A till that cannot be opened."""

    @property
    def charged(self):
        """Never."""
        message = "it is locked"
        raise ValueError(message)

    @charged.setter
    def charged(self, value):
        """Nothing."""


def test_an_error_of_the_code_itself():
    """Stands on the row."""
    run = given(OPEN).inject(Locked()).when(Charge(id="p-1")).expect_error(ValueError, match="it is locked").run()

    row = next(row for row in run.rows if row.point == "payment.charge")
    assert (row.outcome, row.error) == ("error:ValueError", run.error)


@event_processor(context="fault_points")
class Mailer:
    """Has its fault points from its constructor."""

    def __init__(self, points: FaultPoints, till: Till) -> None:
        self.points = points
        self.till = till

    @on_event
    def on_paid(self, event: OrderPaid) -> None:
        with self.points.fault_point("mail.send"):
            self.till.charged += 1


def test_points_from_a_constructor():
    """They know whose work it is all the same; in a copy of the world they are that world's."""
    till = Till()
    spec = given(PLACED).inject(till).using(Mailer).when(PAY).expect_events(OrderPaid())
    row = next(row for row in spec.run().rows if row.point == "mail.send")
    assert (str(row.lane), row.subject.body) == ("Mailer.on_paid@o-1", OrderPaid())

    again = spec.with_faults(faults.point("mail.send").times_out()).when(PAY).expect_events(OrderPaid()).run()
    assert [row.outcome for row in again.rows if row.point == "mail.send"] == ["timeout", "ok"]
    assert till.charged == 2


def test_outside_a_world():
    """Production code passes it as if it were not there."""
    with wowspec.fault_point("payment.charge", key=1):
        happened = True
    assert happened


def test_names():
    """Words with dots between; what is close to a point of the table is taken for it, when armed and when passed."""
    with pytest.raises(SpecError, match=r"there is no point 'event_store\.apend'") as caught:
        faults.point("event_store.apend")
    assert "event_store.append" in caught.value.instead
    with pytest.raises(SpecError, match="there is no point 'charge'"):
        faults.point("charge")
    with pytest.raises(SpecError, match=r"conflicts\(\) is not possible at payment.charge"):
        faults.point("payment.charge").conflicts()


def test_names_in_code(gateway):
    """A point of a test's own; its name is checked, too."""
    with gateway.world.fault_point("setup.step", key="k"):
        pass
    row = gateway.world.trace[-1]
    assert (row.point, row.lane.room, row.detail, row.key) == ("setup.step", Room.USER, "k", "k")
    with pytest.raises(SpecError, match=r"too close to the pipeline's own point event_store\.append"):
        gateway.world.fault_point("event_store.apend")
    with pytest.raises(SpecError, match="words with dots between"):
        gateway.world.fault_point("charge")


# --- writes to views ------------------------------------------------------------------------------------------------


@projection(context="fault_points")
class Counted:
    """Counts payments, and deletes nothing."""

    @on_event
    def on_paid(self, event: OrderPaid, views: Views[int]) -> None:
        views["all"] = views.get("all", 0) + 1


@projection(context="fault_points")
class Kept:
    """The same with views from its constructor."""

    def __init__(self, views: Views[int]) -> None:
        self.views = views

    @on_event
    def on_paid(self, event: OrderPaid) -> None:
        self.views["all"] = self.views.get("all", 0) + 1


WRITERS = pytest.mark.parametrize("writer", [Counted, Kept])


def writing(writer, *armed, name="in_memory"):
    """The run of a payment, and what the projection counts."""
    spec = given(PLACED).with_profile(name).using(writer).with_faults(*armed).when(PAY).expect_any_outcome()
    run = spec.run()
    return run, run.session.runtime.views.of(writer).get("all", 0)


@WRITERS
def test_a_point_only_where_faults_are_aimed_at_it(writer):
    """Without one there is no row."""
    run, count = writing(writer)
    assert count == 1
    assert [row for row in run.rows if row.point.startswith("projection.write")] == []

    run, count = writing(writer, faults.projection.write(writer).times_out())
    rows = [row for row in run.rows if row.point == f"projection.write:{writer.__name__}"]
    assert [(row.outcome, row.detail) for row in rows] == [("timeout", "all"), ("ok", "all")]
    assert count == 1


@WRITERS
def test_a_write_whose_reply_is_lost(writer):
    """The retry counts once more: what a projection that adds up must not do."""
    _, count = writing(writer, faults.projection.write(writer).loses_reply())
    assert count == 2


@WRITERS
@pytest.mark.parametrize(("crash", "counts"), [("crashes_before", 1), ("crashes_after", 2)])
def test_a_crash_at_a_write(writer, crash, counts):
    """Views are outside of the process: what was written stays, and the event comes again."""
    fault = getattr(faults.projection.write(writer), crash)()
    _, count = writing(writer, fault, name="kafka")
    assert count == counts


def test_a_failed_write():
    """Fails the function; deletions pass the point as well."""
    spec = given(PLACED).using(Deleting).with_faults(faults.projection.write(Deleting).fails(at=2)).when(PAY)
    run = spec.expect_downstream_error(Deleting, InjectedFault).run()
    assert dict(run.session.runtime.views.of(Deleting)) == {"one": 1}


@projection(context="fault_points")
class Deleting:
    """Writes a row and deletes it."""

    @on_event
    def on_paid(self, event: OrderPaid, views: Views[int]) -> None:
        views["one"] = 1
        del views["one"]


def test_a_write_cannot_hang():
    """It is a plain call."""
    with pytest.raises(SpecError, match=r"hangs\(\) is not possible at projection.write:Counted"):
        faults.projection.write(Counted).hangs()
