"""A small shop whose events the downstream tests publish, and a bench that runs it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel

from wowspec import AggregateId, aggregate_root, allow_create, create_aggregate, on_command, on_sourcing
from wowspec.errors import CommandResultError
from wowspec.messages.envelopes import DomainEvent, DomainEventStream, StateEvent
from wowspec.messages.header import Header
from wowspec.messages.stages import CommandStage
from wowspec.messages.wait_plans import wait_for_stage
from wowspec.modeling.events import event_metadata
from wowspec.modeling.identity import AggregateRef
from wowspec.runtime.catalog import catalog_of
from wowspec.runtime.system import Runtime
from wowspec.world.world import World


class Placed(BaseModel):
    item: str = "pen"


class Rushed(Placed):
    """A kind of `Placed`."""


class Shipped(BaseModel):
    to: str = "ann"


@create_aggregate
class Place(BaseModel):
    id: str = "o-1"
    items: tuple[str, ...] = ("pen",)


class Ship(BaseModel):
    id: str = "o-1"
    to: str = "ann"


class OrderState(BaseModel):
    id: str
    items: list[str] = []
    shipped: bool = False

    @on_sourcing
    def placed(self, event: Placed) -> None:
        self.items.append(event.item)

    @on_sourcing
    def rushed(self, event: Rushed) -> None:
        self.items.append(event.item)

    @on_sourcing
    def was_shipped(self, event: Shipped) -> None:
        self.shipped = True


@aggregate_root(context="shop")
class Order:
    def __init__(self, state: OrderState) -> None:
        self.state = state

    @on_command
    def place(self, command: Place) -> list[Placed]:
        return [Placed(item=item) for item in command.items]

    @on_command
    def ship(self, command: Ship) -> Shipped:
        return Shipped(to=command.to)


class Booked(BaseModel):
    what: str = ""


@allow_create
class Book(BaseModel):
    id: Annotated[str, AggregateId()]
    what: str = ""


class LedgerState(BaseModel):
    id: str
    booked: list[str] = []

    def on_sourcing(self, event: Booked) -> None:
        self.booked.append(event.what)


@aggregate_root(context="shop")
class Ledger:
    def __init__(self, state: LedgerState) -> None:
        self.state = state

    @on_command
    def book(self, command: Book) -> Booked:
        return Booked(what=command.what)


ORDER = AggregateRef("shop", "order", "o-1")
OTHER = AggregateRef("shop", "order", "o-2")


def stream_of(*bodies: Any, version: int = 1, ref: AggregateRef = ORDER, **header: str) -> DomainEventStream:
    """A stream as the runtime makes one: each event has a header of its own."""
    stream_id = f"{ref.id}/v{version}"
    events = []
    for sequence, body in enumerate(bodies, 1):
        metadata = event_metadata(type(body))
        events.append(
            DomainEvent(
                f"{stream_id}#{sequence}", body, ref, version, metadata.name, "c-1", Header(header), sequence,
                sequence == len(bodies), metadata.revision, create_time=1_000 * version,
            )
        )  # fmt: skip
    return DomainEventStream(stream_id, f"r-{version}", Header(header), tuple(events))


def state_event_of(*bodies: Any, version: int = 1, ref: AggregateRef = ORDER, **header: str) -> StateEvent[Any]:
    """A state event of such a stream."""
    return StateEvent(stream_of(*bodies, version=version, ref=ref, **header), OrderState(id=ref.id, items=["pen"]))


class Bench:
    """A runtime of the shop, and what happened in it."""

    def __init__(self, *parts: Any, services: dict[str, Any] | None = None, **options: Any) -> None:
        self.world = World()
        for name, service in (services or {}).items():
            self.world.services.register(service, name=name)
        self.runtime = Runtime(self.world, catalog=catalog_of([Order, Ledger, *parts]), **options)

    def run(self, coro: Any = None) -> Any:
        """Let everything happen that can; the result of a coroutine, or what it raised."""
        task = None if coro is None else self.world.scheduler.spawn(coro, "test")
        self.world.scheduler.run()
        return None if task is None else task.result()

    def send(self, body: Any, stage: CommandStage = CommandStage.PROCESSED, **options: Any) -> str:
        """Send a command and wait for a stage; its error code."""
        message = self.runtime.message(body, **options)
        try:
            return self.run(
                self.runtime.gateway.send_and_wait(message, wait_for_stage(stage).plan(message.id))
            ).error_code
        except CommandResultError as error:
            return error.error_code

    def publish(self, message: Any) -> None:
        """Put a stream, or a state event, on its bus, and let everything happen."""
        runtime = self.runtime
        bus = runtime.state_event_bus if isinstance(message, StateEvent) else runtime.domain_event_bus
        bus.send_now(message)
        self.run()

    @property
    def logged(self) -> list[str]:
        """Where errors were swallowed, and their classes."""
        return [f"{row.point} {type(row.error).__name__}" for row in self.world.log]

    def stored(self, ref: AggregateRef = ORDER) -> list[Any]:
        """The bodies of all stored events of an aggregate."""
        return [event.body for stream in self.runtime.event_store.peek(ref) for event in stream.events]
