"""Orders that are counted by a projection that adds up, and passed on by a saga: what at-least-once delivery hurts."""

from __future__ import annotations

from pydantic import BaseModel

from wowspec import (
    DomainEvent,
    Views,
    aggregate_root,
    command_builder,
    create_aggregate,
    on_command,
    on_event,
    on_sourcing,
    projection,
    stateless_saga,
)


@create_aggregate
class PlaceOrder(BaseModel):
    id: str


class PayOrder(BaseModel):
    id: str


class OrderPlaced(BaseModel):
    """It began."""


class OrderPaid(BaseModel):
    """It was paid."""


class OrderState(BaseModel):
    id: str
    paid: int = 0

    @on_sourcing
    def on_paid(self, event: OrderPaid) -> None:
        self.paid += 1


@aggregate_root(context="crash")
class Order:
    def __init__(self, state: OrderState) -> None:
        self.state = state

    @on_command
    def place(self, command: PlaceOrder) -> OrderPlaced:
        return OrderPlaced()

    @on_command
    def pay(self, command: PayOrder) -> OrderPaid:
        return OrderPaid()


class Row(BaseModel):
    seen: list[str] = []


@projection(context="crash")
class Seen:
    """Writes down each event that reaches it."""

    @on_event
    def on_placed(self, event: DomainEvent[OrderPlaced], views: Views[Row]) -> None:
        self._note(event, views)

    @on_event
    def on_paid(self, event: DomainEvent[OrderPaid], views: Views[Row]) -> None:
        self._note(event, views)

    def _note(self, event, views) -> None:
        row = views.get(event.aggregate_id.id, Row())
        views[event.aggregate_id.id] = Row(seen=[*row.seen, f"{type(event.body).__name__} v{event.version}"])


@create_aggregate
class OpenParcel(BaseModel):
    id: str


class ParcelOpened(BaseModel):
    """Something to send."""


class ParcelState(BaseModel):
    id: str


@aggregate_root(context="crash")
class Parcel:
    def __init__(self, state: ParcelState) -> None:
        self.state = state

    @on_command
    def open(self, command: OpenParcel) -> ParcelOpened:
        return ParcelOpened()


@stateless_saga(context="crash")
class Dispatch:
    """A paid order has a parcel opened."""

    @on_event
    def on_paid(self, event: DomainEvent[OrderPaid]):
        return command_builder(OpenParcel(id=f"p-{event.aggregate_id.id}"))
