"""Why a fault never struck: a processor or service that the world has not, and what is delivered before any fault."""

from __future__ import annotations

from typing import Any

import pytest

import wowspec as ws
from wowspec import SpecFailure, event_processor, faults, given, on, on_event

from .ending import a_test
from .shop_domain import Order, OrderPaid, OrderPlaced, OrderView, PayOrder, StatusView

PLACED = on(Order, "o-1", OrderPlaced(sku="s", quantity=1))


class Sms:
    """Sends nothing."""

    sent = 0

    def send(self, text: str) -> None:
        """Forget it."""


@event_processor(context="shop")
class Texter:
    """Calls its service for each payment."""

    @on_event
    def paid(self, event: OrderPaid, sms: Sms) -> None:
        sms.send("paid")


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (
            faults.event.deliver(OrderView).times_out(),
            "why: this world has no processor 'OrderView'; it has: StatusView, Texter\n  instead: .using(OrderView)",
        ),
        (
            faults.event.deliver("StatusVeiw").times_out(),
            "it has: StatusView, Texter\n  instead: faults.event.deliver(StatusView)",
        ),
        (
            faults.event.deliver("Texter").times_out(),
            "why: Texter has no function 'on_event'; it has: paid\n  instead: faults.event.deliver(Texter, 'paid')",
        ),
        (
            faults.service("smss").send.times_out(),
            "why: this world has no service 'smss'; it has: sms\n  instead: faults.service('sms').send",
        ),
        (
            faults.service("sms").sned.times_out(),
            "why: sms has no method 'sned'; it has: send\n  instead: faults.service('sms').send",
        ),
        (
            faults.service("sms").sent.times_out(),
            "why: sms has no method 'sent'; it has: send\n  instead: faults.service('sms').send",
        ),
        (
            faults.service("payment").charge.times_out(),
            "why: this world has no service 'payment'; it has: sms\n  instead: .inject(payment=...)",
        ),
    ],
)
def test_a_fault_at_a_place_that_the_world_has_not_says_which_it_has(fault: Any, text: str):
    """A mistyped name gets the nearest, one that is not there the verb that brings it."""
    with pytest.raises(SpecFailure, match="never struck") as failure, a_test():
        spec = given(PLACED).using(StatusView, Texter).inject(sms=Sms()).with_faults(fault)
        spec.when(PayOrder(id="o-1")).expect_succeeded()

    assert str(failure.value).endswith(text)


def test_a_hint_below_a_failed_expectation_says_so_too():
    """The expectation fails first where the fault was what it waited for."""
    told = r"hint: the fault service:sms\.sned@1=timeout did not strike: sms has no method 'sned'"
    with pytest.raises(SpecFailure, match=told), a_test():
        spec = given(PLACED).using(Texter).inject(sms=Sms()).with_faults(faults.service("sms").sned.times_out())
        spec.when(PayOrder(id="o-1")).expect_downstream_error(Texter, TimeoutError)


def test_what_is_given_is_delivered_before_any_fault():
    """A projection's spec without `when` has no command that a fault could strike at."""
    with pytest.raises(SpecFailure) as failure, a_test():
        given(StatusView).with_faults(faults.event.deliver(StatusView).times_out()).given(PLACED).expect_view(
            "o-1", "PLACED"
        )

    assert str(failure.value).endswith(
        "why: faults strike what follows a when(...) or when_event(...); what is given is delivered before\n"
        "  instead: .with_faults(...).when_event(SomeEvent(...)), or .when(SomeCommand(...)), in place of given(...)"
    )


def test_a_gateways_fault_says_it_in_the_gateways_words():
    """`gateway.world.using(...)`, or `disarm()`."""
    with pytest.raises(SpecFailure, match=r"instead: gateway\.world\.using\(StatusView\), or gateway"), a_test():
        gateway = ws.Gateway()
        gateway.world.arm(faults.event.deliver(StatusView).times_out())
        gateway.world.given(PLACED)
        gateway.send_and_wait(PayOrder(id="o-1"))


def test_a_part_may_join_the_world_of_a_gateway_after_its_first_call():
    """From there on its functions get what is published."""
    with a_test():
        gateway = ws.Gateway()
        gateway.world.given(PLACED)
        gateway.world.using(StatusView)
        gateway.send_and_wait(PayOrder(id="o-1"))

        assert gateway.world.views(StatusView) == {"o-1": "PAID"}
