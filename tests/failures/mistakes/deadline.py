"""A deadline passes, and an error is expected."""

from shop import Line, OrderPlaced, PayOrder

from wowspec import faults, given


def test_paying_takes_too_long():
    (
        given(OrderPlaced(customer="Ann", lines=[Line(product="tea")]))
        .with_faults(faults.domain_event_bus.send.hangs())
        .when(PayOrder(id="o-1", amount=9))
        .expect_error(TimeoutError)
    )
