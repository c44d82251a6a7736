"""A command is refused, for what it needs was given on another id."""

from shop import Line, Order, OrderPaid, OrderPlaced, OrderShipped, ShipOrder

from wowspec import given, on

PLACED = OrderPlaced(customer="Ann", lines=[Line(product="tea")])


def test_a_paid_order_is_shipped():
    (
        given(on(Order, "o-1", PLACED), on(Order, "o-2", PLACED, OrderPaid(amount=20)))
        .when(ShipOrder(id="o-1"))
        .expect_events(OrderShipped())
    )
