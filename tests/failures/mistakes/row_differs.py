"""A row of a projection is another."""

from shop import Board, Line, Order, OrderPlaced

from wowspec import given, on


def test_the_board_has_a_row():
    (
        given(Board, on(Order, "o-1", OrderPlaced(customer="Ann", lines=[Line(product="tea")]))).expect_view(
            "o-1", "Ann: 1 line"
        )
    )
