"""A shop with planted defects: what breaks under one fault, and what breaks only where two come together."""

from __future__ import annotations

from pydantic import BaseModel

from wowspec import aggregate_root, allow_create, on_command, on_sourcing


class Bank:
    """Takes money, by a key; asked twice with one key, it takes it once."""

    def __init__(self) -> None:
        self.taken: dict[str, int] = {}

    def charge(self, key: str, amount: int) -> None:
        """Take it."""
        self.taken[key] = amount


class Backup(Bank):
    """Another one."""


@allow_create
class Pay(BaseModel):
    """Pays an order."""

    id: str
    amount: int = 1


@allow_create
class Ship(BaseModel):
    """Ships it, paid or not."""

    id: str


class Paid(BaseModel):
    """It is paid."""

    amount: int
    by: str


class Shipped(BaseModel):
    """It is shipped."""


class OrderState(BaseModel):
    """What is known of an order."""

    id: str
    paid: int = 0

    @on_sourcing
    def was_paid(self, event: Paid) -> None:
        """Count it."""
        self.paid += event.amount


def _charge(bank: Bank, command: Pay | PayOnce) -> bool:
    try:
        bank.charge(command.id, command.amount)
    except Exception:
        return False
    return True


@aggregate_root(context="shop")
class Careless:
    """Says that an order is paid although neither bank took the money: needs two faults."""

    def __init__(self, state: OrderState) -> None:
        self.state = state

    @on_command
    def pay(self, command: Pay, bank: Bank, backup: Backup) -> Paid:
        """Defect: the answer of the second bank is not looked at."""
        by = "bank"
        if not _charge(bank, command):
            by = "backup"
            _charge(backup, command)
        return Paid(amount=command.amount, by=by)

    @on_command
    def ship(self, command: Ship) -> Shipped:
        """Ship it."""
        return Shipped()


@allow_create
class PayOnce(BaseModel):
    """Pays an order that nobody has paid yet."""

    id: str
    amount: int = 1


class PaidOnce(BaseModel):
    """It is paid, and a bank has the money."""

    amount: int
    by: str


class CarefulState(BaseModel):
    """What is known of an order."""

    id: str
    paid: int = 0

    @on_sourcing
    def was_paid(self, event: PaidOnce) -> None:
        """Count it."""
        self.paid += event.amount


@aggregate_root(context="shop")
class Careful:
    """Nothing is paid that no bank took; what is paid is not paid again."""

    def __init__(self, state: CarefulState) -> None:
        self.state = state

    @on_command
    def pay(self, command: PayOnce, bank: Bank, backup: Backup) -> PaidOnce | None:
        """Refuse where no bank takes the money."""
        if self.state.paid:
            return None
        if _charge(bank, command):
            return PaidOnce(amount=command.amount, by="bank")
        if _charge(backup, command):
            return PaidOnce(amount=command.amount, by="backup")
        raise ValueError("no bank takes the money")


@allow_create
class Deposit(BaseModel):
    """Puts money in."""

    id: str
    amount: int = 1


class Deposited(BaseModel):
    """It is in."""

    amount: int


class AccountState(BaseModel):
    """What is known of an account."""

    id: str
    balance: int = 0

    @on_sourcing
    def was_deposited(self, event: Deposited) -> None:
        """Count it."""
        self.balance += event.amount


@aggregate_root(context="bank")
class Account:
    """Correct."""

    def __init__(self, state: AccountState) -> None:
        self.state = state

    @on_command
    async def deposit(self, command: Deposit) -> Deposited:
        """Put it in."""
        return Deposited(amount=command.amount)
