"""Specs of sagas, projections and event processors, and of whole chains."""

from __future__ import annotations

import pytest

import wowspec as ws
from wowspec import (
    PROCESSED,
    SAGA_HANDLED,
    SNAPSHOT,
    DomainEvent,
    SpecError,
    SpecFailure,
    Views,
    command_builder,
    faults,
    given,
    on,
    on_event,
    projected,
    saga_handled,
    snapshot,
    some,
)

from .shop_domain import (
    Mailer,
    Order,
    OrderPaid,
    OrderPlaced,
    OrderRow,
    OrderSaga,
    OrderState,
    OrderView,
    Outbox,
    PayOrder,
    PlaceOrder,
    ReserveStock,
    StatusView,
    Stock,
    StockReserved,
    shop,
)


def test_a_saga_turns_an_event_into_commands_that_nobody_processes():
    """A saga spec records the commands; the stock is not in its world."""
    run = (
        given(OrderSaga)
        .when_event(OrderPlaced(sku="s-1", quantity=2))
        .expect_commands(ReserveStock(id="s-1", quantity=2))
        .run()
    )

    assert run.all_events == []


def test_a_saga_may_send_nothing():
    """A function that returns None sends no command."""
    given(OrderSaga).when_event(OrderPlaced(sku="gift", quantity=1)).expect_no_commands()


def test_a_saga_with_its_aggregate_goes_on():
    """`.using(...)` brings the aggregates in that process the commands."""
    (
        given(OrderSaga)
        .using(Stock)
        .when_event(OrderPlaced(sku="s-1", quantity=2))
        .expect_commands(some(ReserveStock, quantity=2))
        .expect_all_events(StockReserved(quantity=2))
        .expect_stored(on(Stock, "s-1"), StockReserved(quantity=2))
    )


def test_a_state_event_function_gets_the_state():
    """With `state=`, the state-event functions take the event; a builder says the envelope."""
    (
        given(OrderSaga)
        .when_event(OrderPaid(), state=OrderState(id="o-1", sku="s-7"), aggregate_id="o-1")
        .expect_commands(command_builder(ReserveStock(id="paid-s-7", quantity=1)).owner_id("u-1"))
    )


def test_a_wrong_envelope_is_named():
    """A command whose body is right and whose owner is not fails with the owner."""
    spec = given(OrderSaga).when_event(OrderPaid(), state=OrderState(id="o-1", sku="s-7"))

    with pytest.raises(SpecFailure, match="owner_id"):
        spec.expect_commands(command_builder(ReserveStock(id="paid-s-7", quantity=1)).owner_id("u-2"))


def test_an_event_that_no_function_takes_is_refused():
    """Nothing would run, so the spec is wrong."""
    with pytest.raises(SpecError, match="no event function of OrderSaga takes OrderPaid"):
        given(OrderSaga).when_event(OrderPaid()).expect_no_commands()


def test_a_function_can_be_chosen_by_name():
    """Only the named function takes the event; another name is an error that says so."""
    spec = given(OrderSaga)
    spec.when_event(OrderPlaced(sku="s", quantity=1), function="on_event").expect_commands(some(ReserveStock))

    with pytest.raises(SpecError, match="named 'on_evnt'"):
        spec.when_event(OrderPlaced(sku="s", quantity=1), function="on_evnt").expect_no_commands()


def test_a_role_by_its_name_beside_a_role_by_its_decorator():
    """A class body shadows what was imported: a method of a role's name stands last, or the decorator has a prefix."""

    @ws.projection(context="shop")
    class Last:
        @on_event
        def of_payments(self, event: OrderPaid, seen: Views[int]) -> None:
            seen["paid"] = 1

        def on_event(self, event: OrderPlaced, seen: Views[int]) -> None:
            seen["placed"] = 1

    @ws.projection(context="shop")
    class First:
        def on_event(self, event: OrderPlaced, seen: Views[int]) -> None:
            seen["placed"] = 1

        @ws.on_event
        def of_payments(self, event: OrderPaid, seen: Views[int]) -> None:
            seen["paid"] = 1

    for view in (First, Last):
        views = given(view, on(Order, "o-1", OrderPlaced(sku="tea", quantity=1), OrderPaid()))
        views.expect_view("placed", lambda seen: seen == 1).expect_view("paid", lambda seen: seen == 1)

    with pytest.raises(TypeError, match="missing 1 required positional argument"):

        class Shadowed:
            def on_event(self, event: OrderPlaced) -> None: ...

            @on_event
            def of_payments(self, event: OrderPaid) -> None: ...


def test_a_projection_needs_no_when():
    """What is given is delivered to it."""
    (
        given(OrderView, on(Order, "o-1", OrderPlaced(sku="s", quantity=1), OrderPaid()))
        .expect_view("o-1", status="PAID", changes=2)
        .expect_view("o-1", lambda row: row.changes == 2)
        .expect_no_view("o-2")
    )


def test_a_projection_spec_can_go_on():
    """A command after what was given reaches the projection, too."""
    (
        given(OrderView, on(Order, "o-1", OrderPlaced(sku="s", quantity=1)))
        .expect_view("o-1", OrderRow(status="PLACED", changes=1).__eq__)
        .when(PayOrder(id="o-1"))
        .expect_view("o-1", status="PAID", changes=2)
    )


def test_a_wrong_row_is_shown():
    """The failure names the field and both values."""
    with pytest.raises(SpecFailure, match="status"):
        given(OrderView, on(Order, "o-1", OrderPlaced(sku="s", quantity=1))).expect_view("o-1", status="PAID")


