"""The same account with `protean`, in memory; importing this module fails where it isn't installed.

No postponed annotations here: protean reads them as objects.
"""

import logging
from collections.abc import Callable
from uuid import uuid4

from protean import Domain, handle
from protean.core.aggregate import apply
from protean.fields import Identifier, Integer, String
from protean.testing import given
from protean.utils.globals import current_domain

from .measure import timed

domain = Domain(name="Bank")
domain.config["command_processing"] = "sync"
domain.config["event_processing"] = "sync"


@domain.event(part_of="Account")
class AccountOpened:
    """An account was opened."""

    account_id: Identifier(required=True)
    holder: String(required=True)
    balance: Integer(required=True)


@domain.event(part_of="Account")
class Deposited:
    """An amount was paid in."""

    account_id: Identifier(required=True)
    amount: Integer(required=True)


@domain.command(part_of="Account")
class Deposit:
    """Pay in."""

    account_id: Identifier(identifier=True)
    amount: Integer(required=True, min_value=1)


@domain.aggregate(event_sourced=True)
class Account:
    """Who holds how much."""

    account_id: Identifier(identifier=True)
    holder: String(required=True)
    balance: Integer(default=0)
    deposits: Integer(default=0)

    def deposit(self, amount):
        """Pay in."""
        self.raise_(Deposited(account_id=self.account_id, amount=amount))

    @apply
    def opened(self, event: AccountOpened):
        """Apply the opening."""
        self.account_id = event.account_id
        self.holder = event.holder
        self.balance = event.balance
        self.deposits = 0

    @apply
    def paid_in(self, event: Deposited):
        """Apply a deposit."""
        self.balance += event.amount
        self.deposits += 1


@domain.command_handler(part_of=Account)
class AccountCommands:
    """Decides on accounts."""

    @handle(Deposit)
    def deposit(self, command: Deposit):
        """Pay in."""
        repository = current_domain.repository_for(Account)
        account = repository.get(command.account_id)
        account.deposit(command.amount)
        repository.add(account)


def spec(times: int) -> Callable[[], float]:
    """Seconds of `given(Account, opened).process(Deposit)`, the store emptied for each."""
    logging.disable(logging.WARNING)
    domain.init(traverse=False)

    def once() -> None:
        domain.event_store.store._data_reset()
        key = str(uuid4())
        outcome = given(Account, AccountOpened(account_id=key, holder="ann", balance=5))
        outcome = outcome.process(Deposit(account_id=key, amount=3))
        if not outcome.accepted or [type(event) for event in outcome.events] != [Deposited]:
            raise RuntimeError(f"protean did not deposit: {outcome.rejection!r}")

    def measure() -> float:
        with domain.domain_context():
            return timed(once, times)

    return measure
