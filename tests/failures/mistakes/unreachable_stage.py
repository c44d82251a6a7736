"""A stage that the command never comes to."""

from shop import Line, PlaceOrder

from wowspec import PROJECTED, given


def test_an_order_is_on_the_board():
    (given().when(PlaceOrder(id="o-1", customer="Ann", lines=[Line(product="tea")])).expect_stage(PROJECTED))
