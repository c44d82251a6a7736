"""A lost update between two processes: no fault is needed, only another order."""

from __future__ import annotations

from typing import Any

import pytest

from tests.exploration.defects.accounts import Account, Balances, Credit, Deposit, TableAccount
from tests.exploration.defects.sweeping import assert_nothing_found, sweep
from wowspec import Spec, SpecFailure, explore_faults


def deposit(spec: Spec[Any]) -> None:
    """Two processes pay in at once; the balance is read from a table and written back."""
    (
        spec.using(TableAccount)
        .inject(balances=Balances())
        .given(Deposit(id="a-1", amount=1))
        .when_concurrently(Deposit(id="a-1", amount=3), Deposit(id="a-1", amount=4), processes=2)
        .eventually(lambda world: world.service("balances").balance("a-1") == 8)
    )


def credit(spec: Spec[Any]) -> None:
    """The same, over a history that the store keeps in order."""
    (
        spec.using(Account)
        .given(Credit(id="a-1", amount=1))
        .when_concurrently(Credit(id="a-1", amount=3), Credit(id="a-1", amount=4), processes=2)
        .eventually(lambda world: world.state(Account, "a-1").balance == 8)
    )


def test_an_update_is_lost_in_some_order():
    """The order in which both read before either writes is found, and told as a schedule that runs it again."""
    with pytest.raises(SpecFailure) as failure:
        explore_faults(deposit)()

    text = str(failure.value)
    assert "what should hold in the end did not" in text
    assert "schedule=" in text


def test_the_order_runs_again():
    """The schedule of the failure alone fails again; first in, first out passes."""
    with pytest.raises(SpecFailure) as failure:
        explore_faults(deposit)()
    schedule = str(failure.value).partition('schedule="')[2].partition('"')[0]

    def again(spec: Spec[Any], schedule: str) -> None:
        (
            spec.using(TableAccount)
            .inject(balances=Balances())
            .given(Deposit(id="a-1", amount=1))
            .when_concurrently(Deposit(id="a-1", amount=3), Deposit(id="a-1", amount=4), processes=2, schedule=schedule)
            .eventually(lambda world: world.service("balances").balance("a-1") == 8)
        )

    with pytest.raises(SpecFailure):
        explore_faults(again)(schedule=schedule)
    explore_faults(depth=0)(again)(schedule="0")


def test_no_order_loses_what_the_store_keeps_apart():
    """The twin: whoever comes second is refused, decides anew, and nothing is lost; under faults neither."""
    assert_nothing_found(sweep(credit))
