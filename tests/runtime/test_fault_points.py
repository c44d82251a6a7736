"""Points of the user's own, and points of writes to views."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import BaseModel

import wowspec
from wowspec import (
    Clock,
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
from wowspec.exploration.playing import Way, play
from wowspec.faults.plans import Plan
from wowspec.specs import tracking
from wowspec.specs.parts import profile_of
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


# --- rows that are changed in place --------------------------------------------------------------------------------


@dataclass
class Row:
    n: int = 0
    seen: list[str] = field(default_factory=list)


@dataclass(slots=True)
class SlimRow:
    n: int = 0


class ModelRow(BaseModel):
    n: int = 0


class PlainRow:
    """Of which only its attributes tell what it holds."""

    def __init__(self) -> None:
        self.n = 0


class InPlace:
    """Asks for a row and counts in it."""

    row: Any = Row

    @on_event
    def on_paid(self, event: OrderPaid, views: Views[Any]) -> None:
        row = views.setdefault("all", self.row())
        row.n += 1


@projection(context="fault_points")
class CountsInRow(InPlace):
    """In a dataclass."""


@projection(context="fault_points")
class CountsInSlots(InPlace):
    """In one with slots."""

    row = SlimRow


@projection(context="fault_points")
class CountsInModel(InPlace):
    """In a model."""

    row = ModelRow


@projection(context="fault_points")
class CountsInObject(InPlace):
    """In an object without `__eq__`."""

    row = PlainRow


@projection(context="fault_points")
class CountsInDict:
    """In a dict, after an await, with views from its constructor."""

    def __init__(self, views: Views[dict[str, int]]) -> None:
        self.views = views

    @on_event
    async def on_paid(self, event: OrderPaid, clock: Clock) -> None:
        row = self.views.setdefault("all", {"n": 0})
        await clock.sleep(1)
        row["n"] += 1


IN_PLACE = pytest.mark.parametrize(
    "writer", [CountsInRow, CountsInSlots, CountsInModel, CountsInObject, CountsInDict], ids=lambda cls: cls.__name__
)


def counted(writer, *armed, name="in_memory"):
    """Of a payment: how its writes ended, and what the row counts."""
    spec = given(PLACED).with_profile(name).using(writer).with_faults(*armed).when(PAY).expect_any_outcome()
    run = spec.run()
    row = run.session.runtime.views.of(writer).get("all")
    count = row.get("n") if isinstance(row, dict) else row and row.n
    rows = [row for row in run.rows if row.point == f"projection.write:{writer.__name__}"]
    return [(row.outcome, row.detail) for row in rows], count


def looked_for(writer):
    """How writes end that are looked for, and that no fault strikes; and the rows in the end."""
    with tracking.aside():
        spec = given(PLACED).using(writer).when(PAY)
    way = Way(tuple(spec._node.path()), profile_of("in_memory"), explores=("projection.write",))
    played = play(way, Plan(), record=True)
    rows = [(row.outcome, row.detail) for row in played.rows if row.point.startswith("projection.write")]
    return rows, played.session.runtime.views.of(writer)


@IN_PLACE
def test_a_row_changed_in_place_is_written_when_its_function_ends(writer):
    """Once, be it new or not."""
    assert counted(writer) == ([], 1)
    assert looked_for(writer)[0] == [("ok", "all")]


@IN_PLACE
def test_a_change_in_place_that_failed_is_undone(writer):
    """A row that is new is not there, another one is as it was; the retry finds it so."""
    write = faults.projection.write(writer)

    assert counted(writer, write.fails()) == ([("fail", "all")], None)
    assert counted(writer, write.times_out()) == ([("timeout", "all"), ("ok", "all")], 1)
    assert counted(writer, write.crashes_before(), name="kafka")[1] == 1
    # The second attempt finds the row, and is stopped as it changes it.
    both = [write.loses_reply(), write.fails(at=2)]
    assert counted(writer, *both) == ([("ack_lost", "all"), ("fail", "all")], 1)


@IN_PLACE
def test_a_change_in_place_whose_reply_is_lost(writer):
    """It was made, and the retry makes it again."""
    write = faults.projection.write(writer)

    assert counted(writer, write.loses_reply()) == ([("ack_lost", "all"), ("ok", "all")], 2)
    assert counted(writer, write.crashes_after(), name="kafka")[1] == 2


@projection(context="fault_points")
class CountsAndPuts:
    """Changes a row in place and says so."""

    @on_event
    def on_paid(self, event: OrderPaid, views: Views[Row]) -> None:
        row = views.setdefault("all", Row())
        row.n += 1
        views["all"] = row


def test_a_row_that_is_put_is_written_then():
    """The same content is written once; a write that failed undoes what was changed in the row before it."""
    write = faults.projection.write(CountsAndPuts)

    assert looked_for(CountsAndPuts)[0] == [("ok", "all")]
    assert counted(CountsAndPuts, write.fails()) == ([("fail", "all")], None)
    assert counted(CountsAndPuts, write.times_out())[1] == 1
    assert counted(CountsAndPuts, write.loses_reply())[1] == 2
    both = [write.loses_reply(), write.fails(at=2)]
    assert counted(CountsAndPuts, *both) == ([("ack_lost", "all"), ("fail", "all")], 1)


@projection(context="fault_points")
class Spreads:
    """Changes rows of several ids, and only looks at others."""

    @on_event
    def on_paid(self, event: OrderPaid, views: Views[Row]) -> None:
        for name in ("d", "b", "a", "c"):
            views[name] = Row()
        views["a"].seen.append("paid")
        for name, row in views.items():
            row.n += name != "b"
        views.pop("c").n += 1


def test_rows_are_written_in_the_order_in_which_they_were_handed_out():
    """Once each; those behind a write that failed are not written, and one that was deleted is no row any more."""
    put = [("ok", "d"), ("ok", "b"), ("ok", "a"), ("ok", "c"), ("ok", "c")]
    rows, views = looked_for(Spreads)
    assert rows == [*put, ("ok", "d"), ("ok", "a")]
    assert dict(views) == {"d": Row(1), "b": Row(), "a": Row(1, ["paid"])}

    def after(fault):
        run = given(PLACED).using(Spreads).with_faults(fault).when(PAY).expect_any_outcome().run()
        return dict(run.session.runtime.views.of(Spreads))

    assert after(faults.projection.write(Spreads).fails(at=6)) == {"d": Row(), "b": Row(), "a": Row()}
    assert after(faults.projection.write(Spreads).fails(at=7)) == {"d": Row(1), "b": Row(), "a": Row()}


@projection(context="fault_points")
class Breaks:
    """Fails by itself once it has changed a row."""

    @on_event
    def on_paid(self, event: OrderPaid, views: Views[Row]) -> None:
        views.setdefault("all", Row()).n += 1
        raise ValueError("broken")


def test_a_function_that_fails_by_itself_leaves_its_rows_as_they_are():
    """As it does where nobody looks at its writes."""
    run = given(PLACED).using(Breaks).when(PAY).expect_downstream_error(Breaks, ValueError).run()
    assert run.session.runtime.views.of(Breaks)["all"] == Row(1)

    rows, views = looked_for(Breaks)
    assert rows == []
    assert views["all"] == Row(1)


def test_a_write_cannot_hang():
    """It is a plain call."""
    with pytest.raises(SpecError, match=r"hangs\(\) is not possible at projection.write:Counted"):
        faults.projection.write(Counted).hangs()
