"""What each verb says yes and no to: events, ledgers, state, versions, order, stages, results."""

from __future__ import annotations

from unittest.mock import ANY

import pytest
from pydantic import BaseModel, ValidationError

from wowspec import (
    ANY_EVENTS,
    PROCESSED,
    SENT,
    SNAPSHOT,
    SpecError,
    SpecFailure,
    any_of,
    event_processor,
    faults,
    given,
    on,
    on_event,
    some,
    stream,
    unordered,
)

from .ending import a_test
from .language_domain import (
    AddCartItem,
    CancelOrder,
    Cart,
    CartItemAdded,
    CreateOrder,
    Order,
    OrderCancelled,
    OrderCreated,
    OrderOverPaid,
    OrderPaid,
    OrderShipped,
    PayOrder,
    ShipOrder,
    SplitOrder,
    item,
)

BOTH = given(on(Order, "o-1", OrderCreated()), on(Cart, "c-1", item("p-1"))).when(SplitOrder(id="o-1", how="list"))
FAILED = given(on(Order, "o-1", OrderCreated())).when(ShipOrder(id="o-1"))
CREATED = given().when(CreateOrder(id="o-1", customer="u-2"))


@event_processor(context="shop")
class Ears:
    @on_event
    def shipped(self, event: OrderShipped) -> None:
        """Hears of it."""


def says_yes(expect, spec):
    """The expectation holds."""
    with a_test():
        expect(spec)


def says_no(expect, spec):
    """The expectation fails, and says so as a failure of the system under test."""
    with pytest.raises(SpecFailure) as caught:
        expect(spec)
    assert "pipeline (virtual time from when)" in str(caught.value)


