"""A saga sends another command than was expected."""

from shop import Line, OrderPlaced, Reservations, ReserveStock

from wowspec import command_builder, given


def test_stock_is_reserved():
    (
        given(Reservations)
        .when_event(OrderPlaced(customer="Ann", lines=[Line(product="tea", quantity=4)]))
        .expect_commands(command_builder(ReserveStock(quantity=1)).aggregate_id("tea"))
    )
