"""Plans as text: what the grammar takes, what it refuses and what it suggests, and how plans print."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from wowspec import SpecError
from wowspec.faults.plans import NUMBERED, Address, Plan, PlannedFault, nearest, plan_of
from wowspec.world.points import POINTS, USER_POINT, FaultKind

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
        ("A / event_store.append @ 1 = timeout x 3", "A/event_store.append@1=timeout x3"),
        ("A/event_store.append@1=timeoutx3", "A/event_store.append@1=timeout x3"),
        ("A # 2/command_bus.send@1= delay ( 2 )x 2", "A#2/command_bus.send@1=delay(2) x2"),
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
        ("Deposit#1/event_store.append@1=fail", "'Deposit#1' is no name", "Deposit/event_store.append@1=fail"),
        ("A>/event_store.append@1=fail", "'' is no name", "A/event_store.append@1=fail"),
        ("event_store.append@1", "it says no kind", "PlaceOrder/event_store.append@1=ack_lost"),
        ("A/command.acknowledge @one= time_out x3", "@one is no visit", "A/command.acknowledge@1=timeout"),
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


NAMES = st.from_regex(r"[A-Za-zÄé_][\w.]{0,5}(#[2-9]|#[1-9][0-9])?", fullmatch=True)
POINTS_WITH_KINDS = [
    (f"{row.name}:{row.part and 'Part.function'}".removesuffix(":"), row.kinds) for row in POINTS if row.kinds
]


@st.composite
def faults_of_plans(draw: st.DrawFn) -> PlannedFault:
    """Any fault that a plan can have."""
    point, kinds = draw(st.sampled_from([*POINTS_WITH_KINDS, ("payment.charge", USER_POINT.kinds)]))
    kind = draw(st.sampled_from(sorted(kinds)))
    chain = ">".join(draw(st.lists(NAMES, min_size=1, max_size=3)))
    address = Address(chain, point, draw(st.integers(1, 12)))
    return PlannedFault(address, kind, draw(st.integers(1, 4)), draw(st.integers(1, 9)) if kind in NUMBERED else 0)


PLANS = st.lists(faults_of_plans(), max_size=3, unique_by=lambda fault: fault.address).map(
    lambda faults: Plan(tuple(faults))
)


@settings(max_examples=60, deadline=None)
@given(plan=PLANS, data=st.data())
def test_any_plan_is_read_as_it_is_printed_whatever_blanks_are_in_it(plan, data):
    """Printing and reading are inverse; blanks around names, numbers and signs say nothing."""
    text = str(plan)
    assert Plan.parse(text) == plan

    tokens = re.findall(r"[;>/@=()#]| x(?=\d+(?:;|$))|[^;>/@=()# ]+", text)
    blanks = data.draw(st.lists(st.sampled_from(["", " ", "  ", "\t"]), min_size=len(tokens), max_size=len(tokens)))
    spaced = "".join(token.strip() + blank for token, blank in zip(tokens, blanks, strict=True))

    assert Plan.parse(spaced) == plan


def offered_for(text: str) -> list[str]:
    """What is offered in place of a fault that cannot be read; nothing for one that can, or whose point is unknown."""
    try:
        Plan.parse(text)
    except SpecError as error:
        return error.instead.split(" or ") if "cannot be read" in str(error) else []
    return []


@settings(max_examples=150, deadline=None)
@given(fault=faults_of_plans(), data=st.data())
def test_what_is_offered_instead_can_be_read(fault, data):
    """Whatever is left out of a fault, doubled, or written wrongly: each of the texts that are offered is a plan."""
    text = str(fault)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 4, len(text))))
    other = text[:start] + data.draw(st.sampled_from(["", "#", "@", "x", "=", "0", "é", "/", ">", "("])) + text[end:]
    for offered in offered_for(other):
        assert len(Plan.parse(offered)) == 1


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