YES = {
    "events": lambda spec: spec.expect_events(OrderPaid(), OrderShipped()),
    "some": lambda spec: spec.expect_events(some(OrderPaid), some(OrderShipped)),
    "some with a field": lambda spec: spec.expect_events(some(OrderPaid, amount=1), OrderShipped()),
    "some with a matcher": lambda spec: spec.expect_events(some(OrderPaid, amount=ANY), OrderShipped()),
    "a matcher of others": lambda spec: spec.expect_events(ANY, OrderShipped()),
    "unordered": lambda spec: spec.expect_events(unordered(OrderShipped(), OrderPaid())),
    "any of": lambda spec: spec.expect_events(any_of(OrderCreated(), OrderPaid()), OrderShipped()),
    "any events": lambda spec: spec.expect_events(ANY_EVENTS),
    "any events before": lambda spec: spec.expect_events(ANY_EVENTS, OrderShipped()),
    "that": lambda spec: spec.expect_events(that=lambda events: events.count(OrderPaid) == 1),
    "an event": lambda spec: spec.expect_event(OrderPaid, amount=1),
    "an event as an object": lambda spec: spec.expect_event(OrderShipped()),
    "types": lambda spec: spec.expect_event_types(OrderPaid, OrderShipped),
    "count": lambda spec: spec.expect_event_count(2),
    "stored": lambda spec: spec.expect_stored(OrderPaid, OrderShipped()),
    "a whole history": lambda spec: spec.expect_stored(on(Order, "o-1"), OrderCreated(), OrderPaid(), OrderShipped()),
    "another's history": lambda spec: spec.expect_stored(on(Cart, "c-1"), CartItemAdded),
    "no history": lambda spec: spec.expect_stored(on(Cart, "c-2")),
    "not stored": lambda spec: spec.expect_not_stored(OrderCancelled, OrderCreated),
    "emitted": lambda spec: spec.expect_emitted(OrderPaid(), OrderShipped()),
    "published": lambda spec: spec.expect_published(OrderPaid, OrderShipped),
    "not published": lambda spec: spec.expect_not_published(OrderCancelled),
    "delivered to nobody": lambda spec: spec.expect_delivered(),
    "all events": lambda spec: spec.expect_all_events(OrderPaid(), OrderShipped()),
    "state event": lambda spec: spec.expect_state_event_published(),
    "version": lambda spec: spec.expect_version(2),
    "state by fields": lambda spec: spec.expect_state(status="SHIPPED", paid=1),
    "state by a matcher": lambda spec: spec.expect_state(status=any_of("PAID", "SHIPPED")),
    "state by a function": lambda spec: spec.expect_state(lambda order: order.paid == 1),
    "state by both": lambda spec: spec.expect_state(lambda order: order.paid == 1, status="SHIPPED"),
    "another's state": lambda spec: spec.expect_state(on(Cart, "c-1"), lambda cart: len(cart.items) == 1),
    "another's state by fields": lambda spec: spec.expect_state(on(Cart, "c-1"), id="c-1"),
    "aggregate": lambda spec: spec.expect_state_aggregate(version=2, deleted=False, owner_id="", tenant_id="(0)"),
    "another's aggregate": lambda spec: spec.expect_state_aggregate(on(Cart, "c-1"), version=1),
    "succeeded": lambda spec: spec.expect_succeeded(),
    "any outcome": lambda spec: spec.expect_any_outcome(),
    "stage": lambda spec: spec.expect_stage(PROCESSED),
    "stage with a field": lambda spec: spec.expect_stage(PROCESSED, aggregate_version=2),
    "sent": lambda spec: spec.expect_stage(SENT),
    "order": lambda spec: spec.expect_order("event_store.append", "wait.notify:PROCESSED"),
    "attempts": lambda spec: spec.expect_attempts(1),
    "acknowledged": lambda spec: spec.expect_acknowledged(),
    "command state": lambda spec: spec.expect_command_state("STORED"),
    "no fault": lambda spec: spec.expect_fired(0),
    "no result": lambda spec: spec.expect_result(),
}
NO = {
    "one event more": lambda spec: spec.expect_events(OrderPaid(), OrderShipped(), OrderShipped()),
    "one event less": lambda spec: spec.expect_events(OrderPaid()),
    "another order": lambda spec: spec.expect_events(OrderShipped(), OrderPaid()),
    "another field": lambda spec: spec.expect_events(OrderPaid(amount=2), OrderShipped()),
    "a superclass": lambda spec: spec.expect_events(OrderOverPaid(), OrderShipped()),
    "some other": lambda spec: spec.expect_events(some(OrderPaid, amount=2), ANY_EVENTS),
    "none of": lambda spec: spec.expect_events(any_of(OrderCreated(), OrderCancelled()), OrderShipped()),
    "unordered lacks one": lambda spec: spec.expect_events(unordered(OrderPaid())),
    "no events": lambda spec: spec.expect_no_events(),
    "that": lambda spec: spec.expect_events(that=lambda events: events.count(OrderPaid) == 2),
    "no such event": lambda spec: spec.expect_event(OrderPaid, amount=2),
    "types of another order": lambda spec: spec.expect_event_types(OrderShipped, OrderPaid),
    "a subclass": lambda spec: spec.expect_event_types(OrderOverPaid, OrderShipped),
    "count": lambda spec: spec.expect_event_count(1),
    "stored": lambda spec: spec.expect_stored(OrderPaid),
    "part of a history": lambda spec: spec.expect_stored(on(Order, "o-1"), OrderPaid(), OrderShipped()),
    "no history": lambda spec: spec.expect_stored(on(Cart, "c-2"), CartItemAdded),
    "not stored at all": lambda spec: spec.expect_not_stored(),
    "not stored": lambda spec: spec.expect_not_stored(OrderShipped),
    "emitted": lambda spec: spec.expect_emitted(OrderPaid()),
    "published": lambda spec: spec.expect_published(OrderPaid),
    "not published at all": lambda spec: spec.expect_not_published(),
    "not published": lambda spec: spec.expect_not_published(OrderPaid),
    "delivered": lambda spec: spec.expect_delivered(OrderPaid),
    "all events": lambda spec: spec.expect_all_events(OrderPaid()),
    "no state event": lambda spec: spec.expect_state_event_not_published(),
    "version": lambda spec: spec.expect_version(3),
    "state by fields": lambda spec: spec.expect_state(status="PAID"),
    "state by an unknown field": lambda spec: spec.expect_state(stats="SHIPPED"),
    "state by a function": lambda spec: spec.expect_state(lambda order: order.paid == 2),
    "state by one of both": lambda spec: spec.expect_state(lambda order: order.paid == 1, status="PAID"),
    "another's state": lambda spec: spec.expect_state(on(Cart, "c-1"), lambda cart: not cart.items),
    "nobody's state": lambda spec: spec.expect_state(on(Cart, "c-2"), id="c-2"),
    "aggregate": lambda spec: spec.expect_state_aggregate(deleted=True),
    "a truth value": lambda spec: spec.expect_state_aggregate(deleted=0),
    "another's aggregate": lambda spec: spec.expect_state_aggregate(on(Cart, "c-1"), version=2),
    "an error": lambda spec: spec.expect_error(ValueError),
    "an unknown outcome": lambda spec: spec.expect_unknown_outcome(),
    "a stage that failed": lambda spec: spec.expect_stage(PROCESSED, succeeded=False),
    "a stage that nobody waited for": lambda spec: spec.expect_stage(SNAPSHOT),
    "stage with a field": lambda spec: spec.expect_stage(PROCESSED, aggregate_version=3),
    "order": lambda spec: spec.expect_order("wait.notify:PROCESSED", "event_store.append"),
    "a point twice": lambda spec: spec.expect_order("event_store.append", "event_store.append"),
    "attempts": lambda spec: spec.expect_attempts(2),
    "acknowledged": lambda spec: spec.expect_acknowledged(times=2),
    "command state": lambda spec: spec.expect_command_state("EXPIRED"),
    "a fault": lambda spec: spec.expect_fired(1),
    "logged": lambda spec: spec.expect_logged("state_event_bus.send"),
    "downstream": lambda spec: spec.expect_downstream_error(Ears),
    "result": lambda spec: spec.expect_result(total=1),
}


