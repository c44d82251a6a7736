"""Orders and stock, with a saga, a projection and an event processor between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import BaseModel, Field

from wowspec import (
    CommandBuilder,
    Context,
    DomainEvent,
    IllegalStateError,
    Views,
    aggregate_root,
    allow_create,
    command_builder,
    create_aggregate,
    event_processor,
    on_command,
    on_sourcing,
    projection,
    stateless_saga,
)


@create_aggregate
class PlaceOrder(BaseModel):
    id: str
    sku: str
    quantity: Annotated[int, Field(gt=0)] = 1


class PayOrder(BaseModel):
    id: str


class OrderPlaced(BaseModel):
    sku: str
    quantity: int


class OrderPaid(BaseModel):
    pass


class OrderState(BaseModel):
    id: str
    sku: str = ""
    status: str = "NEW"

    @on_sourcing
    def placed(self, event: OrderPlaced) -> None:
        self.sku = event.sku
        self.status = "PLACED"

    @on_sourcing
    def paid(self, event: OrderPaid) -> None:
        self.status = "PAID"


@aggregate_root(context="shop")
class Order:
    def __init__(self, state: OrderState) -> None:
        self.state = state

    @on_command
    def place(self, command: PlaceOrder) -> OrderPlaced:
        return OrderPlaced(sku=command.sku, quantity=command.quantity)

    @on_command
    def pay(self, command: PayOrder) -> OrderPaid:
        if self.state.status != "PLACED":
            message = f"an order that is {self.state.status} cannot be paid"
            raise IllegalStateError(message)
        return OrderPaid()


@allow_create
class ReserveStock(BaseModel):
    id: str
    quantity: int


class StockReserved(BaseModel):
    quantity: int


class StockState(BaseModel):
    id: str
    reserved: int = 0

    @on_sourcing
    def on_reserved(self, event: StockReserved) -> None:
        self.reserved += event.quantity


@aggregate_root(context="stock")
class Stock:
    def __init__(self, state: StockState) -> None:
        self.state = state

    @on_command
    def reserve(self, command: ReserveStock) -> StockReserved:
        if self.state.reserved + command.quantity > 10:
            message = "only ten are in stock"
            raise ValueError(message)
        return StockReserved(quantity=command.quantity)


@stateless_saga(context="shop")
class OrderSaga:
    def on_event(self, event: OrderPlaced) -> ReserveStock | None:
        return ReserveStock(id=event.sku, quantity=event.quantity) if event.sku != "gift" else None

    def on_state_event(self, event: OrderPaid, state: OrderState) -> CommandBuilder[ReserveStock]:
        return command_builder(ReserveStock(id=f"paid-{state.sku}", quantity=1)).owner_id("u-1")


class OrderRow(BaseModel):
    status: str
    changes: int = 0


@projection(context="shop")
class OrderView:
    def on_event(self, event: DomainEvent[OrderPlaced | OrderPaid], views: Views[OrderRow]) -> None:
        row = views.get(event.aggregate_id.id) or OrderRow(status="")
        status = "PAID" if isinstance(event.body, OrderPaid) else "PLACED"
        views[event.aggregate_id.id] = OrderRow(status=status, changes=row.changes + 1)


@projection(context="shop")
class StatusView:
    def on_event(self, event: DomainEvent[OrderPlaced | OrderPaid], views: Views[str]) -> None:
        views[event.aggregate_id.id] = "PAID" if isinstance(event.body, OrderPaid) else "PLACED"


@dataclass
class Outbox:
    mails: list[str] = field(default_factory=list)


@event_processor(context="shop")
class Mailer:
    def __init__(self, outbox: Outbox) -> None:
        self.outbox = outbox

    def on_event(self, event: DomainEvent[OrderPaid]) -> None:
        self.outbox.mails.append(event.aggregate_id.id)


shop = Context("shop", Order, Stock, OrderSaga, OrderView)
