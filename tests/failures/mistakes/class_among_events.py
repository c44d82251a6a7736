"""A given event is expected of a command, and a class among events."""

from shop import Line, OrderPaid, OrderPlaced, PayOrder

from wowspec import given

PLACED = OrderPlaced(customer="Ann", lines=[Line(product="tea")])


def test_an_order_is_placed_and_paid():
    given(PLACED).when(PayOrder(id="o-1", amount=20)).expect_events(PLACED, OrderPaid)
