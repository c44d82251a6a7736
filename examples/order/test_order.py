"""What an order does."""

from __future__ import annotations

from typing import Any

import pytest

from wowspec import (
    PROCESSED,
    DomainError,
    DuplicateAggregateIdError,
    IllegalAccessOwnerAggregateError,
    IllegalStateError,
    Spec,
    given,
    on,
    some,
    stream,
)

from .domain import (
    Address,
    AddressChanged,
    BonusGranted,
    CancelOrder,
    ChangeAddress,
    CreateOrder,
    Order,
    OrderCancelled,
    OrderCreated,
    OrderItem,
    OrderOverPaid,
    OrderPaid,
    OrderReceived,
    OrderShipped,
    PaymentDuplicated,
    PayOrder,
    ReceiveOrder,
    ShipOrder,
    Status,
)

HOME = Address(country="China", province="Beijing", street="Wangjing 1")
WORK = Address(country="China", province="Hebei", street="Zhongguancun 2")
ITEMS = [OrderItem(product_id="p-1", price=40, quantity=2), OrderItem(product_id="p-2", price=20)]

CREATED = OrderCreated(items=ITEMS, address=HOME)
PAID = OrderPaid(payment_id="pay-1", amount=100, paid=True)


class FakeWarehouse:
    """Ten pieces of everything."""

    def price_of(self, product_id: str) -> int:
        return {"p-1": 40, "p-2": 20}[product_id]

    def stock_of(self, product_id: str) -> int:
        return 10


class Refusals:
    """A payment log that a spec can look at."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def refused(self, payment_id: str, why: str) -> None:
        self.told.append((payment_id, why))


def shop() -> Spec[Any]:
    """A shop whose services are made anew for each copy of the world."""
    return given().inject_factory(warehouse=FakeWarehouse, log=Refusals)


# --- creating ---------------------------------------------------------------------------------------------------------


def test_an_order_is_created_and_its_sender_is_told_the_total() -> None:
    """A command's result is no event: it goes to the sender alone."""
    (
        shop()
        .when(CreateOrder(items=ITEMS, address=HOME), owner_id="u-1", aggregate_id="o-1")
        .expect_events(CREATED)
        .expect_result(total=100)
        .expect_state(status=Status.CREATED, total=100, payable=100, address=HOME)
        .expect_state_aggregate(owner_id="u-1", version=1)
    )


def test_no_order_at_yesterdays_prices() -> None:
    """The injected warehouse knows the price of today."""
    (
        shop()
        .when(CreateOrder(items=[OrderItem(product_id="p-1", price=39)], address=HOME))
        .expect_error(DomainError, code="PriceChanged", match="costs 40 now")
        .expect_no_events()
    )


def test_no_order_of_more_than_there_is() -> None:
    """The injected warehouse knows what is left."""
    (
        shop()
        .when(CreateOrder(items=[OrderItem(product_id="p-1", price=40, quantity=11)], address=HOME))
        .expect_error(DomainError, code="OutOfStock", match="10 of p-1 are left")
        .expect_no_events()
    )


def test_an_order_that_checks_itself_never_reaches_its_aggregate() -> None:
    """A command's own validation comes before it is sent."""
    (
        shop()
        .when(CreateOrder(items=ITEMS, address=Address(country="Mars", province="Tharsis", street="Crater 1")))
        .expect_error(ValueError, match="do not deliver to Mars")
        .expect_attempts(0)
    )


def test_an_order_of_nothing_is_refused_field_by_field() -> None:
    """So does that of its fields; `when(Type, **fields)` lets the pipeline see the bad ones."""
    shop().when(CreateOrder, items=[], address=HOME).expect_error(code="CommandValidation", match="items")


def test_an_order_is_not_created_twice() -> None:
    """A create command loads nothing: the store notices that the id is taken."""
    (
        shop()
        .given(on(Order, "o-1", CREATED))
        .when(CreateOrder(items=ITEMS, address=HOME), aggregate_id="o-1")
        .expect_error(DuplicateAggregateIdError)
        .expect_emitted(OrderCreated)
        .expect_not_stored()
    )


# --- paying -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("amount", "events"),
    [
        (60, [OrderPaid(payment_id="pay-1", amount=60, paid=False)]),
        (100, [PAID]),
        (130, [PAID, OrderOverPaid(payment_id="pay-1", over=30)]),
    ],
)
def test_paying_in_part_in_full_and_too_much(amount: int, events: list[Any]) -> None:
    """What is paid too much is an event of its own, in the same stream."""
    (
        shop()
        .given(on(Order, "o-1", CREATED))
        .when(PayOrder(id="o-1", payment_id="pay-1", amount=amount))
        .expect_events(*events)
        .expect_version(2)
        .expect_state(paid=min(amount, 100))
    )


def test_two_payments_make_a_paid_order() -> None:
    """A spec may go on: each `when` starts from what the one before left."""
    (
        shop()
        .given(on(Order, "o-1", CREATED))
        .when(PayOrder(id="o-1", payment_id="pay-1", amount=60))
        .expect_state(status=Status.CREATED, payable=40)
        .when(PayOrder(id="o-1", payment_id="pay-2", amount=40))
        .expect_event(OrderPaid, amount=40, paid=True)
        .expect_state(status=Status.PAID, payable=0)
    )


