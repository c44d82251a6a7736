"""A field of the state, deep inside, is not what was expected."""

from shop import Line, OrderPaid, OrderPlaced, PayOrder

from wowspec import given


def test_paying_changes_no_line():
    (
        given(OrderPlaced(customer="Ann", lines=[Line(product="tea", quantity=4), Line(product="cup")]))
        .when(PayOrder(id="o-1", amount=9))
        .expect_events(OrderPaid(amount=9))
        .expect_state(paid=9, lines=[Line(product="tea", quantity=3), Line(product="cup")])
    )
