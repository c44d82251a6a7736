"""The command goes to another instance than the one that is given."""

from shop import Line, Order, OrderPaid, OrderPlaced, PayOrder

from wowspec import given, on


def test_paying_an_order():
    (
        given(on(Order, "o-1", OrderPlaced(customer="Ann", lines=[Line(product="tea")])))
        .when(PayOrder(id="o1", amount=9))
        .expect_events(OrderPaid(amount=9))
    )
