"""When a command runs, what a run tells, what branches share, and what commands may look like."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from wowspec import (
    PROCESSED,
    CommandValidationError,
    DuplicateAggregateIdError,
    SpecError,
    SpecFailure,
    advance,
    at,
    command_of,
    event_processor,
    faults,
    given,
    on,
    on_event,
    sent,
    snapshot,
    spec,
)

from .ending import a_test
from .language_domain import (
    AddCartItem,
    AskRate,
    Bank,
    BreakOrder,
    CancelOrder,
    Cart,
    CartItem,
    CartItemAdded,
    CreateOrder,
    ExpressShipOrder,
    Opened,
    Order,
    OrderCancelled,
    OrderCreated,
    OrderPaid,
    OrderShipped,
    OrderState,
    PayOrder,
    RateAsked,
    RenameTask,
    ShipOrder,
    SplitOrder,
    StartTask,
    Task,
    TaskStarted,
    ViewOrder,
    Wait,
    item,
)


class Spy:
    """A service that counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def rate(self) -> int:
        self.asked += 1
        return self.asked


# --- once, and lazily -------------------------------------------------------------------------------------------------


def test_a_command_runs_once_at_its_first_expectation():
    """Neither before it, nor again at the next one."""
    spy = Spy()
    asked = given(Opened()).inject(rates=spy).when(AskRate(id="a-1"))
    assert spy.asked == 0
    asked.expect_events(RateAsked(rate=1)).expect_version(2).run()

    assert spy.asked == 1


def test_run_gives_all_that_came_of_it():
    """`events` is `stored`; ledgers are sequences with `.types`, `.of` and `.count`."""
    run = given(OrderCreated()).when(SplitOrder(id="o-1", how="list")).expect_succeeded().run()

    assert run.events == run.stored == run.published == run.emitted == [OrderPaid(), OrderShipped()]
    assert run.delivered == []
    assert run.stored.types == (OrderPaid, OrderShipped)
    assert run.stored.of(OrderPaid) == [OrderPaid()]
    assert run.stored.count(OrderPaid) == 1
    assert run.state.status == "SHIPPED"
    assert (run.aggregate.version, run.aggregate.owner_id, run.aggregate.deleted) == (2, "", False)
    assert run.aggregate_id == "o-1"
    assert run.succeeded
    assert run.result is not None
    assert run.error is None
    assert [row.point for row in run.trace][:2] == ["request_id.check", "command.validate"]


def test_run_of_a_failed_command():
    """The original error, and the result that the sender was told."""
    run = given(OrderCreated()).when(ShipOrder(id="o-1")).expect_error(code="IllegalState").run()

    assert not run.succeeded
    assert type(run.error).__name__ == "IllegalStateError"
    assert run.result is not None
    assert run.result.error_code == "IllegalState"


def test_a_state_of_a_run_is_a_copy():
    """What is done to it reaches neither the world nor the next look."""
    run = given(item("p-1")).when(AddCartItem(product_id="p-2")).expect_succeeded().run()
    run.state.items.clear()
    run.aggregate.state.items.clear()

    assert len(run.state.items) == 2


def test_a_function_of_expect_state_gets_a_copy():
    """A function that changes the state changes nothing: not for the next verb, not for the next command."""

    def spoil(cart: Any) -> bool:
        cart.items.append(CartItem(product_id="spoilt"))
        cart.items[0].quantity = 99
        return True

    (
        given(item("p-1"))
        .when(AddCartItem(product_id="p-2"))
        .expect_state(spoil)
        .expect_state(lambda cart: [each.quantity for each in cart.items] == [1, 1])
        .when(AddCartItem(product_id="p-3"))
        .expect_state(lambda cart: [each.product_id for each in cart.items] == ["p-1", "p-2", "p-3"])
    )


def test_a_function_of_expect_events_cannot_change_the_store():
    """What it does to an event is not seen by a later command."""

    def spoil(events: Any) -> bool:
        events[0].added.quantity = 99
        return True

    (
        given(item("p-1"))
        .when(AddCartItem(product_id="p-2"))
        .expect_events(that=spoil)
        .when(AddCartItem(product_id="p-3"))
        .expect_state(lambda cart: [each.quantity for each in cart.items] == [1, 1, 1])
    )