@pytest.mark.parametrize("expect", YES.values(), ids=YES.keys())
def test_it_holds(expect):
    """Each verb says yes to what happened."""
    says_yes(expect, BOTH)


@pytest.mark.parametrize("expect", NO.values(), ids=NO.keys())
def test_it_does_not_hold(expect):
    """Each verb says no to what did not happen, with the pipeline."""
    says_no(expect, BOTH)


def test_every_verb_is_here():
    """No verb for aggregates is left out of both tables."""
    from wowspec.specs.expecting import Expecting

    used = {name for table in (YES, NO) for expect in table.values() for name in expect.__code__.co_names}
    verbs = {name for name in vars(Expecting) if name.startswith("expect_")}
    # Said of headers in tests of their own.
    assert verbs - used == {"expect_header"}


# --- ledgers apart from each other ------------------------------------------------------------------------------------


def test_four_ledgers_are_kept_apart():
    """Emitted and not stored; stored and not published; published and delivered twice."""
    pay = PayOrder(id="o-1")
    base = given(OrderCreated())
    (
        base.with_faults(faults.event_store.append.fails())
        .when(pay)
        .expect_error(code="BadRequest")
        .expect_emitted(OrderPaid())
        .expect_not_stored()
        .expect_not_published()
    )
    (
        base.with_faults(faults.domain_event_bus.send.fails())
        .when(pay)
        .expect_error(code="BadRequest")
        .expect_emitted(OrderPaid())
        .expect_stored(OrderPaid())
        .expect_not_published(OrderPaid)
        .expect_state_event_not_published()
    )
    (
        given(OrderCreated(), OrderPaid())
        .using(Ears)
        .when(ShipOrder(id="o-1"))
        .expect_published(OrderShipped)
        .expect_delivered(OrderShipped())
        .expect_state_event_published()
    )
    (
        given(OrderCreated(), OrderPaid())
        .using(Ears)
        .with_faults(faults.event.deliver(Ears, "shipped").times_out())
        .when(ShipOrder(id="o-1"))
        .expect_delivered(OrderShipped())
    )


