"""What is put where it does not belong: each is refused with what it is, why, and what to write instead."""

from __future__ import annotations

import datetime as dt

import hypothesis
import pytest
from hypothesis import strategies as st

from wowspec import (
    AggregateDeleted,
    CommandResultError,
    SpecError,
    SpecFailure,
    advance,
    at,
    command_of,
    faults,
    given,
    on,
    sent_as,
    some,
    spec,
    stream,
    unordered,
)

from .ending import a_test
from .language_domain import (
    AddCartItem,
    AskRate,
    CancelOrder,
    Cart,
    CreateOrder,
    ExpressShipOrder,
    LegacyNote,
    Opened,
    Order,
    OrderCreated,
    OrderPaid,
    OrderShipped,
    OrderState,
    PayOrder,
    ShipOrder,
    WaitForReal,
    item,
)

PAY = PayOrder(id="o-1")
BASE = given(on(Order, "o-1", OrderCreated()))
GIVEN = {
    "a list": ([OrderCreated()], "given(*events)"),
    "a tuple": ((OrderCreated(), OrderPaid()), "stream(*events)"),
    "a generator": ((event for event in [OrderCreated()]), "given(*events)"),
    "nothing": (None, "given() for nothing"),
    "a text": ("OrderCreated", "given(OrderCreated(...))"),
    "a number": (1, "given(OrderCreated(...))"),
    "a mapping": ({"id": "o-1"}, "given(OrderCreated(...))"),
    "a class of an event": (OrderCreated, "OrderCreated(...)"),
    "a class of an aggregate": (Cart, "spec(Cart).given(...)"),
    "an aggregate": (Order(OrderState(id="o-1")), "spec(Order).given_state(OrderState(...))"),
    "a state": (OrderState(id="o-1"), "on(Order, 'o-1', OrderState(...))"),
    "a matcher": (some(OrderCreated), "the event itself"),
    "a group": (unordered(OrderCreated()), "the event itself"),
    "a fault": (faults.event_store.append.fails(), ".with_faults(...) before when(...)"),
    "a point": (faults.event_store.append, ".with_faults(...) before when(...)"),
    "an error": (ValueError("x"), ".with_faults(...) before when(...)"),
    "a spec": (BASE, "go on with it"),
    "a function": (OrderCreated().model_copy, "given(make())"),
    "an event of nobody": (LegacyNote(), "on(Order, 'o-1', LegacyNote(...))"),
    "a built-in event of nobody": (AggregateDeleted(), "on(Order, 'o-1', AggregateDeleted(...))"),
}
WHEN = {
    "a list": ([PAY], "when(first)"),
    "nothing": (None, "when(SomeCommand(...))"),
    "a text": ("PayOrder", "when(CreateOrder(...))"),
    "a class of an aggregate": (Order, "when(SomeCommand(...))"),
    "an event": (OrderPaid(), "given(OrderPaid(...))"),
    "a class of an event": (OrderPaid, "given(OrderPaid(...))"),
    "a state": (OrderState(id="o-1"), "@on_command def handle(self, command: OrderState)"),
    "an instance": (on(Order, "o-1", PAY), "aggregate_id='o-1'"),
    "an envelope": (sent_as(PAY, owner_id="u-1"), "when(command, owner_id=...)"),
    "a stream": (stream(OrderPaid()), "given(stream(...))"),
    "time": (advance(minutes=20), ".given(advance(minutes=20)).when("),
    "an instant": (
        at(dt.datetime(2024, 1, 2, tzinfo=dt.UTC)),
        ".given(at(datetime(2024, 1, 2, 0, 0, tzinfo=UTC))).when(",
    ),
    "a matcher": (some(PayOrder), "the command itself"),
    "a fault": (faults.event_store.append.fails(), ".with_faults(...) before it"),
    "a spec": (BASE, "go on with it"),
    "a command that nobody handles": (LegacyNote(), "@on_command def handle(self, command: LegacyNote)"),
    "a subclass": (ExpressShipOrder(id="o-1"), "command: ExpressShipOrder"),
    "a function that forgets to return": (lambda run: None, "when(SomeCommand(...))"),
}
OPTIONS = {
    "a misspelt one": ({"ownerid": "u-1"}, "owner_id="),
    "a number for an id": ({"owner_id": 7}, "owner_id='7'"),
    "a number for an aggregate": ({"aggregate_id": 7}, "aggregate_id='7'"),
    "a number for a request": ({"request_id": 7}, "request_id='7'"),
    "a number for a tenant": ({"tenant_id": 7}, "tenant_id='7'"),
    "a text for a version": ({"expected_version": "1"}, "expected_version=2"),
    "a truth value for a version": ({"expected_version": True}, "expected_version=2"),
    "a list for a header": ({"header": ["trace_id"]}, 'header={"trace_id": "x"}'),
    "a number in a header": ({"header": {"trace_id": 1}}, 'header={"trace_id": "x"}'),
    "a text for a stage": ({"wait_for": "PROCESSED"}, "wait_for=processed()"),
}


