"""Snapshots: the stores that keep the latest one of each aggregate, and the strategies that save them (section 10)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ..errors import IllegalStateError, SpecError
from ..messages.codec import decode, encode, remember_namespace
from ..messages.envelopes import StateEvent
from ..modeling.identity import AggregateRef, NamedAggregate
from ..modeling.states import StateMetadata
from .facts import ReadOnlyStateAggregate, Tags, copy_tags, next_version, versions_between
from .later import Later, sync_form
from .sourcing import StateAggregate, Supply, restore

#: The state type of a named aggregate, or None where it has none.
StateTypes = Callable[[NamedAggregate], StateMetadata | None]

#: Saves when the version is this far from the stored snapshot's (SNP-016).
DEFAULT_VERSION_OFFSET: Final = 5


def require_state_type(types: StateTypes, named_aggregate: NamedAggregate) -> StateMetadata:
    """The state type of a named aggregate.

    Raises:
        IllegalStateError: if it has none (STA-038, SER-011).
    """
    metadata = types(named_aggregate)
    if metadata is None:
        message = f"{named_aggregate} has no aggregate type, so its state cannot be made"
        raise IllegalStateError(message)
    return metadata


@dataclass(slots=True)
class Snapshot:
    """A read-only state aggregate, and when the snapshot was made (SNP-001).

    It shows the aggregate as it is at each moment; a store keeps what it is at the save (SNP-008).

    Attributes:
        state_aggregate: a state aggregate, or a state event (SNP-014).
        snapshot_time: epoch milliseconds.
    """

    state_aggregate: ReadOnlyStateAggregate
    snapshot_time: int

    @property
    def aggregate_id(self) -> AggregateRef:
        """Which aggregate."""
        return self.state_aggregate.aggregate_id

    @property
    def state(self) -> Any:
        """The state object."""
        return self.state_aggregate.state

    @property
    def version(self) -> int:
        """Version of the last stream."""
        return self.state_aggregate.version

    @property
    def expected_next_version(self) -> int:
        """The version that the next stream must have."""
        return next_version(self.state_aggregate.version)

    @property
    def initialized(self) -> bool:
        """Whether the version is above 0."""
        return self.state_aggregate.version > 0

    @property
    def owner_id(self) -> str:
        """Owner, or empty."""
        return self.state_aggregate.owner_id

    @property
    def space_id(self) -> str:
        """Space, or empty."""
        return self.state_aggregate.space_id

    @property
    def event_id(self) -> str:
        """Id of the last stream."""
        return self.state_aggregate.event_id

    @property
    def first_operator(self) -> str:
        """Operator of the first stream."""
        return self.state_aggregate.first_operator

    @property
    def operator(self) -> str:
        """Operator of the last stream."""
        return self.state_aggregate.operator

    @property
    def first_event_time(self) -> int:
        """Epoch milliseconds of the first stream."""
        return self.state_aggregate.first_event_time

    @property
    def event_time(self) -> int:
        """Epoch milliseconds of the last stream."""
        return self.state_aggregate.event_time

    @property
    def tags(self) -> Tags:
        """Tags by key."""
        return self.state_aggregate.tags

    @property
    def deleted(self) -> bool:
        """Whether the aggregate is deleted."""
        return self.state_aggregate.deleted


class SnapshotStore(Protocol):
    """Keeps the latest snapshot of each aggregate; nothing is ever deleted (SNP-003)."""

    @property
    def name(self) -> str:
        """What the store is called; not blank."""
        ...

    def load(self, aggregate_id: AggregateRef) -> Awaitable[Snapshot | None]:
        """The stored snapshot with a state object of its own, or None (SNP-007)."""
        ...

    def get_version(self, aggregate_id: AggregateRef) -> Awaitable[int]:
        """Version of the stored snapshot, or 0."""
        ...

    def save(self, snapshot: Snapshot) -> Awaitable[None]:
        """Keep it, unless one of a higher version is stored (SNP-004)."""
        ...

    def close(self) -> None:
        """Give up what the store holds."""


@dataclass(slots=True)
class SnapshotRecord:
    """A saved snapshot: the state as JSON, and everything else as it was at the save. Nobody changes one."""

    aggregate_id: AggregateRef
    version: int
    owner_id: str
    space_id: str
    event_id: str
    first_operator: str
    operator: str
    first_event_time: int
    event_time: int
    tags: Tags
    deleted: bool
    state_json: bytes
    snapshot_time: int


class InMemorySnapshotStore:
    """The store of the in-memory profile: it keeps the state's JSON, so what does not survive JSON is lost (SNP-007).

    Args:
        types: the state type of a named aggregate; one without cannot be loaded (SNP-003).
        supply: further arguments of sourcing functions, for the aggregates that it restores.
    """

    __slots__ = ("_records", "_supply", "_types")

    def __init__(self, types: StateTypes, supply: Supply | None = None) -> None:
        self._types = types
        self._supply = supply
        self._records: dict[AggregateRef, SnapshotRecord] = {}

    @property
    def name(self) -> str:
        """`in_memory` (SNP-011)."""
        return "in_memory"

    def copy(self, types: StateTypes | None = None, supply: Supply | None = None) -> InMemorySnapshotStore:
        """An independent store with the same snapshots, which it shares: they never change."""
        other = InMemorySnapshotStore(types or self._types, supply or self._supply)
        other._records = self._records.copy()
        return other

    def take_over(self, other: InMemorySnapshotStore) -> None:
        """Keep what another store keeps from now on; they share the snapshots, which never change."""
        self._records = other._records.copy()

    def load(self, aggregate_id: AggregateRef) -> Later[Snapshot | None]:
        """See `SnapshotStore.load`."""
        return Later(self.load_now, aggregate_id)

    def load_now(self, aggregate_id: AggregateRef) -> Snapshot | None:
        """The stored snapshot, restored from its JSON."""
        record = self._records.get(aggregate_id)
        return None if record is None else Snapshot(self.restored(record), record.snapshot_time)

    def record(self, aggregate_id: AggregateRef) -> SnapshotRecord | None:
        """What is kept of an aggregate; it never changes."""
        return self._records.get(aggregate_id)

    def aggregate_ids(self) -> list[AggregateRef]:
        """Of which aggregates there are snapshots."""
        return list(self._records)

    def restored(self, record: SnapshotRecord) -> StateAggregate:
        """A state aggregate of one's own from what is kept, its state read from JSON."""
        metadata = require_state_type(self._types, record.aggregate_id.named_aggregate)
        remember_namespace(metadata.cls, metadata.namespace)
        return restore(metadata, record, decode(metadata.cls, record.state_json), self._supply)

    def get_version(self, aggregate_id: AggregateRef) -> Later[int]:
        """See `SnapshotStore.get_version`."""
        return Later(self.get_version_now, aggregate_id)

    def get_version_now(self, aggregate_id: AggregateRef) -> int:
        """Version of the stored snapshot, or 0; it is loaded for that, so what fails there fails here too (SNP-003)."""
        snapshot = self.load_now(aggregate_id)
        return 0 if snapshot is None else snapshot.version

    def save(self, snapshot: Snapshot) -> Later[None]:
        """See `SnapshotStore.save`."""
        return Later(self.save_now, snapshot)

    def save_now(self, snapshot: Snapshot) -> None:
        """Keep it as it is now, unless one of a higher version is stored; an equal version replaces (SNP-004)."""
        self.keep(snapshot.state_aggregate, snapshot.snapshot_time)

    def keep(self, view: ReadOnlyStateAggregate, snapshot_time: int) -> None:
        """As `save_now`, for a snapshot of this view at this time."""
        aggregate_id, version = view.aggregate_id, view.version
        stored = self._records.get(aggregate_id)
        if stored is not None and version < stored.version:
            return
        self._records[aggregate_id] = SnapshotRecord(
            aggregate_id,
            version,
            view.owner_id,
            view.space_id,
            view.event_id,
            view.first_operator,
            view.operator,
            view.first_event_time,
            view.event_time,
            copy_tags(view.tags) if view.tags else {},
            view.deleted,
            encode(view.state),
            snapshot_time,
        )

    def close(self) -> None:
        """Nothing to give up."""


