"""Messages that come twice, late, out of order or not at all, and what cannot be read."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from wowspec import (
    PROCESSED,
    DeadlineExceeded,
    DomainEvent,
    DuplicateRequestIdError,
    SpecError,
    Views,
    command_builder,
    event_processor,
    faults,
    given,
    on,
    on_event,
    profile,
    projection,
    stateless_saga,
)
from wowspec.errors import DecodeError
from wowspec.faults import Fault
from wowspec.world.points import FaultKind

from .crash_domain import Dispatch, Order, OrderPaid, OrderPlaced, Parcel, PayOrder, PlaceOrder, Row, Seen

PLACED = on(Order, "o-1", OrderPlaced())
PAY = PayOrder(id="o-1")


def seen(run, text="o-1"):
    """What the projection wrote down."""
    return run.session.runtime.views.of(Seen).get(text, Row()).seen


# --- twice ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kafka", "redis"])
def test_an_event_that_is_published_twice(name):
    """Each consumer of the bus gets it twice."""
    spec = given(PLACED).with_profile(name).using(Seen).with_faults(faults.domain_event_bus.send.duplicates())
    run = spec.when(PAY).expect_events(OrderPaid()).run()

    assert seen(run) == ["OrderPaid v2", "OrderPaid v2"]


def test_a_state_event_that_is_published_twice():
    """The snapshot branch saves twice."""
    spec = given(PLACED).with_profile("kafka").with_faults(faults.state_event_bus.send.duplicates())
    run = spec.when(PAY).expect_any_outcome().run()

    assert [row.point for row in run.rows].count("snapshot.save") == 2


def test_a_command_that_is_sent_twice():
    """The second one is a duplicate for its aggregate."""
    spec = given(PLACED).with_profile("kafka").with_faults(faults.command_bus.send.duplicates())
    run = spec.when(PAY).expect_any_outcome().run()

    assert run.succeeded
    assert [row.outcome for row in run.rows if row.point == "event_store.append"] == [
        "ok",
        "error:DuplicateRequestIdError",
    ]


def test_an_event_that_is_delivered_twice():
    """The one function gets it once more, as a redelivery: through its whole chain, after the first one has ended."""
    spec = given(PLACED).with_profile("kafka").using(Seen)
    run = spec.with_faults(faults.event.deliver(Seen, "on_paid").duplicates()).when(PAY).expect_any_outcome().run()

    assert seen(run) == ["OrderPaid v2", "OrderPaid v2"]
    assert [row.outcome for row in run.rows if row.point == "event.deliver:Seen.on_paid"] == ["duplicate", "ok"]


def test_a_delivery_twice_over():
    """A redelivery can be redelivered."""
    spec = given(PLACED).with_profile("kafka").using(Seen)
    armed = faults.event.deliver(Seen, "on_paid").duplicates(times=2)

    assert len(seen(spec.with_faults(armed).when(PAY).expect_any_outcome().run())) == 3


# --- late -----------------------------------------------------------------------------------------------------------


class Both(BaseModel):
    """Pay two orders."""


@stateless_saga(context="crash")
class PayTwo:
    """One order placed: two others are paid, one after the other."""

    @on_event
    def on_placed(self, event: DomainEvent[OrderPlaced]):
        return [
            command_builder(PayOrder(id="a")).request_id("r-a"),
            command_builder(PayOrder(id="b")).request_id("r-b"),
        ]


class Line(BaseModel):
    ids: list[str] = []


@projection(context="crash")
class Arrivals:
    """Orders in the order in which their payments reach it."""

    @on_event
    def on_paid(self, event: DomainEvent[OrderPaid], views: Views[Line]) -> None:
        row = views.get("all", Line())
        views["all"] = Line(ids=[*row.ids, event.aggregate_id.id])


def arrivals(name, *armed):
    """In which order the payments of two orders reach the projection."""
    run = (
        given(on(Order, "a", OrderPlaced()), on(Order, "b", OrderPlaced()))
        .with_profile(name)
        .using(Order, PayTwo, Arrivals)
        .with_faults(*armed)
        .when(PlaceOrder(id="o-1"))
        .expect_any_outcome()
        .run()
    )
    return run.session.runtime.views.of(Arrivals)["all"].ids


def test_a_late_event_of_one_aggregate():
    """An event that is delayed lets those of other aggregates go first."""
    assert arrivals("kafka") == ["a", "b"]
    assert arrivals("kafka", faults.domain_event_bus.send.delays(steps=9, aggregate="a")) == ["b", "a"]
    assert arrivals("redis", faults.event.deliver(Arrivals).delays(steps=9, aggregate="a")) == ["b", "a"]


def test_a_late_message_comes_at_last():
    """Where nothing else can move it comes, without virtual time passing."""
    spec = given(PLACED).with_profile("kafka").using(Seen)
    run = spec.with_faults(faults.domain_event_bus.send.delays(steps=100)).when(PAY).expect_events(OrderPaid()).run()

    assert seen(run) == ["OrderPaid v2"]
    assert {row.nanos for row in run.rows} == {run.rows[0].nanos}


def test_the_steps_of_a_delay():
    """A step is a message put on a bus, or an event that reaches a function."""
    spec = given(PLACED).with_profile("kafka").using(Dispatch, Parcel)

    def is_early(steps):
        armed = faults.state_event_bus.send.delays(steps=steps, aggregate="o-1")
        rows = [f"{row.key} {row.point}" for row in spec.with_faults(armed).when(PAY).expect_any_outcome().run().rows]
        return rows.index("o-1 snapshot.save") < rows.index("p-o-1 snapshot.save")

    # The saga gets the event, its command is sent, and the parcel publishes twice.
    assert is_early(1)
    assert not is_early(4)


@stateless_saga(context="crash")
class PayTwice:
    """An order that is placed is paid twice."""

    @on_event
    def on_placed(self, event: DomainEvent[OrderPlaced]):
        same = event.aggregate_id.id
        return [
            command_builder(PayOrder(id=same)).request_id("r-1"),
            command_builder(PayOrder(id=same)).request_id("r-2"),
        ]


def versions(name, armed):
    """The versions of one order's events as they reach the projection."""
    run = (
        given()
        .with_profile(name)
        .using(Order, PayTwice, Seen)
        .with_faults(armed)
        .when(PlaceOrder(id="o-1"))
        .expect_any_outcome()
        .run()
    )
    return [text.rpartition("v")[2] for text in seen(run)]


