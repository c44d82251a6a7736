"""An error is expected, and the command succeeds."""

from shop import Line, OrderPlaced, PayOrder

from wowspec import IllegalStateError, given


def test_nothing_is_too_little():
    (
        given(OrderPlaced(customer="Ann", lines=[Line(product="tea")]))
        .when(PayOrder(id="o-1", amount=0))
        .expect_error(IllegalStateError)
    )
