"""The error says something else."""

from shop import Line, OrderPlaced, ShipOrder

from wowspec import IllegalStateError, given


def test_an_unpaid_order_is_not_shipped():
    (
        given(OrderPlaced(customer="Ann", lines=[Line(product="tea")]))
        .when(ShipOrder(id="o-1"))
        .expect_error(IllegalStateError, match="must be paid")
    )
