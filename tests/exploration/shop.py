"""A small shop for the tests of exploration: an order, a stock, a saga between them, a board."""

from __future__ import annotations

from pydantic import BaseModel

from wowspec import (
    Context,
    DomainEvent,
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


@create_aggregate
class PlaceOrder(BaseModel):
    id: str
    sku: str = "s-1"
    quantity: int = 1


class PayOrder(BaseModel):
    id: str


class OrderPlaced(BaseModel):
    sku: str
    quantity: int


class OrderPaid(BaseModel):
    pass


class OrderState(BaseModel):
    id: str
    paid: bool = False

    @on_sourcing
    def did_pay(self, event: OrderPaid) -> None:
        self.paid = True


@aggregate_root(context="shop")
class Order:
    def __init__(self, state: OrderState) -> None:
        self.state = state

    @on_command
    def place(self, command: PlaceOrder) -> OrderPlaced:
        return OrderPlaced(sku=command.sku, quantity=command.quantity)

    @on_command
    def pay(self, command: PayOrder) -> OrderPaid:
        return OrderPaid()


@allow_create
class ReserveStock(BaseModel):
    id: str
    order_id: str
    quantity: int


class StockReserved(BaseModel):
    order_id: str
    quantity: int


class StockState(BaseModel):
    id: str
    reserved: dict[str, int] = {}

    @on_sourcing
    def did_reserve(self, event: StockReserved) -> None:
        self.reserved[event.order_id] = event.quantity


@aggregate_root(context="shop")
class Stock:
    def __init__(self, state: StockState) -> None:
        self.state = state

    @on_command
    def reserve(self, command: ReserveStock) -> StockReserved:
        return StockReserved(order_id=command.order_id, quantity=command.quantity)


@stateless_saga(context="shop")
class OrderSaga:
    @on_event
    def placed(self, event: DomainEvent[OrderPlaced]) -> ReserveStock:
        return ReserveStock(id=event.body.sku, order_id=event.aggregate_id.id, quantity=event.body.quantity)


@projection(context="shop")
class OrderBoard:
    """Counts what it hears, so that hearing it twice counts twice: not idempotent."""

    @on_event
    def placed(self, event: DomainEvent[OrderPlaced], views: Views[int]) -> None:
        views["placed"] = views.get("placed", 0) + event.body.quantity


class BoardRow(BaseModel):
    quantity: int = 0
    by_order: dict[str, int] = {}


@projection(context="shop")
class BoardInPlace:
    """Counts in the row that is there: not idempotent either."""

    @on_event
    def placed(self, event: DomainEvent[OrderPlaced], views: Views[BoardRow]) -> None:
        row = views.setdefault("placed", BoardRow())
        row.quantity += event.body.quantity


@projection(context="shop")
class LedgerInPlace:
    """Notes in the row that is there, by order: twice is as good as once."""

    @on_event
    def placed(self, event: DomainEvent[OrderPlaced], views: Views[BoardRow]) -> None:
        row = views.setdefault("placed", BoardRow())
        row.by_order[event.aggregate_id.id] = event.body.quantity


shop = Context("shop", Order, Stock, OrderSaga, OrderBoard)
safe_shop = Context("shop", Order, Stock, OrderSaga)
