"""A projection counts an event twice that is delivered twice."""

from shop import Line, Order, OrderPlaced

from wowspec import Views, given, on, projection


@projection(context="shop")
class Sold:
    def on_event(self, event: OrderPlaced, views: Views[int]) -> None:
        for line in event.lines:
            views[line.product] = views.get(line.product, 0) + line.quantity


def test_what_was_sold():
    (
        given(Sold, on(Order, "o-1", OrderPlaced(customer="Ann", lines=[Line(product="tea")])))
        .expect_view("tea", 1)
        .expect_idempotent()
    )
