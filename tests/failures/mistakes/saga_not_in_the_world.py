"""The saga is not in the world."""

from shop import Line, PlaceOrder, ReserveStock

from wowspec import given, some


def test_stock_is_reserved():
    given().when(PlaceOrder(id="o-1", customer="Ann", lines=[Line(product="tea")])).expect_commands(some(ReserveStock))
