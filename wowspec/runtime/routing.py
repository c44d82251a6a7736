"""Stores that send each aggregate's operations to a store of its own (EVT-028, EVT-029, SNP-013)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from ..messages.envelopes import DomainEventStream
from ..modeling.identity import AggregateRef, NamedAggregate
from .event_store import DEFAULT_HEAD_VERSION, DEFAULT_SCAN_LIMIT, DEFAULT_TAIL_VERSION, FIRST_ID, EventStore
from .snapshots import Snapshot, SnapshotStore, version_now


class RoutingEventStore:
    """Sends every operation to the store of its named aggregate, else to the default one (EVT-028, EVT-029)."""

    __slots__ = ("_closed", "_default", "_routes")

    def __init__(self, default: EventStore, routes: Mapping[NamedAggregate, EventStore]) -> None:
        self._default = default
        self._routes = dict(routes)
        self._closed = False

    def _of(self, aggregate_id: AggregateRef) -> EventStore:
        return self._routes.get(aggregate_id.named_aggregate, self._default)

    def append(self, stream: DomainEventStream) -> Awaitable[None]:
        """See `EventStore.append`."""
        return self._of(stream.aggregate_id).append(stream)

    def load(
        self,
        aggregate_id: AggregateRef,
        head_version: int = DEFAULT_HEAD_VERSION,
        tail_version: int = DEFAULT_TAIL_VERSION,
    ) -> Awaitable[list[DomainEventStream]]:
        """See `EventStore.load`."""
        return self._of(aggregate_id).load(aggregate_id, head_version, tail_version)

    def load_by_event_time(
        self, aggregate_id: AggregateRef, head_event_time: int, tail_event_time: int
    ) -> Awaitable[list[DomainEventStream]]:
        """See `EventStore.load_by_event_time`."""
        return self._of(aggregate_id).load_by_event_time(aggregate_id, head_event_time, tail_event_time)

    def single(self, aggregate_id: AggregateRef, version: int) -> Awaitable[DomainEventStream | None]:
        """See `EventStore.single`."""
        return self._of(aggregate_id).single(aggregate_id, version)

    def last(self, aggregate_id: AggregateRef) -> Awaitable[DomainEventStream | None]:
        """See `EventStore.last`."""
        return self._of(aggregate_id).last(aggregate_id)

    def exists_request_id(self, aggregate_id: AggregateRef, request_id: str) -> Awaitable[bool]:
        """See `EventStore.exists_request_id`."""
        return self._of(aggregate_id).exists_request_id(aggregate_id, request_id)

    def scan_aggregate_id(
        self, named_aggregate: NamedAggregate, after_id: str = FIRST_ID, limit: int = DEFAULT_SCAN_LIMIT
    ) -> Awaitable[list[AggregateRef]]:
        """See `EventStore.scan_aggregate_id`."""
        store = self._routes.get(named_aggregate, self._default)
        return store.scan_aggregate_id(named_aggregate, after_id, limit)

    def close(self) -> None:
        """Close every leaf once; a second call does nothing (EVT-029)."""
        if not self._closed:
            self._closed = True
            close_leaves(store.close for store in distinct((self._default, *self._routes.values())))


class RoutingSnapshotStore:
    """Sends every operation to the store of its named aggregate, else to the default one (SNP-013)."""

    __slots__ = ("_closed", "_default", "_routes")

    def __init__(self, default: SnapshotStore, routes: Mapping[NamedAggregate, SnapshotStore]) -> None:
        self._default = default
        self._routes = dict(routes)
        self._closed = False

    @property
    def name(self) -> str:
        """`routing` (SNP-011)."""
        return "routing"

    def _of(self, aggregate_id: AggregateRef) -> SnapshotStore:
        return self._routes.get(aggregate_id.named_aggregate, self._default)

    def load(self, aggregate_id: AggregateRef) -> Awaitable[Snapshot | None]:
        """See `SnapshotStore.load`."""
        return self._of(aggregate_id).load(aggregate_id)

    def get_version(self, aggregate_id: AggregateRef) -> Awaitable[int]:
        """See `SnapshotStore.get_version`."""
        return self._of(aggregate_id).get_version(aggregate_id)

    def get_version_now(self, aggregate_id: AggregateRef) -> int:
        """Version of the stored snapshot; a `SpecError` where the leaf answers only later."""
        return version_now(self._of(aggregate_id), aggregate_id)

    def save(self, snapshot: Snapshot) -> Awaitable[None]:
        """See `SnapshotStore.save`."""
        return self._of(snapshot.aggregate_id).save(snapshot)

    def close(self) -> None:
        """Close every leaf once; a second call does nothing (EVT-029)."""
        if not self._closed:
            self._closed = True
            close_leaves(store.close for store in distinct((self._default, *self._routes.values())))


def distinct(stores: Iterable[Any]) -> list[Any]:
    """The stores, each object once, in order."""
    return list({id(store): store for store in stores}.values())


def close_leaves(closers: Iterable[Callable[[], None]]) -> None:
    """Call each, whatever the others do; then raise the first failure, with the later ones as notes (EVT-029)."""
    first: Exception | None = None
    noted: list[Exception] = []
    for close in closers:
        try:
            close()
        except Exception as error:  # noqa: BLE001 - the leaves after it are closed first
            if first is None:
                first = error
            elif error is not first and error not in noted:
                noted.append(error)
                first.add_note(f"then also: {error!r}")
    if first is not None:
        raise first
