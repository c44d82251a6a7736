"""The event of a command is given, and the command sent."""

from shop import Line, OrderPlaced, PlaceOrder

from wowspec import given

TEA = [Line(product="tea")]


def test_placing_an_order():
    placed = OrderPlaced(customer="Ann", lines=TEA)
    given(placed).when(PlaceOrder(id="o-1", customer="Ann", lines=TEA)).expect_events(placed)
