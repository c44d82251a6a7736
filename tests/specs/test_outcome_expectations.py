"""Expectations of the outcome that accept more than one."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from tests.golden.domain import AccountOpened, Audited, Deposit, Deposited
from wowspec import SpecFailure, aggregate_root, faults, given, on_command, on_sourcing

OPENED = AccountOpened(holder="h", balance=1)


class Trip(BaseModel):
    id: str


class Opened(BaseModel):
    pass


class TrapState(BaseModel):
    id: str

    @on_sourcing
    def opened(self, event: Opened) -> None:
        """Nothing to keep."""


@aggregate_root(context="traps")
class Trap:
    def __init__(self, state: TrapState) -> None:
        self.state = state

    @on_command
    def trip(self, command: Trip) -> Opened:
        raise KeyError(command.id)


@pytest.mark.parametrize(
    "fault",
    [
        faults.state_event_bus.send.fails(),
        faults.event_store.append.fails(),
        faults.command_bus.send.times_out(),
        faults.domain_event_bus.send.hangs(),
    ],
    ids=str,
)
def test_any_outcome_is_decided(fault):
    """Success, failure and an unknown outcome pass, and the error counts as expected when the test ends."""
    spec = given(OPENED).with_faults(fault).when(Deposit(id="a-1", amount=2)).expect_any_outcome()

    assert spec.run().decided


def test_any_outcome_is_no_excuse_for_a_bug():
    """A handler's bug must be named by its type."""
    spec = given(Opened()).when(Trip(id="t-1"))

    with pytest.raises(SpecFailure, match="bug of the handler") as caught:
        spec.expect_any_outcome()
    assert ".expect_error(KeyError)" in str(caught.value)
    spec.expect_error(KeyError)


def test_all_events_hold_a_rivals():
    """What a rival stored while the command ran is among all events, in the order of the store."""
    rival = Deposited(amount=5)
    spec = given(OPENED).with_faults(faults.event_store.append.rival_appends(rival)).when(Deposit(id="a-1", amount=2))
    own = spec.run().stored

    assert own.types == (Deposited, Audited)
    spec.expect_all_events(rival, *own)


def test_match_looks_at_refused_fields():
    """The text of a refused command names no field, so its fields are searched too, and shown where it fails."""
    spec = given(OPENED).when(Deposit, id="a-1", amount=0)

    with pytest.raises(SpecFailure, match=r"\n +amount: Input should be greater than 0"):
        spec.expect_succeeded()
    with pytest.raises(SpecFailure, match="expected its text to match 'holder'"):
        spec.expect_error(code="CommandValidation", match="holder")
    spec.expect_error(code="CommandValidation", match="^amount: .*greater than 0")
