"""An error of another class is expected."""

from shop import Line, OrderPlaced, ShipOrder

from wowspec import given


def test_an_unpaid_order_is_not_shipped():
    (
        given(OrderPlaced(customer="Ann", lines=[Line(product="tea")]))
        .when(ShipOrder(id="o-1"))
        .expect_error(ValueError, match="not paid")
    )
