"""An order, of which two sagas tell the delivery at once: what goes into it, and that it may leave."""

from __future__ import annotations

from pydantic import BaseModel

from wowspec import (
    Context,
    DomainEvent,
    IllegalStateError,
    aggregate_root,
    allow_create,
    create_aggregate,
    on_command,
    on_event,
    on_sourcing,
    stateless_saga,
)


@create_aggregate
class PlaceOrder(BaseModel):
    id: str


class OrderPlaced(BaseModel):
    pass


class OrderState(BaseModel):
    id: str


@aggregate_root(context="deliveries")
class Order:
    def __init__(self, state: OrderState) -> None:
        self.state = state

    @on_command
    def place(self, command: PlaceOrder) -> OrderPlaced:
        return OrderPlaced()


@allow_create
class Pick(BaseModel):
    """Take the goods of an order from the shelf."""

    id: str
    order_id: str


class Picked(BaseModel):
    order_id: str


class ShelfState(BaseModel):
    id: str
    picked_for: list[str] = []

    @on_sourcing
    def was_picked(self, event: Picked) -> None:
        self.picked_for.append(event.order_id)


@aggregate_root(context="deliveries")
class Shelf:
    def __init__(self, state: ShelfState) -> None:
        self.state = state

    @on_command
    def pick(self, command: Pick) -> Picked | None:
        return None if command.order_id in self.state.picked_for else Picked(order_id=command.order_id)


@allow_create
class Charge(BaseModel):
    """Take the money for an order."""

    id: str
    order_id: str


class Charged(BaseModel):
    order_id: str


class TillState(BaseModel):
    id: str
    charged_for: list[str] = []

    @on_sourcing
    def was_charged(self, event: Charged) -> None:
        self.charged_for.append(event.order_id)


@aggregate_root(context="deliveries")
class Till:
    def __init__(self, state: TillState) -> None:
        self.state = state

    @on_command
    def charge(self, command: Charge) -> Charged | None:
        return None if command.order_id in self.state.charged_for else Charged(order_id=command.order_id)


@allow_create
class Pack(BaseModel):
    id: str


@allow_create
class Dispatch(BaseModel):
    id: str


class Packed(BaseModel):
    pass


class Dispatched(BaseModel):
    pass


class DeliveryState(BaseModel):
    id: str
    packed: bool = False
    dispatched: bool = False

    @on_sourcing
    def was_packed(self, event: Packed) -> None:
        self.packed = True

    @on_sourcing
    def was_dispatched(self, event: Dispatched) -> None:
        self.dispatched = True


@aggregate_root(context="deliveries")
class Delivery:
    """Refuses to leave before it is packed."""

    def __init__(self, state: DeliveryState) -> None:
        self.state = state

    @on_command
    def pack(self, command: Pack) -> Packed | None:
        return None if self.state.packed else Packed()

    @on_command
    def dispatch(self, command: Dispatch) -> Dispatched | None:
        if self.state.dispatched:
            return None
        if not self.state.packed:
            raise IllegalStateError("there is nothing to dispatch")
        return Dispatched()


@stateless_saga(context="deliveries")
class ShelfSaga:
    @on_event
    def placed(self, event: DomainEvent[OrderPlaced]) -> Pick:
        return Pick(id="shelf", order_id=event.aggregate_id.id)

    @on_event
    def picked(self, event: DomainEvent[Picked]) -> Pack:
        return Pack(id=event.body.order_id)


@stateless_saga(context="deliveries")
class TillSaga:
    """The defect: money and goods go their own ways, and nothing says which of them comes first."""

    @on_event
    def placed(self, event: DomainEvent[OrderPlaced]) -> Charge:
        return Charge(id="till", order_id=event.aggregate_id.id)

    @on_event
    def charged(self, event: DomainEvent[Charged]) -> Dispatch:
        return Dispatch(id=event.body.order_id)


@stateless_saga(context="deliveries")
class PatientTillSaga:
    """Corrected: the money is taken for what is packed, so that what leaves is packed."""

    @on_event
    def packed(self, event: DomainEvent[Packed]) -> Charge:
        return Charge(id="till", order_id=event.aggregate_id.id)

    @on_event
    def charged(self, event: DomainEvent[Charged]) -> Dispatch:
        return Dispatch(id=event.body.order_id)


defective = Context("deliveries", Order, Shelf, Till, Delivery, ShelfSaga, TillSaga)
corrected = Context("deliveries", Order, Shelf, Till, Delivery, ShelfSaga, PatientTillSaga)
