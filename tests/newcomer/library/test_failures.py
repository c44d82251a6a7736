"""What becomes of a copy when the pipeline fails."""

from __future__ import annotations

import pytest

from wowspec import (
    PROCESSED,
    DuplicateRequestIdError,
    Fault,
    InjectedFault,
    advance,
    at,
    faults,
    given,
    on,
    snapshot,
)

from .domain import (
    CashTaken,
    ChargeFine,
    Copy,
    CopyLent,
    CopyReserved,
    CopyReturned,
    FineCharged,
    FineIncurred,
    LendCopy,
    ReserveCopy,
    ReturnCopy,
    TakeCash,
    TillOpened,
)
from .worlds import ANN, DUE, EMMA, LENT, START, SlowFees

LEND = LendCopy(id="c-1", member_id="m-1")


def test_failed_append() -> None:
    """Nothing happened."""
    (
        given(at(START), EMMA)
        .with_faults(faults.event_store.append.fails())
        .when(LEND)
        .expect_error(InjectedFault)
        .expect_emitted(LENT)
        .expect_not_stored()
        .expect_not_published()
        .expect_command_state("EXPIRED")
        .expect_stage(PROCESSED, succeeded=False)
        .expect_state(borrower=None)
    )


def test_lost_reply_of_a_decision_that_cannot_be_made_twice() -> None:
    """The retry finds the copy lent: to the very member, by the very command."""
    (
        given(at(START), EMMA)
        .with_faults(faults.event_store.append.loses_reply())
        .when(LEND)
        .expect_error(code="IllegalState", match="lent to m-1")
        .expect_attempts(2)
        .expect_stored(LENT)
        .expect_not_published()
    )


def test_lost_reply_of_a_fine() -> None:
    """Charged, and told as a failure."""
    (
        given(ANN)
        .with_faults(faults.event_store.append.loses_reply())
        .when(ChargeFine("m-1", 5))
        .expect_error(DuplicateRequestIdError)
        .expect_stored(FineCharged(5))
        .expect_not_published()
    )


def test_rival() -> None:
    """Another desk was faster."""
    (
        given(at(START), EMMA)
        .with_faults(faults.event_store.append.rival_appends(CopyLent(member_id="m-2", due=DUE)))
        .when(LEND)
        .expect_error(code="IllegalState", match="lent to m-2")
        .expect_attempts(2)
        .expect_not_stored()
        .expect_state(borrower="m-2")
    )


def test_retry_moves_the_clock() -> None:
    """The second try decides anew, later."""
    (
        given(at(START), EMMA)
        .with_faults(faults.event_store.append.times_out(times=2))
        .when(LEND)
        .expect_attempts(3)
        .expect_fired(2)
        .expect_state(lambda copy: copy.due > DUE)
    )


def test_hanging_store() -> None:
    """One copy waits for good, another does not."""
    (
        given(on(Copy, "c-1", EMMA), on(Copy, "c-2", EMMA))
        .with_faults(faults.event_store.append.hangs())
        .when(LEND)
        .expect_unknown_outcome()
        .expect_not_stored()
        .when(LendCopy(id="c-2", member_id="m-1"))
        .expect_event(CopyLent)
    )


def test_state_event_is_only_logged() -> None:
    """The command succeeds all the same."""
    (
        given(EMMA)
        .with_faults(faults.state_event_bus.send.fails())
        .when(LEND)
        .expect_succeeded()
        .expect_published(CopyLent)
        .expect_state_event_not_published()
        .expect_logged("state_event_bus.send", InjectedFault)
        .expect_no_snapshot()
    )


def test_waiting_for_a_snapshot_in_vain() -> None:
    """An unknown outcome."""
    (
        given(EMMA)
        .with_faults(faults.state_event_bus.send.fails())
        .when(LEND, wait_for=snapshot().with_timeout(seconds=3))
        .expect_unknown_outcome()
    )


def test_slow_fees_are_asked_again() -> None:
    """A time-out of a service is recoverable."""
    fees = SlowFees(2)
    (
        given(at(START), EMMA, LENT, advance(days=29))
        .inject(fees=fees)
        .when(ReturnCopy(id="c-1"))
        .expect_events(CopyReturned(member_id="m-1"), FineIncurred(member_id="m-1", cents=10))
        .expect_attempts(3)
    )


def test_fees_never_answer() -> None:
    """Given up after four attempts."""
    (
        given(at(START), EMMA, LENT, advance(days=29))
        .inject(fees=SlowFees(9))
        .when(ReturnCopy(id="c-1"))
        .expect_error(TimeoutError, match="fee service")
        .expect_attempts(4)
        .expect_no_events()
    )


def test_till_lost_reply() -> None:
    """The cash is in the till."""
    (
        given(TillOpened(0))
        .with_faults(faults.event_store.append.loses_reply(recoverable=False))
        .when(TakeCash("t-1", 5))
        .expect_error(InjectedFault)
        .expect_stored(CashTaken(5))
        .expect_state(cents=5)
    )


RESERVE = ReserveCopy(id="c-1", member_id="m-2")
RESERVED = CopyReserved(member_id="m-2")


@pytest.mark.parametrize("fault", faults.along(given(EMMA, LENT).when(RESERVE).run().trace, rival=(RESERVED,)), ids=str)
def test_reserved_once_or_not_at_all(fault: Fault) -> None:
    """Under each single fault."""
    run = given(EMMA, LENT).with_faults(fault).when(RESERVE).expect_any_outcome().run()
    assert run.state.queue in ([], ["m-2"])
    assert run.stored.count(CopyReserved) == 1 or not run.succeeded
