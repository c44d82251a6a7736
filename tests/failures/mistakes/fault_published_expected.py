"""What a fault does was not thought through."""

from shop import Line, OrderPaid, OrderPlaced, PayOrder

from wowspec import faults, given


def test_a_payment_is_published():
    (
        given(OrderPlaced(customer="Ann", lines=[Line(product="tea")]))
        .with_faults(faults.event_store.append.loses_reply())
        .when(PayOrder(id="o-1", amount=9))
        .expect_published(OrderPaid(amount=9))
    )
