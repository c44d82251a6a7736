"""Which ways of steps a test went."""

from __future__ import annotations

import pytest

from wowspec import SpecFailure, given, on, spec
from wowspec.specs import tracking
from wowspec.specs.showing import step_text

from .shop_domain import Order, OrderPlaced, OrderView, PayOrder, PlaceOrder

PLACE, PAY = PlaceOrder(id="o-1", sku="s-1"), PayOrder(id="o-1")
FROM_OUTSIDE = spec(Order).when(PLACE)
NEVER_LOOKED_AT = spec(Order).when(PLACE)


def ways(test):
    """What a test went, each way as text."""
    tracking.start()
    try:
        test()
        tracker = tracking.current()
    finally:
        tracking.stop()
    return [" > ".join(step_text(node) for node in path) for path in tracking.paths(tracker)]


def test_one_spec_is_one_way():
    """From its first word to its last command, whatever is expected on the way."""
    assert ways(lambda: spec(Order).when(PLACE).expect_succeeded().when(PAY).expect_succeeded()) == [
        "spec(Order) > when(PlaceOrder) > when(PayOrder)"
    ]


def test_each_branch_is_one():
    """A branch that runs something, one that only expects something, and what goes on after them."""

    def test():
        (
            spec(Order)
            .when(PLACE)
            .fork("paid", lambda branch: branch.when(PAY).expect_succeeded())
            .fork("looked at", lambda branch: branch.expect_succeeded())
            .when(PAY)
            .expect_succeeded()
        )

    assert ways(test) == [
        "spec(Order) > when(PlaceOrder) > fork('paid') > when(PayOrder)",
        "spec(Order) > when(PlaceOrder) > fork('looked at')",
        "spec(Order) > when(PlaceOrder) > when(PayOrder)",
    ]


def test_what_goes_on_is_left_out():
    """A way that another one goes on with is not told by itself; two from one base are two."""

    def test():
        base = spec(Order).when(PLACE).expect_succeeded()
        base.when(PAY).expect_succeeded()
        base.when(PAY).expect_version(2)

    assert ways(test) == ["spec(Order) > when(PlaceOrder) > when(PayOrder)"] * 2


def test_what_never_ran_is_none():
    """A spec without a command, or whose command nobody looked at, went nowhere."""

    def test():
        given(on(Order, "o-1", OrderPlaced(sku="s-1", quantity=1)))
        spec(Order).when(PLACE)
        NEVER_LOOKED_AT.when(PAY)

    assert ways(test) == []


def test_a_spec_from_outside_counts_where_it_is_looked_at():
    """For each test that looks at it; in the order in which the test came to it."""

    def test():
        spec(Order).when(PLACE).expect_succeeded()
        FROM_OUTSIDE.expect_succeeded()
        FROM_OUTSIDE.expect_version(1)

    assert ways(test) == ["spec(Order) > when(PlaceOrder)"] * 2
    assert ways(FROM_OUTSIDE.expect_succeeded) == ["spec(Order) > when(PlaceOrder)"]
    assert ways(lambda: FROM_OUTSIDE.when(PAY).expect_succeeded()) == [
        "spec(Order) > when(PlaceOrder) > when(PayOrder)"
    ]


def test_a_command_that_failed_its_spec_ran():
    """What came of it is no matter."""

    def test():
        with pytest.raises(SpecFailure):
            spec(Order).when(PAY).expect_succeeded()

    assert ways(test) == ["spec(Order) > when(PayOrder)"]


def test_specs_without_when_and_in_flight():
    """What is given to a projection reaches it in a step of its own; commands in flight together are one step."""

    def test():
        given(OrderView, on(Order, "o-1", OrderPlaced(sku="s-1", quantity=1))).expect_view("o-1", status="PLACED")
        spec(Order).when_concurrently(PLACE, PlaceOrder(id="o-2", sku="s")).expect_succeeded()

    assert ways(test) == [
        "spec(OrderView) > given(on(Order, 'o-1', OrderPlaced)) > delivered",
        "spec(Order) > when_concurrently(PlaceOrder, PlaceOrder)",
    ]
