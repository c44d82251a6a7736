"""Aggregates replayed beside the runtime from what it stored: what the always-on laws compare with.

A shadow goes on where it stopped, so that a spec of n steps replays each stream once. It reads every event from its
JSON, as production does, and never looks at the runtime's own objects.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import DecodeError, SourcingVersionConflictError, SpecError
from ..messages.codec import WHY, decode, encode, remember_namespace
from ..messages.envelopes import DomainEvent, DomainEventStream
from ..modeling.identity import AggregateRef
from ..modeling.states import StateMetadata
from ..runtime.audit import Texts
from ..runtime.snapshots import SnapshotRecord
from ..runtime.sourcing import StateAggregate, looks_at_bodies_alone, new_state_aggregate, restore
from ..runtime.system import Runtime

#: A stored stream, and its texts as of when it was stored.
Noted = tuple[DomainEventStream, Texts | None]


class Shadow:
    """One aggregate, replayed from its beginning or from the snapshot of `given_state`.

    Attributes:
        replay: the replayed aggregate.
        start: the snapshot that it began with; None: it began blank.
        count: how many of the stored streams were replayed.
        looked: how many of them were looked at for their versions, the last of which is `last_version`.
        settled: how many of them can no longer change unnoticed, since a later load begins after them.
        failure: what stopped the replay for good.
        moves: how often somebody took it to go on with it.
        tail: the aggregate that was restored from `tail_of` and brought up to `tail_count` streams.
    """

    __slots__ = (
        "_ahead", "bodies_alone", "count", "failure", "last_version", "looked", "moves", "replay", "settled", "start",
        "tail", "tail_count", "tail_of",
    )  # fmt: skip

    def __init__(self, replay: StateAggregate, start: SnapshotRecord | None) -> None:
        self.replay: StateAggregate = replay
        self.start: SnapshotRecord | None = start
        self.bodies_alone: bool = looks_at_bodies_alone(replay.metadata)
        self._ahead: tuple[DomainEventStream, DomainEventStream] | None = None
        self.count: int = 0
        self.looked: int = 0
        self.last_version: int = 0 if start is None else start.version
        self.settled: int = 0
        self.moves: int = 0
        self.failure: Exception | None = None
        self.tail: StateAggregate | None = None
        self.tail_of: SnapshotRecord | None = None
        self.tail_count: int = 0

    def advance(self, stream: DomainEventStream, texts: Texts | None, *, live: bool = False) -> None:
        """Replay the next stream; what a sourcing function raises ends the replay, and is kept.

        Args:
            stream: as it is stored.
            texts: its events as JSON.
            live: replay the very events instead.

        Raises:
            SpecError: if an event cannot be read back from its JSON.
        """
        self.count += 1
        if self.failure is None:
            self.apply(stream.copy() if live else self.read(stream, texts))

    def apply(self, stream: DomainEventStream) -> None:
        """Source a stream that was read already, unless the replay began after it."""
        if self.failure is None and (self.start is None or stream.version > self.start.version):
            try:
                self.replay.on_sourcing(stream)
            except SpecError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever a user's function raises
                self.failure = error

    def read(self, stream: DomainEventStream, texts: Texts | None) -> DomainEventStream:
        """A stream read back from the JSON of its events; to be sourced once."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead[0] is stream:
            return ahead[1]
        return read_back(stream, texts, share_headers=self.bodies_alone)

    def look_ahead(self, stream: DomainEventStream, texts: Texts | None) -> DomainEventStream:
        """What the next `read` of this stream will give."""
        read = self.read(stream, texts)
        self._ahead = (stream, read)
        return read

    @property
    def has_gap(self) -> bool:
        """Whether a version is missing, so that nobody can replay it."""
        return isinstance(self.failure, SourcingVersionConflictError)


