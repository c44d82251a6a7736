"""Aggregates alone: commands that may be sent again, and calls of others that may be made again."""

from __future__ import annotations

from pydantic import BaseModel

from wowspec import (
    Context,
    DomainError,
    aggregate_root,
    allow_create,
    create_aggregate,
    on_command,
    on_sourcing,
)

# --- a list to which each item is added once, by its own key ----------------------------------------------------------


@allow_create
class Add(BaseModel):
    id: str
    item: str


class Added(BaseModel):
    item: str


class ListState(BaseModel):
    id: str
    items: list[str] = []

    @on_sourcing
    def added(self, event: Added) -> None:
        self.items.append(event.item)


@aggregate_root(context="lists")
class Wishes:
    def __init__(self, state: ListState) -> None:
        self.state = state

    @on_command
    def add(self, command: Add) -> Added | None:
        return None if command.item in self.state.items else Added(item=command.item)


lists = Context("lists", Wishes)

# --- a parcel whose price is asked for; to ask again changes nothing --------------------------------------------------


class Tariff:
    """What parcels cost."""

    async def price(self, grams: int) -> int:
        """In cents."""
        return 400 + grams // 10


@create_aggregate
class Post(BaseModel):
    id: str
    grams: int


class Posted(BaseModel):
    price: int


class ParcelState(BaseModel):
    id: str
    price: int = 0

    @on_sourcing
    def posted(self, event: Posted) -> None:
        self.price = event.price


@aggregate_root(context="parcels")
class Parcel:
    def __init__(self, state: ParcelState) -> None:
        self.state = state

    @on_command
    async def post(self, command: Post, tariff: Tariff) -> Posted:
        price = await tariff.price(command.grams)
        if price > 5_000:
            raise DomainError("TooHeavy", "nobody carries that")
        return Posted(price=price)


parcels = Context("parcels", Parcel)

# --- a purse that refuses what it does not hold -----------------------------------------------------------------------


@allow_create
class Fill(BaseModel):
    id: str
    amount: int


class Spend(BaseModel):
    id: str
    amount: int


class Filled(BaseModel):
    amount: int


class Spent(BaseModel):
    amount: int


class PurseState(BaseModel):
    id: str
    holds: int = 0

    @on_sourcing
    def filled(self, event: Filled) -> None:
        self.holds += event.amount

    @on_sourcing
    def spent(self, event: Spent) -> None:
        self.holds -= event.amount


@aggregate_root(context="purses")
class Purse:
    def __init__(self, state: PurseState) -> None:
        self.state = state

    @on_command
    def fill(self, command: Fill) -> Filled:
        return Filled(amount=command.amount)

    @on_command
    def spend(self, command: Spend) -> Spent:
        if self.state.holds < command.amount:
            raise DomainError("TooLittle", f"it holds {self.state.holds}")
        return Spent(amount=command.amount)


purses = Context("purses", Purse)
