"""A saga that asks a service, and cancels the order where the service fails."""

from __future__ import annotations

from pydantic import BaseModel

from tests.exploration.shop import Order, OrderPlaced, ReserveStock, Stock
from wowspec import Context, DomainEvent, aggregate_root, allow_create, on_command, on_event, stateless_saga


@allow_create
class CancelOrder(BaseModel):
    id: str


class OrderCancelled(BaseModel):
    pass


class CancellationState(BaseModel):
    id: str


@aggregate_root(context="shop")
class Cancellation:
    def __init__(self, state: CancellationState) -> None:
        self.state = state

    @on_command
    def cancel(self, command: CancelOrder) -> OrderCancelled:
        return OrderCancelled()


class Scoring:
    def score(self, order_id: str) -> int:
        return len(order_id)


@stateless_saga(context="shop")
class CarefulSaga:
    @on_event
    def placed(self, event: DomainEvent[OrderPlaced], scoring: Scoring) -> ReserveStock | CancelOrder:
        order_id = event.aggregate_id.id
        try:
            scoring.score(order_id)
        except Exception:
            return CancelOrder(id=order_id)
        return ReserveStock(id=event.body.sku, order_id=order_id, quantity=event.body.quantity)


alternative_shop = Context("shop", Order, Stock, Cancellation, CarefulSaga)
