"""A class stands where a command belongs."""

from shop import Line, OrderPlaced, Reservations, ReserveStock

from wowspec import given


def test_stock_is_reserved():
    (
        given(Reservations)
        .when_event(OrderPlaced(customer="Ann", lines=[Line(product="tea")]))
        .expect_commands(ReserveStock)
    )
