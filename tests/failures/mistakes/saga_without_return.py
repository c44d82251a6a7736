"""A saga makes a command and does not return it."""

from shop import Line, OrderPlaced, ReserveStock

from wowspec import given, on_event, some, stateless_saga


@stateless_saga(context="shop")
class Reserving:
    @on_event
    def placed(self, event: OrderPlaced):
        ReserveStock(quantity=len(event.lines))


def test_stock_is_reserved():
    (
        given(Reserving)
        .when_event(OrderPlaced(customer="Ann", lines=[Line(product="tea")]))
        .expect_commands(some(ReserveStock))
    )
