"""What a copy does."""

from __future__ import annotations

from typing import Any

import pytest

from wowspec import (
    PROCESSED,
    DomainError,
    DuplicateAggregateIdError,
    IllegalAccessOwnerAggregateError,
    IllegalStateError,
    NotFoundError,
    Spec,
    advance,
    at,
    given,
    on,
    sent_as,
    some,
    spec,
    stream,
)

from .domain import (
    LOAN,
    Copy,
    CopyLent,
    CopyLost,
    CopyReserved,
    CopyReturned,
    CopyState,
    FineIncurred,
    LendCopy,
    LoanRenewed,
    MarkLost,
    RegisterCopy,
    RenewLoan,
    ReserveCopy,
    ReturnCopy,
)
from .worlds import DUE, EMMA, LENT, START, FixedFees, library


def test_register() -> None:
    """The copy is there, under its title."""
    given().when(RegisterCopy(id="c-1", isbn=EMMA.isbn, title="Emma")).expect_events(EMMA).expect_state(title="Emma")


def test_register_twice() -> None:
    """The store finds the id taken."""
    (
        given(EMMA)
        .when(RegisterCopy(id="c-1", isbn=EMMA.isbn, title="Emma"))
        .expect_error(DuplicateAggregateIdError)
        .expect_emitted(EMMA)
        .expect_no_events()
    )


@pytest.mark.parametrize(("isbn", "title"), [("1", "Emma"), ("9780141439587", "")])
def test_senseless_registrations(isbn: str, title: str) -> None:
    """Field validation refuses them."""
    given().when(RegisterCopy, id="c-1", isbn=isbn, title=title).expect_error(code="CommandValidation")


def test_lend() -> None:
    """For four weeks."""
    given(at(START), EMMA).when(LendCopy(id="c-1", member_id="m-1")).expect_events(LENT).expect_state(
        borrower="m-1", due=DUE
    )


def test_lend_unknown() -> None:
    """There is no such copy."""
    given().when(LendCopy(id="c-1", member_id="m-1")).expect_error(NotFoundError)


def test_lend_what_is_lent() -> None:
    """The error says to whom."""
    (
        given(EMMA, LENT)
        .when(LendCopy(id="c-1", member_id="m-2"))
        .expect_error(IllegalStateError, match="lent to m-1")
        .expect_no_events()
    )


def test_lend_what_is_kept_for_another() -> None:
    """Whoever reserved it may have it."""
    (
        given(EMMA, CopyReserved(member_id="m-9"))
        .fork("another", lambda s: s.when(LendCopy(id="c-1", member_id="m-2")).expect_error(code="CopyReserved"))
        .when(LendCopy(id="c-1", member_id="m-9"))
        .expect_event(CopyLent, member_id="m-9")
        .expect_state(queue=[])
    )


def test_return_in_time() -> None:
    """Nothing is to be paid."""
    (
        library(at(START), EMMA, LENT, advance(days=28))
        .when(ReturnCopy(id="c-1"))
        .expect_events(CopyReturned(member_id="m-1"))
        .expect_result(fine=0)
    )


@pytest.mark.parametrize(("late", "cents"), [(1, 10), (5, 50), (365, 3650)])
def test_return_late(late: int, cents: int) -> None:
    """The fine grows by the day."""
    (
        library(at(START), EMMA, LENT, advance(days=28 + late))
        .when(ReturnCopy(id="c-1"))
        .expect_events(CopyReturned(member_id="m-1"), FineIncurred(member_id="m-1", cents=cents))
        .expect_version(3)
        .expect_result(fine=cents)
        .expect_state(borrower=None, due=None)
    )


def test_fee_service_is_asked_once() -> None:
    """With the number of days."""
    fees = FixedFees()
    (
        given(at(START), EMMA, LENT, advance(days=30))
        .inject(fees=fees)
        .when(ReturnCopy(id="c-1"))
        .expect_event(FineIncurred, cents=20)
    )
    assert fees.asked == [2]


def test_return_what_is_not_lent() -> None:
    """That is refused."""
    library(EMMA).when(ReturnCopy(id="c-1")).expect_error(IllegalStateError, match="not lent").expect_no_events()


def test_time_between_commands() -> None:
    """Virtual time passes inside the spec."""
    (
        library(at(START), EMMA)
        .when(LendCopy(id="c-1", member_id="m-1"))
        .expect_events(LENT)
        .advance(days=31)
        .when(ReturnCopy(id="c-1"))
        .expect_event_types(CopyReturned, FineIncurred)
        .expect_event(FineIncurred, cents=30)
    )


def test_reserve() -> None:
    """What is lent can be reserved."""
    given(EMMA, LENT).when(ReserveCopy(id="c-1", member_id="m-2")).expect_events(CopyReserved(member_id="m-2"))


@pytest.mark.parametrize("member", ["m-1", "m-2"])
def test_reserve_twice(member: str) -> None:
    """Neither by its borrower nor by the same member again."""
    (
        given(EMMA, LENT, CopyReserved(member_id="m-2"))
        .when(ReserveCopy(id="c-1", member_id=member))
        .expect_error(IllegalStateError, match=member)
    )


