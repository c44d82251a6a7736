"""A plan is pinned, and the spec has changed since."""

from shop import Line, Order, OrderPlaced, PlaceOrder

from wowspec import explore_faults


@explore_faults.example("PlaceOrder/event_store.append@2=fail")
def test_placing_an_order(spec):
    (
        spec.using(Order)
        .when(PlaceOrder(id="o-1", customer="Ann", lines=[Line(product="tea")]))
        .expect_event_types(OrderPlaced)
    )
