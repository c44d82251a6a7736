"""Sales, and a projection that adds them up."""

from __future__ import annotations

from pydantic import BaseModel

from wowspec import (
    Context,
    DomainEvent,
    Views,
    aggregate_root,
    allow_create,
    on_command,
    on_event,
    on_sourcing,
    projection,
)


@allow_create
class Sell(BaseModel):
    id: str
    amount: int


class Sold(BaseModel):
    amount: int


class ShopState(BaseModel):
    id: str
    turnover: int = 0

    @on_sourcing
    def sold(self, event: Sold) -> None:
        self.turnover += event.amount


@aggregate_root(context="sales")
class Shop:
    def __init__(self, state: ShopState) -> None:
        self.state = state

    @on_command
    def sell(self, command: Sell) -> Sold:
        return Sold(amount=command.amount)


@projection(context="sales")
class AddsUp:
    """The defect: an event that arrives twice is counted twice."""

    @on_event
    def sold(self, event: DomainEvent[Sold], views: Views[int]) -> None:
        views[event.aggregate_id.id] = views.get(event.aggregate_id.id, 0) + event.body.amount


@projection(context="sales")
class KeepsEach:
    """Corrected: a row for each event, by its id."""

    @on_event
    def sold(self, event: DomainEvent[Sold], views: Views[int]) -> None:
        views[f"{event.aggregate_id.id} v{event.version}"] = event.body.amount


defective = Context("sales", Shop, AddsUp)
corrected = Context("sales", Shop, KeepsEach)
