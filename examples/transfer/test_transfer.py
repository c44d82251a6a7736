"""A transfer from end to end, its compensation, and what can go wrong on its way."""

from __future__ import annotations

import pytest

from wowspec import (
    IllegalStateError,
    SpecFailure,
    chain,
    faults,
    given,
    on,
    processed,
    projected,
    saga_handled,
    spec,
)

from .domain import (
    Account,
    AccountCreated,
    AccountFrozen,
    AccountUnfrozen,
    AmountEntered,
    AmountLocked,
    AmountUnlocked,
    BalanceView,
    Confirm,
    Confirmed,
    CreateAccount,
    Entry,
    EntryFailed,
    FreezeAccount,
    Prepare,
    Prepared,
    TransferSaga,
    UnfreezeAccount,
    UnlockAmount,
    transfer,
)

ANN = on(Account, "ann", AccountCreated(name="Ann", balance=100))
BOB = on(Account, "bob", AccountCreated(name="Bob", balance=0))
FROZEN_BOB = on(Account, "bob", AccountCreated(name="Bob", balance=0), AccountFrozen(reason="audit"))

# --- the account alone ------------------------------------------------------------------------------------------------


def test_a_transfer_locks_its_amount():
    """One command, two events, one version."""
    (
        given(ANN)
        .when(Prepare(id="ann", to="bob", amount=30))
        .expect_events(AmountLocked(amount=30), Prepared(to="bob", amount=30))
        .expect_version(2)
        .expect_state(available=70, locked=30)
    )


@pytest.mark.parametrize(
    ("history", "text"), [((), "too small"), ((AccountFrozen(reason="audit"),), "frozen")], ids=["poor", "frozen"]
)
def test_a_transfer_needs_money_and_a_free_account(history, text):
    """Each refusal leaves the account as it was."""
    given(on(Account, "ann", AccountCreated(name="Ann", balance=10), *history)).when(
        Prepare(id="ann", to="bob", amount=30)
    ).expect_error(IllegalStateError, match=text).expect_no_events()


def test_a_frozen_account_refuses_an_entry_with_an_event():
    """The refusal is a stored and published fact, and its command counts as failed."""
    failed = EntryFailed(source_id="ann", amount=30)
    (
        given(FROZEN_BOB)
        .when(Entry(id="bob", source_id="ann", amount=30))
        .expect_events(failed)
        .expect_published(failed)
        .expect_error(code="EntryFailed")
        .expect_state(available=0)
    )


def test_freezing_twice_is_refused():
    """And so is unfreezing an account that is free."""
    base = spec(Account).given(ANN)
    (
        base.when(FreezeAccount(id="ann", reason="audit"))
        .expect_events(AccountFrozen(reason="audit"))
        .when(FreezeAccount(id="ann", reason="again"))
        .expect_error(IllegalStateError, match="frozen already")
        .when(UnfreezeAccount(id="ann", reason="done"))
        .expect_events(AccountUnfrozen(reason="done"))
        .expect_state(frozen=False)
    )
    base.when(UnfreezeAccount(id="ann", reason="?")).expect_error(IllegalStateError, match="is not frozen")


@pytest.mark.parametrize(
    ("command", "event", "available", "locked"),
    [
        (Confirm(id="ann", amount=30), Confirmed(amount=30), 70, 0),
        (UnlockAmount(id="ann", amount=30), AmountUnlocked(amount=30), 100, 0),
    ],
    ids=["confirm", "unlock"],
)
def test_a_lock_ends_one_way_or_the_other(command, event, available, locked):
    """A confirmed amount is gone, an unlocked one is back."""
    given(ANN, on(Account, "ann", AmountLocked(amount=30))).when(command).expect_events(event).expect_state(
        available=available, locked=locked
    )


# --- the saga alone ---------------------------------------------------------------------------------------------------


