"""An order that two commands of a saga follow: stock put aside, and a parcel label printed."""

from __future__ import annotations

from pydantic import BaseModel

from wowspec import (
    Context,
    DomainEvent,
    aggregate_root,
    allow_create,
    create_aggregate,
    on_command,
    on_event,
    on_sourcing,
    stateless_saga,
)


@create_aggregate
class PlaceOrder(BaseModel):
    id: str


class OrderPlaced(BaseModel):
    pass


class OrderState(BaseModel):
    id: str


@aggregate_root(context="reservations")
class Order:
    def __init__(self, state: OrderState) -> None:
        self.state = state

    @on_command
    def place(self, command: PlaceOrder) -> OrderPlaced:
        return OrderPlaced()


@allow_create
class Reserve(BaseModel):
    id: str
    order_id: str


@allow_create
class PrintLabel(BaseModel):
    id: str
    order_id: str


class Reserved(BaseModel):
    order_id: str


class LabelPrinted(BaseModel):
    order_id: str


class StockState(BaseModel):
    id: str
    reserved_for: list[str] = []
    labels_for: list[str] = []

    @on_sourcing
    def was_reserved(self, event: Reserved) -> None:
        self.reserved_for.append(event.order_id)

    @on_sourcing
    def was_printed(self, event: LabelPrinted) -> None:
        self.labels_for.append(event.order_id)


@aggregate_root(context="reservations")
class Stock:
    """Takes what it has done already as done."""

    def __init__(self, state: StockState) -> None:
        self.state = state

    @on_command
    def reserve(self, command: Reserve) -> Reserved | None:
        return None if command.order_id in self.state.reserved_for else Reserved(order_id=command.order_id)

    @on_command
    def print_label(self, command: PrintLabel) -> LabelPrinted | None:
        return None if command.order_id in self.state.labels_for else LabelPrinted(order_id=command.order_id)


@stateless_saga(context="reservations")
class TwoAtOnce:
    """The defect: the first of the two commands is refused when it is sent again, and the second never goes out."""

    @on_event
    def placed(self, event: DomainEvent[OrderPlaced]) -> list[Reserve | PrintLabel]:
        order_id = event.aggregate_id.id
        return [Reserve(id="stock", order_id=order_id), PrintLabel(id="stock", order_id=order_id)]


@stateless_saga(context="reservations")
class OneAfterTheOther:
    """Corrected: one command for each event."""

    @on_event
    def placed(self, event: DomainEvent[OrderPlaced]) -> Reserve:
        return Reserve(id="stock", order_id=event.aggregate_id.id)

    @on_event
    def reserved(self, event: DomainEvent[Reserved]) -> PrintLabel:
        return PrintLabel(id="stock", order_id=event.body.order_id)


defective = Context("reservations", Order, Stock, TwoAtOnce)
corrected = Context("reservations", Order, Stock, OneAfterTheOther)
