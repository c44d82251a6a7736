"""What follows an order, each part alone and all of them together."""

from __future__ import annotations

from typing import Any

import pytest

from wowspec import (
    SNAPSHOT,
    Spec,
    command_builder,
    event_handled,
    faults,
    given,
    on,
    projected,
    snapshot,
)

from ..cart.domain import Cart, CartItem, CartItemAdded, RemoveCartItem
from .domain import CancelOrder, CreateOrder, Order, OrderCreated, OrderShipped, OrderState, PayOrder, ShipOrder, Status
from .fulfilment import (
    CartSaga,
    Letters,
    OrderBoard,
    OrderSaga,
    ReservationRefused,
    Reserve,
    Reserved,
    Restocked,
    Stock,
    StockSaga,
    shop_context,
)
from .test_order import CREATED, HOME, ITEMS, PAID, shop

FROM_CART = OrderCreated(items=ITEMS, address=HOME, from_cart=True)


class Letterbox:
    """A post office that a spec can look into."""

    def __init__(self) -> None:
        self.letters: list[tuple[str, str]] = []

    def send(self, to: str, text: str) -> None:
        self.letters.append((to, text))


def stocked(first: int = 5, second: int = 5) -> Spec[Any]:
    """The whole shop, with so many pieces of either product."""
    return (
        shop()
        .inject_factory(post=Letterbox)
        .using(shop_context)
        .given(on(Stock, "p-1", Restocked(quantity=first)), on(Stock, "p-2", Restocked(quantity=second)))
    )


# --- each part alone --------------------------------------------------------------------------------------------------


def test_an_order_from_a_cart_empties_it() -> None:
    """The saga finds the cart by the owner of the event: the envelope knows, not the body."""
    (
        given(CartSaga)
        .when_event(FROM_CART, aggregate_id="o-1", owner_id="u-1")
        .expect_commands(command_builder(RemoveCartItem(product_ids=frozenset({"p-1", "p-2"}))).aggregate_id("u-1"))
    )


def test_an_order_from_elsewhere_leaves_the_cart_alone() -> None:
    """A saga function that returns nothing sends nothing."""
    given(CartSaga).when_event(CREATED, aggregate_id="o-1", owner_id="u-1").expect_no_commands()


def test_a_saga_may_just_look_on() -> None:
    """Functions for events and for state events may stand side by side; neither of these sends anything."""
    given(OrderSaga).when_event(PAID, aggregate_id="o-1").expect_no_commands()
    shipped = OrderState(id="o-1", status=Status.SHIPPED)
    given(OrderSaga).when_event(OrderShipped(), aggregate_id="o-1", state=shipped).expect_no_commands()


def test_stock_is_reserved_line_by_line() -> None:
    """One event, a command for each line, in the order of the lines."""
    (
        given(StockSaga)
        .when_event(CREATED, aggregate_id="o-1")
        .expect_commands(
            Reserve(id="p-1", order_id="o-1", quantity=2),
            Reserve(id="p-2", order_id="o-1", quantity=1),
        )
    )


def test_a_refused_reservation_cancels_the_order() -> None:
    """An event of another context reaches the saga like one of its own."""
    (
        given(StockSaga)
        .when_event(ReservationRefused(order_id="o-1", left=1), aggregate_id="p-1")
        .expect_commands(CancelOrder(id="o-1", reason="1 left"))
    )


def test_a_reservation_is_made_once() -> None:
    """A saga may be run twice, so its command may come twice: the second one changes nothing."""
    (
        given(on(Stock, "p-1", Restocked(quantity=5), Reserved(order_id="o-1", quantity=2)))
        .when(Reserve(id="p-1", order_id="o-1", quantity=2))
        .expect_no_events()
        .expect_state(left=3)
    )


def test_the_board_shows_every_order() -> None:
    """Its rows are written anew from the whole state, so seeing an event twice does no harm."""
    (
        given(OrderBoard, on(Order, "o-1", CREATED, PAID, owner_id="u-1"), on(Order, "o-2", CREATED, owner_id="u-2"))
        .expect_view("o-1", owner="u-1", status=Status.PAID, payable=0)
        .expect_view("o-2", status=Status.CREATED, payable=100)
        .expect_no_view("o-3")
        .expect_idempotent()
    )