def test_order_within_an_aggregate():
    """One bus keeps it though a message is late: what follows waits behind. Another one lets the next message pass."""
    late = faults.domain_event_bus.send.delays(steps=50, at=2)

    assert versions("kafka", late) == ["1", "2", "3"]
    assert versions("redis", faults.domain_event_bus.send.reorders(at=2)) == ["1", "3", "2"]


def test_reordered_with_nobody():
    """Without a next message it comes when nothing else can move."""
    assert versions("redis", faults.domain_event_bus.send.reorders(at=3)) == ["1", "2", "3"]


def test_late_messages_survive_a_crash_where_the_bus_does():
    """The bus had accepted it."""
    armed = (
        faults.domain_event_bus.send.delays(steps=100),
        faults.state_event_bus.send.crashes_before(),
    )
    run = given(PLACED).with_profile("kafka").using(Seen).with_faults(*armed).when(PAY).expect_any_outcome().run()

    assert seen(run) == ["OrderPaid v2"]


# --- not at all -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kafka", "redis"])
def test_a_lost_notification(name):
    """The client's deadline passes, and the command was processed all the same."""
    spec = given(PLACED).with_profile(name).using(Seen).with_faults(faults.wait.notify(PROCESSED).drops())
    run = spec.when(PAY).expect_unknown_outcome().run()

    assert isinstance(run.error, DeadlineExceeded)
    assert run.session.runtime.notifier.received == []
    assert seen(run) == ["OrderPaid v2"]


def test_a_late_notification():
    """It comes when nothing else moves, and so before any deadline."""
    spec = given(PLACED).with_profile("kafka").with_faults(faults.wait.notify(PROCESSED).delays(steps=7))

    assert spec.when(PAY).expect_events(OrderPaid()).run().succeeded


def test_a_bus_of_ones_own_that_loses_messages():
    """No profile of the kit's drops what it has accepted; one of your own may."""
    ours = profile("ours", like="kafka", adding=["drop"])
    armed = faults.domain_event_bus.send.drops()
    run = given(PLACED).with_profile(ours).using(Seen).with_faults(armed).when(PAY).expect_any_outcome().run()

    assert run.succeeded
    assert seen(run) == []
    with pytest.raises(SpecError, match=r"drops\(\) cannot happen at domain_event_bus.send under the profile 'kafka'"):
        given(PLACED).with_profile("kafka").with_faults(armed).when(PAY).run()


# --- unreadable -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mongo", "redis"])
def test_events_that_cannot_be_read(name):
    """Loading fails as decoding does: with no retry, and with nothing stored."""
    spec = given(PLACED).with_profile(name).with_faults(faults.event_store.load.corrupts())
    run = spec.when(PAY).expect_error(DecodeError).expect_no_events().run()

    assert [row.point for row in run.rows].count("event_store.load") == 1


