"""Two accounts of one type, and a saga that moves money between them.

A transfer locks the amount at its source, enters it at its target, and then confirms it at the source; a frozen target
refuses it with an *error event*, and the saga unlocks the amount again.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from wowspec import (
    AggregateId,
    Context,
    DomainEvent,
    IllegalStateError,
    Views,
    aggregate_root,
    create_aggregate,
    on_command,
    on_sourcing,
    projection,
    stateless_saga,
    static_tenant_id,
)

Amount = Annotated[int, Field(gt=0)]


@create_aggregate
class CreateAccount(BaseModel):
    id: str
    name: str
    balance: Annotated[int, Field(ge=0)] = 0


class Prepare(BaseModel):
    """Ask for a transfer to another account."""

    id: str
    to: Annotated[str, Field(min_length=1)]
    amount: Amount


class Entry(BaseModel):
    """Money comes in from another account."""

    id: Annotated[str, AggregateId()]
    source_id: str
    amount: Amount


class Confirm(BaseModel):
    """The target has the money: forget the lock."""

    id: Annotated[str, AggregateId()]
    amount: Amount


class LockAmount(BaseModel):
    """Lock money for something else than a transfer; nothing is checked."""

    id: Annotated[str, AggregateId()]
    amount: Amount


class UnlockAmount(BaseModel):
    """The target refused: give the money back."""

    id: Annotated[str, AggregateId()]
    amount: Amount


class FreezeAccount(BaseModel):
    id: str
    reason: str


class UnfreezeAccount(BaseModel):
    id: str
    reason: str


class AccountCreated(BaseModel):
    name: str
    balance: int


class AmountLocked(BaseModel):
    amount: int


class Prepared(BaseModel):
    to: str
    amount: int


class AmountEntered(BaseModel):
    source_id: str
    amount: int


class EntryFailed(BaseModel):
    """An error event: it is stored and published, and its command counts as failed."""

    source_id: str
    amount: int
    error_code: str = "EntryFailed"
    error_message: str = "the account is frozen"


class Confirmed(BaseModel):
    amount: int


class AmountUnlocked(BaseModel):
    amount: int


class AccountFrozen(BaseModel):
    reason: str


class AccountUnfrozen(BaseModel):
    reason: str


class AccountState(BaseModel):
    id: str
    name: str = ""
    available: int = 0
    locked: int = 0
    frozen: bool = False

    @on_sourcing
    def created(self, event: AccountCreated) -> None:
        self.name = event.name
        self.available = event.balance

    @on_sourcing
    def amount_locked(self, event: AmountLocked) -> None:
        self.available -= event.amount
        self.locked += event.amount

    @on_sourcing
    def amount_entered(self, event: AmountEntered) -> None:
        self.available += event.amount

    @on_sourcing
    def confirmed(self, event: Confirmed) -> None:
        self.locked -= event.amount

    @on_sourcing
    def amount_unlocked(self, event: AmountUnlocked) -> None:
        self.locked -= event.amount
        self.available += event.amount

    @on_sourcing
    def account_frozen(self, event: AccountFrozen) -> None:
        self.frozen = True

    @on_sourcing
    def account_unfrozen(self, event: AccountUnfrozen) -> None:
        self.frozen = False


@aggregate_root(context="transfer")
@static_tenant_id
class Account:
    def __init__(self, state: AccountState) -> None:
        self.state = state

    @on_command
    def create(self, command: CreateAccount) -> AccountCreated:
        return AccountCreated(name=command.name, balance=command.balance)

    @on_command
    def prepare(self, command: Prepare) -> tuple[AmountLocked, Prepared]:
        if self.state.frozen:
            raise IllegalStateError("a frozen account gives no money")
        if self.state.available < command.amount:
            raise IllegalStateError("the balance is too small")
        return AmountLocked(amount=command.amount), Prepared(to=command.to, amount=command.amount)

    @on_command
    def enter(self, command: Entry) -> AmountEntered | EntryFailed:
        if self.state.frozen:
            return EntryFailed(source_id=command.source_id, amount=command.amount)
        return AmountEntered(source_id=command.source_id, amount=command.amount)

    @on_command
    def confirm(self, command: Confirm) -> Confirmed:
        return Confirmed(amount=command.amount)

    @on_command
    def lock(self, command: LockAmount) -> AmountLocked:
        return AmountLocked(amount=command.amount)

    @on_command
    def unlock(self, command: UnlockAmount) -> AmountUnlocked:
        return AmountUnlocked(amount=command.amount)

    @on_command
    def freeze(self, command: FreezeAccount) -> AccountFrozen:
        if self.state.frozen:
            raise IllegalStateError("the account is frozen already")
        return AccountFrozen(reason=command.reason)

    @on_command
    def unfreeze(self, command: UnfreezeAccount) -> AccountUnfrozen:
        if not self.state.frozen:
            raise IllegalStateError("the account is not frozen")
        return AccountUnfrozen(reason=command.reason)


@stateless_saga(context="transfer")
class TransferSaga:
    def on_event(self, event: DomainEvent[Prepared | AmountEntered | EntryFailed]) -> Entry | Confirm | UnlockAmount:
        body = event.body
        if isinstance(body, Prepared):
            return Entry(id=body.to, source_id=event.aggregate_id.id, amount=body.amount)
        if isinstance(body, AmountEntered):
            return Confirm(id=body.source_id, amount=body.amount)
        return UnlockAmount(id=body.source_id, amount=body.amount)


class Balance(BaseModel):
    available: int


@projection(context="transfer")
class BalanceView:
    """What an account can spend. It writes a new row each time, but adds to the old one: see its specs."""

    def on_event(
        self, event: DomainEvent[AccountCreated | AmountLocked | AmountEntered | AmountUnlocked], views: Views[Balance]
    ) -> None:
        body, account_id = event.body, event.aggregate_id.id
        if isinstance(body, AccountCreated):
            views[account_id] = Balance(available=body.balance)
            return
        before = views[account_id].available if account_id in views else 0
        change = -body.amount if isinstance(body, AmountLocked) else body.amount
        views[account_id] = Balance(available=before + change)


transfer = Context("transfer", Account, TransferSaga, BalanceView)
