"""A small shop, and other aggregates, whose commands and histories are drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import BaseModel, Field

from wowspec import (
    AggregateId,
    DeleteAggregate,
    OwnerId,
    aggregate_root,
    allow_create,
    command_builder,
    create_aggregate,
    decider,
    on_command,
    on_event,
    on_sourcing,
    projection,
    stateless_saga,
    static_tenant_id,
    void_command,
)


class OrderLine(BaseModel):
    product_id: str
    quantity: Annotated[int, Field(ge=1, le=9)] = 1


@create_aggregate
class Place(BaseModel):
    order: Annotated[str, AggregateId()]
    lines: Annotated[list[OrderLine], Field(min_length=1, max_length=3)]
    customer_id: Annotated[str, OwnerId()]


class AddLine(BaseModel):
    order: Annotated[str, AggregateId()]
    line: OrderLine


class Pay(BaseModel):
    order: Annotated[str, AggregateId()]
    amount: Annotated[int, Field(ge=1, le=100)]


class Ship(BaseModel):
    order: Annotated[str, AggregateId()]


class Close(BaseModel, DeleteAggregate):
    order: Annotated[str, AggregateId()]


@void_command
class Look(BaseModel):
    order: Annotated[str, AggregateId()]


class Placed(BaseModel):
    lines: list[OrderLine]


class LineAdded(BaseModel):
    line: OrderLine


class Paid(BaseModel):
    amount: int


class Settled(BaseModel):
    pass


class Shipped(BaseModel):
    pass


class OrderState(BaseModel):
    id: str
    lines: list[OrderLine] = []
    paid: int = 0
    settled: bool = False
    shipped: bool = False

    @on_sourcing
    def placed(self, event: Placed) -> None:
        self.lines = list(event.lines)

    @on_sourcing
    def added(self, event: LineAdded) -> None:
        self.lines.append(event.line)

    @on_sourcing
    def was_paid(self, event: Paid) -> None:
        self.paid += event.amount

    @on_sourcing
    def was_settled(self, event: Settled) -> None:
        self.settled = True

    @on_sourcing
    def was_shipped(self, event: Shipped) -> None:
        self.shipped = True

    @property
    def total(self) -> int:
        return sum(line.quantity for line in self.lines)

    def is_reachable(self) -> bool:
        """What only commands keep true: no sequence of them leads elsewhere."""
        return (
            bool(self.lines)
            and self.paid <= self.total
            and (self.settled or not self.shipped)
            and self.settled == (self.paid == self.total)
            and len({line.product_id for line in self.lines}) == len(self.lines)
        )


@aggregate_root(context="drawn", commands=[Look])
class Order:
    """Nothing is paid above the total, nothing is shipped before it is paid in full, nothing is there twice."""

    def __init__(self, state: OrderState) -> None:
        self.state = state

    @on_command
    def place(self, command: Place) -> Placed:
        if len({line.product_id for line in command.lines}) < len(command.lines):
            raise ValueError("a product stands in two lines")
        return Placed(lines=command.lines)

    @on_command
    def add(self, command: AddLine) -> LineAdded:
        if self.state.settled or any(line.product_id == command.line.product_id for line in self.state.lines):
            raise ValueError("settled, or there already")
        return LineAdded(line=command.line)

    @on_command
    def pay(self, command: Pay) -> list[Paid | Settled]:
        due = self.state.total - self.state.paid
        if not due:
            raise ValueError("nothing is due")
        amount = min(command.amount, due)
        return [Paid(amount=amount), Settled()] if amount == due else [Paid(amount=amount)]

    @on_command
    def ship(self, command: Ship) -> Shipped:
        if not self.state.settled or self.state.shipped:
            raise ValueError("not paid, or gone")
        return Shipped()

    @on_command
    def close(self, command: Close) -> None:
        return None


# --- an aggregate of one class, of one tenant, without ids in its commands --------------------------------------------


@allow_create
@dataclass
class Count:
    by: Annotated[int, Field(ge=1, le=3)]


@dataclass
class Counted:
    by: int


@aggregate_root(context="drawn")
@static_tenant_id("north")
@dataclass
class Counter:
    id: str
    value: int = 0

    @on_command
    def count(self, command: Count) -> Counted:
        return Counted(command.by)

    @on_sourcing
    def counted(self, event: Counted) -> None:
        self.value += event.by


# --- ids that `"1"` is not --------------------------------------------------------------------------------------------


@create_aggregate
class OpenTab(BaseModel):
    id: Annotated[str, Field(pattern=r"^tab-\d{2}$")]


class Drink(BaseModel):
    id: str


class TabOpened(BaseModel):
    pass


class Drunk(BaseModel):
    pass


@aggregate_root(context="drawn")
@dataclass
class Tab:
    id: str
    drinks: int = 0

    @on_command
    def open(self, command: OpenTab) -> TabOpened:
        return TabOpened()

    @on_command
    def drink(self, command: Drink) -> Drunk:
        return Drunk()

    @on_sourcing
    def drunk(self, event: Drunk) -> None:
        self.drinks += 1


# --- a decider --------------------------------------------------------------------------------------------------------


@allow_create
class PayIn(BaseModel):
    amount: Annotated[int, Field(gt=0, le=50)]


class PayOut(BaseModel):
    amount: Annotated[int, Field(gt=0, le=50)]


class PaidIn(BaseModel):
    amount: int


class PaidOut(BaseModel):
    amount: int


def decide(command: PayIn | PayOut, balance: int) -> list[PaidIn | PaidOut]:
    if isinstance(command, PayIn):
        return [PaidIn(amount=command.amount)]
    return [PaidOut(amount=command.amount)] if command.amount <= balance else []


def evolve(balance: int, event: PaidIn | PaidOut) -> int:
    return balance + event.amount if isinstance(event, PaidIn) else balance - event.amount


Purse = decider(decide, evolve, 0, name="purse", context="drawn")


# --- services, sagas, bugs --------------------------------------------------------------------------------------------


@allow_create
class Book(BaseModel):
    id: str
    seats: Annotated[int, Field(ge=1, le=3)]


class Booked(BaseModel):
    number: int


class Numbers:
    """Counts on, so that one that examples shared would show."""

    def __init__(self) -> None:
        self.last = 0

    def next(self) -> int:
        self.last += 1
        return self.last


@aggregate_root(context="drawn")
@dataclass
class Booking:
    id: str
    numbers: list[int] = field(default_factory=list)

    @on_command
    def book(self, command: Book, numbers: Numbers) -> Booked:
        return Booked(number=numbers.next())

    @on_sourcing
    def booked(self, event: Booked) -> None:
        self.numbers.append(event.number)


@stateless_saga(context="drawn")
class CountBookings:
    def on_event(self, event: Booked):
        return command_builder(Count(by=1)).aggregate_id("all")


@projection(context="drawn")
class Watcher:
    @on_event
    def booked(self, event: Booked) -> None:
        raise ValueError("a projection may fail; the history is stored all the same")


@allow_create
class Break(BaseModel):
    id: str
    how: Annotated[int, Field(ge=0, le=5)]


class Broken(BaseModel):
    how: int


@aggregate_root(context="drawn")
@dataclass
class Fragile:
    id: str

    @on_command
    def break_it(self, command: Break) -> Broken:
        return Broken(how={0: 1, 1: 2, 2: 3}[command.how])

    @on_sourcing
    def broken(self, event: Broken) -> None:
        return None


@allow_create
class Knock(BaseModel):
    id: str
    times: int


@aggregate_root(context="drawn")
@dataclass
class Closed:
    id: str

    @on_command
    def knock(self, command: Knock) -> None:
        raise ValueError("nobody is in")
