"""What `when_event` says of an event that no function takes, and what `given` says of a processor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from wowspec import SpecError, given, on

from .ending import a_test
from .shop_domain import (
    Order,
    OrderPaid,
    OrderPlaced,
    OrderSaga,
    OrderState,
    ReserveStock,
    Stock,
    StockReserved,
    StockState,
)

PLACED = OrderPlaced(sku="s-1", quantity=2)


@pytest.mark.parametrize(
    ("write", "parts"),
    [
        (
            lambda: given(OrderSaga).when_event(PLACED, function="on_evnet").expect_no_commands(),
            ["no event function named 'on_evnet' of OrderSaga", "there are: on_event, on_state_event", "='on_event'"],
        ),
        (
            lambda: given(OrderSaga).when_event(OrderPaid(), state=StockState(id="s-1")).expect_no_commands(),
            ["StockState is the state of stock, and the event is one of order", "instead: state=OrderState(...)"],
        ),
        (
            lambda: given(OrderSaga).when_event(OrderPlaced),
            ["when_event(OrderPlaced) is given a class", "instead: when_event(OrderPlaced(...))"],
        ),
        (lambda: given(OrderSaga).when_event(None), ["when_event(None) has no event"]),
        (
            lambda: given(OrderSaga).when_event(ReserveStock(id="s-1", quantity=1)).expect_no_commands(),
            ["ReserveStock is a command of Stock", 'instead: .when(ReserveStock(id="s-1", quantity=1))'],
        ),
        (
            lambda: given(on(Order, "o-1", PLACED)).when_event(OrderPaid()).expect_no_commands(),
            ["the world holds no processor", "given(OrderSaga).when_event(...), or .using(OrderSaga)"],
        ),
        (
            lambda: given(on(Order, "o-1", PLACED)).using(OrderSaga).when_event(StockReserved(quantity=1)).run(),
            ["no event function of OrderSaga takes StockReserved", "there are: OrderSaga.on_event(OrderPlaced)"],
        ),
        (
            lambda: given(OrderSaga).when_event(OrderPaid()).run(),
            ["instead: when_event(OrderPaid(...), state=...) for OrderSaga.on_state_event(OrderPaid), a state-event"],
        ),
        (
            lambda: given(OrderSaga).when_event(PLACED, state=OrderState(id="o-1")).run(),
            ["no state-event function of OrderSaga", "instead: when_event(OrderPlaced(...)) without state="],
        ),
        (
            lambda: given(Stock, OrderSaga).when_event(PLACED).run(),
            [
                "OrderSaga in given(...) is a class",
                "instead: .using(OrderSaga), or given(OrderSaga, ...) with the proc",
            ],
        ),
    ],
    ids=["name", "state", "class", "none", "command", "no_processor", "no_function", "state_event", "event", "given"],
)
def test_an_event_that_reaches_nothing_is_refused_with_what_there_is(write: Callable[[], Any], parts: list[str]):
    """Each mistake is told by its own reason, and by what to write."""
    with pytest.raises(SpecError) as failure, a_test():
        write()

    for part in parts:
        assert part in str(failure.value)
