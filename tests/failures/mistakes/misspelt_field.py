"""A field is misspelt."""

from shop import Line, OrderPlaced, PayOrder

from wowspec import given


def test_paying_an_order():
    (
        given(OrderPlaced(customer="Ann", lines=[Line(product="tea")]))
        .when(PayOrder(id="o-1", amount=9))
        .expect_state(payed=9)
    )
