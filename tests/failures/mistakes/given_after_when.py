"""What is given stands after the command."""

from shop import Line, OrderPaid, OrderPlaced, ShipOrder

from wowspec import IllegalStateError, given


def test_a_paid_order_is_not_shipped():
    (
        given(OrderPlaced(customer="Ann", lines=[Line(product="tea")]))
        .when(ShipOrder(id="o-1"))
        .given(OrderPaid(amount=20))
        .expect_error(IllegalStateError)
    )
