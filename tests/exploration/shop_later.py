"""The shop of `shop.py`, some time later: more fields, more functions, in another order."""

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


class PayOrder(BaseModel):
    id: str
    tip: int = 0


@create_aggregate
class PlaceOrder(BaseModel):
    id: str
    note: str
    sku: str = "s-1"
    quantity: int = 1


class OrderPaid(BaseModel):
    tip: int


class OrderPlaced(BaseModel):
    note: str
    sku: str
    quantity: int


class OrderState(BaseModel):
    id: str
    tips: int = 0

    @on_sourcing
    def did_pay(self, event: OrderPaid) -> None:
        self.tips += event.tip


@aggregate_root(context="shop")
class Order:
    def __init__(self, state: OrderState) -> None:
        self.state = state

    @on_command
    def pay(self, command: PayOrder) -> OrderPaid:
        return OrderPaid(tip=command.tip)

    @on_command
    def place(self, command: PlaceOrder) -> OrderPlaced:
        return OrderPlaced(note=command.note, sku=command.sku, quantity=command.quantity)


@allow_create
class ReserveStock(BaseModel):
    id: str
    order_id: str


class StockReserved(BaseModel):
    order_id: str


class StockState(BaseModel):
    id: str


@aggregate_root(context="shop")
class Stock:
    def __init__(self, state: StockState) -> None:
        self.state = state

    @on_command
    def reserve(self, command: ReserveStock) -> StockReserved:
        return StockReserved(order_id=command.order_id)


@stateless_saga(context="shop")
class OrderSaga:
    @on_event
    def paid(self, event: DomainEvent[OrderPaid]) -> None: ...

    @on_event
    def placed(self, event: DomainEvent[OrderPlaced]) -> ReserveStock:
        return ReserveStock(id=event.body.sku, order_id=event.aggregate_id.id)


shop = Context("shop", OrderSaga, Stock, Order)
