"""Fines that are collected, and the board of loans."""

from __future__ import annotations

from wowspec import advance, at, faults, given, on

from .domain import (
    ChargeFine,
    Copy,
    CopyReturned,
    FineCollection,
    FineIncurred,
    LendCopy,
    LoanBoard,
    Member,
    ReturnCopy,
)
from .worlds import ANN, EMMA, LENT, START, library


def test_collection_alone() -> None:
    """The saga's command."""
    given(FineCollection).when_event(FineIncurred(member_id="m-1", cents=7)).expect_commands(
        ChargeFine(id="m-1", cents=7)
    )


def test_board_alone() -> None:
    """The projection's rows."""
    (
        given(LoanBoard, on(Copy, "c-1", EMMA, LENT, CopyReturned(member_id="m-1"), LENT))
        .expect_view("c-1", member_id="m-1", times=2)
        .expect_no_view("c-2")
    )


def test_a_late_return_in_one_world() -> None:
    """From the return to the member's debt."""
    (
        library()
        .using(FineCollection, LoanBoard)
        .given(at(START), on(Member, "m-1", ANN), on(Copy, "c-1", EMMA, LENT), advance(days=30), deliver=True)
        .when(ReturnCopy(id="c-1"))
        .expect_causation("ReturnCopy > FineIncurred > FineCollection > ChargeFine > FineCharged")
        .expect_view("c-1", member_id=None, times=1)
        .expect_state(on(Member, "m-1"), owes=20)
    )


def test_a_fine_for_nobody() -> None:
    """The member is not part of this world."""
    (
        library(at(START), on(Copy, "c-1", EMMA, LENT), advance(days=30))
        .using(FineCollection)
        .when(ReturnCopy(id="c-1"))
        .expect_succeeded()
        .expect_commands(ChargeFine(id="m-1", cents=20))
    )


def test_the_fine_is_not_collected_when_publication_fails() -> None:
    """Stored, but nobody hears of it."""
    (
        library(at(START), on(Member, "m-1", ANN), on(Copy, "c-1", EMMA, LENT), advance(days=30))
        .using(FineCollection)
        .with_faults(faults.domain_event_bus.send.fails())
        .when(ReturnCopy(id="c-1"))
        .expect_error(code="BadRequest")
        .expect_stored(CopyReturned, FineIncurred)
        .expect_no_commands()
        .expect_state(on(Member, "m-1"), owes=0)
    )


def test_board_of_returns_is_idempotent() -> None:
    """A return may be seen twice."""
    (library(at(START), EMMA, LENT, advance(days=1)).using(LoanBoard).when(ReturnCopy(id="c-1")).expect_idempotent())


def test_a_board_that_fails() -> None:
    """The lender is not told."""
    (
        given(EMMA)
        .using(LoanBoard)
        .with_faults(faults.event.deliver(LoanBoard, "on_lent").fails())
        .when(LendCopy(id="c-1", member_id="m-1"))
        .expect_succeeded()
        .expect_downstream_error(LoanBoard)
        .expect_no_view("c-1")
    )