# --- branches ---------------------------------------------------------------------------------------------------------


def test_two_branches_of_one_base_never_meet():
    """Each verb gives a new spec; what one branch did is not in the other's world."""
    base = given(OrderCreated())
    paid = base.when(PayOrder(id="o-1"))
    cancelled = base.when(CancelOrder(reason="x"))

    paid.expect_events(OrderPaid()).expect_version(2)
    cancelled.expect_events(OrderCancelled(reason="x")).expect_version(2)
    paid.expect_state(status="PAID")


def test_two_branches_after_a_command_never_meet():
    """The world is copied where a spec goes on twice."""
    base = given(OrderCreated()).when(PayOrder(id="o-1")).expect_version(2)

    base.when(ShipOrder(id="o-1")).expect_version(3).expect_state(status="SHIPPED")
    base.when(CancelOrder()).expect_version(3).expect_state(status="CANCELLED")
    base.expect_state(status="PAID").expect_version(2)


def test_objects_that_are_changed_after_the_spec_was_made():
    """A command that a handler of one branch got is not the object that the other branch sends."""
    tags = ["a"]
    command = AddCartItem(product_id="p-1", tags=tags)
    base = given(item("p-0"))

    base.when(command).expect_succeeded()
    base.when(command).expect_events(item("p-1"))
    assert command == AddCartItem(product_id="p-1", tags=["a"])


def test_a_given_event_is_not_shared_with_the_state():
    """Sourcing keeps parts of the event; the author's object stays as it was, in each branch."""
    event = item("p-1")

    base = given(event)
    base.when(AddCartItem(product_id="p-2")).expect_state(lambda cart: cart.items.clear() is None)
    base.when(AddCartItem(product_id="p-2")).expect_state(lambda cart: len(cart.items) == 2)
    assert event == item("p-1")


def test_a_given_state_is_not_shared():
    """The object stays the author's: neither a command nor a branch changes it."""
    state = OrderState(id="o-1", status="PAID", notes=["n"])
    base = spec(Order).given_state(state)
    base.when(ShipOrder(id="o-1")).expect_state(status="SHIPPED")
    state.notes.append("changed by the author before the other branch runs")

    base.when(ShipOrder(id="o-1")).expect_state(status="SHIPPED")
    assert state.status == "PAID"


def test_forks_are_isolated_and_give_the_spec_back():
    """Each branch sees the world as it was, and the spec goes on after them as if they had not been."""
    (
        given(OrderCreated())
        .when(PayOrder(id="o-1"))
        .expect_events(OrderPaid())
        .fork("ship", lambda spec: spec.when(ShipOrder(id="o-1")).expect_version(3))
        .fork("cancel", lambda spec: spec.when(CancelOrder()).expect_version(3).expect_state(status="CANCELLED"))
        .when(PayOrder(id="o-1"))
        .expect_error(code="IllegalState")
        .expect_version(2)
    )


def test_forks_within_forks():
    """They nest; each failure says the whole way."""
    seen = []

    def outer(branch):
        return branch.when(PayOrder(id="o-1")).expect_version(2).fork("inner", inner)

    def inner(branch):
        seen.append("inner")
        return branch.when(ShipOrder(id="o-1")).expect_no_events()

    with pytest.raises(SpecFailure, match=r"^in branch outer > inner: no events expected"):
        given(OrderCreated()).fork("outer", outer)
    assert seen == ["inner"]


