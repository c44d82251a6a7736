"""Events are compared by a plain `assert`."""

from shop import Line, OrderPaid, OrderPlaced, PayOrder

from wowspec import given


def test_paying_an_order():
    run = given(OrderPlaced(customer="Ann", lines=[Line(product="tea")])).when(PayOrder(id="o-1", amount=9)).run()
    assert run.events == [OrderPaid(amount=8)]
