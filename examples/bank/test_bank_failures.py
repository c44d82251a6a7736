"""What becomes of money when the pipeline fails."""

from __future__ import annotations

from itertools import pairwise

import pytest

from wowspec import (
    PROCESSED,
    DuplicateRequestIdError,
    Fault,
    InjectedFault,
    advance,
    faults,
    given,
    on,
    snapshot,
)

from .domain import (
    Account,
    AccountOpened,
    Audited,
    Deposit,
    Deposited,
    Withdraw,
    Withdrawn,
)

OPENED = AccountOpened(holder="Ann", balance=100)
DEPOSIT = Deposit(id="a-1", amount=20)
BOTH = (Deposited(amount=20), Audited(command="deposit"))


def test_the_order_of_effects() -> None:
    """Stored, acknowledged, published, signalled."""
    (
        given(OPENED)
        .when(DEPOSIT)
        .expect_order(
            "request_id.check",
            "command.validate",
            "command_bus.send",
            "event_store.load",
            "event_store.append",
            "command.acknowledge",
            "domain_event_bus.send",
            "state_event_bus.send",
            "wait.notify:PROCESSED",
            "snapshot.save",
        )
    )


def test_what_could_not_be_appended_is_gone() -> None:
    """Emitted, but neither stored nor published; the aggregate in memory has it still, and is thrown away for that."""
    (
        given(OPENED)
        .with_faults(faults.event_store.append.fails())
        .when(DEPOSIT)
        .expect_error(InjectedFault)
        .expect_emitted(*BOTH)
        .expect_not_stored()
        .expect_not_published()
        .expect_command_state("EXPIRED")
        .expect_acknowledged(times=1)
        .expect_stage(PROCESSED, succeeded=False)
        .expect_state(balance=100)
    )


def test_the_next_command_starts_from_what_is_stored() -> None:
    """A failed attempt's state is thrown away."""
    (
        given(OPENED)
        .with_faults(faults.event_store.append.fails())
        .when(DEPOSIT)
        .expect_error(InjectedFault)
        .when(DEPOSIT)
        .expect_events(*BOTH)
        .expect_state(balance=120)
    )


def test_an_acknowledgement_that_fails_hides_what_was_stored() -> None:
    """The acknowledgement comes before the buses: its error is the outcome, and nothing is published."""
    (
        given(OPENED)
        .with_faults(faults.command.acknowledge.fails())
        .when(DEPOSIT)
        .expect_error(InjectedFault)
        .expect_stored(*BOTH)
        .expect_not_published()
        .expect_acknowledged(times=0)
    )


def test_a_slow_repository_is_asked_again() -> None:
    """A time-out of the event store is recoverable."""
    (
        given(OPENED)
        .with_faults(faults.event_store.load.times_out(times=2))
        .when(DEPOSIT)
        .expect_events(*BOTH)
        .expect_attempts(3)
        .expect_result(balance=120)
    )


def test_back_off_takes_virtual_time() -> None:
    """Half a second, then one, then two: and the spec is done at once."""
    run = given(OPENED).with_faults(faults.event_store.append.times_out(times=3)).when(DEPOSIT).expect_attempts(4).run()

    appended = [row.nanos for row in run.trace if row.point == "event_store.append"]
    waited = [(later - earlier) // 1_000_000 for earlier, later in pairwise(appended)]
    assert waited == [500, 1000, 2000]


def test_a_lost_reply_is_a_deposit_that_its_sender_believes_to_have_failed() -> None:
    """A time-out is retried, and the retry meets its own request id in the store: stored, told as a failure, published
    to nobody."""
    (
        given(OPENED)
        .with_faults(faults.event_store.append.loses_reply())
        .when(DEPOSIT)
        .expect_error(DuplicateRequestIdError)
        .expect_attempts(2)
        .expect_stored(*BOTH)
        .expect_not_published()
        .expect_state(balance=120)
    )


def test_a_rival_is_not_overlooked() -> None:
    """Two withdrawals at once, each of which the balance would allow."""
    (
        given(OPENED)
        .with_faults(faults.event_store.append.rival_appends(Withdrawn(amount=70)))
        .when(Withdraw(id="a-1", amount=80))
        .expect_error(code="IllegalState", match="30 is too little to withdraw 80")
        .expect_attempts(2)
        .expect_all_events(Withdrawn(amount=70))
        .expect_state(balance=30)
    )


def test_stored_and_published_are_two_things() -> None:
    """Each has a ledger of its own."""
    (
        given(OPENED)
        .with_faults(faults.domain_event_bus.send.fails())
        .when(DEPOSIT)
        .expect_error(InjectedFault)
        .expect_stored(*BOTH)
        .expect_not_published()
        .expect_state_event_not_published()
    )


def test_a_lost_state_event_is_only_logged() -> None:
    """The sender that waits for PROCESSED is told of success; the snapshot, made of the state event, is missing."""
    (
        given(OPENED)
        .with_faults(faults.state_event_bus.send.fails())
        .when(DEPOSIT)
        .expect_stage(PROCESSED, succeeded=True)
        .expect_published(*BOTH)
        .expect_state_event_not_published()
        .expect_logged("state_event_bus.send", InjectedFault)
    )


def test_who_waits_for_the_snapshot_waits_in_vain() -> None:
    """The same lost state event, seen by a sender that waits for more: it never learns the outcome."""
    (
        given(OPENED)
        .with_faults(faults.state_event_bus.send.fails())
        .when(DEPOSIT, wait_for=snapshot().with_timeout(seconds=5))
        .expect_unknown_outcome()
        .expect_stored(*BOTH)
    )


def test_a_hanging_store_blocks_one_account() -> None:
    """Commands to one account stand in line; other accounts go on."""
    (
        given(on(Account, "a-2", OPENED), on(Account, "a-1", OPENED))
        .with_faults(faults.event_store.append.hangs())
        .when(DEPOSIT)
        .expect_unknown_outcome()
        .expect_not_stored()
        .fork("the same account", lambda spec: spec.when(DEPOSIT).expect_unknown_outcome().expect_not_stored())
        .when(Deposit(id="a-2", amount=20))
        .expect_events(*BOTH)
    )


def test_the_same_request_twice_is_one_deposit() -> None:
    """However much later the second one comes."""
    (
        given(OPENED)
        .when(DEPOSIT, request_id="r-1")
        .expect_events(*BOTH)
        .given(advance(days=1))
        .when(DEPOSIT, request_id="r-1")
        .expect_error(DuplicateRequestIdError)
        .expect_no_events()
        .expect_state(balance=120)
    )


# --- every failure ordering of a withdrawal ---------------------------------------------------------------------------

WITHDRAW = Withdraw(id="a-1", amount=80)
RIVAL = Withdrawn(amount=70)
ALL_SINGLE_FAULTS = faults.along(given(OPENED).when(WITHDRAW).run().trace, rival=(RIVAL,))


@pytest.mark.parametrize("fault", ALL_SINGLE_FAULTS, ids=str)
def test_whatever_fails_no_money_is_lost_or_made(fault: Fault) -> None:
    """Each legal fault at each point that the withdrawal passes, one at a time."""
    run = given(OPENED).with_faults(fault).when(WITHDRAW).expect_any_outcome().run()

    assert run.stored in ([], [Withdrawn(amount=80)])
    assert run.stored or not run.succeeded, "success was told, and nothing was withdrawn"
    assert run.published in ([], run.stored), "what was published is what was stored"
    assert run.state.balance == 100 - sum(event.amount for event in run.all_events)
    assert run.state.balance >= 0
