"""A spec that sends no command."""

from shop import Line, OrderPlaced

from wowspec import given


def test_placing_an_order():
    given(OrderPlaced(customer="Ann", lines=[Line(product="tea")]))
