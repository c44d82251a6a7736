"""A pinned plan is misspelt."""

from shop import Line, OrderPlaced, PlaceOrder, shop

from wowspec import explore_faults


@explore_faults.example("PlaceOrder/event_store.append@1=ack_losst")
def test_placing_an_order(spec):
    (
        spec.using(shop)
        .when(PlaceOrder(id="o-1", customer="Ann", lines=[Line(product="tea")]))
        .expect_event_types(OrderPlaced)
    )
