"""Parcels that are registered, sent and stopped; a letter follows each that is sent, and a board shows them."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import Literal

from pydantic import BaseModel, Field

from wowspec import (
    DomainError,
    IllegalStateError,
    Views,
    aggregate_root,
    allow_create,
    create_aggregate,
    on_command,
    on_event,
    on_sourcing,
    projection,
    stateless_saga,
)


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


class Stop(BaseModel):
    town: str = Field(pattern=r"^[A-Z][a-z]+$")
    hours: int = Field(ge=1, le=24)


@create_aggregate
class Register(BaseModel):
    id: str
    grams: int = Field(gt=0)
    stops: list[Stop] = []

    def validate_command(self) -> None:
        if self.grams > 9_000:
            raise IllegalStateError("too heavy")


class Registered(BaseModel):
    grams: int = Field(gt=0, le=10_000)
    label: str
    fragile: bool = False
    size: Size = Size.SMALL
    price: Decimal = Decimal("1.50")
    due: datetime = datetime(2024, 5, 1, tzinfo=UTC)
    note: str | None = None
    track: Literal["slow", "fast"] = "slow"
    stops: list[Stop] = []


class Send(BaseModel):
    id: str


class Sent(BaseModel):
    by: str


class Weighed(BaseModel):
    by: str


class Halt(BaseModel):
    id: str


class Halted(BaseModel):
    pass


class Look(BaseModel):
    id: str


class Looked(BaseModel):
    pass


class ParcelState(BaseModel):
    id: str
    grams: int = 0
    sent: bool = False
    halted: bool = False
    weighed: list[str] = []

    @on_sourcing
    def registered(self, event: Registered) -> None:
        self.grams = event.grams

    @on_sourcing
    def was_sent(self, event: Sent) -> None:
        self.sent = True

    @on_sourcing
    def was_weighed(self, event: Weighed) -> None:
        self.weighed.append(event.by)

    @on_sourcing
    def was_halted(self, event: Halted) -> None:
        self.halted = True

    @on_sourcing
    def looked_at(self, event: Looked) -> None:
        """It stays as it was."""


@aggregate_root(context="post")
class Parcel:
    def __init__(self, state: ParcelState) -> None:
        self.state = state

    @on_command
    def register(self, command: Register) -> Registered:
        return Registered(grams=command.grams, label=f"to {command.id}", stops=command.stops)

    @on_command
    async def send(self, command: Send) -> list[Sent | Weighed]:
        if self.state.halted:
            raise IllegalStateError("it was halted")
        return [Sent(by="van"), Weighed(by="scales")]

    @on_command
    def halt(self, command: Halt) -> Halted:
        if not self.state.sent:
            raise DomainError("NotSent", "it has not left")
        return Halted()

    @on_command
    def look(self, command: Look) -> Looked:
        return Looked()


@allow_create
class Write(BaseModel):
    id: str
    text: str


class Written(BaseModel):
    text: str


class LetterState(BaseModel):
    id: str
    text: str = ""

    @on_sourcing
    def written(self, event: Written) -> None:
        self.text = event.text


@aggregate_root(context="post")
class Letter:
    def __init__(self, state: LetterState) -> None:
        self.state = state

    @on_command
    def write(self, command: Write) -> Written:
        return Written(text=command.text)


@stateless_saga(context="post")
class LetterSaga:
    @on_event
    def on_sent(self, event: Sent) -> Write:
        return Write(id="l-1", text=f"sent by {event.by}")


@projection(context="post")
class Board:
    def __init__(self, views: Views[str]) -> None:
        self.views = views

    @on_event
    def on_sent(self, event: Sent) -> None:
        self.views["p-1"] = event.by


REGISTERED = Registered(grams=500, label="to p-1")
