"""Faults in specs: where they strike, how often, whose; what an unknown one is told; what never struck."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from wowspec import (
    PROCESSED,
    InjectedFault,
    SpecError,
    SpecFailure,
    faults,
    given,
    on,
    spec,
)

from .ending import a_test
from .language_domain import (
    AddCartItem,
    CancelOrder,
    Cart,
    CreateOrder,
    Order,
    OrderCancelled,
    OrderCreated,
    OrderPaid,
    OrderState,
    PayOrder,
    item,
)

POINTS = [
    "request_id.check",
    "command_bus.send",
    "snapshot.load",
    "event_store.load",
    "event_store.append",
    "command.acknowledge",
    "domain_event_bus.send",
    "state_event_bus.send",
    "snapshot.save",
    "wait.notify:PROCESSED",
]


def paying(*armed):
    """An order that is paid, with faults; its cart is there, too."""
    base = given(on(Cart, "c-1", item("p-1")), on(Order, "o-1", OrderCreated())).with_faults(*armed)
    return base.when(PayOrder(id="o-1"), request_id="r-1")


# --- the specs of the documentation -----------------------------------------------------------------------------------


def test_an_append_failure_publishes_nothing_and_expires_the_aggregate():
    """As documented."""
    (
        paying(faults.event_store.append.fails())
        .expect_error(InjectedFault)
        .expect_not_stored()
        .expect_not_published()
        .expect_command_state("EXPIRED")
        .expect_acknowledged(times=1)
        .expect_stage(PROCESSED, succeeded=False)
    )


def test_published_after_acknowledged():
    """As documented."""
    given().when(CreateOrder()).expect_order(
        "event_store.append",
        "command.acknowledge",
        "domain_event_bus.send",
        "state_event_bus.send",
        "wait.notify:PROCESSED",
    )


def test_a_state_event_failure_is_logged_not_raised():
    """As documented."""
    (
        given()
        .with_faults(faults.state_event_bus.send.fails())
        .when(CreateOrder())
        .expect_stage(PROCESSED, succeeded=True)
        .expect_published(OrderCreated)
        .expect_state_event_not_published()
        .expect_logged("state_event_bus.send")
    )


# --- whose visits count -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("whose", [None, "o-1", Order, on(Order, "o-1")], ids=["all", "id", "type", "on"])
def test_a_fault_of_an_aggregate_strikes_at_each_point(point, whose):
    """By its type, its id text, or `on(T, id)`."""
    paying(faults.point(point).fails(aggregate=whose)).expect_any_outcome().expect_fired(1)


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize(
    ("whose", "said"),
    [("c-1", "c-1"), (Cart, "Cart"), (on(Order, "o-2"), "on(Order, 'o-2')")],
    ids=["id", "type", "on"],
)
def test_a_fault_of_another_aggregate_does_not_strike(point, whose, said):
    """It is unreached, and the text says whose visits it waited for."""
    with pytest.raises(SpecFailure) as caught, a_test():
        paying(faults.point(point).fails(aggregate=whose)).expect_succeeded()
    assert f"the fault {point}@1=fail never struck" in str(caught.value)
    assert f"the point {point} was not visited by {said}, so the spec says nothing of it" in str(caught.value)
    assert "or another aggregate=" in str(caught.value)


def test_the_visits_of_one_aggregate_are_counted_apart():
    """`at=2` of the order's is its second, whatever a cart does in between."""
    armed = faults.event_store.append.fails(at=2, aggregate=Order)
    (
        given(on(Cart, "c-1", item("p-1")), on(Order, "o-1", OrderCreated()))
        .with_faults(armed)
        .when(PayOrder(id="o-1"))
        .expect_succeeded()
        .when(AddCartItem(product_id="p-2"))
        .expect_succeeded()
        .when(CancelOrder(), aggregate_id="o-1")
        .expect_error(InjectedFault)
    )


@pytest.mark.parametrize("whose", [5, ("o-1",), b"o-1"])
def test_an_aggregate_that_is_none(whose):
    """The three ways are told."""
    with pytest.raises(SpecError, match="aggregate=Order, aggregate='o-1', or aggregate=on"):
        paying(faults.event_store.append.fails(aggregate=whose)).run()


# --- how often --------------------------------------------------------------------------------------------------------


def test_a_fault_strikes_once_unless_it_says_otherwise():
    """`times=1`; the retry finds the point whole again."""
    paying(faults.event_store.append.times_out()).expect_succeeded().expect_attempts(2).expect_fired(1)
    paying(faults.event_store.append.times_out(times=3)).expect_succeeded().expect_attempts(4).expect_fired(3)
    paying(faults.event_store.append.times_out(times=4)).expect_error(TimeoutError).expect_fired(4)


def test_a_fault_strikes_from_a_visit_on():
    """`at=2, times=2`: the second and the third."""
    (
        paying(faults.event_store.load.times_out(), faults.event_store.load.times_out(at=2, times=2))
        .expect_succeeded()
        .expect_attempts(4)
        .expect_fired(3)
    )


def test_a_fault_is_armed_for_the_commands_that_follow():
    """Not for what is given; visits are counted from there."""
    (
        given(CreateOrder(id="o-1"), PayOrder(id="o-1"))
        .with_faults(faults.event_store.append.fails())
        .when(CancelOrder())
        .expect_error(InjectedFault)
        .expect_version(2)
        .when(CancelOrder())
        .expect_events(OrderCancelled())
    )


def test_fault_values_are_immutable():
    """One value may serve many specs."""
    fault = faults.event_store.append.fails()
    with pytest.raises(FrozenInstanceError):
        fault.at = 2
    for _ in range(2):
        paying(fault).expect_error(InjectedFault)
    assert fault == faults.event_store.append.fails()


