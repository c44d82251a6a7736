"""A small shop for the tests of the gateway: handlers that await, fail or need services; a view that can break."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from wowspec import (
    AggregateId,
    Clock,
    Context,
    DomainEvent,
    aggregate_root,
    allow_create,
    create_aggregate,
    on_command,
    on_event,
    on_sourcing,
    projection,
    void_command,
)


@create_aggregate
class CreateOrder(BaseModel):
    id: Annotated[str | None, AggregateId()] = None
    total: Annotated[int, Field(gt=0)] = 1


class PayOrder(BaseModel):
    id: Annotated[str | None, AggregateId()] = None
    amount: Annotated[int, Field(gt=0)] = 1


@allow_create
class Fetch(BaseModel):
    """Runs whatever the test's service does."""

    id: Annotated[str, AggregateId()]


@void_command
class ViewOrder(BaseModel):
    id: Annotated[str, AggregateId()]


class OrderCreated(BaseModel):
    total: int = 1


class OrderPaid(BaseModel):
    amount: int = 1


class Fetched(BaseModel):
    value: int


class Alarm(BaseModel):
    """An event that the view cannot take."""


class Raise(BaseModel):
    id: Annotated[str, AggregateId()]


class OrderState(BaseModel):
    id: str
    paid: int = 0
    fetched: list[int] = []

    @on_sourcing
    def was_paid(self, event: OrderPaid) -> None:
        self.paid += event.amount

    @on_sourcing
    def was_fetched(self, event: Fetched) -> None:
        self.fetched.append(event.value)


class Source:
    """What `Fetch` asks; tests give one whose `get` awaits what they like."""

    async def get(self, id: str) -> int:
        return len(id)


@aggregate_root(context="shop", commands=[ViewOrder])
class Order:
    def __init__(self, state: OrderState):
        self.state = state

    @on_command
    def create(self, command: CreateOrder) -> OrderCreated:
        return OrderCreated(total=command.total)

    @on_command
    def pay(self, command: PayOrder) -> OrderPaid:
        if self.state.paid + command.amount > 10:
            raise ValueError("an order takes at most 10")
        return OrderPaid(amount=command.amount)

    @on_command
    async def fetch(self, command: Fetch, source: Source, clock: Clock) -> Fetched:
        return Fetched(value=await source.get(command.id))

    @on_command
    def alarm(self, command: Raise) -> Alarm:
        return Alarm()


@projection(context="shop")
class OrderView:
    @on_event
    def show(self, event: OrderCreated | OrderPaid) -> None:
        pass

    @on_event
    def on_alarm(self, event: Alarm) -> None:
        raise KeyError("no row")


shop = Context("shop", Order, OrderView)


@projection(context="shop")
class Hits:
    """Asks for its service when it is made."""

    def __init__(self, hits: list[str]) -> None:
        self.hits = hits

    def on_event(self, event: DomainEvent[OrderCreated]) -> None:
        self.hits.append(event.aggregate_id.id)


@create_aggregate
class Noted(BaseModel):
    id: Annotated[str, AggregateId()]
    text: str


class NoteWritten(BaseModel):
    text: str


class NoteState(BaseModel):
    id: str
    seen: int = 0

    @on_sourcing
    def was_written(self, event: NoteWritten) -> None:
        TIMES.append(event.text)
        self.seen = len(TIMES)


#: What makes the sourcing function of `NoteState` impure.
TIMES: list[str] = []


@aggregate_root(context="shop")
class Note:
    def __init__(self, state: NoteState):
        self.state = state

    @on_command
    def write(self, command: Noted) -> NoteWritten:
        return NoteWritten(text=command.text)
