"""A saga sends two commands, and a sweep finds that the second may be lost."""

# pytest --wowspec-faults=sweep

from shop import Line, PlaceOrder, Stock, shop

from wowspec import given, on


def test_stock_is_reserved():
    (
        given()
        .using(shop)
        .when(PlaceOrder(id="o-1", customer="Ann", lines=[Line(product="tea"), Line(product="cup")]))
        .expect_state(on(Stock, "tea"), reserved=1)
        .expect_state(on(Stock, "cup"), reserved=1)
    )