@pytest.mark.parametrize(
    "branch",
    [
        lambda spec: spec.when(ShipOrder(id="o-1")).expect_events(OrderShipped()),
        lambda spec: spec.when(ShipOrder(id="o-1")).expect_no_events(),
        lambda spec: spec.when(ShipOrder(id="o-1")).expect_no_events().when(CancelOrder()).expect_succeeded(),
        lambda spec: spec.when(ShipOrder(id="o-1")),
        lambda spec: spec,
        lambda spec: spec.given(ShipOrder(id="o-1")).when(CancelOrder()).expect_succeeded(),
        lambda spec: spec.when("nothing"),
        lambda spec: spec.expect_no_events(),
        lambda spec: spec.when(CancelOrder()).soft().expect_no_events(),
        lambda spec: spec.with_faults(faults.snapshot.save.fails(at=9)).when(CancelOrder()).expect_succeeded(),
        lambda spec: spec.when(CancelOrder()).expect_state(lambda state: state.nope),
    ],
    ids=[
        "expectation",
        "undecided",
        "undecided before the next",
        "unjudged",
        "nothing",
        "given",
        "bad input",
        "no when",
        "soft",
        "unreached",
        "the author's function",
    ],
)
def test_whatever_fails_in_a_branch_tells_its_name(branch):
    """In its text, or in a note to an error of the author's own."""
    with pytest.raises(Exception) as caught, a_test():
        given(OrderCreated()).fork("a branch", branch)

    said = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert said.count("in branch a branch") == 1


def test_branches_share_services_and_factories_make_fresh_ones():
    """An instance is one for all; what a factory makes belongs to one copy of the world."""
    shared = given(Opened()).inject(rates=Spy())
    shared.when(AskRate(id="a-1")).expect_events(RateAsked(rate=1))
    shared.when(AskRate(id="a-1")).expect_events(RateAsked(rate=2))

    fresh = given(Opened()).inject_factory(rates=Bank)
    fresh.when(AskRate(id="a-1")).expect_events(RateAsked(rate=1))
    fresh.when(AskRate(id="a-1")).expect_events(RateAsked(rate=1))


# --- what may be sent -------------------------------------------------------------------------------------------------


def test_a_class_with_its_fields_is_built_at_the_boundary():
    """A refusal by pydantic is the outcome `CommandValidation`, with the fields."""
    refused = given(OrderCreated()).when(PayOrder, id="o-1", amount=0)

    refused.expect_error(CommandValidationError, code="CommandValidation", match="^amount: ").expect_no_events()
    error = refused.run().error
    assert isinstance(error, CommandValidationError)
    assert [(each.name, each.msg) for each in error.binding_errors] == [("amount", "Input should be greater than 0")]
    given(OrderCreated()).when(PayOrder, id="o-1", amount=3).expect_events(OrderPaid(amount=3))


def test_all_refused_fields_are_told():
    """A missing field too."""
    run = given(OrderCreated()).when(PayOrder, amount=-1).expect_error(code="CommandValidation").run()

    assert {each.name for each in run.error.binding_errors} == {"id", "amount"}


def test_command_of_takes_options_beside_it():
    """The short form takes fields alone."""
    given(on(Order, "o-1", OrderCreated(), owner_id="u-1")).when(
        command_of(PayOrder, id="o-1"), owner_id="u-2"
    ).expect_error(code="IllegalAccessOwnerAggregate")
    with pytest.raises(SpecError, match="has no field 'owner_id'") as caught:
        OUTSIDE.when(PayOrder, id="o-1", owner_id="u-2")
    assert "when(command_of(PayOrder, ...), owner_id=...)" in str(caught.value)
    with pytest.raises(SpecError, match=r"no field 'amnt'(.|\n)*instead: amount"):
        OUTSIDE.when(PayOrder, id="o-1", amnt=2)


def test_a_ready_instance_is_validated_again():
    """`model_construct` and a later assignment hide nothing."""
    base = given(OrderCreated())
    base.when(PayOrder.model_construct(id="o-1", amount=0)).expect_error(code="CommandValidation", match="amount")
    command = PayOrder(id="o-1", amount=3)
    command.amount = -3
    base.when(command).expect_error(CommandValidationError, match="^amount: ").expect_no_events()


def test_a_class_whose_constructor_fails_otherwise():
    """It says nothing of the system under test, so it is no outcome."""
    with pytest.raises(SpecError, match="cannot be made: ValueError: a title that nobody wants"):
        given(on(Task, "t-1", TaskStarted())).when(RenameTask, id="t-1", title="bad").run()
    with pytest.raises(SpecError, match="cannot be made: TypeError"):
        given(on(Task, "t-1", TaskStarted())).when(RenameTask, id="t-1", titel="x").run()


