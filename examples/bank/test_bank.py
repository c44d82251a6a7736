"""What an account does. Each spec shows one thing that an aggregate can do, and what its sender is told."""

from __future__ import annotations

import pytest

from wowspec import (
    PROCESSED,
    SENT,
    SNAPSHOT,
    CommandExpectVersionConflictError,
    DomainError,
    DuplicateAggregateIdError,
    IllegalStateError,
    NotFoundError,
    advance,
    given,
    on,
    sent,
    snapshot,
    spec,
    unordered,
)

from .domain import (
    Account,
    AccountOpened,
    AccountState,
    Audited,
    Authorize,
    Deposit,
    Deposited,
    DepositMany,
    Fail,
    FlagOverdraft,
    LimitSet,
    Note,
    Noted,
    OpenAccount,
    OverdraftFlagged,
    Peek,
    Rename,
    Renamed,
    SetLimit,
    Stamped,
    Touch,
    Withdraw,
    Withdrawn,
)

OPENED = AccountOpened(holder="Ann", balance=100)


# --- creating ---------------------------------------------------------------------------------------------------------


def test_opening_an_account() -> None:
    """A create command; its stream is version 1."""
    (
        given()
        .when(OpenAccount(id="a-1", holder="Ann", balance=100))
        .expect_events(OPENED)
        .expect_state(holder="Ann", balance=100)
        .expect_version(1)
    )


def test_an_account_has_a_holder() -> None:
    """A blank one is refused by the aggregate."""
    given().when(OpenAccount(id="a-1", holder=" ")).expect_error(ValueError, match="holder").expect_no_events()


def test_an_account_is_opened_once() -> None:
    """A create command loads nothing: that the account is there already is noticed by the store."""
    (
        given(OPENED)
        .when(OpenAccount(id="a-1", holder="Bob"))
        .expect_error(DuplicateAggregateIdError)
        .expect_emitted(AccountOpened(holder="Bob"))
        .expect_not_stored()
        .expect_state(holder="Ann")
    )


def test_most_commands_need_an_account() -> None:
    """Without one they end before any function is called."""
    given().when(Deposit(id="a-1", amount=1)).expect_error(NotFoundError, code="NotFound")


def test_some_commands_do_not() -> None:
    """An allow-create command takes the account as it is, or begins it."""
    (
        given()
        .when(Note(id="a-1", text="wants an account"))
        .expect_events(Noted(text="wants an account"))
        .expect_version(1)
        .expect_state(notes=["wants an account"])
    )


# --- one event, several, none -----------------------------------------------------------------------------------------


def test_a_deposit_tells_the_new_balance() -> None:
    """As a command result; the audit comes from an after-command function."""
    (
        given(OPENED)
        .when(Deposit(id="a-1", amount=20))
        .expect_events(Deposited(amount=20), Audited(command="deposit"))
        .expect_result(balance=120)
        .expect_state(balance=120, audits=["audit:deposit"])
    )


def test_many_deposits_make_one_version() -> None:
    """The events of the after-command functions follow in their order, in the same stream."""
    (
        given(OPENED)
        .when(DepositMany(id="a-1", amounts=[1, 2]))
        .expect_events(
            unordered(Deposited(amount=2), Deposited(amount=1)),
            Audited(command="deposit_many"),
            Stamped(command="deposit_many"),
        )
        .expect_version(2)
        .expect_state(balance=103, audits=["audit:deposit_many", "stamp:deposit_many"])
    )


def test_doing_nothing_is_a_success() -> None:
    """A function that returns nothing stores nothing."""
    given(OPENED).when(Touch(id="a-1")).expect_succeeded().expect_no_events().expect_version(1)


def test_peeking_is_nobodys_work() -> None:
    """A void command is acknowledged, and no aggregate processes it."""
    given(OPENED).when(Peek(id="a-1")).expect_succeeded().expect_attempts(0).expect_no_events()


def test_withdrawing() -> None:
    """What is there can be taken; more is refused."""
    (
        given(OPENED)
        .when(Withdraw(id="a-1", amount=100))
        .expect_events(Withdrawn(amount=100))
        .expect_state(balance=0)
        .when(Withdraw(id="a-1", amount=1))
        .expect_error(IllegalStateError, match="0 is too little")
        .expect_no_events()
    )


