"""The command expects another version of its aggregate."""

from shop import Line, OrderPaid, OrderPlaced, PayOrder

from wowspec import given


def test_paying_an_order():
    (
        given(OrderPlaced(customer="Ann", lines=[Line(product="tea")]))
        .when(PayOrder(id="o-1", amount=9), expected_version=2)
        .expect_events(OrderPaid(amount=9))
    )
