"""A field of an event is not what was expected."""

from shop import Line, OrderPlaced, PlaceOrder

from wowspec import given


def test_placing_an_order():
    (
        given()
        .when(PlaceOrder(id="o-1", customer="Ann", lines=[Line(product="tea", quantity=4), Line(product="cup")]))
        .expect_events(OrderPlaced(customer="Ann", lines=[Line(product="tea", quantity=3), Line(product="cup")]))
    )
