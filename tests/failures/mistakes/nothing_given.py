"""A history is forgotten."""

from shop import OrderPaid, PayOrder

from wowspec import given


def test_paying_an_order():
    given().when(PayOrder(id="o-1", amount=9)).expect_events(OrderPaid(amount=9))
