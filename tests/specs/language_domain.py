"""A small shop for the tests of the language: every sort of command, aggregate and refusal that the rules speak of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, Field

from wowspec import (
    AggregateId,
    Clock,
    CommandResultAccessor,
    DomainError,
    IllegalStateError,
    TenantId,
    aggregate_root,
    allow_create,
    create_aggregate,
    on_command,
    on_sourcing,
    recoverable,
    void_command,
)

# --- orders: made by a command of their own ---------------------------------------------------------------------------


@create_aggregate
class CreateOrder(BaseModel):
    id: str | None = None
    customer: str = "u-1"


class PayOrder(BaseModel):
    id: str
    amount: Annotated[int, Field(gt=0)] = 1


class ShipOrder(BaseModel):
    id: str


class CancelOrder(BaseModel):
    """A command without an id of its own."""

    reason: str = ""


class ExpressShipOrder(ShipOrder):
    """A subclass that no function takes."""


class BreakOrder(BaseModel):
    """Raises what its field says."""

    id: str
    how: str


class LookAtOrder(BaseModel):
    id: str


class SplitOrder(BaseModel):
    """Gives several events, in the way that its field says."""

    id: str
    how: str


@void_command
class ViewOrder(BaseModel):
    id: Annotated[str, AggregateId()]


class OrderCreated(BaseModel):
    customer: str = "u-1"


class OrderPaid(BaseModel):
    amount: int = 1


class OrderOverPaid(OrderPaid):
    pass


class OrderShipped(BaseModel):
    pass


class OrderCancelled(BaseModel):
    reason: str = ""


class OrderViewed(BaseModel):
    """Returned by a command function, sourced by nobody."""


class LegacyNote(BaseModel):
    """An event that no aggregate of this shop knows."""

    text: str = ""


class OrderState(BaseModel):
    id: str
    customer: str = ""
    status: str = "NEW"
    paid: int = 0
    notes: list[str] = []

    @on_sourcing
    def created(self, event: OrderCreated) -> None:
        self.customer = event.customer
        self.status = "CREATED"

    @on_sourcing
    def order_paid(self, event: OrderPaid) -> None:
        self.paid += event.amount
        self.status = "PAID"

    @on_sourcing
    def shipped(self, event: OrderShipped) -> None:
        self.status = "SHIPPED"

    @on_sourcing
    def cancelled(self, event: OrderCancelled) -> None:
        self.status = "CANCELLED"


@recoverable
class Flaky(Exception):
    """An error that the runtime retries."""


class Refused:
    """Neither an error class nor raised: an object that says a code and a message."""


class Coded(Exception):
    """An error with a code of its own, which knows nothing of the kit."""

    error_code = "OutOfPaper"
    error_message = "the printer has no paper"


RAISES: dict[str, BaseException] = {
    "value": ValueError("not that value"),
    "state": IllegalStateError("not now"),
    "timeout": TimeoutError("too slow"),
    "file": FileNotFoundError("no such file"),
    "domain": DomainError("CartFull", "a cart holds at most 100 items"),
    "coded": Coded(),
    "other": RuntimeError("something else"),
    "flaky": Flaky("try again"),
    "type": TypeError("a bug"),
    "key": KeyError("bug"),
    "attribute": AttributeError("a bug"),
    "name": NameError("a bug"),
    "index": IndexError("a bug"),
    "import": ImportError("a bug"),
    "zero": ZeroDivisionError("a bug"),
    "assertion": AssertionError("a bug"),
    "module": ModuleNotFoundError("a bug"),
}


@aggregate_root(context="shop", commands=[ViewOrder])
class Order:
    def __init__(self, state: OrderState) -> None:
        self.state = state

    @on_command
    def create(self, command: CreateOrder, result: CommandResultAccessor) -> OrderCreated:
        result.set_command_result("customer", command.customer)
        return OrderCreated(customer=command.customer)

    @on_command
    def pay(self, command: PayOrder) -> OrderPaid:
        if self.state.status == "PAID":
            raise IllegalStateError("the order is paid already")
        return OrderPaid(amount=command.amount)

    @on_command
    def ship(self, command: ShipOrder) -> OrderShipped:
        if self.state.status != "PAID":
            raise IllegalStateError("the order is not paid")
        return OrderShipped()

    @on_command
    def look_at(self, command: LookAtOrder) -> OrderViewed:
        return OrderViewed()

    @on_command
    def cancel(self, command: CancelOrder) -> OrderCancelled:
        return OrderCancelled(reason=command.reason)

    @on_command
    def break_it(self, command: BreakOrder) -> OrderPaid:
        if command.how == "pydantic":
            CartItem(product_id="p", quantity=0)
        raise RAISES[command.how].with_traceback(None)

    @on_command
    def split(self, command: SplitOrder) -> Any:
        paid, shipped = OrderPaid(amount=1), OrderShipped()
        ways: dict[str, Any] = {
            "list": [paid, shipped],
            "tuple": (paid, shipped),
            "empty list": [],
            "empty tuple": (),
            "none": None,
            "one": paid,
        }
        if command.how == "generator":
            return _one_by_one(paid, shipped)
        if command.how == "async generator":
            return _one_by_one_awaited(paid, shipped)
        return ways[command.how]


def _one_by_one(*events: Any) -> Iterator[Any]:
    yield from events


async def _one_by_one_awaited(*events: Any) -> AsyncIterator[Any]:
    for event in events:
        yield event


# --- carts: made by the first item ------------------------------------------------------------------------------------


class CartItem(BaseModel):
    product_id: str
    quantity: Annotated[int, Field(gt=0)] = 1


@allow_create
class AddCartItem(BaseModel):
    product_id: str
    quantity: Annotated[int, Field(gt=0)] = 1
    tags: list[str] = []


class CartItemAdded(BaseModel):
    added: CartItem


class CartEmptied(BaseModel):
    pass


@allow_create
class EmptyCart(BaseModel):
    pass


class CartState(BaseModel):
    id: str
    items: list[CartItem] = []

    @on_sourcing
    def item_added(self, event: CartItemAdded) -> None:
        self.items.append(event.added)

    @on_sourcing
    def emptied(self, event: CartEmptied) -> None:
        self.items.clear()


@aggregate_root(context="shop")
class Cart:
    def __init__(self, state: CartState) -> None:
        self.state = state

    @on_command
    def add(self, command: AddCartItem) -> CartItemAdded:
        if len(self.state.items) >= 3:
            raise ValueError("a cart holds at most 3 items")
        return CartItemAdded(added=CartItem(product_id=command.product_id, quantity=command.quantity))

    @on_command
    async def empty(self, command: EmptyCart) -> CartEmptied:
        return CartEmptied()


def item(product_id: str, quantity: int = 1) -> CartItemAdded:
    """One item in the cart."""
    return CartItemAdded(added=CartItem(product_id=product_id, quantity=quantity))


# --- accounts: commands that name their tenant; services; time --------------------------------------------------------


@allow_create
class Open(BaseModel):
    id: Annotated[str, AggregateId()]
    tenant: Annotated[str, TenantId()] = "t-1"


class AskRate(BaseModel):
    id: str


class Wait(BaseModel):
    id: str
    seconds: int = 5


class WaitForReal(BaseModel):
    id: str


class Opened(BaseModel):
    pass


class RateAsked(BaseModel):
    rate: int
    at: int = 0


class AccountState(BaseModel):
    id: str
    tenant_id: str = ""
    rate: int = 0

    @on_sourcing
    def opened(self, event: Opened) -> None:
        """Nothing to keep."""

    @on_sourcing
    def asked(self, event: RateAsked) -> None:
        self.rate = event.rate


class Rates(Protocol):
    def rate(self) -> int: ...


class Bank:
    """A service that counts how often it was asked."""

    def __init__(self, first: int = 1) -> None:
        self.given = first

    def rate(self) -> int:
        self.given += 1
        return self.given - 1


@aggregate_root(context="bank")
class Account:
    def __init__(self, state: AccountState) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened()

    @on_command
    def ask(self, command: AskRate, rates: Rates) -> RateAsked:
        return RateAsked(rate=rates.rate())

    @on_command
    async def wait(self, command: Wait, clock: Clock) -> RateAsked:
        before = clock.now()
        await clock.sleep(seconds=command.seconds)
        return RateAsked(rate=0, at=int((clock.now() - before).total_seconds()))

    @on_command
    async def wait_for_real(self, command: WaitForReal) -> RateAsked:
        await asyncio.sleep(0.001)
        return RateAsked(rate=1)


# --- the same as dataclasses, and in one class ------------------------------------------------------------------------


@dataclass
class StartTask:
    id: str
    title: str = ""


@dataclass
class TaskStarted:
    title: str = ""


@dataclass
class RenameTask:
    id: str
    title: str = ""

    def __post_init__(self) -> None:
        if self.title == "bad":
            raise ValueError("a title that nobody wants")


@aggregate_root(context="office")
@dataclass
class Task:
    """State and decisions in one class."""

    id: str
    title: str = ""
    done: list[str] = field(default_factory=list)

    @on_command
    def start(self, command: StartTask) -> TaskStarted:
        return TaskStarted(title=command.title)

    @on_command
    def rename(self, command: RenameTask) -> TaskStarted:
        return TaskStarted(title=command.title)

    @on_sourcing
    def started(self, event: TaskStarted) -> None:
        self.title = event.title
