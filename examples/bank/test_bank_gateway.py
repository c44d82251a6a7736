"""The bank as a client sees it: over the command gateway, with a fresh world for each test."""

from __future__ import annotations

import pytest

from wowspec import CommandResultError, CommandStage, DeadlineExceeded, Gateway, faults, on, processed, snapshot

from .domain import Account, AccountOpened, Audited, Deposit, Deposited, OpenAccount, Withdraw

OPEN = OpenAccount(id="a-1", holder="Ann", balance=100)


def test_a_client_is_told_the_stage_and_the_result(gateway: Gateway) -> None:
    """One client waits for the snapshot, one for the end of processing."""
    opened = gateway.send_and_wait(OPEN, wait_for=snapshot())
    deposited = gateway.send_and_wait(Deposit(id="a-1", amount=20))

    assert opened.stage is CommandStage.SNAPSHOT
    assert deposited.stage is CommandStage.PROCESSED
    assert deposited.result == {"balance": 120}
    assert gateway.world.state(Account, "a-1").balance == 120


def test_a_client_may_follow_every_stage(gateway: Gateway) -> None:
    """The stream has a result for each stage on the way."""
    results = gateway.send_and_wait_stream(OPEN, wait_for=snapshot())

    assert [result.stage for result in results] == [CommandStage.SENT, CommandStage.PROCESSED, CommandStage.SNAPSHOT]


def test_a_refusal_is_raised_with_its_result(gateway: Gateway) -> None:
    """The error carries the code that the client would see."""
    gateway.world.given(on(Account, "a-1", AccountOpened(holder="Ann", balance=100)))

    with pytest.raises(CommandResultError, match="100 is too little") as caught:
        gateway.send_and_wait(Withdraw(id="a-1", amount=101))

    assert caught.value.result.error_code == "IllegalState"
    assert gateway.world.stored(Account, "a-1").types == (AccountOpened,)


def test_a_deadline_is_an_unknown_outcome(gateway: Gateway) -> None:
    """Five seconds of virtual time: the deposit is stored, and the client knows nothing of it."""
    gateway.send_and_wait(OPEN)
    gateway.world.arm(faults.domain_event_bus.send.hangs())

    with pytest.raises(DeadlineExceeded):
        gateway.send_and_wait(Deposit(id="a-1", amount=20), wait_for=processed().with_timeout(seconds=5))

    assert gateway.world.stored(Account, "a-1") == [
        AccountOpened(holder="Ann", balance=100),
        Deposited(amount=20),
        Audited(command="deposit"),
    ]


def test_a_client_that_asks_again_learns_what_became_of_it(gateway: Gateway) -> None:
    """The reply of the store was lost. Under the same request id, nothing is deposited twice."""
    gateway.send_and_wait(OPEN)
    gateway.world.arm(faults.event_store.append.loses_reply(recoverable=False))

    with pytest.raises(CommandResultError):
        gateway.send_and_wait(Deposit(id="a-1", amount=20), request_id="r-1")
    with pytest.raises(CommandResultError) as caught:
        gateway.send_and_wait(Deposit(id="a-1", amount=20), request_id="r-1")

    assert caught.value.error_code == "DuplicateRequestId"
    assert gateway.world.state(Account, "a-1").balance == 120
