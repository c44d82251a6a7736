"""A small shop whose specs are told in words."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from enum import Enum
from typing import Any

from pydantic import BaseModel, Field

from wowspec import (
    Context,
    DomainError,
    Views,
    aggregate_root,
    allow_create,
    on_command,
    on_event,
    on_sourcing,
    phrase,
    projection,
    stateless_saga,
)
from wowspec.reporting.document import StepJson
from wowspec.reporting.sentences import steps_in_words


class Size(Enum):
    EXTRA_LARGE = 1


class Price(BaseModel):
    amount: Decimal
    currency: str = "EUR"


class Line(BaseModel):
    sku: str
    quantity: int = 1


@allow_create
class PlaceParcel(BaseModel):
    id: str
    lines: list[Line] = []
    express: bool = False


@phrase("{by} collects the parcel {id}")
class CollectParcel(BaseModel):
    id: str
    by: str = "somebody"


class ParcelPlaced(BaseModel):
    lines: list[Line] = []
    express: bool = False
    price: Price | None = None
    size: Size | None = None
    due: dt.date | None = None
    label: str = Field(default="", title="name on the label")


class ParcelCollected(BaseModel):
    """{by} has the parcel.

    The rest of a docstring is for programmers.
    """

    by: str


@phrase("the parcel is with {by} already")
class AlreadyCollectedError(DomainError):
    def __init__(self, by: str) -> None:
        super().__init__("AlreadyCollected", f"collected by {by}")
        self.by = by


class ParcelTooHeavyError(ValueError):
    pass


class ParcelState(BaseModel):
    id: str
    lines: list[Line] = []
    holder: str | None = None

    @on_sourcing
    def placed(self, event: ParcelPlaced) -> None:
        self.lines = event.lines

    @on_sourcing
    def collected(self, event: ParcelCollected) -> None:
        self.holder = event.by


@aggregate_root(context="post")
class Parcel:
    def __init__(self, state: ParcelState) -> None:
        self.state = state

    @on_command
    def place(self, command: PlaceParcel) -> ParcelPlaced:
        if len(command.lines) > 3:
            raise ParcelTooHeavyError("no more than three")
        return ParcelPlaced(lines=command.lines, express=command.express)

    @on_command
    def collect(self, command: CollectParcel) -> ParcelCollected:
        if self.state.holder is not None:
            raise AlreadyCollectedError(self.state.holder)
        return ParcelCollected(by=command.by)


@stateless_saga(context="post")
class Courier:
    @on_event
    def hurry(self, event: ParcelPlaced) -> CollectParcel | None:
        return CollectParcel(id="p-1", by="the courier") if event.express else None


@projection(context="post")
class Desk:
    @on_event
    def collected(self, event: ParcelCollected, views: Views[dict[str, str]]) -> None:
        views["desk"] = {"holder": event.by}


post = Context("post", Parcel, Courier, Desk)


def steps(spec: Any, *, failed: bool = False) -> list[StepJson]:
    """A spec's steps in words."""
    return steps_in_words(spec._node.path(), failed=failed)


def told(spec: Any, *, failed: bool = False) -> list[str]:
    """The same, a line a sentence, as a person would read them."""
    lines = []
    for step in steps(spec, failed=failed):
        lines.append(f"{step['keyword']} {step['sentence']}")
        lines += [f"- {detail}" for detail in step["details"]]
    return lines