class Shadows:
    """The shadows of one session, by aggregate.

    A copy costs no replay: both sides hold the same shadows, and whoever goes on first takes one along. The other finds
    that it has moved, and replays the aggregate anew; a chain of steps therefore never replays twice, and a fork of k
    branches at most k times, as its runtime does.
    """

    __slots__ = ("_held", "_moves")

    def __init__(self) -> None:
        self._held: dict[AggregateRef, Shadow] = {}
        #: How often each shadow had been taken when this side took it last.
        self._moves: dict[AggregateRef, int] = {}

    def copy(self) -> Shadows:
        """For a session that goes on from here."""
        other = Shadows()
        other._held = self._held.copy()
        other._moves = self._moves.copy()
        return other

    def take(self, runtime: Runtime, aggregate_id: AggregateRef, start: SnapshotRecord | None) -> Shadow:
        """The shadow of an aggregate, to go on with: from now on it is this side's alone."""
        held = self._held.get(aggregate_id)
        if held is None or held.moves != self._moves[aggregate_id] or held.start is not start:
            held = self._held[aggregate_id] = new_shadow(runtime, aggregate_id, start)
        held.moves += 1
        self._moves[aggregate_id] = held.moves
        return held


def new_shadow(runtime: Runtime, aggregate_id: AggregateRef, start: SnapshotRecord | None) -> Shadow:
    """A shadow before its first stream."""
    metadata = state_metadata_of(runtime, aggregate_id)
    remember_namespace(metadata.cls, metadata.namespace)
    blank = new_state_aggregate(metadata, aggregate_id) if start is None else runtime.snapshot_store.restored(start)
    return Shadow(blank, start)


def state_metadata_of(runtime: Runtime, aggregate_id: AggregateRef) -> StateMetadata:
    """The state type of an aggregate of this world."""
    return runtime.catalog.aggregates[aggregate_id.named_aggregate].state


def replayed(
    runtime: Runtime,
    aggregate_id: AggregateRef,
    start: SnapshotRecord | None,
    streams: Iterable[Noted],
    *,
    live: bool = False,
    stored_between: bool = False,
) -> StateAggregate | None:
    """A replay of its own; None if a function raised.

    Args:
        runtime: whose aggregate.
        aggregate_id: which.
        start: the snapshot to begin with.
        streams: what to replay.
        live: replay the very events, without their JSON.
        stored_between: write the state as JSON before each stream and read it back, as snapshots do.
    """
    shadow = new_shadow(runtime, aggregate_id, start)
    for stream, texts in streams:
        if stored_between:
            replay = shadow.replay
            try:
                state: Any = decode(replay.metadata.cls, encode(replay.state))
            except (DecodeError, SpecError):
                return None
            shadow.replay = restore(replay.metadata, replay, state, replay.supply)
        shadow.advance(stream, texts, live=live)
    return shadow.replay if shadow.failure is None else None


def read_back(stream: DomainEventStream, texts: Texts | None, *, share_headers: bool) -> DomainEventStream:
    """A stream whose events are read from their JSON.

    Raises:
        SpecError: if one cannot be read, or has no JSON at all.
    """
    header = stream.header if share_headers else stream.header.copy()
    events = []
    for index, event in enumerate(stream.events):
        kind = type(event.body)
        text = texts[index] if texts else None
        if text is None:
            text = encode(event.body)
        try:
            body = decode(kind, text)
        except DecodeError as error:
            raise _unreadable(event, text, error) from error
        events.append(
            DomainEvent(
                event.id, body, event.aggregate_id, event.version, event.name, event.command_id,
                event.header if share_headers else event.header.copy(),
                event.sequence, event.is_last, event.revision, event.owner_id, event.space_id, event.create_time,
            )
        )  # fmt: skip
    return DomainEventStream(stream.id, stream.request_id, header, tuple(events))


def _unreadable(event: DomainEvent[Any], text: bytes, error: DecodeError) -> SpecError:
    kind = type(event.body)
    return SpecError(
        f"{kind.__name__} of {event.aggregate_id} v{event.version} cannot be read back: {error}\n"
        f"  its JSON: {text.decode()}",
        why=WHY,
        instead=f"let {kind.__name__} hold only what its own fields take when they are read from JSON",
    )
