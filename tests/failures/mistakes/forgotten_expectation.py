"""A spec that expects nothing."""

from shop import Line, PlaceOrder

from wowspec import given


def test_placing_an_order():
    given().when(PlaceOrder(id="o-1", customer="Ann", lines=[Line(product="tea")]))
