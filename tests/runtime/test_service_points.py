"""Faults in calls of injected services."""

from __future__ import annotations

import contextlib

import pytest
from pydantic import BaseModel

from wowspec import (
    Clock,
    InjectedFault,
    SpecError,
    aggregate_root,
    create_aggregate,
    faults,
    on_command,
    spec,
)


@create_aggregate
class Charge(BaseModel):
    id: str
    amount: int


@create_aggregate
class ChargeLater(BaseModel):
    id: str
    amount: int


class Charged(BaseModel):
    receipt: str


class PaymentState(BaseModel):
    id: str


class Payment:
    """A service with a plain and an async method."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def charge(self, amount: int) -> str:
        self.calls.append(amount)
        return f"r-{len(self.calls)}"

    async def charge_later(self, amount: int, clock: Clock | None = None) -> str:
        return self.charge(amount)


@aggregate_root(context="pay")
class Account:
    def __init__(self, state: PaymentState) -> None:
        self.state = state

    @on_command
    def charge(self, command: Charge, payment: Payment) -> Charged:
        assert isinstance(payment, Payment)
        return Charged(receipt=payment.charge(command.amount))

    @on_command
    async def charge_later(self, command: ChargeLater, payment: Payment) -> Charged:
        return Charged(receipt=await payment.charge_later(command.amount))


def given(payment):
    """A spec with the service."""
    return spec(Account).inject(payment=payment)


@pytest.mark.parametrize(("command", "method"), [(Charge, "charge"), (ChargeLater, "charge_later")])
def test_a_call_fails_before_its_effect(command, method):
    """`fails()` raises in the handler; the service was not called."""
    payment = Payment()
    fault = getattr(faults.service("payment"), method).fails()

    given(payment).with_faults(fault).when(command(id="a", amount=3)).expect_error(InjectedFault).expect_no_events()
    assert payment.calls == []


def test_a_lost_reply_is_retried_and_charges_twice():
    """The effect happened, its caller got a time-out, and the runtime tried again."""
    payment = Payment()
    (
        given(payment)
        .with_faults(faults.service("payment").charge.loses_reply())
        .when(Charge(id="a", amount=3))
        .expect_events(Charged(receipt="r-2"))
        .expect_attempts(2)
    )
    assert payment.calls == [3, 3]


def test_an_async_call_hangs():
    """What is awaited can fail to come back: the sender's deadline passes."""
    (
        given(Payment())
        .with_faults(faults.service("payment").charge_later.hangs())
        .when(ChargeLater(id="a", amount=3))
        .expect_unknown_outcome()
        .expect_not_stored()
    )


def test_a_plain_call_cannot_hang():
    """A plain method either returns or raises; the error says what to arm instead."""
    spec = given(Payment()).with_faults(faults.service("payment").charge.hangs()).when(Charge(id="a", amount=3))

    with pytest.raises(SpecError, match=r"service:payment.charge cannot hang"):
        spec.expect_no_events()


def test_a_service_without_fault_is_handed_out_as_it_is():
    """No stand-in, no point in the trace."""
    payment = Payment()
    run = given(payment).when(Charge(id="a", amount=3)).run()

    assert [row.point for row in run.rows if row.point.startswith("service:")] == []
    assert payment.calls == [3]


class Ledger(dict):
    """A service that is a mapping, and can be called."""

    def __call__(self, text: str) -> str:
        return text.upper()


@create_aggregate
class Enter(BaseModel):
    id: str


class Entered(BaseModel):
    text: str


class BookState(BaseModel):
    id: str


@aggregate_root(context="pay")
class Book:
    def __init__(self, state: BookState) -> None:
        self.state = state

    @on_command
    def enter(self, command: Enter, ledger: Ledger) -> Entered:
        ledger[command.id] = len(ledger)
        with contextlib.suppress(InjectedFault):
            ledger.setdefault("b", 1)
        assert command.id in ledger
        assert [*ledger] == ["a"]
        return Entered(text=ledger("done"))


def test_a_stand_in_has_the_operators_of_its_service():
    """A service that is indexed, counted, iterated or called is all that under a fault, too."""
    ledger = Ledger()
    (
        spec(Book)
        .inject(ledger=ledger)
        .with_faults(faults.service("ledger").setdefault.fails())
        .when(Enter(id="a"))
        .expect_events(Entered(text="DONE"))
        .expect_fired(1)
    )
    assert ledger == {"a": 0}
