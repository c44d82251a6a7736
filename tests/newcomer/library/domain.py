"""A public library: copies that are lent, reserved and lost; members who owe fines; a quota as a plain decider."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Annotated, Protocol

from pydantic import BaseModel, Field

from wowspec import (
    Clock,
    CommandResultAccessor,
    DomainError,
    DomainEvent,
    IllegalStateError,
    Views,
    aggregate_root,
    create_aggregate,
    decider,
    on_command,
    on_event,
    on_sourcing,
    projection,
    stateless_saga,
)

LOAN = timedelta(days=28)
MAX_RENEWALS = 2
MAX_RESERVATIONS = 3


# --- a copy of a book: pydantic, with a state apart -------------------------------------------------------------------


@create_aggregate
class RegisterCopy(BaseModel):
    id: str
    isbn: Annotated[str, Field(min_length=10, max_length=13)]
    title: Annotated[str, Field(min_length=1)]


class LendCopy(BaseModel):
    id: str
    member_id: str


class ReturnCopy(BaseModel):
    id: str


class ReserveCopy(BaseModel):
    id: str
    member_id: str


class RenewLoan(BaseModel):
    id: str
    member_id: str


class MarkLost(BaseModel):
    id: str


class CopyRegistered(BaseModel):
    isbn: str
    title: str


class CopyLent(BaseModel):
    member_id: str
    due: datetime


class CopyReturned(BaseModel):
    member_id: str


class FineIncurred(BaseModel):
    member_id: str
    cents: int


class CopyReserved(BaseModel):
    member_id: str


class LoanRenewed(BaseModel):
    due: datetime


class CopyLost(BaseModel):
    member_id: str | None = None


class CopyState(BaseModel):
    id: str
    title: str = ""
    borrower: str | None = None
    due: datetime | None = None
    renewals: int = 0
    queue: list[str] = []
    lost: bool = False

    @on_sourcing
    def registered(self, event: CopyRegistered) -> None:
        self.title = event.title

    @on_sourcing
    def lent(self, event: CopyLent) -> None:
        self.borrower = event.member_id
        self.due = event.due
        self.renewals = 0
        self.queue = [member for member in self.queue if member != event.member_id]

    @on_sourcing
    def returned(self, event: CopyReturned) -> None:
        self.borrower = None
        self.due = None

    @on_sourcing
    def fined(self, event: FineIncurred) -> None:
        pass

    @on_sourcing
    def reserved(self, event: CopyReserved) -> None:
        self.queue.append(event.member_id)

    @on_sourcing
    def renewed(self, event: LoanRenewed) -> None:
        self.due = event.due
        self.renewals += 1

    @on_sourcing
    def gone(self, event: CopyLost) -> None:
        self.lost = True
        self.borrower = None
        self.due = None


class Fees(Protocol):
    def overdue(self, days: int) -> int: ...

    def replacement(self, title: str) -> int: ...


@aggregate_root(context="library")
class Copy:
    def __init__(self, state: CopyState) -> None:
        self.state = state

    @on_command
    def register(self, command: RegisterCopy) -> CopyRegistered:
        return CopyRegistered(isbn=command.isbn, title=command.title)

    @on_command
    def lend(self, command: LendCopy, clock: Clock) -> CopyLent:
        self._available()
        if self.state.borrower is not None:
            raise IllegalStateError(f"{self.state.id} is lent to {self.state.borrower}")
        if self.state.queue and self.state.queue[0] != command.member_id:
            raise DomainError("CopyReserved", f"{self.state.id} is kept for {self.state.queue[0]}")
        return CopyLent(member_id=command.member_id, due=clock.now() + LOAN)

    @on_command
    def give_back(
        self, command: ReturnCopy, clock: Clock, fees: Fees, result: CommandResultAccessor
    ) -> list[CopyReturned | FineIncurred]:
        member, due = self.state.borrower, self.state.due
        if member is None or due is None:
            raise IllegalStateError(f"{self.state.id} is not lent")
        late = (clock.now() - due).days
        cents = fees.overdue(late) if late > 0 else 0
        result.set_command_result("fine", cents)
        events: list[CopyReturned | FineIncurred] = [CopyReturned(member_id=member)]
        if cents:
            events.append(FineIncurred(member_id=member, cents=cents))
        return events

    @on_command
    def reserve(self, command: ReserveCopy) -> CopyReserved:
        self._available()
        if command.member_id in self.state.queue or command.member_id == self.state.borrower:
            raise IllegalStateError(f"{command.member_id} has or awaits {self.state.id} already")
        if len(self.state.queue) >= MAX_RESERVATIONS:
            raise DomainError("QueueFull", f"{MAX_RESERVATIONS} members wait for {self.state.id}")
        return CopyReserved(member_id=command.member_id)

    @on_command
    def renew(self, command: RenewLoan, clock: Clock) -> LoanRenewed:
        if self.state.borrower != command.member_id or self.state.due is None:
            raise IllegalStateError(f"{self.state.id} is not lent to {command.member_id}")
        if self.state.due < clock.now():
            raise DomainError("Overdue", f"{self.state.id} was due on {self.state.due:%Y-%m-%d}")
        if self.state.queue:
            raise DomainError("CopyReserved", f"{len(self.state.queue)} wait for {self.state.id}")
        if self.state.renewals >= MAX_RENEWALS:
            raise DomainError("TooManyRenewals", f"{self.state.id} was renewed {self.state.renewals} times")
        return LoanRenewed(due=self.state.due + LOAN)

    @on_command
    async def mark_lost(self, command: MarkLost, fees: Fees) -> list[CopyLost | FineIncurred]:
        self._available()
        member = self.state.borrower
        events: list[CopyLost | FineIncurred] = [CopyLost(member_id=member)]
        if member is not None:
            events.append(FineIncurred(member_id=member, cents=fees.replacement(self.state.title)))
        return events

    def _available(self) -> None:
        if self.state.lost:
            raise DomainError("CopyLost", f"{self.state.id} is lost")


# --- a member: one class, dataclasses ---------------------------------------------------------------------------------


@create_aggregate
@dataclass(frozen=True)
class Join:
    id: str
    name: str


@dataclass(frozen=True)
class ChargeFine:
    id: str
    cents: int


@dataclass(frozen=True)
class PayFine:
    id: str
    cents: int

    def validate_command(self) -> None:
        if self.cents <= 0:
            raise ValueError("a payment is more than nothing")


@dataclass(frozen=True)
class CancelMembership:
    id: str


@dataclass(frozen=True)
class Joined:
    name: str


@dataclass(frozen=True)
class FineCharged:
    cents: int


@dataclass(frozen=True)
class FinePaid:
    cents: int


@dataclass(frozen=True)
class MembershipCancelled:
    on: datetime


@aggregate_root(context="library")
@dataclass
class Member:
    id: str
    name: str = ""
    owes: int = 0
    cancelled_on: datetime | None = None
    payments: list[int] = field(default_factory=list)

    @on_command
    def join(self, command: Join) -> Joined:
        return Joined(command.name)

    @on_command
    def charge(self, command: ChargeFine) -> FineCharged:
        return FineCharged(command.cents)

    @on_command
    def pay(self, command: PayFine) -> FinePaid | None:
        if self.owes == 0:
            return None
        return FinePaid(min(command.cents, self.owes))

    @on_command
    def cancel(self, command: CancelMembership, clock: Clock) -> MembershipCancelled:
        if self.owes:
            raise IllegalStateError(f"{self.name} owes {self.owes}")
        if self.cancelled_on is not None:
            raise IllegalStateError(f"{self.name} left on {self.cancelled_on:%Y-%m-%d}")
        return MembershipCancelled(clock.now())

    @on_sourcing
    def joined(self, event: Joined) -> None:
        self.name = event.name

    @on_sourcing
    def charged(self, event: FineCharged) -> None:
        self.owes += event.cents

    @on_sourcing
    def paid(self, event: FinePaid) -> None:
        self.owes -= event.cents
        self.payments.append(event.cents)

    @on_sourcing
    def left(self, event: MembershipCancelled) -> None:
        self.cancelled_on = event.on


# --- a desk's till: a plain decider -----------------------------------------------------------------------------------


@create_aggregate
@dataclass(frozen=True)
class OpenTill:
    id: str
    float_cents: int


@dataclass(frozen=True)
class TakeCash:
    id: str
    cents: int


@dataclass(frozen=True)
class CloseTill:
    id: str
    counted: int


@dataclass(frozen=True)
class TillOpened:
    float_cents: int


@dataclass(frozen=True)
class CashTaken:
    cents: int


@dataclass(frozen=True)
class TillClosed:
    difference: int


@dataclass(frozen=True)
class TillState:
    is_open: bool = False
    cents: int = 0


TillCommand = OpenTill | TakeCash | CloseTill
TillEvent = TillOpened | CashTaken | TillClosed


def decide_till(command: TillCommand, till: TillState) -> list[TillEvent]:
    match command:
        case OpenTill(float_cents=cents) if not till.is_open:
            return [TillOpened(cents)]
        case TakeCash(cents=cents) if till.is_open:
            return [CashTaken(cents)]
        case CloseTill(counted=counted) if till.is_open:
            return [TillClosed(counted - till.cents)]
    raise IllegalStateError(f"the till is {'open' if till.is_open else 'closed'}")


def evolve_till(till: TillState, event: TillEvent) -> TillState:
    match event:
        case TillOpened(float_cents=cents):
            return TillState(is_open=True, cents=cents)
        case CashTaken(cents=cents):
            return replace(till, cents=till.cents + cents)
        case TillClosed():
            return replace(till, is_open=False)


Till = decider(decide_till, evolve_till, TillState(), name="till")


# --- downstream -------------------------------------------------------------------------------------------------------


@stateless_saga(context="library")
class FineCollection:
    def on_event(self, event: FineIncurred) -> ChargeFine:
        return ChargeFine(id=event.member_id, cents=event.cents)


class Loan(BaseModel):
    member_id: str | None = None
    times: int = 0


@projection(context="library")
class LoanBoard:
    @on_event
    def on_lent(self, event: DomainEvent[CopyLent], views: Views[Loan]) -> None:
        row = views.setdefault(event.aggregate_id.id, Loan())
        row.member_id = event.body.member_id
        row.times += 1

    @on_event
    def on_returned(self, event: DomainEvent[CopyReturned], views: Views[Loan]) -> None:
        views.setdefault(event.aggregate_id.id, Loan()).member_id = None
