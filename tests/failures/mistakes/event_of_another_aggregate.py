"""An event of another aggregate is given to this one."""

from shop import Order, OrderPaid, PayOrder, StockReserved

from wowspec import given, on


def test_paying_an_order():
    (
        given(on(Order, "o-1", StockReserved(quantity=1)))
        .when(PayOrder(id="o-1", amount=9))
        .expect_events(OrderPaid(amount=9))
    )
