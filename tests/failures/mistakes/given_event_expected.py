"""The whole history is expected, where only the events of the command are meant."""

from shop import Line, OrderPaid, OrderPlaced, PayOrder

from wowspec import given


def test_paying_an_order():
    placed = OrderPlaced(customer="Ann", lines=[Line(product="tea")])
    given(placed).when(PayOrder(id="o-1", amount=9)).expect_events(placed, OrderPaid(amount=9))
