"""The account that every side of the comparison models: opened with a balance, then deposited to."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from wowspec import AggregateId, aggregate_root, create_aggregate, on_command


@create_aggregate
class OpenAccount(BaseModel):
    """Open an account."""

    id: Annotated[str, AggregateId()]
    holder: str
    balance: int = 0


class Deposit(BaseModel):
    """Pay in."""

    id: Annotated[str, AggregateId()]
    amount: Annotated[int, Field(gt=0)]


class AccountOpened(BaseModel):
    """An account was opened."""

    holder: str
    balance: int


class Deposited(BaseModel):
    """An amount was paid in."""

    amount: int


class AccountState(BaseModel):
    """Who holds how much."""

    id: str
    holder: str = ""
    balance: int = 0
    deposits: int = 0

    def on_sourcing(self, event: AccountOpened | Deposited) -> None:
        """Apply either event."""
        if isinstance(event, AccountOpened):
            self.holder = event.holder
            self.balance = event.balance
        else:
            self.balance += event.amount
            self.deposits += 1


@aggregate_root(context="bank")
class Account:
    """Decides on accounts."""

    def __init__(self, state: AccountState) -> None:
        self.state = state

    @on_command
    def open(self, command: OpenAccount) -> AccountOpened:
        """Open it."""
        return AccountOpened(holder=command.holder, balance=command.balance)

    @on_command
    def deposit(self, command: Deposit) -> Deposited:
        """Pay in."""
        return Deposited(amount=command.amount)
