"""The error has another code."""

from shop import Line, OrderPlaced, ShipOrder

from wowspec import given


def test_an_unpaid_order_is_not_shipped():
    (
        given(OrderPlaced(customer="Ann", lines=[Line(product="tea")]))
        .when(ShipOrder(id="o-1"))
        .expect_error(code="ILLEGAL_STATE")
    )