def test_a_rivals_events_are_not_this_commands():
    """They count in the version and among all events, in the order of the store."""
    rival = OrderPaid(amount=5)
    (
        given(OrderCreated())
        .with_faults(faults.event_store.append.rival_appends(rival))
        .when(CancelOrder())
        .expect_events(OrderCancelled())
        .expect_published(OrderCancelled())
        .expect_event_count(1)
        .expect_all_events(rival, OrderCancelled())
        .expect_stored(on(Order, _id()), OrderCreated(), rival, OrderCancelled())
        .expect_version(3)
        .expect_attempts(2)
        .expect_fired(1)
    )


def _id():
    return given(OrderCreated()).when(CancelOrder()).expect_succeeded().run().aggregate_id


def test_stored_speaks_of_one_command():
    """What a step before it stored is not its own."""
    given().when(CreateOrder(id="o-1")).expect_events(OrderCreated()).when(PayOrder(id="o-1")).expect_events(
        OrderPaid()
    ).expect_all_events(OrderPaid())


# --- the rest ---------------------------------------------------------------------------------------------------------


def test_the_result_is_exact():
    """All entries, and no other."""
    CREATED.expect_result(customer="u-2")
    with pytest.raises(SpecFailure, match="customer"):
        CREATED.expect_result()
    with pytest.raises(SpecFailure, match="total"):
        CREATED.expect_result(customer="u-2", total=1)
    with pytest.raises(SpecFailure, match="customer"):
        CREATED.expect_result(customer="u-3")


def test_header_entries():
    """A subset; a missing entry is told with all that are there."""
    traced = given().when(CreateOrder(id="o-1"), header={"trace_id": "x"})
    traced.expect_header(trace_id="x").expect_header(trace_id=some(str))
    with pytest.raises(SpecFailure, match=r"header\['trace_id'\]"):
        traced.expect_header(trace_id="y")
    with pytest.raises(SpecFailure, match=r"header\['nope'\]: expected 1, but there is none"):
        traced.expect_header(nope=1)
    with pytest.raises(SpecFailure, match="no event stream was made"):
        FAILED.expect_header(trace_id="x")
    with pytest.raises(SpecError, match=r"expect_header\(\) expects nothing"):
        traced.expect_header()
    FAILED.expect_error(code="IllegalState")


def test_a_stage_that_failed():
    """It decides the outcome, as an expected error does."""
    with a_test():
        FAILED.expect_stage(PROCESSED, succeeded=False, error_code="IllegalState").expect_no_events()
    with pytest.raises(SpecFailure, match=r"PROCESSED was signalled \(IllegalState\), expected success"):
        FAILED.expect_stage(PROCESSED)
    FAILED.expect_error(code="IllegalState")


def test_a_stage_that_was_waited_for():
    """SNAPSHOT is signalled to those who wait for it."""
    from wowspec import snapshot

    given().when(CreateOrder(id="o-1"), wait_for=snapshot()).expect_stage(SNAPSHOT).expect_stage(PROCESSED)


def test_logged_failures():
    """Of a point, and of a class."""
    logged = given(OrderCreated()).with_faults(faults.state_event_bus.send.fails()).when(CancelOrder())
    logged.expect_logged("state_event_bus.send").expect_succeeded().expect_state_event_not_published()
    with pytest.raises(
        SpecFailure, match=r"no ValueError was logged at state_event_bus\.send; logged were: .*InjectedFault"
    ):
        logged.expect_logged("state_event_bus.send", ValueError)


def test_a_command_state_after_a_failed_append():
    """EXPIRED; and where no aggregate was made, none."""
    (
        given(OrderCreated())
        .with_faults(faults.event_store.append.fails())
        .when(CancelOrder())
        .expect_error(code="BadRequest")
        .expect_command_state("EXPIRED")
    )
    with pytest.raises(SpecFailure, match="no command aggregate was made"):
        given(OrderCreated()).when(PayOrder, id="o-1", amount=0).expect_error(
            code="CommandValidation"
        ).expect_command_state("STORED")


