"""A law is misspelt."""

from shop import Line, OrderPaid, OrderPlaced, PayOrder

from wowspec import given


def test_paying_an_order():
    (
        given(OrderPlaced(customer="Ann", lines=[Line(product="tea")]))
        .without_law("replay_equalty")
        .when(PayOrder(id="o-1", amount=9))
        .expect_events(OrderPaid(amount=9))
    )