class NoOpSnapshotStore:
    """Keeps nothing (SNP-012)."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """`no_op` (SNP-011)."""
        return "no_op"

    def load(self, aggregate_id: AggregateRef) -> Later[Snapshot | None]:  # noqa: ARG002
        """None."""
        return Later(_none)

    def get_version(self, aggregate_id: AggregateRef) -> Later[int]:  # noqa: ARG002
        """0."""
        return Later(int)

    def get_version_now(self, aggregate_id: AggregateRef) -> int:  # noqa: ARG002
        """0."""
        return 0

    def save(self, snapshot: Snapshot) -> Later[None]:  # noqa: ARG002
        """Nothing."""
        return Later(_none)

    def close(self) -> None:
        """Nothing to give up."""


def _none() -> None:
    return None


# ----------------------------------------------------------------------------------------------------- strategies


class SnapshotStrategy(Protocol):
    """Decides for each state event whether a snapshot is saved."""

    def should_save(self, state_event: StateEvent[Any]) -> bool:
        """Whether this state event is saved."""
        ...

    def save_now(self, state_event: StateEvent[Any]) -> Any:
        """Save it; a coroutine where the store works later."""
        ...


def version_now(store: SnapshotStore, aggregate_id: AggregateRef) -> int:
    """Version of the stored snapshot, without an await.

    Raises:
        SpecError: if the store cannot say it at once.
    """
    direct = getattr(store, "get_version_now", None)
    if direct is None:
        raise SpecError(
            f"{type(store).__name__} says its version only later",
            why="whether a snapshot is saved is decided before the point that saves it",
            instead="def get_version_now(self, aggregate_id) -> int on the store, or the strategy that saves all",
        )
    return direct(aggregate_id)  # type: ignore[no-any-return]


def _saver(store: SnapshotStore, now: Callable[[], int]) -> Callable[[StateEvent[Any]], Any]:
    if type(store) is InMemorySnapshotStore:
        keep = store.keep
        return lambda state_event: keep(state_event, now())
    save = sync_form(store, "save")
    return lambda state_event: save(Snapshot(state_event, now()))


class SimpleSnapshotStrategy:
    """Saves a snapshot of every state event, with its fields: owner and space are the stream's (SNP-014, SNP-015).

    Args:
        store: where to.
        now: gives the time in epoch milliseconds.
    """

    __slots__ = ("_save",)

    def __init__(self, store: SnapshotStore, now: Callable[[], int]) -> None:
        self._save = _saver(store, now)

    def should_save(self, state_event: StateEvent[Any]) -> bool:  # noqa: ARG002
        """Always."""
        return True

    def save_now(self, state_event: StateEvent[Any]) -> Any:
        """Save it."""
        return self._save(state_event)


class VersionOffsetSnapshotStrategy:
    """Saves when the version is at least `offset` above the stored snapshot's, 0 where there is none (SNP-016).

    Args:
        store: where to; it must answer at once.
        now: gives the time in epoch milliseconds.
        offset: in versions.
    """

    __slots__ = ("_offset", "_save", "_store")

    def __init__(self, store: SnapshotStore, now: Callable[[], int], offset: int = DEFAULT_VERSION_OFFSET) -> None:
        self._store = store
        self._offset = offset
        self._save = _saver(store, now)

    def should_save(self, state_event: StateEvent[Any]) -> bool:
        """Whether it is far enough from the stored one.

        Raises:
            SpecError: if the store cannot say its version at once.
        """
        stored = version_now(self._store, state_event.aggregate_id)
        return versions_between(stored, state_event.version) >= self._offset

    def save_now(self, state_event: StateEvent[Any]) -> Any:
        """Save it."""
        return self._save(state_event)


class NoOpSnapshotStrategy:
    """Saves nothing (SNP-017)."""

    __slots__ = ()

    def should_save(self, state_event: StateEvent[Any]) -> bool:  # noqa: ARG002
        """Never."""
        return False

    def save_now(self, state_event: StateEvent[Any]) -> Any:
        """Nothing."""