def test_a_typed_spec_knows_its_state() -> None:
    """An editor completes the fields of a spec that names its aggregate; a state can be given instead of events."""
    (
        spec(Account)
        .given_state(AccountState(id="a-1", holder="Ann", balance=7), version=12)
        .when(Withdraw(id="a-1", amount=7))
        .expect_state(lambda account: account.balance == 0)
        .expect_version(13)
    )


# --- refused before it is sent ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("amount", [0, -1])
def test_amounts_are_positive(amount: int) -> None:
    """The fields say so, so the account never sees such a command."""
    given(OPENED).when(Deposit, id="a-1", amount=amount).expect_error(code="CommandValidation", match="amount")


def test_a_command_may_check_itself() -> None:
    """The command is not sent: the gateway's own check is the first that fails."""
    (
        given(OPENED)
        .when(SetLimit(id="a-1", daily=100, monthly=10))
        .expect_error(ValueError, match="above the monthly")
        .expect_attempts(0)
    )
    (
        given(OPENED)
        .when(SetLimit(id="a-1", daily=10, monthly=100))
        .expect_events(LimitSet(daily=10, monthly=100))
        .expect_state(daily_limit=10)
    )


# --- versions and waiting ---------------------------------------------------------------------------------------------


def test_a_command_may_say_which_version_it_was_decided_upon() -> None:
    """Optimistic locking by the sender."""
    history = given(OPENED, Deposited(amount=1))
    history.when(Rename(id="a-1", version=2, holder="Bob")).expect_events(Renamed(holder="Bob"))
    history.when(Rename(id="a-1", holder="Bob")).expect_events(Renamed(holder="Bob")).expect_state(holder="Bob")
    history.when(Rename(id="a-1", version=1, holder="Bob")).expect_error(CommandExpectVersionConflictError)


def test_a_sender_waits_for_what_it_needs() -> None:
    """Each stage is a fact of its own."""
    history = given(OPENED, advance(hours=1))
    history.when(Deposit(id="a-1", amount=1), wait_for=sent()).expect_stage(SENT)
    history.when(Deposit(id="a-1", amount=1)).expect_stage(PROCESSED)
    history.when(Deposit(id="a-1", amount=1), wait_for=snapshot()).expect_stage(SNAPSHOT)


def test_accounts_do_not_know_each_other() -> None:
    """What happens to one leaves the other as it was."""
    (
        given(on(Account, "a-1", OPENED), on(Account, "a-2", AccountOpened(holder="Bob")))
        .when(Withdraw(id="a-1", amount=100))
        .expect_state(balance=0)
        .expect_stored(on(Account, "a-2"), AccountOpened(holder="Bob"))
        .expect_state(on(Account, "a-2"), balance=0, holder="Bob")
    )


# --- errors -----------------------------------------------------------------------------------------------------------


def test_an_error_event_is_stored_and_is_a_failure() -> None:
    """It bumps the version, and the sender is told its code."""
    (
        given(OPENED)
        .when(FlagOverdraft(id="a-1"))
        .expect_error(code="Overdraft", match="overdrawn")
        .expect_stored(OverdraftFlagged)
        .expect_published(OverdraftFlagged)
        .expect_stage(PROCESSED, succeeded=False, error_code="Overdraft")
        .expect_state(flagged=True)
    )


@pytest.mark.parametrize(
    ("kind", "error", "code", "attempts"),
    [
        ("argument", ValueError, "IllegalArgument", 1),
        ("state", IllegalStateError, "IllegalState", 1),
        ("timeout", TimeoutError, "RequestTimeout", 4),
        ("missing", FileNotFoundError, "NotFound", 1),
        ("own", DomainError, "AccountBroken", 1),
        ("other", RuntimeError, "BadRequest", 1),
    ],
)
def test_what_the_sender_is_told_of_an_error(kind: str, error: type[Exception], code: str, attempts: int) -> None:
    """Each error has a code, and a recoverable one is tried again, three times."""
    (
        given(OPENED)
        .when(Fail(id="a-1", kind=kind))
        .expect_error(error, code=code)
        .expect_attempts(attempts)
        .expect_no_events()
        .expect_acknowledged(times=1)
    )


@pytest.mark.parametrize(
    ("then", "code"),
    [
        ("look", "IllegalState"),
        ("clear", "IllegalState"),
        ("replace", "AskAgain"),
        ("raise", "AskNobody"),
    ],
)
def test_an_error_function_replaces_an_error_but_never_undoes_it(then: str, code: str) -> None:
    """The sender hears of the new error."""
    given(OPENED).when(Authorize(id="a-1", then=then)).expect_error(code=code).expect_no_events()
