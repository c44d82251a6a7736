"""Plans as text: what the grammar takes, what it refuses and what it suggests, and how plans print."""

from __future__ import annotations

import pytest

from wowspec import SpecError
from wowspec.faults.plans import Address, Plan, PlannedFault, nearest, plan_of
from wowspec.world.points import FaultKind

LONG = (
    "PlaceOrder/event_store.append@1=ack_lost; "
    "PlaceOrder>OrderPlaced>OrderSaga>ReserveStock/event_store.append@1=timeout x3"
)


@pytest.mark.parametrize(
    "text",
    [
        "PlaceOrder/event_store.append@1=ack_lost",
        LONG,
        "Deposit#2/command_bus.send@1=fail",
        "Deposit#12/command_bus.send@3=fail x2",
        "PlaceOrder>OrderPlaced/event.deliver:OrderView.on_event@1=delay(3)",
        "PlaceOrder>OrderPlaced>OrderSaga>ReserveStock#2/event_store.load@2=corrupt",
        "PlaceOrder/wait.notify:PROCESSED@1=drop",
        "PayOrder/service:payment.charge@1=hang",
        "PayOrder/payment.charge@1=ack_lost",
        "PlaceOrder/event_store.append@1=crash_after",
        "",
    ],
)
def test_a_plan_prints_as_it_was_read(text):
    """Reading and printing a canonical plan changes nothing."""
    assert str(Plan.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("PlaceOrder / event_store.append = ack_lost ;", "PlaceOrder/event_store.append@1=ack_lost"),
        ("A > B > C/event_store.append@1=fail", "A>B>C/event_store.append@1=fail"),
        ("A>B/event.deliver:V.on_event@1=delay(1)", "A>B/event.deliver:V.on_event@1=delay"),
        ("A/event_store.append@1=fail x1", "A/event_store.append@1=fail"),
    ],
)
def test_what_may_be_left_out_or_spaced(text, canonical):
    """A visit of 1, a delay of 1 and one time need not be said; spaces say nothing."""
    assert str(Plan.parse(text)) == canonical


def test_the_parts_of_a_plan():
    """Chain, point, visit, kind, number and times."""
    first, second = Plan.parse(LONG)
    assert first == PlannedFault(Address("PlaceOrder", "event_store.append", 1), FaultKind.ACK_LOST)
    assert second.address.chain == "PlaceOrder>OrderPlaced>OrderSaga>ReserveStock"
    assert (second.kind, second.times) == (FaultKind.TIMEOUT, 3)
    assert Plan.parse("A>B/event.deliver:V.on_event@1=delay(3)").faults[0].number == 3


@pytest.mark.parametrize(
    ("text", "what", "instead"),
    [
        ("PlaceOrder/event_store.append@1", "it says no kind", "=ack_lost"),
        ("event_store.append@1=fail", "it says no chain", "PlaceOrder/event_store.append@1=fail"),
        ("Place Order/event_store.append@1=fail", "'Place Order' is no name", "PlaceOrder/event_store.append"),
        ("Deposit#1/event_store.append@1=fail", "'Deposit#1' is no name", "PlaceOrder/event_store.append"),
        ("A>/event_store.append@1=fail", "'' is no name", "PlaceOrder/event_store.append"),
        ("A/event_store.append@0=fail", "@0 is no visit", "A/event_store.append@1=fail"),
        ("A/event_store.append@one=fail", "@one is no visit", "A/event_store.append@1=fail"),
        ("A/event_store.append@1=ack_lots", "there is no kind 'ack_lots'", "A/event_store.append@1=ack_lost"),
        ("A/event_store.append@1=duplicate", "duplicate is not possible at event_store.append", "=fail"),
        ("A/event_store.append@1=fail(2)", "fail takes no number", "A/event_store.append@1=fail"),
        ("A/command_bus.send@1=delay(0)", "delay takes a number from 1 on", "A/command_bus.send@1=delay"),
        ("A/event_store.append@1=fail x0", "x0 strikes never", "A/event_store.append@1=fail"),
    ],
)
def test_a_plan_that_cannot_be_read(text, what, instead):
    """Each mistake is named, with what may have been meant."""
    with pytest.raises(SpecError) as caught:
        Plan.parse(text)
    assert what in str(caught.value)
    assert instead in str(caught.value)


def test_an_unknown_point_is_refused_with_those_that_are_close():
    """A point that is none of the table's, but nearly, was mistyped."""
    with pytest.raises(SpecError, match=r"event_store\.append"):
        Plan.parse("PlaceOrder/event_store.apend@1=fail")


def test_two_faults_at_one_visit_are_refused():
    """At one visit one thing goes wrong."""
    with pytest.raises(SpecError, match=r"two faults of the plan strike at A/event_store\.append@1"):
        Plan.parse("A/event_store.append@1=fail; A/event_store.append@1=timeout")


def test_a_plan_that_is_no_text_is_refused():
    """`None` is no plan."""
    with pytest.raises(SpecError, match="is no text"):
        Plan.parse(None)  # type: ignore[arg-type]


def test_plans_with_more_and_fewer_faults():
    """Adding and taking away makes new plans; their key does not depend on the order."""
    one, two = Plan.parse(LONG).faults
    assert Plan().with_(one).with_(two) == Plan.parse(LONG)
    assert Plan.parse(LONG).without(0) == Plan((two,))
    assert Plan((one, two)).key == Plan((two, one)).key
    assert (len(Plan.parse(LONG)), len(Plan())) == (2, 0)
    assert plan_of(LONG) == plan_of(Plan.parse(LONG))


def test_the_nearest_of_the_reached_visits():
    """The same point first, then a like chain, then the nearest visit."""
    reached = [
        Address("PlaceOrder", "event_store.load"),
        Address("PlaceOrder", "event_store.append", 2),
        Address("PayOrder", "event_store.append"),
        Address("PlaceOrder", "event_store.append"),
    ]
    assert nearest(Address("PlaceOrders", "event_store.append"), reached, 2) == [reached[3], reached[1]]