def test_expecting_nothing_is_refused():
    """A verb that cannot fail, or that reads as if something were expected."""
    for wrong in (
        BOTH.expect_events,
        BOTH.expect_stored,
        BOTH.expect_published,
        BOTH.expect_event_types,
        BOTH.expect_state,
        BOTH.expect_state_aggregate,
        BOTH.expect_header,
        BOTH.expect_error,
    ):
        with pytest.raises(SpecError) as caught:
            wrong()
        assert caught.value.why
        assert caught.value.instead


def test_a_failed_verb_does_not_decide():
    """Only an expectation that held says that the failure was meant."""
    with pytest.raises(SpecFailure, match="which nobody expected"), a_test():
        failed = given(OrderCreated()).when(ShipOrder(id="o-1"))
        with pytest.raises(SpecFailure):
            failed.expect_error(ValueError)


def test_soft_collects():
    """Failures are told together when the test ends, or by `verify()`; each with its own pipeline."""
    with pytest.raises(SpecFailure, match="2 soft expectations failed") as caught, a_test():
        given(OrderCreated()).when(CancelOrder()).soft().expect_no_events().expect_version(2).expect_version(7)
    assert str(caught.value).count("pipeline (virtual time from when)") == 2
    assert "no events expected, 1 stored" in str(caught.value)
    assert "is at version 2, expected 7" in str(caught.value)

    with a_test():
        soft = given(OrderCreated()).when(CancelOrder()).soft().expect_version(7)
        with pytest.raises(SpecFailure, match="1 soft expectation"):
            soft.verify()
        soft.verify()


def test_without_soft_the_first_failure_raises_at_its_verb():
    """And a soft spec's base is not soft."""
    base = given(OrderCreated()).when(CancelOrder())
    with pytest.raises(SpecFailure, match="expected 7"):
        base.expect_version(7).expect_version(8)


def test_a_matcher_has_no_place_in_a_model():
    """Pydantic raises first; the matcher's own text carries the hint."""

    class Holder(BaseModel):
        amount: int

    for matcher in (some(OrderPaid, amount=1), any_of(1, 2)):
        with pytest.raises(ValidationError, match=r"write some\(Event, x=\.\.\.\)"):
            Holder(amount=matcher)


def test_streams_and_time_are_no_events():
    """Where events are expected, history is refused, with where it belongs."""
    with pytest.raises(SpecError, match=r"expect_stored\(on\(Order, 'o-1'\), \*its_whole_history\)"):
        BOTH.expect_events(on(Order, "o-1", OrderPaid()))
    with pytest.raises(SpecError, match="its events stand side by side"):
        BOTH.expect_published(stream(OrderPaid(), OrderShipped()))


def test_on_says_an_instance_alone():
    """Events or an owner within `on` would be ignored, so they are refused."""
    for wrong in (
        lambda: BOTH.expect_stored(on(Order, "o-1", OrderCreated())),
        lambda: BOTH.expect_state(on(Order, "o-1", OrderCreated()), status="PAID"),
        lambda: BOTH.expect_state(on(Order, "o-1", owner_id="u-1"), status="PAID"),
        lambda: BOTH.expect_state_aggregate(on(Order, "o-1", OrderCreated()), version=2),
    ):
        with pytest.raises(SpecError, match=r"on\("):
            wrong()


def test_numbers_are_whole_numbers():
    """`"1"` and `True` are not 1."""
    for wrong in (
        lambda: BOTH.expect_version("2"),
        lambda: BOTH.expect_version(True),
        lambda: BOTH.expect_event_count("2"),
        lambda: BOTH.expect_attempts(True),
        lambda: BOTH.expect_acknowledged(times="1"),
        lambda: BOTH.expect_fired(-1),
    ):
        with pytest.raises(SpecError, match="whole number"):
            wrong()


def test_a_function_that_forgets_to_answer():
    """A lambda that gives None could not fail; a function with asserts of its own may."""

    def check(cart):
        assert len(cart.items) == 1

    added = given().when(AddCartItem(product_id="p-1"))
    added.expect_state(check)
    with pytest.raises(SpecError, match="gave None"):
        added.expect_state(lambda cart: None)
    with pytest.raises(SpecError, match="gave None"):
        added.expect_events(that=lambda events: None)
