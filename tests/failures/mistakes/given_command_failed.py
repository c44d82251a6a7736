"""A command that is given fails."""

from shop import Line, OrderShipped, PayOrder, PlaceOrder, ShipOrder

from wowspec import given


def test_shipping_an_order():
    (
        given(PlaceOrder(id="o-1", customer="Ann", lines=[Line(product="tea")]), ShipOrder(id="o-1"))
        .when(PayOrder(id="o-1", amount=9))
        .expect_events(OrderShipped())
    )
