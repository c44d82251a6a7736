"""One event is expected too many."""

from shop import Line, OrderPaid, OrderPlaced, OrderShipped, PayOrder

from wowspec import given


def test_paying_ships_the_order():
    (
        given(OrderPlaced(customer="Ann", lines=[Line(product="tea")]))
        .when(PayOrder(id="o-1", amount=9))
        .expect_events(OrderPaid(amount=9), OrderShipped())
    )
