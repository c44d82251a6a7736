"""An event is expected of a command, and another aggregate stored it."""

from shop import Line, OrderPlaced, PlaceOrder, StockReserved, shop

from wowspec import spec

TEA = [Line(product="tea")]


def test_an_order_reserves_stock():
    (
        spec()
        .using(shop)
        .when(PlaceOrder(id="o-1", customer="Ann", lines=TEA))
        .expect_events(OrderPlaced(customer="Ann", lines=TEA), StockReserved(quantity=1))
    )