def test_a_missing_row_lists_the_others():
    """The failure says which rows there are."""
    with pytest.raises(SpecFailure, match="there are: 'o-1'"):
        given(OrderView, on(Order, "o-1", OrderPlaced(sku="s", quantity=1))).expect_view("o-9", status="PAID")


def test_a_projection_that_counts_is_not_idempotent():
    """A second delivery changes its row, and the failure says how."""
    spec = given(OrderView, on(Order, "o-1", OrderPlaced(sku="s", quantity=1)))

    with pytest.raises(SpecFailure, match="not idempotent"):
        spec.expect_idempotent()


def test_a_projection_that_overwrites_is_idempotent():
    """A second delivery leaves its rows as they are."""
    given(StatusView, on(Order, "o-1", OrderPlaced(sku="s", quantity=1), OrderPaid())).expect_idempotent()


def test_an_event_processor_uses_its_services():
    """Its constructor is given services; its function runs for the event."""
    outbox = Outbox()
    given(Mailer).inject(outbox).when_event(OrderPaid(), aggregate_id="o-1").expect_no_commands()

    assert outbox.mails == ["o-1"]


def test_a_whole_chain_is_followed():
    """Command, event, saga, command, event: in one world."""
    (
        given()
        .using(shop)
        .when(PlaceOrder(id="o-1", sku="s-1", quantity=2), wait_for=saga_handled("shop", processor="OrderSaga"))
        .expect_events(OrderPlaced(sku="s-1", quantity=2))
        .expect_causation("PlaceOrder > OrderPlaced > OrderSaga > ReserveStock > StockReserved")
        .expect_commands(ReserveStock(id="s-1", quantity=2))
        .expect_state(on(Stock, "s-1"), reserved=2)
        .expect_view("o-1", status="PLACED")
        .expect_stage(SAGA_HANDLED)
        .expect_notified(PROCESSED)
        .expect_snapshot(version=1, status="PLACED")
        .expect_snapshot(on(Stock, "s-1"), reserved=2)
    )


def test_a_wrong_causation_says_what_was_caused():
    """The failure names the first link that is not there."""
    spec = given().using(shop).when(PlaceOrder(id="o-1", sku="s-1"))

    with pytest.raises(SpecFailure, match="OrderSaga did not cause PayOrder; it caused ReserveStock"):
        spec.expect_causation("PlaceOrder > OrderPlaced > OrderSaga > PayOrder")


def test_a_stage_is_waited_for():
    """`wait_for=` speaks of processors that the world holds."""
    given().using(shop).when(
        PlaceOrder(id="o-1", sku="gift"), wait_for=projected("shop", processor="OrderView")
    ).expect_succeeded()
    given().when(PlaceOrder(id="o-1", sku="gift"), wait_for=snapshot()).expect_stage(SNAPSHOT)


def test_a_processor_that_is_not_there_is_waited_for_in_vain():
    """Its wait ends at the deadline, and the outcome is unknown."""
    given().when(
        PlaceOrder(id="o-1", sku="gift"), wait_for=projected("shop", processor="OrderView")
    ).expect_unknown_outcome()


def test_a_failing_downstream_command_must_be_named():
    """The order's sender is told of success; the spec still says that the stock refused."""
    spec = given().using(shop).when(PlaceOrder(id="o-1", sku="s-1", quantity=11)).expect_succeeded()
    spec.expect_downstream_error(ReserveStock, ValueError, match="ten")


def test_what_follows_from_a_fault_downstream_must_be_named():
    """The error that a fault injects goes by unseen; one that the runtime makes of a lost reply does not."""
    spec = given(OrderSaga).using(Stock, Order)
    spec.with_faults(faults.event_store.append.fails(aggregate=Stock)).when(
        PlaceOrder(id="o-1", sku="s-1", quantity=1)
    ).expect_events(OrderPlaced(sku="s-1", quantity=1))
    lost = spec.with_faults(faults.event_store.append.loses_reply(aggregate=Stock)).when(
        PlaceOrder(id="o-1", sku="s-1", quantity=1)
    )

    [(_, unseen)] = lost.run().unexpected()

    assert type(unseen.error).__name__ == "DuplicateRequestIdError"
    lost.expect_downstream_error(ReserveStock, code="DuplicateRequestId")


def test_a_failing_saga_function_is_the_outcome_of_its_event():
    """An error that the function raises is expected like any other."""
    (
        given(OrderSaga)
        .with_faults(faults.command_bus.send.fails())
        .when_event(OrderPlaced(sku="s", quantity=1))
        .expect_error(match="injected")
        .expect_no_commands()
    )


def test_a_whole_envelope_can_be_given():
    """`when_event` takes a `DomainEvent` as it is."""
    run = given(OrderSaga).when_event(OrderPlaced(sku="s", quantity=1), aggregate_id="o-1", owner_id="u-9").run()
    event = next(row.subject for row in run.rows if isinstance(row.subject, DomainEvent))

    given(OrderSaga).when_event(event).expect_commands(ReserveStock(id="s", quantity=1))
    assert event.owner_id == "u-9"
    assert event.aggregate_id.id == "o-1"


def test_a_branch_keeps_its_own_rows():
    """Rows of a projection are copied with the world."""
    base = given(OrderView, on(Order, "o-1", OrderPlaced(sku="s", quantity=1))).expect_view("o-1", status="PLACED")
    base.fork("paid", lambda spec: spec.when(PayOrder(id="o-1")).expect_view("o-1", status="PAID"))
    base.fork(
        "unpaid", lambda spec: spec.when(PayOrder(id="o-2")).expect_error(code="NotFound").expect_view("o-1", changes=1)
    )
