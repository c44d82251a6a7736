"""A domain of one aggregate."""

from pydantic import BaseModel

from wowspec import IllegalStateError, aggregate_root, on_command, on_sourcing


class PayOrder(BaseModel):
    id: str
    amount: int = 1


class BreakOrder(BaseModel):
    id: str


class OrderCreated(BaseModel):
    customer: str = "u-1"


class OrderPaid(BaseModel):
    amount: int = 1


class OrderRemarked(BaseModel):
    """Sourced by nobody."""

    text: str = ""


class OrderState(BaseModel):
    id: str
    paid: int = 0

    @on_sourcing
    def created(self, event: OrderCreated) -> None:
        pass

    @on_sourcing
    def order_paid(self, event: OrderPaid) -> None:
        self.paid += event.amount


@aggregate_root(context="shop")
class Order:
    def __init__(self, state: OrderState) -> None:
        self.state = state

    @on_command
    def pay(self, command: PayOrder) -> OrderPaid:
        if self.state.paid:
            raise IllegalStateError("the order is paid already")
        return OrderPaid(amount=command.amount)

    @on_command
    def break_it(self, command: BreakOrder) -> OrderPaid:
        return OrderPaid(amount=command.nothing)
