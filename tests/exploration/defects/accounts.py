"""An account, whose balance is one's own history, or a number in a service that is read and written back."""

from __future__ import annotations

from pydantic import BaseModel

from wowspec import aggregate_root, allow_create, on_command, on_sourcing


class Balances:
    """A table beside the event store, without versions."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}

    async def read(self, account_id: str) -> int:
        return self._rows.get(account_id, 0)

    def balance(self, account_id: str) -> int:
        return self._rows.get(account_id, 0)

    async def write(self, account_id: str, balance: int) -> None:
        self._rows[account_id] = balance


@allow_create
class Deposit(BaseModel):
    id: str
    amount: int


class Deposited(BaseModel):
    balance: int


class TableAccountState(BaseModel):
    id: str


@aggregate_root(context="accounts")
class TableAccount:
    """The defect: between reading the balance and writing it back, somebody else may have written."""

    def __init__(self, state: TableAccountState) -> None:
        self.state = state

    @on_command
    async def deposit(self, command: Deposit, balances: Balances) -> Deposited:
        balance = await balances.read(command.id) + command.amount
        await balances.write(command.id, balance)
        return Deposited(balance=balance)


@allow_create
class Credit(BaseModel):
    id: str
    amount: int


class Credited(BaseModel):
    amount: int


class AccountState(BaseModel):
    id: str
    balance: int = 0

    @on_sourcing
    def credited(self, event: Credited) -> None:
        self.balance += event.amount


@aggregate_root(context="accounts")
class Account:
    """Corrected: the store refuses a second event of the same version, and the command is decided anew."""

    def __init__(self, state: AccountState) -> None:
        self.state = state

    @on_command
    def credit(self, command: Credit) -> Credited:
        return Credited(amount=command.amount)
