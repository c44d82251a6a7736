"""A wait for a function that the world has not says, beside the deadline, which ones there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import wowspec as ws
from wowspec import (
    PROJECTED,
    DeadlineExceeded,
    SpecFailure,
    chain,
    event_handled,
    given,
    on,
    projected,
    saga_handled,
)

from .ending import a_test
from .shop_domain import Order, OrderPlaced, OrderSaga, OrderView, PayOrder

PLACED = on(Order, "o-1", OrderPlaced(sku="s", quantity=1))
NO_VIEW = "nobody signals PROJECTED: no projection in this world is called "
NO_PROCESSOR = "nobody signals EVENT_HANDLED: no event processor in this world is called "
THERE = "; there is shop/OrderView.on_event"


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        (projected("shpo"), f"{NO_VIEW}shpo/*.*{THERE}"),
        (projected("shop", processor="OrderVeiw"), f"{NO_VIEW}shop/OrderVeiw.*{THERE}"),
        (
            projected("shop", processor="OrderView", function="on_evnet"),
            f"{NO_VIEW}shop/OrderView.on_evnet{THERE}",
        ),
        (
            chain(saga_handled("shop"), then=projected("stock")),
            f"{NO_VIEW}stock/*.*{THERE}",
        ),
        (
            event_handled("shop"),
            f"{NO_PROCESSOR}shop/*.*; there is none: .using(...) brings one",
        ),
    ],
    ids=["context", "processor", "function", "tail", "none"],
)
def test_a_spec_whose_wait_is_mistyped_says_so(plan: Any, told: str):
    """Below the deadline that nobody expected."""
    with pytest.raises(SpecFailure) as failure, a_test():
        given(PLACED).using(OrderView, OrderSaga).when(PayOrder(id="o-1"), wait_for=plan).expect_succeeded()

    assert f"hint: {told}\n" in str(failure.value)


def test_a_wait_for_what_is_there_gets_no_such_hint():
    """It hangs for another reason."""
    lost = ws.faults.wait.notify(PROJECTED).fails()
    with pytest.raises(SpecFailure, match="DeadlineExceeded") as failure, a_test():
        (
            given(PLACED)
            .using(OrderView)
            .with_faults(lost)
            .when(PayOrder(id="o-1"), wait_for=projected("shop"))
            .expect_succeeded()
        )

    assert "nobody signals" not in str(failure.value)


def started(gateway: Any, plan: Any) -> Any:
    """A call whose deadline has passed."""
    call = gateway.start(PayOrder(id="o-1"), wait_for=plan)
    gateway.world.run()
    return call


@pytest.mark.parametrize(
    "call",
    [
        lambda gateway, plan: gateway.send_and_wait(PayOrder(id="o-1"), wait_for=plan),
        lambda gateway, plan: started(gateway, plan).result(),
    ],
    ids=["send_and_wait", "start"],
)
def test_a_gateways_deadline_carries_it_as_a_note(call: Callable[[Any, Any], Any]):
    """Its own text stays the runtime's."""
    with a_test():
        gateway = ws.Gateway()
        gateway.world.using(OrderView)
        gateway.world.given(PLACED)
        with pytest.raises(DeadlineExceeded) as failure:
            call(gateway, projected("shop", processor="OrderVeiw"))

    assert failure.value.__notes__ == [f"hint: {NO_VIEW}shop/OrderVeiw.*{THERE}"]