def test_a_letter_goes_to_the_owner() -> None:
    """An event processor's work is what it asks of others."""
    letterbox = Letterbox()
    given(Letters).inject(post=letterbox).when_event(OrderShipped(), aggregate_id="o-1", owner_id="u-1").run()
    assert letterbox.letters == [("u-1", "order o-1 is on its way")]


# --- all together -----------------------------------------------------------------------------------------------------


def test_an_order_empties_the_cart_and_reserves_its_stock() -> None:
    """One command; what it causes runs through three aggregates of two contexts."""
    (
        stocked()
        .given(on(Cart, "u-1", CartItemAdded(added=CartItem(product_id="p-1")), owner_id="u-1"))
        .when(CreateOrder(items=ITEMS, address=HOME, from_cart=True), owner_id="u-1", aggregate_id="o-1")
        .expect_events(FROM_CART)
        .expect_causation("CreateOrder > OrderCreated > CartSaga > RemoveCartItem > CartItemRemoved")
        .expect_causation("CreateOrder > OrderCreated > StockSaga > Reserve > Reserved")
        .expect_state(on(Cart, "u-1"), items=[])
        .expect_state(on(Stock, "p-1"), left=3, reserved={"o-1": 2})
        .expect_state(on(Stock, "p-2"), left=4)
        .expect_view("o-1", owner="u-1", status=Status.CREATED)
    )


def test_without_stock_there_is_no_order() -> None:
    """The refusal is an event, the saga hears it, and the order is cancelled. The customer's command had succeeded."""
    (
        stocked(first=1)
        .when(CreateOrder(items=ITEMS, address=HOME), owner_id="u-1", aggregate_id="o-1")
        .expect_succeeded()
        .expect_causation("Reserve > ReservationRefused > StockSaga > CancelOrder > OrderCancelled")
        .expect_state(status=Status.CANCELLED)
        .expect_view("o-1", status=Status.CANCELLED)
        .expect_state(on(Stock, "p-2"), reserved={"o-1": 1})
    )


def test_whoever_waits_for_the_board_can_read_it() -> None:
    """PROCESSED says that the order is stored. That the board shows it, PROJECTED says."""
    (
        stocked()
        .when(
            CreateOrder(items=ITEMS, address=HOME),
            aggregate_id="o-1",
            wait_for=projected("shop", processor="OrderBoard"),
        )
        .expect_succeeded()
        .expect_view("o-1", payable=100)
    )


def test_whoever_waits_for_the_letter_knows_that_it_was_sent() -> None:
    """EVENT_HANDLED names the processor whose work is waited for."""
    (
        stocked()
        .given(on(Order, "o-1", CREATED, PAID, owner_id="u-1"))
        .when(ShipOrder(id="o-1"), wait_for=event_handled("shop", processor="Letters"))
        .expect_succeeded()
    )


def test_a_snapshot_can_be_waited_for() -> None:
    """And it holds what the order is by then."""
    (
        stocked()
        .given(on(Order, "o-1", CREATED))
        .when(PayOrder(id="o-1", payment_id="pay-1", amount=100), wait_for=snapshot())
        .expect_stage(SNAPSHOT)
        .expect_snapshot(version=2, status=Status.PAID)
    )


# --- when something fails ---------------------------------------------------------------------------------------------


def test_a_board_that_hangs_keeps_nobody_else_waiting() -> None:
    """Processors stand side by side: the stock is reserved whatever the board does."""
    (
        stocked()
        .with_faults(faults.event.deliver(OrderBoard).hangs())
        .when(CreateOrder(items=ITEMS, address=HOME), aggregate_id="o-1")
        .expect_succeeded()
        .expect_state(on(Stock, "p-1"), reserved={"o-1": 2})
        .expect_no_view("o-1")
    )


@pytest.mark.parametrize("reached", [0, 1], ids=["before", "after"])
def test_a_lost_reservation_is_lost_for_good(reached: int) -> None:
    """A failure stops the commands that were to follow; those already sent stay sent. A sweep would find this."""
    (
        stocked()
        .with_faults(faults.command_bus.send.fails(aggregate=("p-1", "p-2")[reached]))
        .when(CreateOrder(items=ITEMS, address=HOME), aggregate_id="o-1")
        .expect_succeeded()
        .expect_state(on(Stock, "p-1"), left=(5, 3)[reached])
        .expect_state(on(Stock, "p-2"), left=5)
    )
