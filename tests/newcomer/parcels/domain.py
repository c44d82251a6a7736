"""A parcel service: parcels are booked in one context, vans carry them in another."""

from typing import Annotated, Protocol

from pydantic import BaseModel, Field

from wowspec import (
    AggregateId,
    Context,
    DomainEvent,
    IllegalStateError,
    StateEvent,
    Views,
    aggregate_root,
    command_builder,
    create_aggregate,
    event_processor,
    on_command,
    on_event,
    on_sourcing,
    on_state_event,
    projection,
    stateless_saga,
)


# -- parcels ----------------------------------------------------------------------------------------------------------
@create_aggregate
class BookParcel(BaseModel):
    parcel_no: Annotated[str, AggregateId()]
    van: str
    kilos: Annotated[int, Field(gt=0)]
    insured: bool = False


class CancelParcel(BaseModel):
    id: str
    why: str


class ParcelBooked(BaseModel):
    van: str
    kilos: int
    insured: bool = False


class ParcelCancelled(BaseModel):
    why: str


class ParcelState(BaseModel):
    id: str
    van: str = ""
    kilos: int = 0
    status: str = "new"

    @on_sourcing
    def booked(self, event: ParcelBooked) -> None:
        self.van, self.kilos, self.status = event.van, event.kilos, "booked"

    @on_sourcing
    def cancelled(self, event: ParcelCancelled) -> None:
        self.status = "cancelled"


@aggregate_root(context="parcels")
class Parcel:
    def __init__(self, state: ParcelState) -> None:
        self.state = state

    @on_command
    def book(self, command: BookParcel) -> ParcelBooked:
        return ParcelBooked(van=command.van, kilos=command.kilos, insured=command.insured)

    @on_command
    def cancel(self, command: CancelParcel) -> ParcelCancelled | None:
        if self.state.status == "cancelled":
            return None
        return ParcelCancelled(why=command.why)


# -- fleet ------------------------------------------------------------------------------------------------------------
@create_aggregate
class CommissionVan(BaseModel):
    id: str
    capacity: int


class LoadParcel(BaseModel):
    id: str
    parcel: str
    kilos: int


class UnloadParcel(BaseModel):
    id: str
    parcel: str


class SealParcel(BaseModel):
    id: str
    parcel: str


class VanCommissioned(BaseModel):
    capacity: int


class ParcelLoaded(BaseModel):
    parcel: str
    kilos: int


class LoadRefused(BaseModel):
    parcel: str
    why: str


class ParcelUnloaded(BaseModel):
    parcel: str


class ParcelSealed(BaseModel):
    parcel: str


class VanState(BaseModel):
    id: str
    capacity: int = 0
    load: dict[str, int] = {}

    @on_sourcing
    def commissioned(self, event: VanCommissioned) -> None:
        self.capacity = event.capacity

    @on_sourcing
    def loaded(self, event: ParcelLoaded) -> None:
        self.load[event.parcel] = event.kilos

    @on_sourcing
    def unloaded(self, event: ParcelUnloaded) -> None:
        self.load.pop(event.parcel, None)


@aggregate_root(context="fleet")
class Van:
    def __init__(self, state: VanState) -> None:
        self.state = state

    @on_command
    def commission(self, command: CommissionVan) -> VanCommissioned:
        return VanCommissioned(capacity=command.capacity)

    @on_command
    def load(self, command: LoadParcel) -> ParcelLoaded | LoadRefused:
        if command.kilos > 1000:
            raise IllegalStateError("no van carries a ton")
        if sum(self.state.load.values()) + command.kilos > self.state.capacity:
            return LoadRefused(parcel=command.parcel, why="full")
        return ParcelLoaded(parcel=command.parcel, kilos=command.kilos)

    @on_command
    def unload(self, command: UnloadParcel) -> ParcelUnloaded:
        return ParcelUnloaded(parcel=command.parcel)

    @on_command
    def seal(self, command: SealParcel) -> ParcelSealed:
        return ParcelSealed(parcel=command.parcel)


# -- sagas ------------------------------------------------------------------------------------------------------------
@stateless_saga(context="fleet")
class Dispatch:
    """Loads what is booked; unloads what is cancelled."""

    @on_event
    def booked(self, event: DomainEvent[ParcelBooked]):
        body, parcel = event.body, event.aggregate_id.id
        if not body.van:
            return None
        load = LoadParcel(id=body.van, parcel=parcel, kilos=body.kilos)
        return [load, SealParcel(id=body.van, parcel=parcel)] if body.insured else load


@stateless_saga(context="parcels")
class Refusals:
    """Compensates: a parcel that no van takes is cancelled."""

    @on_event
    def refused(self, event: LoadRefused) -> CancelParcel:
        return CancelParcel(id=event.parcel, why=event.why)


@stateless_saga(context="fleet")
class Twice:
    """Two functions of one event."""

    @on_event
    def load(self, event: DomainEvent[ParcelBooked]) -> LoadParcel:
        return LoadParcel(id=event.body.van, parcel=event.aggregate_id.id, kilos=event.body.kilos)

    @on_event
    def seal(self, event: DomainEvent[ParcelBooked]) -> SealParcel:
        return SealParcel(id=event.body.van, parcel=event.aggregate_id.id)


class Routes(Protocol):
    def van_for(self, kilos: int) -> str: ...


@stateless_saga(context="fleet")
class Routing:
    @on_event
    async def booked(self, event: DomainEvent[ParcelBooked], routes: Routes):
        body = LoadParcel(id=routes.van_for(event.body.kilos), parcel=event.aggregate_id.id, kilos=event.body.kilos)
        return command_builder(body).owner_id("dispatcher")


# -- read side --------------------------------------------------------------------------------------------------------
class Row(BaseModel):
    parcels: int = 0
    kilos: int = 0


@projection(context="fleet")
class Loads:
    @on_event
    def loaded(self, event: DomainEvent[ParcelLoaded], views: Views[Row]) -> None:
        row = views.setdefault(event.aggregate_id.id, Row())
        row.parcels += 1
        row.kilos += event.body.kilos


@projection(context="parcels")
class Statuses:
    @on_state_event
    def moved(self, event: StateEvent[ParcelState], views: Views[str]) -> None:
        views[event.aggregate_id.id] = event.state.status


class Sms(Protocol):
    def send(self, text: str) -> None: ...


@event_processor(context="parcels")
class Notices:
    @on_event
    def cancelled(self, event: DomainEvent[ParcelCancelled], sms: Sms) -> None:
        sms.send(f"{event.aggregate_id.id}: {event.body.why}")


parcels = Context("parcels", Parcel, Refusals, Statuses, Notices)
fleet = Context("fleet", Van, Dispatch, Loads)
