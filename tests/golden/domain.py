"""The small domain that the pipeline cases run on, written with the public interface."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from wowspec import (
    AggregateVersion,
    CommandMessage,
    CommandResultAccessor,
    Context,
    DomainError,
    IllegalStateError,
    ServerCommandExchange,
    after_command,
    aggregate_root,
    allow_create,
    create_aggregate,
    event_processor,
    on_command,
    on_error,
    on_sourcing,
    projection,
    stateless_saga,
    void_command,
)


@create_aggregate
class OpenAccount(BaseModel):
    id: str
    holder: str
    balance: int = 0


class Deposit(BaseModel):
    id: str
    amount: Annotated[int, Field(gt=0)]


class Withdraw(BaseModel):
    id: str
    amount: int
    to: str = ""


class DepositMany(BaseModel):
    id: str
    amounts: list[int]


class Touch(BaseModel):
    id: str


@allow_create
class Note(BaseModel):
    id: str
    text: str


@void_command
class Peek(BaseModel):
    id: str


class Rename(BaseModel):
    id: str
    version: Annotated[int | None, AggregateVersion()]
    holder: str


class SelfChecked(BaseModel):
    id: str
    value: int

    def validate_command(self) -> None:
        if self.value < 0:
            message = "value must not be negative"
            raise ValueError(message)


class Fail(BaseModel):
    id: str
    kind: str


class FlagOverdraft(BaseModel):
    id: str


class Guarded(BaseModel):
    id: str
    mode: str


class Broadcast(BaseModel):
    id: str
    targets: list[str]


class Unhandled(BaseModel):
    id: str


class AccountOpened(BaseModel):
    holder: str
    balance: int


class Deposited(BaseModel):
    amount: int


class Withdrawn(BaseModel):
    amount: int
    to: str


class Noted(BaseModel):
    text: str


class Renamed(BaseModel):
    holder: str


class Checked(BaseModel):
    value: int


class OverdraftFlagged(BaseModel):
    error_code: str = "Overdraft"
    error_message: str = "overdraft"


class GuardPassed(BaseModel):
    mode: str


class Broadcasted(BaseModel):
    targets: list[str]


class Audited(BaseModel):
    command: str


class Stamped(BaseModel):
    command: str


class AccountState(BaseModel):
    id: str
    holder: str = ""
    balance: int = 0
    notes: list[str] = []
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
    def noted(self, event: Noted) -> None:
        self.notes.append(event.text)

    @on_sourcing
    def renamed(self, event: Renamed) -> None:
        self.holder = event.holder

    @on_sourcing
    def audited(self, event: Audited) -> None:
        self.audits.append("audit:" + event.command)

    @on_sourcing
    def stamped(self, event: Stamped) -> None:
        self.audits.append("stamp:" + event.command)

    @on_sourcing
    def overdraft_flagged(self, event: OverdraftFlagged) -> None:
        self.flagged = True


def _raise(kind: str) -> None:
    errors: dict[str, Exception] = {
        "argument": ValueError("argument"),
        "state": IllegalStateError("state"),
        "timeout": TimeoutError("timeout"),
        "wow": DomainError("AccountBroken", "wow"),
        "runtime": RuntimeError("runtime"),
    }
    if kind in errors:
        raise errors[kind]


@aggregate_root(context="golden", commands=[Peek, Unhandled])
class Account:
    def __init__(self, state: AccountState) -> None:
        self.state = state

    @on_command
    def open(self, command: OpenAccount) -> AccountOpened:
        if not command.holder.strip():
            message = "holder is blank"
            raise ValueError(message)
        return AccountOpened(holder=command.holder, balance=command.balance)

    @on_command
    def deposit(self, command: Deposit, result: CommandResultAccessor) -> Deposited:
        result.set_command_result("balance", self.state.balance + command.amount)
        return Deposited(amount=command.amount)

    @on_command
    def withdraw(self, command: Withdraw) -> Withdrawn:
        if self.state.balance < command.amount:
            message = "balance is too small"
            raise IllegalStateError(message)
        return Withdrawn(amount=command.amount, to=command.to)

    @on_command
    def deposit_many(self, command: DepositMany) -> list[Deposited]:
        return [Deposited(amount=amount) for amount in command.amounts]

    @on_command
    async def touch(self, command: Touch) -> None:
        return None

    @on_command
    def note(self, command: Note) -> Noted:
        return Noted(text=command.text)

    @on_command
    async def rename(self, command: Rename) -> Renamed:
        return Renamed(holder=command.holder)

    @on_command
    def check(self, command: SelfChecked) -> Checked:
        return Checked(value=command.value)

    @on_command
    def fail(self, command: Fail) -> Noted:
        _raise(command.kind)
        return Noted(text="not failed")

    @on_command
    def flag_overdraft(self, command: FlagOverdraft) -> OverdraftFlagged:
        return OverdraftFlagged()

    @on_command
    def guarded(self, command: Guarded) -> GuardPassed:
        if command.mode != "pass":
            message = "guarded"
            raise IllegalStateError(message)
        return GuardPassed(mode=command.mode)

    @on_command
    def broadcast(self, command: Broadcast) -> Broadcasted:
        return Broadcasted(targets=command.targets)

    @on_error
    def guard_failed(self, exchange: ServerCommandExchange[Guarded]) -> None:
        mode = exchange.message.body.mode
        if mode == "clear":
            exchange.clear_error()
        elif mode == "replace":
            exchange.set_error(DomainError("AccountReplaced", "replaced"))
        elif mode == "throw":
            raise DomainError("AccountThrown", "thrown")

    @after_command(order=1, include=(Deposit, DepositMany))
    def audit(self, command: CommandMessage[Deposit | DepositMany]) -> Audited:
        return Audited(command=command.name)

    @after_command(order=2, include=DepositMany)
    def stamp(self, command: CommandMessage[DepositMany]) -> Stamped:
        return Stamped(command=command.name)


@stateless_saga(context="golden")
class TransferSaga:
    def on_event(self, event: Withdrawn | Broadcasted) -> Deposit | list[Note] | None:
        if isinstance(event, Withdrawn):
            # The recorded saga makes the body as it is: that an amount isn't positive is found by the gateway.
            return Deposit.model_construct(id=event.to, amount=event.amount) if event.to.strip() else None
        return [Note(id=target, text="broadcast") for target in event.targets]


@projection(context="golden")
class AccountView:
    def on_event(self, event: AccountOpened | Deposited | Audited | Withdrawn) -> None: ...


@event_processor(context="golden")
class AccountNotifier:
    def on_event(self, event: AccountOpened | Deposited) -> None: ...


golden = Context("golden", Account, TransferSaga, AccountView, AccountNotifier)

COMMANDS: dict[str, Any] = {
    cls.__name__: cls
    for cls in (
        OpenAccount, Deposit, Withdraw, DepositMany, Touch, Note, Peek, Rename, SelfChecked, Fail, FlagOverdraft,
        Guarded, Broadcast, Unhandled,
    )
}  # fmt: skip
