"""Points are expected in another order."""

from shop import Line, PlaceOrder

from wowspec import given


def test_published_before_it_is_stored():
    (
        given()
        .when(PlaceOrder(id="o-1", customer="Ann", lines=[Line(product="tea")]))
        .expect_order("domain_event_bus.send", "event_store.append")
    )
