"""A projection raises, and the sender of the command is told of success."""

from shop import Order, OrderPlaced, PlaceOrder

from wowspec import Views, given, projection


@projection(context="shop")
class FirstLines:
    def on_event(self, event: OrderPlaced, views: Views[str]) -> None:
        views[event.customer] = event.lines[0].product


def test_an_order_without_lines():
    (
        given()
        .using(Order, FirstLines)
        .when(PlaceOrder(id="o-1", customer="Ann", lines=[]))
        .expect_events(OrderPlaced(customer="Ann", lines=[]))
    )
