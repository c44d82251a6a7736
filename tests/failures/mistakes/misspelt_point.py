"""A point is misspelt."""

from shop import Line, OrderPaid, OrderPlaced, PayOrder

from wowspec import faults, given


def test_paying_an_order():
    (
        given(OrderPlaced(customer="Ann", lines=[Line(product="tea")]))
        .with_faults(faults.event_store.apend.fails())
        .when(PayOrder(id="o-1", amount=9))
        .expect_events(OrderPaid(amount=9))
    )
