"""What becomes of an order when the pipeline, or what the order asks of others, fails."""

from __future__ import annotations

from typing import Any

import pytest

from wowspec import (
    PROCESSED,
    DuplicateRequestIdError,
    Fault,
    InjectedFault,
    Spec,
    faults,
    on,
    some,
)

from .domain import (
    CreateOrder,
    Order,
    OrderPaid,
    OrderShipped,
    PaymentDuplicated,
    PayOrder,
    ShipOrder,
    Status,
)
from .test_order import CREATED, HOME, ITEMS, PAID, FakeWarehouse, Refusals, shop

PAYING = PayOrder(id="o-1", payment_id="pay-1", amount=100)


def created() -> Spec[Any]:
    """A shop with one order that waits for its payment."""
    return shop().given(on(Order, "o-1", CREATED, owner_id="u-1"))


# --- the store --------------------------------------------------------------------------------------------------------


def test_a_payment_is_stored_then_acknowledged_then_published() -> None:
    """The order of the effects, as the pipeline's points tell it."""
    (
        created()
        .when(PAYING)
        .expect_order("event_store.append", "command.acknowledge", "domain_event_bus.send", "state_event_bus.send")
        .expect_order("domain_event_bus.send", "wait.notify:PROCESSED")
    )


def test_a_payment_that_could_not_be_stored_never_happened() -> None:
    """The error function is told, then the sender. Nobody tries again: the command was acknowledged."""
    refusals = Refusals()
    (
        created()
        .inject(log=refusals)
        .with_faults(faults.event_store.append.fails())
        .when(PAYING)
        .expect_error(InjectedFault)
        .expect_emitted(PAID)
        .expect_not_stored()
        .expect_not_published()
        .expect_command_state("EXPIRED")
        .expect_acknowledged(times=1)
        .expect_stage(PROCESSED, succeeded=False)
        .expect_state(status=Status.CREATED, paid=0)
    )
    assert [payment_id for payment_id, _ in refusals.told] == ["pay-1"]


def test_a_payment_is_tried_four_times_in_all() -> None:
    """Three retries of what is recoverable, with a back-off in virtual time; each failure passes the error function."""
    refusals = Refusals()
    (
        created()
        .inject(log=refusals)
        .with_faults(faults.event_store.append.times_out(times=4))
        .when(PAYING)
        .expect_error(TimeoutError, code="RequestTimeout")
        .expect_attempts(4)
        .expect_fired(4)
        .expect_not_stored()
    )
    assert len(refusals.told) == 4


def test_a_payment_that_went_through_may_be_told_as_a_failure() -> None:
    """The reply of the store is lost, and the retry meets the stream of its own first attempt."""
    (
        created()
        .with_faults(faults.event_store.append.loses_reply(recoverable=False))
        .when(PAYING)
        .expect_error(InjectedFault)
        .expect_stored(PAID)
        .expect_not_published()
        .expect_state(status=Status.PAID)
    )


def test_the_same_request_again_tells_that_it_was_stored() -> None:
    """What to do after a doubtful failure: send it again under the same request id."""
    (
        created()
        .with_faults(faults.event_store.append.loses_reply(recoverable=False))
        .when(PAYING, request_id="r-1")
        .expect_error(InjectedFault)
        .when(PAYING, request_id="r-1")
        .expect_error(DuplicateRequestIdError)
        .expect_not_stored()
        .expect_state(paid=100)
    )


def test_two_payments_at_once() -> None:
    """The other one is stored first. The retry decides anew, and finds that the order needs no payment."""
    other = OrderPaid(payment_id="pay-2", amount=100, paid=True)
    (
        created()
        .with_faults(faults.event_store.append.rival_appends(other))
        .when(PAYING)
        .expect_error(code="PaymentDuplicated")
        .expect_attempts(2)
        .expect_stored(some(PaymentDuplicated, payment_id="pay-1"))
        .expect_all_events(other, some(PaymentDuplicated, payment_id="pay-1"))
        .expect_state(paid=100)
    )


# --- the buses --------------------------------------------------------------------------------------------------------


