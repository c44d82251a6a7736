"""A fault is armed where the command never comes by."""

from shop import Line, OrderPlaced, PayOrder

from wowspec import faults, given


def test_paying_an_order():
    (
        given(OrderPlaced(customer="Ann", lines=[Line(product="tea")]))
        .with_faults(faults.event_store.append.fails(at=2))
        .when(PayOrder(id="o-1", amount=9))
        .expect_version(2)
    )
