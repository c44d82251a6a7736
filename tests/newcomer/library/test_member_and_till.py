"""What a member and a till do."""

from __future__ import annotations

from typing import Any

import hypothesis
from hypothesis import strategies as st

from wowspec import IllegalStateError, at, given, on, spec

from .domain import (
    CancelMembership,
    CashTaken,
    ChargeFine,
    CloseTill,
    FineCharged,
    FinePaid,
    Join,
    Member,
    MembershipCancelled,
    OpenTill,
    PayFine,
    TakeCash,
    Till,
    TillClosed,
    TillOpened,
)
from .worlds import ANN, START


def test_join() -> None:
    """A member of their own."""
    given().when(Join("m-1", "Ann"), owner_id="u-1").expect_events(ANN).expect_state(name="Ann", owes=0)


def test_charge_and_pay() -> None:
    """No more is paid than is owed."""
    (
        given(ANN)
        .when(ChargeFine("m-1", 50))
        .expect_events(FineCharged(50))
        .when(PayFine("m-1", 30))
        .expect_events(FinePaid(30))
        .expect_state(owes=20, payments=[30])
        .when(PayFine("m-1", 30))
        .expect_events(FinePaid(20))
    )


def test_pay_nothing_owed() -> None:
    """Nothing happens."""
    given(ANN).when(PayFine("m-1", 1)).expect_succeeded().expect_no_events()


def test_pay_nonsense() -> None:
    """The command checks itself."""
    given(ANN).when(PayFine("m-1", 0)).expect_error(ValueError, match="more than nothing").expect_attempts(0)


def test_cancel() -> None:
    """The day is noted."""
    given(ANN, at(START)).when(CancelMembership("m-1")).expect_events(MembershipCancelled(START))


def test_cancel_with_debts() -> None:
    """First the fines."""
    given(ANN, FineCharged(5)).when(CancelMembership("m-1")).expect_error(IllegalStateError, match="Ann owes 5")


def test_cancel_twice() -> None:
    """The error says when it was."""
    (
        given(at(START), ANN)
        .when(CancelMembership("m-1"))
        .when(CancelMembership("m-1"))
        .expect_error(IllegalStateError, match="2026-03-02")
    )


def test_cancel_by_another() -> None:
    """Only the owner."""
    (
        given(on(Member, "m-1", ANN, owner_id="u-1"))
        .when(CancelMembership("m-1"), owner_id="u-2")
        .expect_error(code="IllegalAccessOwnerAggregate")
        .expect_state(cancelled_on=None)
    )


def test_till() -> None:
    """A day at the till, which is made of plain functions."""
    (
        given()
        .when(OpenTill("t-1", 100))
        .expect_events(TillOpened(100))
        .when(TakeCash("t-1", 20))
        .expect_events(CashTaken(20))
        .when(CloseTill("t-1", 119))
        .expect_events(TillClosed(-1))
        .expect_state(lambda till: not till.is_open)
        .when(TakeCash("t-1", 1))
        .expect_error(IllegalStateError, match="closed")
    )


def test_till_state() -> None:
    """The state of a decider."""
    spec(Till).given(TillOpened(5)).when(TakeCash("t-1", 2)).expect_state(is_open=True, cents=7)


@hypothesis.given(st.lists(st.integers(1, 1000), max_size=6))
def test_any_takings(wowspec: Any, takings: list[int]) -> None:
    """Any list of amounts adds up."""
    (
        wowspec(Till)
        .given(TillOpened(0), *[CashTaken(cents) for cents in takings])
        .when(CloseTill("t-1", sum(takings)))
        .expect_events(TillClosed(0))
    )


@hypothesis.given(owes=st.integers(1, 10_000), paid=st.integers(1, 10_000))
def test_nobody_pays_too_much(wowspec: Any, owes: int, paid: int) -> None:
    """Whatever is offered."""
    (
        wowspec(Member)
        .given(ANN, FineCharged(owes))
        .when(PayFine("m-1", paid))
        .expect_state(lambda member: member.owes == max(0, owes - paid))
    )
