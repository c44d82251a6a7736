"""A row of a projection is not there."""

from shop import Board, Line, Order, OrderPlaced

from wowspec import given, on


def test_the_board_has_a_row():
    (
        given(Board, on(Order, "o-1", OrderPlaced(customer="Ann", lines=[Line(product="tea")]))).expect_view(
            "Ann", "Ann: 1 lines"
        )
    )
