"""Aggregates of each form: a state of its own, one class for both, a dataclass, a decider."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import BaseModel

from wowspec import aggregate_root, decider, on_command, on_sourcing


class AddItem(BaseModel):
    name: str


class ItemAdded(BaseModel):
    name: str


class CartState(BaseModel):
    id: str
    items: list[str] = []

    @on_sourcing
    def added(self, event: ItemAdded) -> None:
        self.items.append(event.name)


@aggregate_root(context="shop")
class Cart:
    def __init__(self, state: CartState) -> None:
        self.state = state

    @on_command
    def add(self, command: AddItem) -> ItemAdded:
        return ItemAdded(name=command.name)


class Open(BaseModel):
    id: str


class Opened(BaseModel):
    pass


@aggregate_root(context="bank")
class Account:
    """One class, made of its id."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.is_open = False

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened()

    @on_sourcing
    def opened(self, event: Opened) -> None:
        self.is_open = True


class StartTask(BaseModel):
    id: str


class TaskStarted(BaseModel):
    pass


@aggregate_root(context="office")
@dataclass
class Task:
    id: str
    done: list[str] = field(default_factory=list)

    @on_command
    def start(self, command: StartTask) -> TaskStarted:
        return TaskStarted()


class Pin(BaseModel):
    id: str


class Pinned(BaseModel):
    pass


@aggregate_root(context="office")
class Board(BaseModel):
    """One class, a model: made with keywords alone."""

    id: str
    pins: int = 0

    @on_command
    def pin(self, command: Pin) -> Pinned:
        return Pinned()


@dataclass(frozen=True)
class Purse:
    coins: int = 0


def decide(command: Pin, state: Purse) -> list[Pinned]:
    return [Pinned()]


def evolve(state: Purse, event: Pinned) -> Purse:
    return Purse(state.coins + 1)


Wallet = decider(decide, evolve, Purse(), name="wallet")
