"""A command fails, and the spec only says that nothing was stored."""

from shop import Line, OrderPaid, OrderPlaced, PayOrder

from wowspec import given


def test_paying_twice():
    (
        given(OrderPlaced(customer="Ann", lines=[Line(product="tea")]), OrderPaid(amount=9))
        .when(PayOrder(id="o-1", amount=9))
        .expect_no_events()
    )
