"""An account that shows each thing an aggregate can do: how it answers, refuses, fails, and is looked after."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from wowspec import (
    AggregateVersion,
    CommandMessage,
    CommandResultAccessor,
    DomainError,
    IllegalStateError,
    ServerCommandExchange,
    after_command,
    aggregate_root,
    allow_create,
    create_aggregate,
    on_command,
    on_error,
    on_sourcing,
    void_command,
)

Amount = Annotated[int, Field(gt=0)]


# --- commands ---------------------------------------------------------------------------------------------------------


@create_aggregate
class OpenAccount(BaseModel):
    """Creates; on an account that is there already it is refused by the store."""

    id: str
    holder: str
    balance: int = 0


class Deposit(BaseModel):
    """Answers with a command result."""

    id: str
    amount: Amount


class DepositMany(BaseModel):
    """Becomes several events in one version."""

    id: str
    amounts: list[Amount]


class Withdraw(BaseModel):
    """Is refused by the account's state."""

    id: str
    amount: Amount


class Rename(BaseModel):
    """Says itself which version it was decided upon."""

    id: str
    version: Annotated[int | None, AggregateVersion()] = None
    holder: str


class Touch(BaseModel):
    """Does nothing, and that is all right."""

    id: str


@allow_create
class Note(BaseModel):
    """May come before the account is opened."""

    id: str
    text: str


@void_command
class Peek(BaseModel):
    """Is processed by no aggregate."""

    id: str


class SetLimit(BaseModel):
    """Checks itself before it is sent."""

    id: str
    daily: int
    monthly: int

    def validate_command(self) -> None:
        if self.daily > self.monthly:
            raise ValueError("the daily limit is above the monthly one")


class FlagOverdraft(BaseModel):
    """Becomes an event that is an error."""

    id: str


class Fail(BaseModel):
    """Fails in the way it says."""

    id: str
    kind: str


class Authorize(BaseModel):
    """Fails, and is then looked at by the account's error function."""

    id: str
    then: str


# --- events -----------------------------------------------------------------------------------------------------------


class AccountOpened(BaseModel):
    holder: str
    balance: int = 0


class Deposited(BaseModel):
    amount: int


class Withdrawn(BaseModel):
    amount: int


class Renamed(BaseModel):
    holder: str


class Noted(BaseModel):
    text: str


class LimitSet(BaseModel):
    daily: int
    monthly: int


class OverdraftFlagged(BaseModel):
    error_code: str = "Overdraft"
    error_message: str = "the account is overdrawn"


class Audited(BaseModel):
    command: str


class Stamped(BaseModel):
    command: str


# --- state ------------------------------------------------------------------------------------------------------------


class AccountState(BaseModel):
    id: str
    holder: str = ""
    balance: int = 0
    notes: list[str] = []
    daily_limit: int | None = None
    audits: list[str] = []
    flagged: bool = False

    @on_sourcing
    def opened(self, event: AccountOpened) -> None:
        self.holder = event.holder
        self.balance = event.balance

    @on_sourcing
    def deposited(self, event: Deposited) -> None:
        self.balance += event.amount

    @on_sourcing
    def withdrawn(self, event: Withdrawn) -> None:
        self.balance -= event.amount

    @on_sourcing
    def renamed(self, event: Renamed) -> None:
        self.holder = event.holder

    @on_sourcing
    def noted(self, event: Noted) -> None:
        self.notes.append(event.text)

    @on_sourcing
    def limit_set(self, event: LimitSet) -> None:
        self.daily_limit = event.daily

    @on_sourcing
    def overdraft_flagged(self, event: OverdraftFlagged) -> None:
        self.flagged = True

    @on_sourcing
    def audited(self, event: Audited) -> None:
        self.audits.append(f"audit:{event.command}")

    @on_sourcing
    def stamped(self, event: Stamped) -> None:
        self.audits.append(f"stamp:{event.command}")


# --- decisions --------------------------------------------------------------------------------------------------------


def error_of(kind: str) -> Exception:
    errors: dict[str, Exception] = {
        "argument": ValueError("a senseless argument"),
        "state": IllegalStateError("not now"),
        "timeout": TimeoutError("too slow"),
        "missing": FileNotFoundError("nothing there"),
        "own": DomainError("AccountBroken", "broken"),
        "other": RuntimeError("something else"),
    }
    return errors[kind]


@aggregate_root(context="bank", commands=[Peek])
class Account:
    def __init__(self, state: AccountState) -> None:
        self.state = state

    @on_command
    def open(self, command: OpenAccount) -> AccountOpened:
        if not command.holder.strip():
            raise ValueError("an account has a holder")
        return AccountOpened(holder=command.holder, balance=command.balance)

    @on_command
    def deposit(self, command: Deposit, result: CommandResultAccessor) -> Deposited:
        result.set_command_result("balance", self.state.balance + command.amount)
        return Deposited(amount=command.amount)

    @on_command
    def deposit_many(self, command: DepositMany) -> list[Deposited]:
        return [Deposited(amount=amount) for amount in command.amounts]

    @on_command
    def withdraw(self, command: Withdraw) -> Withdrawn:
        if self.state.balance < command.amount:
            raise IllegalStateError(f"{self.state.balance} is too little to withdraw {command.amount}")
        return Withdrawn(amount=command.amount)

    @on_command
    async def rename(self, command: Rename) -> Renamed:
        return Renamed(holder=command.holder)

    @on_command
    async def touch(self, command: Touch) -> None:
        return None

    @on_command
    def note(self, command: Note) -> Noted:
        return Noted(text=command.text)

    @on_command
    def set_limit(self, command: SetLimit) -> LimitSet:
        return LimitSet(daily=command.daily, monthly=command.monthly)

    @on_command
    def flag_overdraft(self, command: FlagOverdraft) -> OverdraftFlagged:
        return OverdraftFlagged()

    @on_command
    def fail(self, command: Fail) -> Noted:
        raise error_of(command.kind)

    @on_command
    def authorize(self, command: Authorize) -> Noted:
        raise IllegalStateError("not authorized")

    @on_error
    def not_authorized(self, exchange: ServerCommandExchange[Authorize]) -> None:
        """May replace an error, but never undo it."""
        match exchange.message.body.then:
            case "clear":
                exchange.clear_error()
            case "replace":
                exchange.set_error(DomainError("AskAgain", "ask again tomorrow"))
            case "raise":
                raise DomainError("AskNobody", "the error function failed, too")

    @after_command(order=1, include=(Deposit, DepositMany))
    def audit(self, command: CommandMessage[Deposit | DepositMany]) -> Audited:
        return Audited(command=command.name)

    @after_command(order=2, include=DepositMany)
    def stamp(self, command: CommandMessage[DepositMany]) -> Stamped:
        return Stamped(command=command.name)
