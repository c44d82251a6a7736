"""An order and nothing else: what becomes of it when a store or a bus fails is due to the runtime."""

from __future__ import annotations

from pydantic import BaseModel

from wowspec import aggregate_root, create_aggregate, on_command, on_sourcing


@create_aggregate
class PlaceOrder(BaseModel):
    id: str


class ShipOrder(BaseModel):
    id: str


class OrderPlaced(BaseModel):
    pass


class OrderShipped(BaseModel):
    pass


class OrderState(BaseModel):
    id: str
    placed: bool = False
    shipped: bool = False

    @on_sourcing
    def was_placed(self, event: OrderPlaced) -> None:
        self.placed = True

    @on_sourcing
    def was_shipped(self, event: OrderShipped) -> None:
        self.shipped = True


@aggregate_root(context="orders")
class Order:
    def __init__(self, state: OrderState) -> None:
        self.state = state

    @on_command
    def place(self, command: PlaceOrder) -> OrderPlaced:
        return OrderPlaced()

    @on_command
    def ship(self, command: ShipOrder) -> OrderShipped:
        if self.state.shipped:
            raise ValueError("an order is shipped once")
        return OrderShipped()
