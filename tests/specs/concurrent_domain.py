"""Accounts and their defects: what goes wrong only when commands meet."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from wowspec import (
    AggregateId,
    Clock,
    DomainEvent,
    IllegalStateError,
    Views,
    aggregate_root,
    allow_create,
    create_aggregate,
    event_processor,
    on_command,
    on_event,
    on_sourcing,
    projection,
    stateless_saga,
)


@create_aggregate
class Open(BaseModel):
    id: str
    balance: int = 0


class Withdraw(BaseModel):
    id: Annotated[str, AggregateId()] = "a-1"
    amount: Annotated[int, Field(gt=0)]
    to: str = ""


class Deposit(BaseModel):
    id: Annotated[str, AggregateId()] = "a-1"
    amount: int


class Stamp(BaseModel):
    id: Annotated[str, AggregateId()] = "a-1"


class Opened(BaseModel):
    balance: int


class Withdrawn(BaseModel):
    amount: int
    to: str = ""


class Deposited(BaseModel):
    amount: int


class Stamped(BaseModel):
    at: int


class AccountState(BaseModel):
    id: str
    balance: int = 0

    @on_sourcing
    def opened(self, event: Opened) -> None:
        self.balance = event.balance

    @on_sourcing
    def withdrawn(self, event: Withdrawn) -> None:
        self.balance -= event.amount

    @on_sourcing
    def deposited(self, event: Deposited) -> None:
        self.balance += event.amount


@aggregate_root(context="bank")
class Account:
    """Correct: decides on its own state alone."""

    def __init__(self, state: AccountState) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened(balance=command.balance)

    @on_command
    def withdraw(self, command: Withdraw) -> Withdrawn:
        if self.state.balance < command.amount:
            raise IllegalStateError("the balance is too small")
        return Withdrawn(amount=command.amount, to=command.to)

    @on_command
    def deposit(self, command: Deposit) -> Deposited:
        return Deposited(amount=command.amount)

    @on_command
    def stamp(self, command: Stamp, clock: Clock) -> Stamped:
        return Stamped(at=int(clock.now().timestamp() * 1000))


@stateless_saga(context="bank")
class Transfers:
    """Deposits what was withdrawn for another account."""

    @on_event
    def on_event(self, event: Withdrawn) -> Deposit | None:
        return Deposit(id=event.to, amount=event.amount) if event.to else None


# --- decides on a read model that lags behind -----------------------------------------------------------------------


@allow_create
class Spend(BaseModel):
    id: Annotated[str, AggregateId()] = "p-1"
    amount: int


class Spent(BaseModel):
    amount: int


class PurseState(BaseModel):
    id: str
    spent: int = 0

    @on_sourcing
    def on_spent(self, event: Spent) -> None:
        self.spent += event.amount


class Balances:
    """A read model, kept by an event processor."""

    def __init__(self, balance: int = 100) -> None:
        self.balance = balance


@aggregate_root(context="bank")
class Purse:
    """Spends twice: it asks the read model what is left."""

    def __init__(self, state: PurseState) -> None:
        self.state = state

    @on_command
    def spend(self, command: Spend, balances: Balances) -> Spent:
        if balances.balance < command.amount:
            raise IllegalStateError("nothing is left")
        return Spent(amount=command.amount)


@event_processor(context="bank")
class BalanceKeeper:
    """Keeps the read model."""

    @on_event
    def on_event(self, event: Spent, balances: Balances) -> None:
        balances.balance -= event.amount


# --- a store of its own, without a version check --------------------------------------------------------------------


@allow_create
class Draw(BaseModel):
    id: Annotated[str, AggregateId()] = "t-1"
    amount: int


class Drawn(BaseModel):
    amount: int


class TillState(BaseModel):
    id: str


class Drawer:
    """Money in a place that checks no version."""

    def __init__(self, money: int = 100) -> None:
        self.money = money


@aggregate_root(context="bank")
class Till:
    """Loses an update where two processes meet: it reads, waits, and writes what it read before."""

    def __init__(self, state: TillState) -> None:
        self.state = state

    @on_command
    async def draw(self, command: Draw, drawer: Drawer, clock: Clock) -> Drawn:
        seen = drawer.money
        if seen < command.amount:
            raise IllegalStateError("the drawer is empty")
        await clock.sleep(milliseconds=1)
        drawer.money = seen - command.amount
        return Drawn(amount=command.amount)


class Safe(BaseModel):
    id: str


class Vault:
    """Money behind a service that is awaited, and checks no version."""

    def __init__(self, money: int = 100) -> None:
        self.money = money

    async def read(self) -> int:
        return self.money

    async def write(self, money: int) -> None:
        self.money = money


class Empty(BaseModel):
    id: Annotated[str, AggregateId()] = "v-1"
    amount: int


class Emptied(BaseModel):
    amount: int


@aggregate_root(context="bank")
class Strongroom:
    """Reads and writes in two calls, between which another process may come."""

    def __init__(self, state: Safe) -> None:
        self.state = state

    @on_command
    async def draw(self, command: Empty, vault: Vault) -> Emptied:
        left = await vault.read() - command.amount
        if left < 0:
            raise IllegalStateError("the vault is empty")
        await vault.write(left)
        return Emptied(amount=command.amount)


# --- fails downstream in one order alone ------------------------------------------------------------------------------


@stateless_saga(context="bank")
class Overdrawer:
    """Withdraws once more what was withdrawn; that is refused if others were faster."""

    @on_event
    def on_event(self, event: Deposited) -> Withdraw | None:
        return Withdraw(amount=60) if event.amount == 1 else None


@projection(context="bank")
class Totals:
    """What was deposited, by account."""

    @on_event
    def on_event(self, event: DomainEvent[Deposited], views: Views[int]) -> None:
        key = event.aggregate_id.id
        views[key] = views.get(key, 0) + event.body.amount


# --- charges again when it is retried -------------------------------------------------------------------------------


@allow_create
class Charge(BaseModel):
    id: Annotated[str, AggregateId()] = "c-1"
    amount: int


class Charged(BaseModel):
    receipt: int


class CardState(BaseModel):
    id: str


class Terminal:
    """A payment service: each call is a payment."""

    def __init__(self) -> None:
        self.payments: list[int] = []

    def pay(self, amount: int) -> int:
        self.payments.append(amount)
        return len(self.payments)


@aggregate_root(context="bank")
class Card:
    """Pays twice where a version conflict makes the runtime run its function again."""

    def __init__(self, state: CardState) -> None:
        self.state = state

    @on_command
    def charge(self, command: Charge, terminal: Terminal) -> Charged:
        return Charged(receipt=terminal.pay(command.amount))


# --- breaks a law in one order alone --------------------------------------------------------------------------------


@allow_create
class Take(BaseModel):
    id: Annotated[str, AggregateId()] = "b-1"
    amount: int


class Taken(BaseModel):
    amount: int


class BoxState(BaseModel):
    id: str
    left: int = 100

    @on_sourcing
    def taken(self, event: Taken) -> None:
        self.left -= event.amount


@aggregate_root(context="bank")
class Box:
    """Changes its command, but only if the large one comes second."""

    def __init__(self, state: BoxState) -> None:
        self.state = state

    @on_command
    def take(self, command: Take) -> Taken:
        if self.state.left < 100 and command.amount > 50:
            command.amount = self.state.left
        return Taken(amount=command.amount)
