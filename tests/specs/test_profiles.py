"""Profiles: when snapshots are saved, and whether failed functions are recorded; copies of a world have them too."""

from __future__ import annotations

import pytest

from examples.transfer.domain import Account, AccountCreated, BalanceView, CreateAccount, LockAmount
from wowspec import ExecutionFailed, PrepareCompensation, SpecError, faults, given, on, profile
from wowspec.runtime.downstream.execution_failed import CreateExecutionFailed, Status

OPENED = on(Account, "ann", AccountCreated(name="Ann", balance=100))
LOCK = LockAmount(id="ann", amount=1)


@pytest.mark.clause("SNP-016")
def test_a_snapshot_every_third_version():
    """The offset counts from the stored snapshot, in each step's copy of the world and in branches."""
    spec = given().with_profile(profile(snapshot_offset=3)).when(CreateAccount(id="ann", name="Ann", balance=9))
    (
        spec.expect_no_snapshot()
        .when(LOCK)
        .expect_no_snapshot()
        .fork("in a branch", lambda branch: branch.when(LOCK).expect_snapshot(version=3, locked=2))
        .when(LOCK)
        .expect_snapshot(version=3)
        .when(LOCK)
        .expect_snapshot(version=3)
        .expect_version(4)
    )


@pytest.mark.clause("SNP-016")
def test_two_processes_share_the_profile():
    """Commands in flight are saved by the same rule, whichever process takes them."""
    (
        given(OPENED)
        .with_profile(profile(snapshot_offset=9))
        .when_concurrently(LOCK, LOCK, processes=2, max_schedules=20)
        .expect_any_outcome()
        .expect_state(lambda state: state.locked >= 1)
    )


@pytest.mark.clause("EVT-139", "EVT-147")
def test_a_failed_function_is_recorded_and_tried_again():
    """The record is an aggregate like any other; preparing its compensation has the event published once more."""
    recorded = (
        given()
        .with_profile(profile(compensation=True))
        .using(BalanceView)
        .with_faults(faults.event.deliver(BalanceView).fails())
        .when(CreateAccount(id="ann", name="Ann", balance=100))
        .expect_no_view("ann")
    )
    run = recorded.run()
    assert run.commands.types == (CreateExecutionFailed,)
    record = run.commands.envelopes[0].aggregate_id.id
    (
        recorded.expect_state(on(ExecutionFailed, record), status=Status.FAILED)
        .when(PrepareCompensation(id=record))
        .expect_view("ann", available=100)
        .expect_state(on(ExecutionFailed, record), status=Status.PREPARED)
    )


def test_without_compensation_nothing_is_recorded():
    """By default a failure is logged, and that is all."""
    run = (
        given()
        .using(BalanceView)
        .with_faults(faults.event.deliver(BalanceView).fails())
        .when(CreateAccount(id="ann", name="Ann", balance=100))
        .expect_no_view("ann")
        .run()
    )
    assert run.commands == []


def test_a_gateways_world_takes_a_profile(gateway):
    """The same profile shapes the world of a gateway."""
    gateway.world.with_profile(profile(snapshot_offset=2))
    gateway.send_and_wait(CreateAccount(id="ann", name="Ann", balance=9))
    gateway.send_and_wait(LOCK)
    assert [row.detail for row in gateway.world.trace if row.point == "snapshot.save"] == ["v2"]


@pytest.mark.parametrize("offset", [0, -1, True, 2.0, "2"])
def test_an_offset_is_a_positive_whole_number(offset):
    """Anything else is refused at its line."""
    with pytest.raises(SpecError, match="snapshot_offset="):
        profile(snapshot_offset=offset)
