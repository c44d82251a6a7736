"""An order: created at today's prices, paid, shipped, received; or cancelled by the one who owns it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Protocol

from pydantic import BaseModel, Field

from wowspec import (
    CommandMessage,
    CommandResultAccessor,
    DomainError,
    IllegalStateError,
    ReadOnlyStateAggregate,
    ServerCommandExchange,
    after_command,
    aggregate_root,
    create_aggregate,
    on_command,
    on_error,
    on_sourcing,
)


class OrderItem(BaseModel):
    product_id: str
    price: Annotated[int, Field(gt=0)]
    quantity: Annotated[int, Field(gt=0)] = 1


class Address(BaseModel):
    country: str
    province: Annotated[str, Field(min_length=1)]
    street: Annotated[str, Field(min_length=1)]


# --- commands ---------------------------------------------------------------------------------------------------------


@create_aggregate
class CreateOrder(BaseModel):
    items: Annotated[list[OrderItem], Field(min_length=1)]
    address: Address
    from_cart: bool = False

    def validate_command(self) -> None:
        """What no single field can say: asked before the command is even sent."""
        if self.address.country != "China":
            raise ValueError(f"we do not deliver to {self.address.country}")


class ChangeAddress(BaseModel):
    id: str
    address: Address


class PayOrder(BaseModel):
    id: str
    payment_id: Annotated[str, Field(min_length=1)]
    amount: Annotated[int, Field(gt=0)]


class ShipOrder(BaseModel):
    id: str


class ReceiveOrder(BaseModel):
    id: str


class CancelOrder(BaseModel):
    id: str
    reason: str = ""


# --- events -----------------------------------------------------------------------------------------------------------


class OrderCreated(BaseModel):
    items: list[OrderItem]
    address: Address
    from_cart: bool = False


class AddressChanged(BaseModel):
    address: Address


class OrderPaid(BaseModel):
    payment_id: str
    amount: int
    paid: bool


class OrderOverPaid(BaseModel):
    payment_id: str
    over: int


class PaymentDuplicated(BaseModel):
    """An event that is an error, too: it is stored, and the command's sender is told of a failure."""

    payment_id: str
    error_code: str = "PaymentDuplicated"
    error_message: str = "the order needs no payment"


class OrderShipped(BaseModel):
    pass


class OrderReceived(BaseModel):
    pass


class BonusGranted(BaseModel):
    points: int


class OrderCancelled(BaseModel):
    reason: str


# --- state ------------------------------------------------------------------------------------------------------------


class Status(StrEnum):
    CREATED = "CREATED"
    PAID = "PAID"
    SHIPPED = "SHIPPED"
    RECEIVED = "RECEIVED"
    CANCELLED = "CANCELLED"


class OrderState(BaseModel):
    id: str
    items: list[OrderItem] = []
    address: Address | None = None
    total: int = 0
    paid: int = 0
    status: Status = Status.CREATED
    bonus: int = 0

    @property
    def payable(self) -> int:
        return self.total - self.paid

    def extract_tags(self, aggregate: ReadOnlyStateAggregate) -> dict[str, list[str]]:
        """What orders are found by. Old values stay: an order that moved is found in both of its provinces."""
        tags = dict(aggregate.tags)
        if self.address is not None:
            for key, value in (("country", self.address.country), ("province", self.address.province)):
                tags[key] = sorted({*tags.get(key, ()), value})
        return tags

    @on_sourcing
    def created(self, event: OrderCreated) -> None:
        self.items = event.items
        self.address = event.address
        self.total = sum(item.price * item.quantity for item in event.items)

    @on_sourcing
    def address_changed(self, event: AddressChanged) -> None:
        self.address = event.address

    @on_sourcing
    def order_paid(self, event: OrderPaid) -> None:
        self.paid += event.amount
        if event.paid:
            self.status = Status.PAID

    @on_sourcing
    def shipped(self, event: OrderShipped) -> None:
        self.status = Status.SHIPPED

    @on_sourcing
    def received(self, event: OrderReceived) -> None:
        self.status = Status.RECEIVED

    @on_sourcing
    def bonus_granted(self, event: BonusGranted) -> None:
        self.bonus += event.points

    @on_sourcing
    def cancelled(self, event: OrderCancelled) -> None:
        self.status = Status.CANCELLED


# --- what the order asks of others ------------------------------------------------------------------------------------


class Warehouse(Protocol):
    def price_of(self, product_id: str) -> int: ...

    def stock_of(self, product_id: str) -> int: ...


class PaymentLog(Protocol):
    def refused(self, payment_id: str, why: str) -> None: ...


# --- decisions --------------------------------------------------------------------------------------------------------


@aggregate_root(context="shop")
class Order:
    def __init__(self, state: OrderState) -> None:
        self.state = state

    @on_command
    async def create(self, command: CreateOrder, warehouse: Warehouse, result: CommandResultAccessor) -> OrderCreated:
        for item in command.items:
            price, stock = warehouse.price_of(item.product_id), warehouse.stock_of(item.product_id)
            if item.price != price:
                raise DomainError("PriceChanged", f"{item.product_id} costs {price} now, not {item.price}")
            if item.quantity > stock:
                raise DomainError("OutOfStock", f"{stock} of {item.product_id} are left")
        result.set_command_result("total", sum(item.price * item.quantity for item in command.items))
        return OrderCreated(items=command.items, address=command.address, from_cart=command.from_cart)

    @on_command
    def change_address(self, command: ChangeAddress) -> AddressChanged:
        self._require(Status.CREATED, "change the address of")
        return AddressChanged(address=command.address)

    @on_command
    def pay(self, command: PayOrder) -> list[OrderPaid | OrderOverPaid] | PaymentDuplicated:
        if self.state.status is not Status.CREATED:
            return PaymentDuplicated(payment_id=command.payment_id)
        payable = self.state.payable
        if command.amount <= payable:
            return [OrderPaid(payment_id=command.payment_id, amount=command.amount, paid=command.amount == payable)]
        return [
            OrderPaid(payment_id=command.payment_id, amount=payable, paid=True),
            OrderOverPaid(payment_id=command.payment_id, over=command.amount - payable),
        ]

    @on_command
    def ship(self, command: ShipOrder) -> OrderShipped:
        self._require(Status.PAID, "ship")
        return OrderShipped()

    @on_command
    def receive(self, command: ReceiveOrder) -> OrderReceived:
        self._require(Status.SHIPPED, "receive")
        return OrderReceived()

    @on_command
    def cancel(self, command: CancelOrder) -> OrderCancelled:
        self._require(Status.CREATED, "cancel")
        return OrderCancelled(reason=command.reason)

    @after_command(include=ReceiveOrder)
    def grant_bonus(self, command: CommandMessage[ReceiveOrder]) -> BonusGranted | None:
        """Asked after the command function; its event goes into the same stream."""
        points = self.state.total // 100
        return BonusGranted(points=points) if points else None

    @on_error
    def payment_failed(self, exchange: ServerCommandExchange[PayOrder], log: PaymentLog) -> None:
        """Told of each failed payment; the error itself goes on to the sender."""
        log.refused(exchange.message.body.payment_id, str(exchange.error))

    def _require(self, status: Status, what: str) -> None:
        if self.state.status is not status:
            raise IllegalStateError(f"cannot {what} an order that is {self.state.status}")