def test_kinds_of_a_lost_reply():
    """The effect took place, and the caller got an error: recoverable or not."""
    # The retry finds its own stream in the store.
    paying(faults.event_store.append.loses_reply()).expect_any_outcome().expect_events(OrderPaid())
    (
        paying(faults.event_store.append.loses_reply(recoverable=False))
        .expect_error(InjectedFault)
        .expect_events(OrderPaid())
        .expect_not_published()
    )


# --- never struck -----------------------------------------------------------------------------------------------------


def test_a_fault_that_was_never_reached_fails_the_spec():
    """With the visits that there were."""
    with pytest.raises(SpecFailure) as caught, a_test():
        paying(faults.event_store.append.fails(at=3)).expect_succeeded()
    text = str(caught.value)
    assert "the fault event_store.append@3=fail never struck" in text
    assert "was visited 1 time, and it waits for visit 3" in text
    assert "or a smaller at=" in text


def test_a_fault_after_the_last_command():
    """It is armed for nobody."""
    with (
        pytest.raises(SpecFailure, match=r"armed for the commands that follow with_faults\(\.\.\.\), and none did"),
        a_test(),
    ):
        given(OrderCreated()).when(CancelOrder()).with_faults(faults.event_store.append.fails()).expect_succeeded()


def test_one_of_two_faults():
    """Each must strike."""
    with pytest.raises(SpecFailure, match=r"wait\.notify:SNAPSHOT@1=fail never struck"), a_test():
        paying(faults.event_store.append.times_out(), faults.wait.notify("SNAPSHOT").fails()).expect_succeeded()


def test_in_a_forked_spec_one_branch_is_enough():
    """It strikes in the branch that passes the point."""
    with a_test():
        (
            given(on(Order, "o-1", OrderCreated()))
            .with_faults(faults.event_store.append.fails())
            .fork(
                "refused",
                lambda branch: branch.when(PayOrder, id="o-1", amount=0).expect_error(code="CommandValidation"),
            )
            .fork("paid", lambda branch: branch.when(PayOrder(id="o-1")).expect_error(InjectedFault))
        )
    with pytest.raises(SpecFailure, match="never struck"), a_test():
        (
            given(on(Order, "o-1", OrderCreated()))
            .with_faults(faults.event_store.append.fails())
            .fork(
                "refused",
                lambda branch: branch.when(PayOrder, id="o-1", amount=0).expect_error(code="CommandValidation"),
            )
        )


# --- bad input --------------------------------------------------------------------------------------------------------


FRESH = spec(Order)
REFUSED = {
    "a point": (lambda: faults.event_store.apend, "faults.event_store.append"),
    "a group": (lambda: faults.eventstore, "faults.event_store"),
    "a verb": (lambda: faults.event_store.append.fail, ".fails()"),
    "a text": (lambda: faults.point("event_store.appnd"), "event_store.append"),
    "a text without its part": (lambda: faults.point("wait.notify"), "wait.notify"),
    "a stage": (lambda: faults.wait.notify("PROCESED"), "PROCESSED"),
    "a kind": (faults.command_bus.send.conflicts, "loses_reply()"),
    "a rival there": (lambda: faults.command_bus.send.rival_appends(OrderPaid()), "fails()"),
    "a conflict there": (lambda: faults.wait.notify(PROCESSED).conflicts(), "times_out()"),
    "a traced point": (lambda: faults.command.validate, "faults.command.acknowledge"),
    "a traced point by its text": (lambda: faults.point("command.validate").fails(), "another point"),
    "no times": (lambda: faults.event_store.append.fails(times=0), "times=1"),
    "a visit": (lambda: faults.event_store.append.fails(at="2"), "at=1"),
    "no rival": (faults.event_store.append.rival_appends, "rival_appends(OrderPaid(...))"),
    "a list of rivals": (
        lambda: faults.event_store.append.rival_appends([OrderPaid()]),
        "rival_appends(OrderPaid(...), ",
    ),
    "a class of rivals": (lambda: faults.event_store.append.rival_appends(OrderPaid), "rival_appends(OrderPaid(...))"),
    "a command of a rival": (
        lambda: faults.event_store.append.rival_appends(PayOrder(id="o-1")),
        "the events that it would store",
    ),
    "no verb": (lambda: FRESH.with_faults(faults.event_store.append), "faults.event_store.append.fails()"),
    "no call": (lambda: FRESH.with_faults(faults.event_store.append.fails), "faults.event_store.append.fails()"),
    "a plan": (lambda: FRESH.with_faults("event_store.append@1=fail"), "faults.event_store.append.fails()"),
    "in given": (lambda: given(faults.event_store.append.fails()).when(PayOrder(id="o-1")).run(), ".with_faults(...)"),
}


@pytest.mark.parametrize(("write", "meant"), REFUSED.values(), ids=REFUSED.keys())
def test_a_fault_that_cannot_be(write, meant):
    """What is unknown, illegal there, or no fault at all is refused where it is written, with what may be meant."""
    with pytest.raises(SpecError) as caught:
        write()
    assert caught.value.why
    assert meant in caught.value.instead


def test_a_group_that_is_none_is_an_attribute_error_too():
    """Python asks modules for names that they need not have."""
    assert not hasattr(faults, "eventstore")
    with pytest.raises(AttributeError):
        faults._nothing  # noqa: B018


def test_a_state_is_no_aggregate():
    """A definition error says so."""
    with pytest.raises(SpecError, match="OrderState is no aggregate root"):
        paying(faults.event_store.append.fails(aggregate=OrderState)).run()
