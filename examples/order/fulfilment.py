"""What follows an order: its cart is emptied, its stock is put aside, a board shows it, its owner gets a letter."""

from __future__ import annotations

from typing import Protocol

from pydantic import BaseModel

from wowspec import (
    Context,
    DomainEvent,
    StateEvent,
    Views,
    aggregate_root,
    allow_create,
    command_builder,
    event_processor,
    on_command,
    on_event,
    on_sourcing,
    on_state_event,
    projection,
    retry,
    stateless_saga,
)

from ..cart.domain import Cart, RemoveCartItem
from .domain import CancelOrder, Order, OrderCreated, OrderItem, OrderPaid, OrderShipped, OrderState, Status

# --- the cart that an order came from ---------------------------------------------------------------------------------


@stateless_saga(context="shop")
class CartSaga:
    @retry(max_retries=5, min_backoff=60, execution_timeout=10)
    @on_event
    def created(self, event: DomainEvent[OrderCreated]) -> object:
        """A cart has the id of its owner."""
        if not event.body.from_cart:
            return None
        products = frozenset(item.product_id for item in event.body.items)
        return command_builder(RemoveCartItem(product_ids=products)).aggregate_id(event.owner_id)


@stateless_saga(context="shop")
class OrderSaga:
    """Shows both kinds of functions, and that they need send nothing."""

    @on_event
    def paid(self, event: OrderPaid) -> None: ...

    @on_state_event
    def shipped(self, event: OrderShipped, state: OrderState) -> None: ...


# --- the inventory: another context, an aggregate for each product ----------------------------------------------------


@allow_create
class Restock(BaseModel):
    id: str
    quantity: int


class Reserve(BaseModel):
    id: str
    order_id: str
    quantity: int


class Release(BaseModel):
    id: str
    order_id: str


class Restocked(BaseModel):
    quantity: int


class Reserved(BaseModel):
    order_id: str
    quantity: int


class ReservationRefused(BaseModel):
    """A fact that is a failure, too: the saga hears of it, and so does whoever sent the command."""

    order_id: str
    left: int
    error_code: str = "ReservationRefused"


class Released(BaseModel):
    order_id: str
    quantity: int


class StockState(BaseModel):
    id: str
    left: int = 0
    reserved: dict[str, int] = {}

    @on_sourcing
    def restocked(self, event: Restocked) -> None:
        self.left += event.quantity

    @on_sourcing
    def on_reserved(self, event: Reserved) -> None:
        self.left -= event.quantity
        self.reserved[event.order_id] = event.quantity

    @on_sourcing
    def on_released(self, event: Released) -> None:
        self.left += event.quantity
        del self.reserved[event.order_id]


@aggregate_root(context="inventory")
class Stock:
    def __init__(self, state: StockState) -> None:
        self.state = state

    @on_command
    def restock(self, command: Restock) -> Restocked:
        return Restocked(quantity=command.quantity)

    @on_command
    def reserve(self, command: Reserve) -> Reserved | ReservationRefused | None:
        if command.order_id in self.state.reserved:
            return None
        if self.state.left < command.quantity:
            return ReservationRefused(order_id=command.order_id, left=self.state.left)
        return Reserved(order_id=command.order_id, quantity=command.quantity)

    @on_command
    def release(self, command: Release) -> Released:
        return Released(order_id=command.order_id, quantity=self.state.reserved[command.order_id])


@stateless_saga(context="shop")
class StockSaga:
    """Puts stock aside for an order, and cancels the order when there is none."""

    @on_event
    def created(self, event: DomainEvent[OrderCreated]) -> list[Reserve]:
        return [self._reserve(event.aggregate_id.id, item) for item in event.body.items]

    @on_event
    def refused(self, event: ReservationRefused) -> CancelOrder:
        return CancelOrder(id=event.order_id, reason=f"{event.left} left")

    def _reserve(self, order_id: str, item: OrderItem) -> Reserve:
        return Reserve(id=item.product_id, order_id=order_id, quantity=item.quantity)


# --- who looks on -----------------------------------------------------------------------------------------------------


class BoardRow(BaseModel):
    owner: str
    status: Status
    payable: int


@projection(context="shop")
class OrderBoard:
    """A row for each order, written anew from the whole state: to see an event twice does no harm."""

    @on_state_event
    def moved(self, event: StateEvent[OrderState], views: Views[BoardRow]) -> None:
        state = event.state
        views[event.aggregate_id.id] = BoardRow(owner=event.owner_id, status=state.status, payable=state.payable)


class Post(Protocol):
    def send(self, to: str, text: str) -> None: ...


@event_processor(context="shop")
class Letters:
    @on_event
    def shipped(self, event: DomainEvent[OrderShipped], post: Post) -> None:
        post.send(event.owner_id, f"order {event.aggregate_id.id} is on its way")


shop_context = Context("shop", Order, Cart, Stock, CartSaga, OrderSaga, StockSaga, OrderBoard, Letters)
