"""What a spec and a run look like in one line, as a plain `assert` of pytest's shows them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from wowspec import advance, at, command_of, faults, given, on, sent_as, spec, stream

from .ending import a_test
from .language_domain import CreateOrder, Order, OrderCreated, OrderPaid, OrderState, PayOrder, ShipOrder

UNTRACKED = given()


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: UNTRACKED, "<spec().given()>"),
        (
            lambda: spec(Order).given(at(datetime(2026, 1, 1, tzinfo=UTC)), OrderCreated(), advance(hours=2)),
            "<spec(Order).given(at(...), OrderCreated, advance(...))>",
        ),
        (
            lambda: given(on(Order, "o-1", OrderCreated(), stream(OrderPaid()), sent_as(PayOrder(id="o-1")))),
            "<spec().given(on(Order, 'o-1', OrderCreated, stream(OrderPaid), … 1 more))>",
        ),
        (
            lambda: given(*[OrderCreated()] * 6).when(command_of(PayOrder, id="o-1")),
            "<spec().given(OrderCreated, OrderCreated, OrderCreated, OrderCreated, … 2 more).when(PayOrder)>",
        ),
        (
            lambda: spec(Order).given_state(OrderState(id="o-1"), 3).without_law("replay_equality").using(Order),
            "<spec(Order).given_state(OrderState, version=3).without_law('replay_equality').using(...)>",
        ),
        (
            lambda: UNTRACKED.with_faults(faults.event_store.append.fails()).when(lambda run: PayOrder(id="o-1")),
            "<spec().given().with_faults(event_store.append@1=fail).when(lambda …)>",
        ),
        (lambda: UNTRACKED.when_event(OrderCreated()), "<spec().given().when_event(OrderCreated)>"),
    ],
    ids=["nothing", "times", "history", "many", "setup", "faults", "event"],
)
def test_spec(made, text):
    """The verbs of a spec, and the classes of what they were given."""
    with pytest.raises(Done), a_test():
        assert repr(made()) == text
        raise Done


class Done(Exception):
    """Leaves what was made unjudged."""


def test_branch():
    """A branch is told by its name."""
    seen = []
    base = given(OrderCreated()).when(PayOrder(id="o-1")).expect_succeeded()
    base.fork("ship", lambda branch: seen.append(repr(branch)) or branch.when(ShipOrder(id="o-1")).expect_succeeded())

    assert seen == ["<spec().given(OrderCreated).when(PayOrder).fork('ship')>"]


def test_run():
    """The command, its outcome, and the classes of what it stored."""
    paid = given(OrderCreated()).when(PayOrder(id="o-1")).expect_succeeded()
    refused = given().when(CreateOrder, id="o-1", customer=5).expect_error(code="CommandValidation")
    missing = given().when(PayOrder(id="o-1")).expect_error(code="NotFound")
    hung = given().with_faults(faults.command_bus.send.hangs()).when(CreateOrder(id="o-1")).expect_unknown_outcome()

    assert repr(paid.run()) == '<Run of PayOrder(id="o-1"): succeeded, stored OrderPaid>'
    assert repr(missing.run()) == '<Run of PayOrder(id="o-1"): failed with NotFoundError, stored nothing>'
    assert repr(hung.run()) == '<Run of CreateOrder(id="o-1"): outcome unknown, stored nothing>'
    assert repr(refused.run()) == ('<Run of CreateOrder(id="o-1", customer=5): failed with CommandValidationError>')