def test_a_snapshot_that_cannot_be_read():
    """Just so; where there is no snapshot there is nothing to fail on."""
    stored = given(PLACED).with_profile("mongo").when(PAY).expect_any_outcome()
    stored.with_faults(faults.snapshot.load.corrupts()).when(PAY).expect_error(DecodeError)
    (
        given(PLACED)
        .with_profile("mongo")
        .with_faults(faults.snapshot.load.corrupts())
        .when(PAY)
        .expect_events(OrderPaid())
    )


# --- a rival that decided the same ----------------------------------------------------------------------------------


def test_a_rival_without_events_decided_the_same():
    """It appends copies of the very events that the call was about to append; the call meets a conflict and retries."""
    armed = Fault("event_store.append", FaultKind.RIVAL)
    run = given(PLACED).with_faults(armed).when(PAY).expect_any_outcome().run()

    history = run.session.runtime.event_store.peek(run.session.reference(on(Order, "o-1")))
    assert [type(event.body) for stream in history for event in stream.events] == [OrderPlaced, OrderPaid, OrderPaid]
    assert len({stream.command_id for stream in history}) == 3


# --- values ---------------------------------------------------------------------------------------------------------


def test_the_steps_of_a_delay_are_checked():
    """They are a whole number from 1, and no other verb takes them."""
    with pytest.raises(SpecError, match=r"delays\(steps=0\)"):
        faults.domain_event_bus.send.delays(steps=0)
    assert str(faults.domain_event_bus.send.delays(steps=3, at=2)) == "domain_event_bus.send@2=delay(3)"
    with pytest.raises(SpecError, match="duplicates") as caught:
        faults.domain_event_bus.send.duplicates(step=2)
    assert caught.value.instead == "times= or at= or aggregate="
    with pytest.raises(SpecError, match="delays") as caught:
        faults.domain_event_bus.send.delays(step=2)
    assert caught.value.instead == "steps="


@event_processor(context="crash")
class Idle:
    """Never reached."""

    @on_event
    def on_paid(self, event: OrderPaid) -> None: ...


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (faults.event_store.append.duplicates, "duplicates() is not possible at event_store.append"),
        (lambda: faults.event.deliver(Idle).reorders(), "reorders() is not possible at event.deliver:Idle.on_paid"),
        (faults.event_store.append.corrupts, "corrupts() is not possible at event_store.append"),
        (faults.snapshot.save.drops, "drops() is not possible at snapshot.save"),
    ],
)
def test_what_is_possible_nowhere(make, what):
    """What no profile could allow is refused where it is written."""
    with pytest.raises(SpecError) as caught:
        make()
    assert caught.value.what == what


def test_a_profile_of_ones_own():
    """It is like one of the kit's but for what is said; names and kinds are checked."""
    ours = profile("ours", like="redis", without=["reorder", FaultKind.HANG], ordered=True, compensation=True)

    assert (ours.ports.name, ours.ports.ordered, ours.ports.redelivers, ours.compensation) == ("ours", True, True, True)
    with pytest.raises(SpecError, match="under the profile 'ours'"):
        given(PLACED).with_profile(ours).with_faults(faults.domain_event_bus.send.reorders()).when(PAY).run()
    again = profile("again", like=ours, redelivers=False)
    assert not again.ports.redelivers
    with pytest.raises(SpecError, match="there is no kind of fault 'reoder'"):
        profile("ours", like="redis", without="reoder")
    with pytest.raises(SpecError, match=r"profile\('kafka', like=...\)"):
        profile("kafka", like="redis")


@pytest.mark.parametrize("name", ["kafka", "mongo", "redis"])
def test_options_work_with_each_profile(name):
    """Snapshots by offset, look-up of request ids and compensation are set as ever."""
    chosen = profile(name, snapshot_offset=2, request_id_existence="noop", compensation=True)
    (
        given()
        .with_profile(chosen)
        .when(PlaceOrder(id="o-1"), request_id="r-1")
        .expect_no_snapshot()
        .when(PAY, request_id="r-2")
        .expect_snapshot(version=2)
        .when(PAY, request_id="r-2")
        .expect_error(DuplicateRequestIdError)
    )


def test_a_gateways_world_has_profiles_too(gateway):
    """Its faults are checked against them."""
    gateway.world.with_profile("kafka")
    gateway.world.using(Order, Seen)
    gateway.world.given(PLACED)
    gateway.world.arm(faults.domain_event_bus.send.duplicates())

    gateway.send_and_wait(PAY)

    assert gateway.world.views(Seen)["o-1"].seen == ["OrderPaid v2", "OrderPaid v2"]
    with pytest.raises(
        SpecError, match=r"reorders\(\) cannot happen at domain_event_bus.send under the profile 'kafka'"
    ):
        gateway.world.arm(faults.domain_event_bus.send.reorders())
    gateway.world.disarm()
