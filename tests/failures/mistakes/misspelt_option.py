"""An option of the command line is misspelt."""

# pytest --wowspec-fault=sweep

from shop import Line, OrderPlaced, PlaceOrder

from wowspec import given


def test_placing_an_order():
    lines = [Line(product="tea")]
    given().when(PlaceOrder(id="o-1", customer="Ann", lines=lines)).expect_events(
        OrderPlaced(customer="Ann", lines=lines)
    )
