"""A projection asks for a row that is not there yet."""

from shop import Line, OrderPlaced

from wowspec import Views, given, projection


@projection(context="shop")
class Customers:
    def on_event(self, event: OrderPlaced, views: Views[int]) -> None:
        views[event.customer] = views[event.customer] + 1


def test_orders_are_counted():
    given(Customers, OrderPlaced(customer="Ann", lines=[Line(product="tea")])).expect_view("Ann", 1)