def test_a_payment_too_many_is_stored_and_is_a_failure() -> None:
    """An error event is history as any other; but the stage PROCESSED carries its code."""
    (
        shop()
        .given(on(Order, "o-1", CREATED, PAID))
        .when(PayOrder(id="o-1", payment_id="pay-2", amount=100))
        .expect_error(code="PaymentDuplicated", match="needs no payment")
        .expect_stored(some(PaymentDuplicated, payment_id="pay-2"))
        .expect_published(PaymentDuplicated)
        .expect_stage(PROCESSED, succeeded=False, error_code="PaymentDuplicated")
        .expect_version(3)
        .expect_state(status=Status.PAID, paid=100)
    )


def test_a_payment_that_its_fields_refuse_is_nobodys_failure() -> None:
    """The error function is for what the aggregate refuses; this never came so far."""
    refusals = Refusals()
    (
        shop()
        .inject(log=refusals)
        .given(on(Order, "o-1", CREATED))
        .when(PayOrder, id="o-1", payment_id="", amount=0)
        .expect_error(code="CommandValidation")
    )
    assert refusals.told == []


# --- from the warehouse to the door -----------------------------------------------------------------------------------


def test_the_whole_life_of_an_order() -> None:
    """From creation to the bonus, each step with the id that the first one was given."""
    (
        shop()
        .when(CreateOrder(items=ITEMS, address=HOME), owner_id="u-1")
        .expect_event_types(OrderCreated)
        .when(lambda run: PayOrder(id=run.aggregate_id, payment_id="pay-1", amount=100))
        .expect_events(PAID)
        .when(lambda run: ShipOrder(id=run.aggregate_id))
        .expect_events(OrderShipped())
        .when(lambda run: ReceiveOrder(id=run.aggregate_id))
        .expect_events(OrderReceived(), BonusGranted(points=1))
        .expect_version(4)
        .expect_state(status=Status.RECEIVED, bonus=1)
    )


def test_small_orders_earn_no_bonus() -> None:
    """An after-command function that returns nothing adds nothing."""
    small = OrderCreated(items=[OrderItem(product_id="p-2", price=20)], address=HOME)
    paid = OrderPaid(payment_id="pay-1", amount=20, paid=True)
    (
        given(on(Order, "o-1", small, paid, OrderShipped()))
        .when(ReceiveOrder(id="o-1"))
        .expect_events(OrderReceived())
        .expect_state(bonus=0)
    )


@pytest.mark.parametrize(
    ("history", "command"),
    [
        ([CREATED], ShipOrder(id="o-1")),
        ([CREATED], ReceiveOrder(id="o-1")),
        ([CREATED, PAID], ReceiveOrder(id="o-1")),
        ([CREATED, PAID], ChangeAddress(id="o-1", address=WORK)),
        ([CREATED, PAID], CancelOrder(id="o-1")),
        ([CREATED, PAID, OrderShipped()], ShipOrder(id="o-1")),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, list) else f"after_{len(value)}",
)
def test_what_is_out_of_order_is_refused(history: list[Any], command: Any) -> None:
    """Each step needs the status before it."""
    (
        given(on(Order, "o-1", *history))
        .when(command)
        .expect_error(IllegalStateError, match="an order that is", code="IllegalState")
        .expect_no_events()
        .expect_version(len(history))
    )


def test_the_address_changes_until_the_order_is_paid() -> None:
    """Both provinces stay among the tags: the order is found by either."""
    (
        given(on(Order, "o-1", CREATED))
        .when(ChangeAddress(id="o-1", address=WORK))
        .expect_events(AddressChanged(address=WORK))
        .expect_state(address=WORK)
    )


# --- cancelling -------------------------------------------------------------------------------------------------------


def test_only_its_owner_cancels_an_order() -> None:
    """A fork is a branch of its own; what happens in it is unknown outside."""
    (
        given(on(Order, "o-1", CREATED, owner_id="u-1"))
        .fork(
            "a stranger",
            lambda spec: (
                spec.when(CancelOrder(id="o-1"), owner_id="u-2")
                .expect_error(IllegalAccessOwnerAggregateError)
                .expect_no_events()
            ),
        )
        .when(CancelOrder(id="o-1", reason="too slow"), owner_id="u-1")
        .expect_events(OrderCancelled(reason="too slow"))
        .expect_state(status=Status.CANCELLED)
    )


def test_a_command_that_names_no_owner_is_not_asked_for_one() -> None:
    """The check compares owners only where the command names one."""
    given(on(Order, "o-1", CREATED, owner_id="u-1")).when(CancelOrder(id="o-1")).expect_state(status=Status.CANCELLED)


def test_nobody_ships_an_order_that_changed_meanwhile() -> None:
    """Optimistic locking: the sender saw version 2."""
    (
        given(on(Order, "o-1", CREATED, stream(PAID, OrderOverPaid(payment_id="pay-1", over=30)), OrderShipped()))
        .when(ShipOrder(id="o-1"), expected_version=2)
        .expect_error(code="CommandExpectVersionConflict")
        .expect_no_events()
    )
