"""Looking at what followed: rows and sagas' commands of a run, and of a gateway's world."""

from __future__ import annotations

import pytest

from examples.transfer.domain import (
    Account,
    AccountCreated,
    BalanceView,
    Confirm,
    CreateAccount,
    Entry,
    Prepare,
    TransferSaga,
    transfer,
)
from wowspec import SpecError, given, on, projected

ANN = on(Account, "ann", AccountCreated(name="Ann", balance=100))
BOB = on(Account, "bob", AccountCreated(name="Bob", balance=0))
SENT = [Entry(id="bob", source_id="ann", amount=30), Confirm(id="ann", amount=30)]


def test_a_run_has_rows_and_commands():
    """Rows by id, as copies; the commands of sagas, not the spec's own."""
    run = given(ANN, BOB, deliver=True).using(transfer).when(Prepare(id="ann", to="bob", amount=30)).run()
    assert run.commands == SENT
    rows = run.views(BalanceView)
    assert {key: row.available for key, row in rows.items()} == {"ann": 70, "bob": 30}
    rows.clear()
    assert len(run.views(BalanceView)) == 2


def test_a_gateways_world_has_rows_and_commands(gateway):
    """The same over the gateway, once a stage says that they are there."""
    gateway.world.using(transfer)
    for account, balance in (("ann", 100), ("bob", 0)):
        gateway.send_and_wait(
            CreateAccount(id=account, name=account, balance=balance),
            wait_for=projected("transfer", processor="BalanceView"),
        )
    assert gateway.world.views(BalanceView)["ann"].available == 100
    gateway.send_and_wait(Prepare(id="ann", to="bob", amount=30))
    gateway.world.run()
    assert gateway.world.commands == SENT
    assert gateway.world.views(BalanceView)["bob"].available == 30


def test_rows_of_nobody(gateway):
    """A projection that the world does not hold keeps none, and a mistake is told."""
    gateway.world.using(TransferSaga, Account)
    with pytest.raises(SpecError, match=r"using\(BalanceView\)"):
        gateway.world.views(BalanceView)