def test_a_function_of_the_run_so_far():
    """It gives the next command, once, when it is needed."""
    calls = []

    def ship(run):
        calls.append(run.aggregate_id)
        return ShipOrder(id=run.aggregate_id)

    (
        given()
        .when(CreateOrder())
        .expect_succeeded()
        .when(lambda run: PayOrder(id=run.aggregate_id, amount=len(run.stored)))
        .expect_events(OrderPaid(amount=1))
        .when(ship)
        .expect_events(OrderShipped())
        .expect_version(3)
    )
    assert len(calls) == 1


def test_a_function_may_give_a_class_with_fields():
    """`command_of` is built at the boundary there, too."""
    given().when(CreateOrder()).expect_succeeded().when(
        lambda run: command_of(PayOrder, id=run.aggregate_id, amount=0)
    ).expect_error(code="CommandValidation")


def test_a_function_needs_a_run():
    """Nothing ran before it, so there is nothing to give it."""
    with pytest.raises(SpecError, match="nothing ran before it"):
        given(OrderCreated()).when(lambda run: CancelOrder()).run()


@pytest.mark.parametrize(
    ("how", "count"), [("list", 2), ("tuple", 2), ("generator", 2), ("async generator", 2), ("one", 1)]
)
def test_a_function_returns_one_event_or_several(how, count):
    """All in one version, in their order."""
    run = given(OrderCreated()).when(SplitOrder(id="o-1", how=how)).expect_version(2).run()

    assert list(run.stored) == [OrderPaid(), OrderShipped()][:count]


@pytest.mark.clause("CMD-272")
@pytest.mark.parametrize("how", ["empty list", "empty tuple"])
def test_an_empty_list_is_an_invalid_argument(how):
    """It is no way to say that nothing happened."""
    given(OrderCreated()).when(SplitOrder(id="o-1", how=how)).expect_error(code="IllegalArgument").expect_no_events()


def test_none_means_that_nothing_happened():
    """The command succeeds, and stores nothing."""
    given(OrderCreated()).when(SplitOrder(id="o-1", how="none")).expect_succeeded().expect_no_events().expect_version(1)


def test_a_void_command_waits_for_its_acknowledgement():
    """It reaches no aggregate: no stage, no event, no load."""
    run = given(OrderCreated()).when(ViewOrder(id="o-1")).expect_succeeded().expect_no_events().expect_version(1).run()

    assert [row.point for row in run.trace] == [
        "request_id.check",
        "command.validate",
        "command_bus.send",
        "command.acknowledge",
    ]
    given(OrderCreated(), ViewOrder(id="o-1")).when(ViewOrder(id="o-1")).expect_acknowledged()


def test_a_create_command_over_existing_history():
    """It emits its event, stores nothing, and is a duplicate."""
    (
        given(on(Order, "o-1", OrderCreated()))
        .when(CreateOrder(id="o-1", customer="u-9"))
        .expect_error(DuplicateAggregateIdError, code="DuplicateAggregateId")
        .expect_emitted(OrderCreated(customer="u-9"))
        .expect_not_stored()
        .expect_not_published()
        .expect_version(1)
        .expect_state(customer="u-1")
    )


@pytest.mark.clause("CMD-252")
def test_a_command_subclass_needs_its_own_function():
    """The exact class counts, and the text says so."""
    with pytest.raises(SpecError, match="one that takes its base ShipOrder does not take it"):
        given(OrderCreated(), OrderPaid()).when(ExpressShipOrder(id="o-1")).run()


def test_dataclasses_and_one_class_for_both():
    """Commands, events and state as dataclasses; the aggregate's class is its state."""
    (
        given(on(Task, "t-1", TaskStarted(title="a")))
        .when(RenameTask(id="t-1", title="b"))
        .expect_events(TaskStarted(title="b"))
        .expect_state(title="b", id="t-1")
    )
    given(on(Task, "t-1", TaskStarted())).when(StartTask, id="t-1", title="c").expect_state(
        lambda task: task.title == "c"
    )


# --- what is given ----------------------------------------------------------------------------------------------------


def test_given_state_is_a_snapshot_at_a_version():
    """The command finds the state, and its event follows the version."""
    (
        spec(Order)
        .given_state(OrderState(id="o-1", status="PAID", paid=7), version=6, owner_id="u-1")
        .when(ShipOrder(id="o-1"), owner_id="u-1", expected_version=6)
        .expect_events(OrderShipped())
        .expect_version(7)
        .expect_state(paid=7, status="SHIPPED")
        .expect_state_aggregate(owner_id="u-1", version=7)
    )