def test_the_saga_sends_one_command_for_each_event():
    """Nobody processes them here: this is a spec of the saga, not of the accounts."""
    saga = given(TransferSaga)
    saga.when_event(Prepared(to="bob", amount=30), aggregate_id="ann").expect_commands(
        Entry(id="bob", source_id="ann", amount=30)
    )
    saga.when_event(AmountEntered(source_id="ann", amount=30), aggregate_id="bob").expect_commands(
        Confirm(id="ann", amount=30)
    )
    saga.when_event(EntryFailed(source_id="ann", amount=30), aggregate_id="bob").expect_commands(
        UnlockAmount(id="ann", amount=30)
    )


# --- from end to end --------------------------------------------------------------------------------------------------


def test_a_transfer_moves_money():
    """Prepared at one account, entered at the other, confirmed at the first."""
    (
        given(ANN, BOB)
        .using(transfer)
        .when(Prepare(id="ann", to="bob", amount=30))
        .expect_causation(
            "Prepare > Prepared > TransferSaga > Entry > AmountEntered > TransferSaga > Confirm > Confirmed"
        )
        .expect_state(on(Account, "ann"), available=70, locked=0)
        .expect_state(on(Account, "bob"), available=30)
        .expect_view("bob", available=30)
    )


def test_a_refused_transfer_gives_the_money_back():
    """The target is frozen: its refusal is expected downstream, and the saga compensates."""
    (
        given(ANN, FROZEN_BOB)
        .using(transfer)
        .when(Prepare(id="ann", to="bob", amount=30))
        .expect_causation("Prepared > TransferSaga > Entry > EntryFailed > TransferSaga > UnlockAmount")
        .expect_state(on(Account, "ann"), available=100, locked=0)
        .expect_state(on(Account, "bob"), available=0)
    )


def test_the_sender_can_wait_for_the_other_account():
    """A chain waits for the saga, then for each command that the saga sent."""
    (
        given(ANN, BOB)
        .using(transfer)
        .when(
            Prepare(id="ann", to="bob", amount=30),
            wait_for=chain(saga_handled("transfer", processor="TransferSaga"), then=processed()),
        )
        .expect_succeeded()
        .expect_state(on(Account, "bob"), available=30)
    )


def test_the_sender_can_wait_for_a_view():
    """Once PROJECTED is signalled, the row is there."""
    (
        given(CreateAccount(id="ann", name="Ann", balance=100), CreateAccount(id="bob", name="Bob"))
        .using(transfer)
        .when(
            CreateAccount(id="eve", name="Eve", balance=5),
            wait_for=projected("transfer", processor="BalanceView"),
        )
        .expect_view("eve", available=5)
        .expect_view("ann", available=100)
    )


# --- what can go wrong ------------------------------------------------------------------------------------------------


def test_a_lost_publication_leaves_the_money_locked():
    """The lock is stored, its event never published: no saga hears of it, and nothing heals that by itself."""
    (
        given(ANN, BOB)
        .using(transfer)
        .with_faults(faults.domain_event_bus.send.fails(aggregate="ann"))
        .when(Prepare(id="ann", to="bob", amount=30))
        .expect_error(match="injected")
        .expect_stored(AmountLocked(amount=30), Prepared(to="bob", amount=30))
        .expect_not_published()
        .expect_no_commands()
        .expect_state(available=70, locked=30)
    )


def test_a_saga_that_is_retried_sends_its_command_once():
    """Delivery times out before the function runs, and the runtime tries again after two virtual seconds."""
    (
        given(ANN, BOB)
        .using(transfer)
        .with_faults(faults.event.deliver(TransferSaga).times_out(aggregate="ann"))
        .when(Prepare(id="ann", to="bob", amount=30))
        .expect_state(on(Account, "bob"), available=30)
        .expect_state(on(Account, "ann"), available=70, locked=0)
    )


def test_the_balance_view_is_not_idempotent():
    """A row that is computed from the old row is wrong after a second delivery; this view would need event versions."""
    view = given(BalanceView, on(Account, "ann", AccountCreated(name="Ann", balance=100), AmountLocked(amount=30)))
    view.expect_view("ann", available=70)
    again = given(BalanceView, on(Account, "ann", AmountEntered(source_id="bob", amount=30)))
    with pytest.raises(SpecFailure, match="not idempotent"):
        again.expect_idempotent()
