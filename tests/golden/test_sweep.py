"""The domain of the golden cases under every single fault: what is found is declared, and told on a page."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from tests.golden.domain import Broadcast, Deposit, OpenAccount, Withdraw, golden
from wowspec import SpecFailure, explore_faults
from wowspec.exploration import collected

PAGE = Path(__file__).parent.parent.parent / "docs" / "what-the-sweep-finds.md"
PROFILES = ["in_memory", "kafka"]


def transfer(spec):
    """Money goes from one account to another, and then once more is paid in."""
    accounts = spec.using(golden).given(OpenAccount(id="a", holder="Ann", balance=9), OpenAccount(id="b", holder="Bob"))
    accounts.when(Withdraw(id="a", amount=3, to="b")).when(Deposit(id="a", amount=1)).expect_version(3)


def broadcast(spec):
    """A saga that sends two commands for one event."""
    spec.using(golden).given(OpenAccount(id="a", holder="Ann")).when(Broadcast(id="a", targets=["b", "c"])).run()


def found(test, **options):
    """The laws that a test breaks and that the runtime is not known for, by plan."""
    collected.take()
    with contextlib.suppress(SpecFailure):
        explore_faults(**options)(test)()
    return {
        finding["plan"]: [item["law"] for item in finding["broken"] if not item["known"]]
        for result in collected.take()
        for finding in result["findings"]
        if not all(item["known"] for item in finding["broken"]) and not finding["healed_by"]
    }


@pytest.mark.parametrize("profile", PROFILES)
def test_a_transfer_to_an_account_that_is_not_there_loses_the_money(profile):
    """Where opening the target failed, the saga's deposit is refused and nobody hears of it; else nothing is found."""
    plans = found(transfer, profile=profile)
    assert plans
    for plan, laws in plans.items():
        assert plan.startswith("OpenAccount#2/"), plan
        assert laws == ["no_swallowed_error"], plan


def test_a_broadcast_is_the_defect_of_sagas_that_send_two_commands():
    """Each finding is of this one sort: the second command is never sent; the page explains it."""
    plans = found(broadcast)
    assert plans
    for plan, laws in plans.items():
        assert plan.startswith("Broadcast>Broadcasted>TransferSaga>Note"), plan
        assert "saga_completeness" in laws
    assert "tests/golden/domain.py" in PAGE.read_text(encoding="utf-8")