def test_paid_but_nobody_downstream_hears_of_it() -> None:
    """What is stored stays stored; the sender is told of a failure all the same."""
    (
        created()
        .with_faults(faults.domain_event_bus.send.fails())
        .when(PAYING)
        .expect_error(InjectedFault)
        .expect_stored(PAID)
        .expect_not_published()
        .expect_stage(PROCESSED, succeeded=False)
    )


def test_a_lost_state_event_is_logged_and_the_payment_succeeds() -> None:
    """The state event comes last, and its failure is swallowed by the runtime."""
    (
        created()
        .with_faults(faults.state_event_bus.send.fails())
        .when(PAYING)
        .expect_succeeded()
        .expect_published(PAID)
        .expect_state_event_not_published()
        .expect_logged("state_event_bus.send")
    )


def test_a_command_that_was_refused_by_its_bus_may_be_on_its_way() -> None:
    """The bus took the command, its reply was lost: the sender hears of a time-out, and the order is paid."""
    (
        created()
        .with_faults(faults.command_bus.send.loses_reply())
        .when(PAYING)
        .expect_error(TimeoutError)
        .expect_stored(PAID)
        .expect_published(PAID)
    )


def test_a_hanging_bus_holds_up_one_order_and_no_other() -> None:
    """No answer is not a failure: the order is paid. But whatever is sent to it waits behind the payment, for good."""
    (
        created()
        .given(on(Order, "o-2", CREATED, PAID))
        .with_faults(faults.domain_event_bus.send.hangs())
        .when(PAYING)
        .expect_unknown_outcome()
        .expect_stored(PAID)
        .fork(
            "the same order",
            lambda spec: spec.when(ShipOrder(id="o-1")).expect_unknown_outcome().expect_attempts(0),
        )
        .when(ShipOrder(id="o-2"))
        .expect_events(OrderShipped())
    )


# --- what the order asks of others ------------------------------------------------------------------------------------


class SlowWarehouse(FakeWarehouse):
    """Answers after a number of time-outs."""

    def __init__(self, timeouts: int) -> None:
        self.timeouts = timeouts

    def stock_of(self, product_id: str) -> int:
        if self.timeouts:
            self.timeouts -= 1
            raise TimeoutError("the warehouse did not answer")
        return super().stock_of(product_id)


def test_a_slow_warehouse_is_asked_again() -> None:
    """A time-out in a command function is recoverable like one of the store: the whole command is processed anew."""
    (
        shop()
        .inject(warehouse=SlowWarehouse(timeouts=3))
        .when(CreateOrder(items=ITEMS, address=HOME))
        .expect_events(CREATED)
        .expect_result(total=100)
        .expect_attempts(4)
    )


def test_a_warehouse_that_never_answers() -> None:
    """After three retries the sender is told what the warehouse said."""
    (
        shop()
        .inject(warehouse=SlowWarehouse(timeouts=9))
        .when(CreateOrder(items=ITEMS, address=HOME))
        .expect_error(TimeoutError, match="warehouse")
        .expect_attempts(4)
        .expect_no_events()
    )


# --- every failure ordering of a payment ------------------------------------------------------------------------------

RIVAL = OrderPaid(payment_id="pay-2", amount=100, paid=True)
ALL_SINGLE_FAULTS = faults.along(created().when(PAYING).run().trace, rival=(RIVAL,))


@pytest.mark.parametrize("fault", ALL_SINGLE_FAULTS, ids=str)
def test_whatever_fails_nobody_pays_twice(fault: Fault) -> None:
    """Each legal fault at each point that the payment passes, one at a time; a rival's payment among them."""
    run = created().with_faults(fault).when(PAYING).expect_any_outcome().run()

    assert run.stored.count(OrderPaid) <= 1
    assert run.stored.count(OrderPaid) == 1 or not run.succeeded, "success was told, and nothing is paid"
    assert run.published in ([], run.stored), "what was published is what was stored"
    assert run.state.paid in {0, 100}
    assert run.all_events.count(OrderPaid) <= 1, "the order was paid by both"
