"""The class of a command is sent."""

from shop import Line, OrderPaid, OrderPlaced, PayOrder

from wowspec import given


def test_paying_an_order():
    given(OrderPlaced(customer="Ann", lines=[Line(product="tea")])).when(PayOrder).expect_events(OrderPaid(amount=9))
