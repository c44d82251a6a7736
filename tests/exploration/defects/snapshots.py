"""A meter with a snapshot store of its own, beside the runtime's."""

from __future__ import annotations

from pydantic import BaseModel

from wowspec import (
    Context,
    ServerCommandExchange,
    StateEvent,
    after_command,
    aggregate_root,
    allow_create,
    event_processor,
    on_command,
    on_sourcing,
    on_state_event,
)


class Snapshots:
    """The latest reading of each meter. The defect: it is saved when it is decided, before it is stored.

    Attributes:
        saved: version and reading by meter.
    """

    def __init__(self) -> None:
        self.saved: dict[str, tuple[int, int]] = {}

    def decided(self, meter_id: str, version: int, reading: int) -> None:
        """A command came to this."""
        self.save(meter_id, version, reading)

    def published(self, meter_id: str, version: int, reading: int) -> None:
        """It is stored, and everybody was told."""
        self.save(meter_id, version, reading)

    def save(self, meter_id: str, version: int, reading: int) -> None:
        """Keep it, unless a later one is kept."""
        if self.version(meter_id) < version:
            self.saved[meter_id] = (version, reading)

    def version(self, meter_id: str) -> int:
        """Which version is saved; 0 for none."""
        return self.saved[meter_id][0] if meter_id in self.saved else 0


class PatientSnapshots(Snapshots):
    """Corrected: what was merely decided is not saved."""

    def decided(self, meter_id: str, version: int, reading: int) -> None:
        """A command came to this, which may never be stored."""


@allow_create
class Read(BaseModel):
    id: str
    reading: int


class ReadingTaken(BaseModel):
    reading: int


class MeterState(BaseModel):
    id: str
    reading: int = 0

    @on_sourcing
    def taken(self, event: ReadingTaken) -> None:
        self.reading = event.reading


@aggregate_root(context="snapshots")
class Meter:
    def __init__(self, state: MeterState) -> None:
        self.state = state

    @on_command
    def read(self, command: Read) -> ReadingTaken:
        return ReadingTaken(reading=command.reading)

    @after_command
    def decided(self, exchange: ServerCommandExchange[Read], snapshots: Snapshots) -> None:
        version = exchange.command_aggregate.state.version + 1
        snapshots.decided(exchange.aggregate_id.id, version, exchange.message.body.reading)


@event_processor(context="snapshots")
class Readings:
    @on_state_event
    def changed(self, event: StateEvent[MeterState], snapshots: Snapshots) -> None:
        snapshots.published(event.aggregate_id.id, event.version, event.state.reading)


meters = Context("snapshots", Meter, Readings)