def test_events_follow_a_given_state():
    """History may go on from there."""
    (
        spec(Order)
        .given_state(OrderState(id="o-1", status="CREATED"), version=3)
        .given(OrderPaid(amount=2))
        .when(ShipOrder(id="o-1"))
        .expect_version(5)
        .expect_state(paid=2)
    )


@event_processor(context="shop")
class Listener:
    def __init__(self, heard: list) -> None:
        self.heard = heard

    @on_event
    def paid(self, event: OrderPaid) -> None:
        self.heard.append(event.amount)


@pytest.mark.parametrize(("deliver", "heard"), [(False, []), (True, [1, 2])])
def test_given_events_are_delivered_if_asked_for(deliver, heard):
    """They only stand in the store, unless `deliver=True`."""
    ears: list = []
    (
        given()
        .using(Listener)
        .inject(heard=ears)
        .given(on(Order, "o-1", OrderCreated(), OrderPaid(amount=1), OrderPaid(amount=2)), deliver=deliver)
        .when(CancelOrder())
        .expect_succeeded()
    )
    assert ears == heard


def test_given_commands_are_real_ones():
    """They run to the end, downstream included."""
    ears: list = []
    (
        given()
        .using(Listener)
        .inject(heard=ears)
        .given(CreateOrder(id="o-1"), PayOrder(id="o-1", amount=5))
        .when(CancelOrder())
        .expect_succeeded()
        .expect_version(3)
    )
    assert ears == [5]


def test_a_given_command_that_fails_is_named():
    """With the error and the line of the handler; no expectation on `when` excuses it."""
    base = given(OrderCreated(), OrderPaid(), BreakOrder(id="o-1", how="value")).when(ShipOrder(id="o-1"))
    for expect in (
        lambda: base.expect_error(ValueError),
        base.expect_any_outcome,
        base.expect_no_events,
        base.run,
    ):
        with pytest.raises(SpecFailure) as caught:
            expect()
        text = str(caught.value)
        assert text.startswith(
            'item 3 of given(...), BreakOrder(id="o-1", how="value"), failed with ValueError: not that value\n'
        )
        assert "in Order.break_it" in text
        assert "ValueError: not that value" in text


def test_a_given_command_with_refused_fields_is_named():
    """Whether it is ready or built at the boundary."""
    for refused in (command_of(PayOrder, id="o-1", amount=0), PayOrder.model_construct(id="o-1", amount=0)):
        with pytest.raises(SpecFailure, match=r"(?s)^item 2 of given.*amount: Input should be greater than 0"):
            given(OrderCreated(), refused).when(ShipOrder(id="o-1")).run()


# --- time -------------------------------------------------------------------------------------------------------------

NOON = dt.datetime(2031, 5, 1, 12, tzinfo=dt.UTC)


def test_at_and_advance_in_given():
    """Events stand at their times; the command runs after them."""
    run = (
        given(at(NOON), OrderCreated(), advance(hours=2, minutes=30), OrderPaid())
        .when(ShipOrder(id="o-1"))
        .expect_succeeded()
        .run()
    )
    streams = run.session.runtime.event_store.peek(run.reference)
    noon = int(NOON.timestamp() * 1000)

    assert [stream.create_time - noon for stream in streams] == [0, 9_000_000, 9_000_000]


def test_advance_between_steps():
    """Virtual time passes there, and nowhere else."""
    first = given(at(NOON), OrderCreated()).when(PayOrder(id="o-1")).expect_succeeded()
    second = first.advance(days=1, seconds=1.5).when(ShipOrder(id="o-1")).expect_succeeded()

    passed = second.run().trace[0].nanos - first.run().trace[0].nanos
    assert passed == 86_401_500_000_000


def test_a_handler_sleeps_on_the_virtual_clock():
    """`clock: Clock` tells the world's time and lets it pass."""
    given(Opened()).when(Wait(id="a-1", seconds=20)).expect_events(RateAsked(rate=0, at=20))


