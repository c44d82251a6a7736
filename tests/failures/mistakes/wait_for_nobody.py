"""A command waits for a processor that is not in the world."""

from shop import Line, PlaceOrder, shop

from wowspec import given, projected


def test_an_order_is_on_the_board():
    (
        given()
        .using(shop)
        .when(
            PlaceOrder(id="o-1", customer="Ann", lines=[Line(product="tea")]),
            wait_for=projected("shop", processor="Bord"),
        )
        .expect_succeeded()
    )
