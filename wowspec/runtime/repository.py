"""Repositories: a state aggregate from its snapshot and streams, or from its streams alone (STA-033 to STA-041)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from types import CoroutineType
from typing import Any, Protocol

from ..messages.envelopes import DomainEventStream
from ..modeling.identity import AggregateRef
from ..modeling.states import StateMetadata
from ..world.points import EVENT_STORE_LOAD, SNAPSHOT_LOAD
from ..world.trace import Lane
from .event_store import MAX_VERSION, EventStore, InMemoryEventStore
from .facts import next_version
from .later import sync_form
from .snapshots import InMemorySnapshotStore, Snapshot, SnapshotStore, StateTypes, require_state_type
from .sourcing import (
    StateAggregate,
    Supply,
    looks_at_bodies_alone,
    new_state_aggregate,
    restore,
    supply_from_exchange,
)

#: Makes a blank aggregate where there is no snapshot; may also start at a later version (STA-039).
Factory = Callable[[StateMetadata, AggregateRef, Supply | None], StateAggregate]


class At(Protocol):
    """How an effect passes its point: `World.carry`."""

    def __call__(self, point: str, lane: Lane, subject: Any, detail: str, effect: Callable[[Any], Any], /) -> Any:
        """Pass a point and give what the effect gives, or a coroutine of it."""
        ...


class StateAggregateRepository:
    """Loads state aggregates; an unknown id is a blank aggregate, never an error (STA-037).

    With a snapshot store it starts from the snapshot where there is one; without, it replays all streams (STA-040).

    Args:
        event_store: where the streams are.
        snapshot_store: where the snapshots are, or None.
        at: passes the points `snapshot.load` and `event_store.load`; a lane must then come with each load.
        types: the state type of a named aggregate, for loads that name no metadata.
        supply: further arguments of sourcing functions.
        factory: makes the aggregate that a replay starts from.
    """

    __slots__ = (
        "_at",
        "_factory",
        "_load",
        "_load_by_time",
        "_load_snapshot",
        "_peek",
        "_restores",
        "_supply",
        "_types",
    )

    def __init__(
        self,
        event_store: EventStore | InMemoryEventStore,
        snapshot_store: SnapshotStore | InMemorySnapshotStore | None = None,
        *,
        at: At | None = None,
        types: StateTypes | None = None,
        supply: Supply | None = None,
        factory: Factory = new_state_aggregate,
    ) -> None:
        self._at = at
        self._types = types or _no_types
        self._supply = supply
        self._factory = factory
        self._load = sync_form(event_store, "load")
        self._load_by_time = sync_form(event_store, "load_by_event_time")
        self._peek = getattr(event_store, "peek", self._load)
        self._load_snapshot = None if snapshot_store is None else sync_form(snapshot_store, "load")
        self._restores = type(snapshot_store) is InMemorySnapshotStore

    def load(
        self, aggregate_id: AggregateRef, metadata: StateMetadata | None = None, lane: Lane | None = None
    ) -> Coroutine[Any, Any, StateAggregate]:
        """The latest state: snapshot if there is one, then every stream after it (STA-033, STA-034).

        Raises:
            IllegalStateError: at once, if no metadata is given and the aggregate has no type (STA-038).
            SourcingVersionConflictError: at the await, if the streams have a gap.
        """
        return self._latest(aggregate_id, metadata or self._type_of(aggregate_id), lane)

    def load_version(
        self,
        aggregate_id: AggregateRef,
        metadata: StateMetadata | None = None,
        *,
        tail_version: int,
        lane: Lane | None = None,
    ) -> Coroutine[Any, Any, StateAggregate]:
        """The state at a version, replayed from the first stream; the largest version means the latest (STA-035).

        Raises:
            IllegalStateError: as in `load`.
            IllegalArgumentError: at the await, for a version below 1.
        """
        if tail_version == MAX_VERSION:
            return self.load(aggregate_id, metadata, lane)
        return self._at_version(aggregate_id, metadata or self._type_of(aggregate_id), tail_version, lane)

    def load_event_time(
        self,
        aggregate_id: AggregateRef,
        metadata: StateMetadata | None = None,
        *,
        tail_event_time: int,
        lane: Lane | None = None,
    ) -> Coroutine[Any, Any, StateAggregate]:
        """The state at a time in epoch milliseconds, replayed from time 1 on (STA-036).

        Raises:
            IllegalStateError: as in `load`.
            IllegalArgumentError: at the await, for a time below 1.
        """
        return self._at_event_time(aggregate_id, metadata or self._type_of(aggregate_id), tail_event_time, lane)

    def _type_of(self, aggregate_id: AggregateRef) -> StateMetadata:
        return require_state_type(self._types, aggregate_id.named_aggregate)

    async def _latest(self, aggregate_id: AggregateRef, metadata: StateMetadata, lane: Lane | None) -> StateAggregate:
        load_snapshot = self._load_snapshot
        snapshot: Snapshot | None = None
        if load_snapshot is not None:
            loading = self._pass(SNAPSHOT_LOAD, lane, aggregate_id, "", load_snapshot)
            snapshot = await loading if type(loading) is CoroutineType else loading
        if snapshot is None:
            aggregate = self._factory(metadata, aggregate_id, self._supply)
        else:
            aggregate = self._restored(metadata, snapshot)
        streams = self._streams_of(aggregate, MAX_VERSION, lane)
        return _sourced(aggregate, await streams if type(streams) is CoroutineType else streams)

    def _restored(self, metadata: StateMetadata, snapshot: Snapshot) -> StateAggregate:
        found = snapshot.state_aggregate
        if self._restores and isinstance(found, StateAggregate) and found.metadata is metadata:
            # The store in memory makes a writable aggregate for each load, which nobody else has.
            found.supply = self._supply or supply_from_exchange
            return found
        return restore(metadata, snapshot, snapshot.state, self._supply)

    async def _at_version(
        self, aggregate_id: AggregateRef, metadata: StateMetadata, tail_version: int, lane: Lane | None
    ) -> StateAggregate:
        aggregate = self._factory(metadata, aggregate_id, self._supply)
        streams = self._streams_of(aggregate, tail_version, lane)
        return _sourced(aggregate, await streams if type(streams) is CoroutineType else streams)

    def _streams_of(self, aggregate: StateAggregate, tail_version: int, lane: Lane | None) -> Any:
        """The streams that follow, up to a version; a coroutine of them where it must be awaited."""
        aggregate_id, head = aggregate.aggregate_id, next_version(aggregate.version)
        load = self._peek if looks_at_bodies_alone(aggregate.metadata) else self._load
        return self._pass(
            EVENT_STORE_LOAD, lane, aggregate_id, f"from v{head}", lambda ref: load(ref, head, tail_version)
        )

    async def _at_event_time(
        self, aggregate_id: AggregateRef, metadata: StateMetadata, tail_event_time: int, lane: Lane | None
    ) -> StateAggregate:
        aggregate = self._factory(metadata, aggregate_id, self._supply)
        head, load = aggregate.event_time + 1, self._load_by_time
        loading = self._pass(
            EVENT_STORE_LOAD,
            lane,
            aggregate_id,
            f"from v{aggregate.expected_next_version}",
            lambda ref: load(ref, head, tail_event_time),
        )
        return _sourced(aggregate, await loading if type(loading) is CoroutineType else loading)

    def _pass(
        self, point: str, lane: Lane | None, aggregate_id: AggregateRef, detail: str, effect: Callable[[Any], Any]
    ) -> Any:
        if self._at is None or lane is None:
            return effect(aggregate_id)
        return self._at(point, lane, aggregate_id, detail, effect)


def _sourced(aggregate: StateAggregate, streams: list[DomainEventStream]) -> StateAggregate:
    for stream in streams:
        aggregate.on_sourcing(stream)
    return aggregate


def _no_types(_: Any) -> None:
    return None