def test_queue_is_limited() -> None:
    """Three wait at most."""
    history = [CopyReserved(member_id=f"m-{n}") for n in range(2, 5)]
    given(EMMA, LENT, *history).when(ReserveCopy(id="c-1", member_id="m-8")).expect_error(DomainError, code="QueueFull")


def test_renew_up_to_the_limit() -> None:
    """Twice, and no more."""
    renew = RenewLoan(id="c-1", member_id="m-1")
    (
        given(at(START), EMMA, LENT)
        .when(renew)
        .expect_events(LoanRenewed(due=DUE + LOAN))
        .when(renew)
        .expect_state(renewals=2, due=DUE + 2 * LOAN)
        .when(renew)
        .expect_error(code="TooManyRenewals", match="2 times")
        .expect_no_events()
    )


def test_renew_refusals() -> None:
    """Each reason on a branch of its own."""
    renew = RenewLoan(id="c-1", member_id="m-1")

    def overdue(s: Spec[Any]) -> Spec[Any]:
        return s.given(advance(days=29)).when(renew).expect_error(code="Overdue", match="2026-03-30")

    def reserved(s: Spec[Any]) -> Spec[Any]:
        return s.given(CopyReserved(member_id="m-2")).when(renew).expect_error(code="CopyReserved")

    def other(s: Spec[Any]) -> Spec[Any]:
        return s.when(RenewLoan(id="c-1", member_id="m-2")).expect_error(IllegalStateError)

    given(at(START), EMMA, LENT).fork("overdue", overdue).fork("reserved", reserved).fork("other", other)


def test_lost_by_its_borrower() -> None:
    """Who pays for it."""
    (
        library(EMMA, LENT)
        .when(MarkLost(id="c-1"))
        .expect_events(CopyLost(member_id="m-1"), FineIncurred(member_id="m-1", cents=40))
        .expect_state(lost=True)
        .when(LendCopy(id="c-1", member_id="m-2"))
        .expect_error(code="CopyLost")
    )


def test_lost_on_the_shelf() -> None:
    """Nobody pays for it."""
    library(EMMA).when(MarkLost(id="c-1")).expect_events(CopyLost())


def test_owner() -> None:
    """Only the branch that owns the copy lends it."""
    (
        given(on(Copy, "c-1", EMMA, owner_id="branch-1"))
        .fork(
            "another branch",
            lambda s: s.when(LendCopy(id="c-1", member_id="m-1"), owner_id="branch-2").expect_error(
                IllegalAccessOwnerAggregateError
            ),
        )
        .when(LendCopy(id="c-1", member_id="m-1"), owner_id="branch-1")
        .expect_event(CopyLent)
        .expect_state_aggregate(owner_id="branch-1")
    )


def test_history_by_commands() -> None:
    """Commands as history, one of them with an envelope."""
    (
        library(
            at(START),
            sent_as(RegisterCopy(id="c-1", isbn=EMMA.isbn, title="Emma"), owner_id="branch-1"),
            LendCopy(id="c-1", member_id="m-1"),
            advance(days=40),
        )
        .when(ReturnCopy(id="c-1"))
        .expect_event(FineIncurred, cents=120)
        .expect_version(3)
    )


def test_stream_is_one_version() -> None:
    """Two events in one stream."""
    (
        given(EMMA, stream(LENT, CopyReserved(member_id="m-2")))
        .when(LendCopy(id="c-1", member_id="m-2"))
        .expect_error(code="IllegalState")
        .expect_version(2)
    )


def test_expected_version() -> None:
    """The sender saw an older version."""
    (
        given(EMMA, LENT)
        .when(ReserveCopy(id="c-1", member_id="m-2"), expected_version=1)
        .expect_error(code="CommandExpectVersionConflict")
    )


def test_from_a_state() -> None:
    """A state in place of a history."""
    (
        spec(Copy)
        .given_state(CopyState(id="c-1", title="Emma", queue=["m-1"]), version=7)
        .when(LendCopy(id="c-1", member_id="m-1"))
        .expect_state(lambda copy: copy.queue == [])
        .expect_version(8)
    )


def test_two_copies() -> None:
    """One is lent, the other stays as it was."""
    (
        given(on(Copy, "c-1", EMMA), on(Copy, "c-2", EMMA, LENT))
        .when(LendCopy(id="c-1", member_id="m-5"))
        .expect_state(borrower="m-5")
        .expect_state(on(Copy, "c-2"), borrower="m-1")
    )


def test_request_id() -> None:
    """The same request twice."""
    (
        given(EMMA)
        .when(ReserveCopy(id="c-1", member_id="m-1"), request_id="r")
        .expect_events(CopyReserved(member_id="m-1"))
        .when(ReserveCopy(id="c-1", member_id="m-3"), request_id="r")
        .expect_error(code="DuplicateRequestId")
    )


def test_any_of_the_looser_verbs() -> None:
    """Each of them, visibly."""
    (
        library(EMMA, LENT)
        .when(MarkLost(id="c-1"))
        .expect_event_count(2)
        .expect_events(CopyLost(member_id="m-1"), some(FineIncurred, member_id="m-1"))
        .expect_events(that=lambda events: len(events) == 2)
        .expect_stage(PROCESSED, succeeded=True)
    )


def test_snapshot() -> None:
    """Saved after each command."""
    given(EMMA).when(ReserveCopy(id="c-1", member_id="m-1")).expect_snapshot(version=2, queue=["m-1"])