def refused(write, meant):
    """It is refused by a text of three parts, and the base of the spec goes on as if nothing had been written."""
    with pytest.raises(SpecError) as caught:
        write()
    error = caught.value
    assert error.what
    assert error.why
    assert meant in error.instead
    assert " at 0x" not in str(error)
    with a_test():
        BASE.when(PAY).expect_events(OrderPaid()).expect_version(2)


@pytest.mark.parametrize(("wrong", "meant"), GIVEN.values(), ids=GIVEN.keys())
def test_given(wrong, meant):
    """What did not happen, or is no object of an event's or a command's class."""
    refused(lambda: spec().given(wrong).when(PAY).run(), meant)


NOWHERE = {
    name: row for name, row in GIVEN.items() if not isinstance(row[0], LegacyNote | AggregateDeleted | OrderState)
}


@pytest.mark.parametrize(("wrong", "meant"), NOWHERE.values(), ids=NOWHERE.keys())
def test_given_within_on_and_stream(wrong, meant):
    """The same within an instance's history, and within one version."""
    refused(lambda: given(on(Order, "o-1", OrderCreated(), wrong)).when(PAY).run(), meant)
    if not isinstance(wrong, type):
        refused(lambda: given(stream(OrderCreated(), wrong)).when(PAY).run(), meant)


@pytest.mark.parametrize(("wrong", "meant"), WHEN.values(), ids=WHEN.keys())
def test_when(wrong, meant):
    """What is no command."""
    refused(lambda: BASE.when(CancelOrder()).expect_succeeded().when(wrong).run(), meant)


@pytest.mark.parametrize(("options", "meant"), OPTIONS.values(), ids=OPTIONS.keys())
def test_options(options, meant):
    """Of `when` and of `sent_as`."""
    refused(lambda: BASE.when(PAY, **options).run(), meant)
    refused(lambda: given(OrderCreated(), sent_as(PAY, **options)).when(ShipOrder(id="o-1")).run(), meant)


def test_on_and_stream():
    """An instance has an id, a stream has an event, and both say texts."""
    refused(lambda: on(Order, ""), "an-id")
    refused(lambda: on(Order, 5, OrderCreated()), "an-id")
    refused(lambda: on(OrderState, "o-1"), "@aggregate_root")
    refused(lambda: on(Order, "o-1", owner_id=5), "owner_id='5'")
    refused(stream, "or nothing at all")
    refused(lambda: stream(OrderCreated(), space_id=5), "space_id='5'")
    refused(lambda: at(dt.datetime(2030, 1, 1)), "tzinfo=timezone.utc")  # noqa: DTZ001
    refused(lambda: command_of("PayOrder", id="o-1"), "command_of(Deposit, amount=0)")


def test_given_state():
    """A state of this spec's aggregate, at a version that it can have."""
    base = spec(Order)
    refused(lambda: base.given_state(OrderState).when(PAY).run(), "given_state(OrderState(id='o-1', ...))")
    refused(lambda: base.given_state(OrderState(id="o-1"), version=0).when(PAY).run(), "version=1")
    refused(lambda: base.given_state(OrderState(id="o-1"), version="3").when(PAY).run(), "version=1")
    refused(lambda: base.given_state(item("p-1")).when(PAY).run(), "spec(TheAggregate)")
    refused(lambda: given().given_state(OrderState(id="o-1")).when(PAY).run(), "spec(TheAggregate)")


