"""A small vocabulary of events and states for the tests of matching and showing."""

from __future__ import annotations

import datetime as dt
import enum
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel


class Line(BaseModel):
    sku: str
    quantity: int = 1


class OrderCreated(BaseModel):
    id: str
    customer: str = "u-1"


class OrderPaid(BaseModel):
    id: str
    lines: list[Line] = []
    total: int = 0


class OrderPaidTwice(OrderPaid):
    pass


class OrderShipped(BaseModel):
    id: str
    shipped_at: dt.datetime | None = None
    tags: frozenset[str] = frozenset()


class OrderReceived(BaseModel):
    id: str


class NoteWritten(BaseModel):
    text: str


class Status(enum.Enum):
    PAID = "paid"
    SHIPPED = "shipped"


class OrderState(BaseModel):
    id: str
    status: str = "CREATED"
    owner: str = ""
    lines: list[Line] = []


@dataclass
class Stocked:
    """An event as a dataclass."""

    sku: str
    amount: int
    tags: set[str] = field(default_factory=set)


class Plain:
    """An event as a plain class that does not compare itself."""

    def __init__(self, **held: Any) -> None:
        self.__dict__.update(held)


class Positive:
    """A matcher of a user's own, in the style of dirty-equals."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int) and other > 0

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "Positive()"


class Hostile:
    """A value whose every method raises."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compared")

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise RuntimeError("shown")
