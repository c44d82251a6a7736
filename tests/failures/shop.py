"""An order, the stock that is reserved for it by a saga, and a board of orders."""

from pydantic import BaseModel

from wowspec import (
    Context,
    DomainEvent,
    IllegalStateError,
    Views,
    aggregate_root,
    allow_create,
    command_builder,
    create_aggregate,
    on_command,
    on_sourcing,
    projection,
    stateless_saga,
)


class Line(BaseModel):
    product: str
    quantity: int = 1


@create_aggregate
class PlaceOrder(BaseModel):
    id: str
    customer: str
    lines: list[Line]


class PayOrder(BaseModel):
    id: str
    amount: int


class ShipOrder(BaseModel):
    id: str


class OrderPlaced(BaseModel):
    customer: str
    lines: list[Line]


class OrderPaid(BaseModel):
    amount: int


class OrderShipped(BaseModel):
    pass


class OrderState(BaseModel):
    id: str
    customer: str = ""
    lines: list[Line] = []
    paid: int = 0
    shipped: bool = False

    @on_sourcing
    def order_placed(self, event: OrderPlaced) -> None:
        self.customer = event.customer
        self.lines = event.lines

    @on_sourcing
    def order_paid(self, event: OrderPaid) -> None:
        self.paid += event.amount

    @on_sourcing
    def order_shipped(self, event: OrderShipped) -> None:
        self.shipped = True


@aggregate_root(context="shop")
class Order:
    def __init__(self, state: OrderState) -> None:
        self.state = state

    @on_command
    def place(self, command: PlaceOrder) -> OrderPlaced:
        return OrderPlaced(customer=command.customer, lines=command.lines)

    @on_command
    def pay(self, command: PayOrder) -> OrderPaid:
        if self.state.paid:
            raise IllegalStateError("the order is paid already")
        return OrderPaid(amount=command.amount)

    @on_command
    def ship(self, command: ShipOrder) -> OrderShipped:
        if not self.state.paid:
            raise IllegalStateError("the order is not paid")
        return OrderShipped()


@allow_create
class ReserveStock(BaseModel):
    quantity: int


class StockReserved(BaseModel):
    quantity: int


class StockState(BaseModel):
    id: str
    reserved: int = 0

    @on_sourcing
    def stock_reserved(self, event: StockReserved) -> None:
        self.reserved += event.quantity


@aggregate_root(context="shop")
class Stock:
    def __init__(self, state: StockState) -> None:
        self.state = state

    @on_command
    def reserve(self, command: ReserveStock) -> StockReserved:
        return StockReserved(quantity=command.quantity)


@stateless_saga(context="shop")
class Reservations:
    def on_event(self, event: OrderPlaced):
        return [
            command_builder(ReserveStock(quantity=line.quantity)).aggregate_id(line.product) for line in event.lines
        ]


@projection(context="shop")
class Board:
    def on_event(self, event: DomainEvent[OrderPlaced], views: Views[str]) -> None:
        views[event.aggregate_id.id] = f"{event.body.customer}: {len(event.body.lines)} lines"


shop = Context("shop", Order, Stock, Reservations, Board)