def test_time_goes_one_way():
    """Neither a negative duration nor an instant that is past; and no instant without a zone."""
    with pytest.raises(SpecError, match="negative time"):
        advance(hours=-1)
    with pytest.raises(SpecError, match="negative time"):
        OUTSIDE.advance(seconds=-1)
    with pytest.raises(SpecError, match="has passed"):
        given(OrderCreated(), at(dt.datetime(1999, 1, 1, tzinfo=dt.UTC))).when(CancelOrder()).run()
    with pytest.raises(SpecError, match="no time zone"):
        at(dt.datetime(2031, 5, 1))  # noqa: DTZ001


# --- what a command's sender waits for --------------------------------------------------------------------------------


def test_wait_for():
    """PROCESSED, unless it says otherwise."""
    base = given(OrderCreated())
    assert base.when(CancelOrder()).expect_succeeded().run().result.stage is PROCESSED
    assert base.when(CancelOrder(), wait_for=sent()).expect_succeeded().run().result.stage.name == "SENT"
    assert base.when(CancelOrder(), wait_for=snapshot()).expect_succeeded().run().result.stage.name == "SNAPSHOT"


def test_options_of_when():
    """Each stands in the envelope."""
    run = (
        given()
        .when(
            CreateOrder(),
            aggregate_id="o-1",
            tenant_id="t-1",
            owner_id="u-1",
            space_id="s-1",
            request_id="r-1",
            header={"trace_id": "x"},
        )
        .expect_state_aggregate(owner_id="u-1", space_id="s-1", tenant_id="t-1")
        .expect_header(trace_id="x")
        .run()
    )
    assert run.aggregate_id == "o-1"
    assert run.message.request_id == "r-1"


def test_the_expected_version_of_a_command():
    """Another one than the aggregate's is refused."""
    base = given(OrderCreated(), OrderPaid())
    base.when(ShipOrder(id="o-1"), expected_version=2).expect_succeeded()
    base.when(ShipOrder(id="o-1"), expected_version=1).expect_error(code="CommandExpectVersionConflict").expect_version(
        2
    )


# --- bases from outside a test ----------------------------------------------------------------------------------------

OUTSIDE = given(OrderCreated())
PAYING = OUTSIDE.when(PayOrder(id="o-1"))
FAILING = OUTSIDE.when(ShipOrder(id="o-1"))
FAULTY = OUTSIDE.with_faults(faults.event_store.append.fails(aggregate="another"))


def test_bases_made_outside_a_test_are_not_forgotten_specs():
    """They are there for whoever goes on with them."""
    with a_test():
        PAYING.expect_events(OrderPaid())
    with a_test():
        PAYING.when(ShipOrder(id="o-1")).expect_version(3)


def test_leaves_made_during_a_test_are_tracked():
    """Whatever their base is."""
    with pytest.raises(SpecFailure, match="was never looked at"), a_test():
        OUTSIDE.when(CancelOrder())


def test_an_error_of_a_base_is_undecided_in_each_test_that_looks_at_it():
    """A command that was made outside must be decided by those who look at its run."""
    with pytest.raises(SpecFailure, match="IllegalStateError, which nobody expected"), a_test():
        FAILING.expect_no_events()
    with a_test():
        FAILING.expect_error(code="IllegalState")


def test_a_fault_of_a_base_must_strike_in_a_test_that_goes_on_with_it():
    """It was armed for the test's command, wherever it was written."""
    with pytest.raises(SpecFailure, match="never struck"), a_test():
        FAULTY.when(CancelOrder()).expect_succeeded()
    with a_test():
        FAULTY.when(CreateOrder(id="another"), aggregate_id="another").expect_any_outcome()


def test_a_cart_of_a_hundred():
    """The first spec of the documentation, with its own limit."""
    (
        given(*[item(f"p-{n}") for n in range(3)])
        .when(AddCartItem(product_id="p-4"))
        .expect_error(ValueError, match="at most 3")
        .expect_no_events()
        .expect_state(lambda cart: len(cart.items) == 3)
    )
    given().when(AddCartItem(product_id="p-1")).expect_events(
        CartItemAdded(added=CartItem(product_id="p-1"))
    ).expect_state_aggregate(on(Cart, "none"), version=0)