def test_forks():
    """A branch has a name and a function."""
    refused(lambda: BASE.fork("", lambda branch: branch), "fork('paid twice'")
    refused(lambda: BASE.fork(lambda branch: branch, "x"), "fork('paid twice'")
    refused(lambda: BASE.fork("a", BASE), "lambda spec: spec.when(...)")


def test_a_class_made_of_an_event():
    """`when(Event, field=...)` says that it is one."""
    refused(lambda: BASE.when(OrderPaid, amount=3), "given(OrderPaid(...))")


def test_functions_that_would_never_run():
    """Neither an async function nor a generator is a yes, a command or a branch."""

    async def asynchronous(state):
        return False

    def yielding(state):
        yield False

    for function, meant in ((asynchronous, "without async"), (yielding, "without yield")):
        refused(lambda function=function: BASE.when(PAY).expect_state(function), meant)
        refused(lambda function=function: BASE.when(PAY).expect_events(that=function), meant)
        refused(lambda function=function: BASE.when(PAY).expect_succeeded().when(function).run(), meant)
        refused(lambda function=function: BASE.fork("a", function), meant)


def test_services_and_real_time():
    """What nothing supplies, and what nothing can wait for."""
    refused(lambda: given(Opened()).when(AskRate(id="a-1")).run(), "inject(rates=...)")
    refused(lambda: given(Opened()).when(WaitForReal(id="a-1")).run(), "await clock.sleep(...)")
    refused(lambda: given(Opened(), WaitForReal(id="a-1")).when(AskRate(id="a-1")).run(), "await clock.sleep(...)")


def test_an_author_error_is_no_outcome():
    """No expectation accepts it: not by its class, nor as any outcome."""
    for expect in (
        lambda asked: asked.expect_error(SpecError),
        lambda asked: asked.expect_error(Exception),
        lambda asked: asked.expect_error(CommandResultError),
        lambda asked: asked.expect_any_outcome(),
        lambda asked: asked.expect_no_events(),
    ):
        with pytest.raises(SpecError, match="nothing supplies parameter"):
            expect(given(Opened()).when(AskRate(id="a-1")))


def test_a_hypothesis_example_is_judged_when_it_ends():
    """With the example that left it so."""

    @hypothesis.settings(derandomize=True, database=None, max_examples=3)
    @hypothesis.given(st.integers(1, 3))
    def forgets(amount):
        given(OrderCreated()).when(PayOrder(id="o-1", amount=amount))

    @hypothesis.settings(derandomize=True, database=None, max_examples=3)
    @hypothesis.given(st.integers(1, 3))
    def undecided(amount):
        given(OrderCreated(), OrderPaid()).when(PayOrder(id="o-1", amount=amount)).expect_no_events()

    @hypothesis.settings(derandomize=True, database=None, max_examples=3)
    @hypothesis.given(st.integers(1, 3))
    def judged(amount):
        given(OrderCreated()).when(PayOrder(id="o-1", amount=amount)).expect_events(OrderPaid(amount=amount))

    with pytest.raises(SpecFailure, match=r"when\(PayOrder\(id=\"o-1\", amount=1\)\) was never looked at"):
        forgets()
    with pytest.raises(SpecFailure, match="which nobody expected"):
        undecided()
    judged()


def test_commands_and_events_that_are_known_elsewhere():
    """A command of a cart is none of an order's subject; the cart joins the world by itself."""
    spec(Order).given(OrderCreated()).when(AddCartItem(product_id="p-1")).expect_events(item("p-1"))
    given(CreateOrder(id="o-1"), AddCartItem(product_id="p-1"), PAY).when(ShipOrder(id="o-1")).expect_events(
        OrderShipped()
    )


def test_several_commands():
    """One is sent at a time; what stands for the others is said."""
    refused(lambda: BASE.when(PAY, PAY), ".when(first).expect_...(...).when(second), or when_concurrently(...)")
    refused(lambda: BASE.when(PayOrder, PAY), "given(first).when(second)")
