"""Event stores: the protocol and the store in memory (section 1 of the contract).

One stream is one unit of storage. Arguments are checked by the call, all else happens at the await (EVT-002, EVT-018).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable
from operator import attrgetter
from typing import Any, Final, Protocol

from ..errors import (
    DuplicateAggregateIdError,
    DuplicateRequestIdError,
    EventVersionConflictError,
    IllegalArgumentError,
    UnsupportedOperationError,
)
from ..messages.envelopes import DomainEventStream
from ..modeling.identity import AggregateRef, NamedAggregate
from .later import Later

MAX_VERSION: Final = 2_147_483_647
#: The default range of a load: the largest 32-bit version is not in it (EVT-016).
DEFAULT_HEAD_VERSION: Final = 1
DEFAULT_TAIL_VERSION: Final = MAX_VERSION - 1
#: Scans begin after it by default; sorts below the ids that a generator makes (EVT-026).
FIRST_ID: Final = "(0)"
#: Sorts above the ids that a generator makes (EVT-026).
LAST_ID: Final = "~"
DEFAULT_SCAN_LIMIT: Final = 10

_version_of: Final = attrgetter("version")


def check_version_range(head_version: int, tail_version: int) -> None:
    """Refuse an illegal range of versions with `IllegalArgumentError` (EVT-017)."""
    if head_version < 0:
        message = f"head version {head_version} is below 0: versions count from 1"
        raise IllegalArgumentError(message)
    if tail_version < head_version:
        message = f"tail version {tail_version} is below head version {head_version}"
        raise IllegalArgumentError(message)


def check_time_range(head_event_time: int, tail_event_time: int) -> None:
    """Refuse an illegal range of epoch milliseconds with `IllegalArgumentError`; any head is legal (EVT-019)."""
    if tail_event_time < head_event_time:
        message = f"tail event time {tail_event_time} is before head event time {head_event_time}"
        raise IllegalArgumentError(message)


def check_limit(limit: int) -> None:
    """Refuse a negative limit with `IllegalArgumentError` (EVT-025)."""
    if limit < 0:
        message = f"a limit of {limit} is negative: ask for 0 or more"
        raise IllegalArgumentError(message)


def text_order(text: str) -> bytes:
    """Sort key of an id: by UTF-16 units, as the modelled runtime compares texts."""
    return text.encode("utf-16-be", "surrogatepass")


def version_conflict(stream: DomainEventStream) -> EventVersionConflictError | DuplicateAggregateIdError:
    """The error for a stream whose version is taken: at version 1 the aggregate exists already (EVT-006, EVT-007)."""
    conflict = EventVersionConflictError(stream)
    if stream.version != 1:
        return conflict
    duplicate = DuplicateAggregateIdError(stream)
    duplicate.__cause__ = conflict
    return duplicate


class EventStore(Protocol):
    """Where event streams are kept (EVT-001).

    What has a body here is a default for stores that name this class as their base; the others write it themselves.
    Arguments are checked by the call (`IllegalArgumentError`); every other error comes with the await.
    """

    def append(self, stream: DomainEventStream) -> Awaitable[None]:
        """Store a stream as one unit (EVT-003).

        Raises (at the await):
            DuplicateAggregateIdError: version 1 is taken (EVT-006).
            EventVersionConflictError: another version is taken (EVT-007).
            DuplicateRequestIdError: the aggregate has a stream with this request id (EVT-008).
        """
        ...

    def load(
        self,
        aggregate_id: AggregateRef,
        head_version: int = DEFAULT_HEAD_VERSION,
        tail_version: int = DEFAULT_TAIL_VERSION,
    ) -> Awaitable[list[DomainEventStream]]:
        """Streams with versions in the inclusive range, oldest first; copies (EVT-013, EVT-015)."""
        ...

    def load_by_event_time(
        self, aggregate_id: AggregateRef, head_event_time: int, tail_event_time: int
    ) -> Awaitable[list[DomainEventStream]]:
        """Streams created in the inclusive range of epoch milliseconds, in append order; copies (EVT-019)."""
        ...

    def last(self, aggregate_id: AggregateRef) -> Awaitable[DomainEventStream | None]:
        """A copy of the newest stream (EVT-021)."""
        ...

    def single(self, aggregate_id: AggregateRef, version: int) -> Awaitable[DomainEventStream | None]:
        """A copy of the stream of one version (EVT-020)."""
        streams = self.load(aggregate_id, version, version)
        return _first(streams)

    async def exists_request_id(self, aggregate_id: AggregateRef, request_id: str) -> bool:
        """Whether the aggregate has a stream with this request id (EVT-022)."""
        return any(stream.request_id == request_id for stream in await self.load(aggregate_id))

    def scan_aggregate_id(
        self,
        named_aggregate: NamedAggregate,  # noqa: ARG002
        after_id: str = FIRST_ID,  # noqa: ARG002
        limit: int = DEFAULT_SCAN_LIMIT,  # noqa: ARG002
    ) -> Awaitable[list[AggregateRef]]:
        """Ids of one type of aggregate that sort after `after_id`, ascending, at most `limit` (EVT-025).

        A store that has no such thing raises `UnsupportedOperationError` at the await (EVT-024).
        """
        return _no_scan(type(self).__name__)

    def close(self) -> None:
        """Give up what the store holds."""


async def _first(streams: Awaitable[list[DomainEventStream]]) -> DomainEventStream | None:
    return next(iter(await streams), None)


async def _no_scan(store: str) -> list[AggregateRef]:
    message = f"{store} cannot scan aggregate ids"
    raise UnsupportedOperationError(message)


class _History:
    """The streams of one aggregate, oldest first, each with its note; `owner` is the one store that may write to it."""

    __slots__ = ("last_version", "notes", "owner", "request_ids", "streams")

    def __init__(self, owner: object, streams: list[DomainEventStream], notes: list[Any], last_version: int) -> None:
        self.owner = owner
        self.streams = streams
        self.notes = notes
        #: Those of `streams`, once somebody asked; most aggregates of a spec have a stream or two.
        self.request_ids: set[str] | None = None
        self.last_version = last_version

    def has_request(self, request_id: str) -> bool:
        streams, known = self.streams, self.request_ids
        if known is None:
            if len(streams) == 1:
                return streams[0].request_id == request_id
            known = self.request_ids = {stream.request_id for stream in streams}
        return request_id in known

    def append(self, stream: DomainEventStream, note: Any) -> None:
        self.streams.append(stream)
        self.notes.append(note)
        if self.request_ids is not None:
            self.request_ids.add(stream.request_id)
        self.last_version = stream.version

    def copy(self, owner: object) -> _History:
        other = _History(owner, self.streams.copy(), self.notes.copy(), self.last_version)
        other.request_ids = None if self.request_ids is None else self.request_ids.copy()
        return other


class InMemoryEventStore:
    """The store of the in-memory profile (EVT-002 to EVT-027).

    It keeps the very stream that was appended and hands out copies with headers of their own and shared bodies; the
    whole aggregate id is the key, tenant included (EVT-012, EVT-013). The `..._now` methods are the store; the others
    put their work off until the await.

    Attributes:
        on_stored: sees each stream that is stored; what it gives is kept beside the stream as its note.
    """

    __slots__ = ("_histories", "_owner", "on_stored")

    def __init__(self) -> None:
        self.on_stored: Callable[[DomainEventStream], Any] | None = None
        self._owner = object()
        self._histories: dict[AggregateRef, _History] = {}

    def copy(self) -> InMemoryEventStore:
        """An independent store with the same streams; histories are shared until one side appends to them."""
        other = InMemoryEventStore()
        other._histories = self._histories.copy()
        self._owner = object()
        return other

    # ------------------------------------------------------------------------------------------------- writing

    def append(self, stream: DomainEventStream) -> Later[None]:
        """See `EventStore.append`."""
        return Later(self.append_now, stream)

    def append_now(self, stream: DomainEventStream) -> None:
        """Store a stream; the version is looked at before the request id, and gaps are legal (EVT-004 to EVT-009)."""
        aggregate_id, version = stream.aggregate_id, stream.version
        history = self._histories.get(aggregate_id)
        if history is None:
            if version <= 0:
                raise version_conflict(stream)
            note = None if self.on_stored is None else self.on_stored(stream)
            self._histories[aggregate_id] = _History(self._owner, [stream], [note], version)
            return
        if version <= history.last_version:
            raise version_conflict(stream)
        if history.has_request(stream.request_id):
            raise DuplicateRequestIdError(aggregate_id, stream.request_id)
        if history.owner is not self._owner:
            history = self._histories[aggregate_id] = history.copy(self._owner)
        history.append(stream, None if self.on_stored is None else self.on_stored(stream))

    # ------------------------------------------------------------------------------------------------- reading

    def load(
        self,
        aggregate_id: AggregateRef,
        head_version: int = DEFAULT_HEAD_VERSION,
        tail_version: int = DEFAULT_TAIL_VERSION,
    ) -> Later[list[DomainEventStream]]:
        """See `EventStore.load`."""
        check_version_range(head_version, tail_version)
        return Later(self.load_now, aggregate_id, head_version, tail_version)

    def load_now(
        self,
        aggregate_id: AggregateRef,
        head_version: int = DEFAULT_HEAD_VERSION,
        tail_version: int = DEFAULT_TAIL_VERSION,
    ) -> list[DomainEventStream]:
        """Copies of the streams in a range of versions."""
        return [stream.copy() for stream in self.peek(aggregate_id, head_version, tail_version)]

    def peek(
        self,
        aggregate_id: AggregateRef,
        head_version: int = DEFAULT_HEAD_VERSION,
        tail_version: int = DEFAULT_TAIL_VERSION,
    ) -> list[DomainEventStream]:
        """The stored streams themselves in a range of versions, for readers that look at bodies alone."""
        check_version_range(head_version, tail_version)
        history = self._histories.get(aggregate_id)
        if history is None:
            return []
        streams = history.streams
        start = 0 if head_version <= streams[0].version else bisect_left(streams, head_version, key=_version_of)
        if tail_version >= history.last_version:
            return streams[start:]
        return streams[start : bisect_right(streams, tail_version, start, key=_version_of)]

    def load_by_event_time(
        self, aggregate_id: AggregateRef, head_event_time: int, tail_event_time: int
    ) -> Later[list[DomainEventStream]]:
        """See `EventStore.load_by_event_time`."""
        check_time_range(head_event_time, tail_event_time)
        return Later(self.load_by_event_time_now, aggregate_id, head_event_time, tail_event_time)

    def load_by_event_time_now(
        self, aggregate_id: AggregateRef, head_event_time: int, tail_event_time: int
    ) -> list[DomainEventStream]:
        """Copies of the streams in a range of creation times."""
        check_time_range(head_event_time, tail_event_time)
        return [
            stream.copy()
            for stream in self._streams(aggregate_id)
            if head_event_time <= stream.create_time <= tail_event_time
        ]

    def single(self, aggregate_id: AggregateRef, version: int) -> Later[DomainEventStream | None]:
        """See `EventStore.single`."""
        check_version_range(version, version)
        return Later(self.single_now, aggregate_id, version)

    def single_now(self, aggregate_id: AggregateRef, version: int) -> DomainEventStream | None:
        """A copy of the stream of one version."""
        return next(iter(self.load_now(aggregate_id, version, version)), None)

    def last(self, aggregate_id: AggregateRef) -> Later[DomainEventStream | None]:
        """See `EventStore.last`."""
        return Later(self.last_now, aggregate_id)

    def head_version(self, aggregate_id: AggregateRef) -> int:
        """Version of the newest stream; 0 where there is none."""
        history = self._histories.get(aggregate_id)
        return history.last_version if history is not None else 0

    def last_now(self, aggregate_id: AggregateRef) -> DomainEventStream | None:
        """A copy of the newest stream."""
        streams = self._streams(aggregate_id)
        return streams[-1].copy() if streams else None

    def exists_request_id(self, aggregate_id: AggregateRef, request_id: str) -> Later[bool]:
        """See `EventStore.exists_request_id`."""
        return Later(self.exists_request_id_now, aggregate_id, request_id)

    def exists_request_id_now(self, aggregate_id: AggregateRef, request_id: str) -> bool:
        """Whether the aggregate has a stream with this request id."""
        history = self._histories.get(aggregate_id)
        return history is not None and history.has_request(request_id)

    def scan_aggregate_id(
        self, named_aggregate: NamedAggregate, after_id: str = FIRST_ID, limit: int = DEFAULT_SCAN_LIMIT
    ) -> Later[list[AggregateRef]]:
        """See `EventStore.scan_aggregate_id`."""
        check_limit(limit)
        return Later(self.scan_aggregate_id_now, named_aggregate, after_id, limit)

    def scan_aggregate_id_now(
        self, named_aggregate: NamedAggregate, after_id: str = FIRST_ID, limit: int = DEFAULT_SCAN_LIMIT
    ) -> list[AggregateRef]:
        """Ids of one type of aggregate after `after_id`; equal ids of two tenants both, by tenant (EVT-027)."""
        check_limit(limit)
        context, name, after = named_aggregate.context_name, named_aggregate.aggregate_name, text_order(after_id)
        found = [
            ref
            for ref in self._histories
            if ref.context_name == context and ref.aggregate_name == name and text_order(ref.id) > after
        ]
        found.sort(key=lambda ref: (text_order(ref.id), text_order(ref.tenant_id)))
        return found[:limit]

    def noted(self, aggregate_id: AggregateRef, start: int = 0) -> list[tuple[DomainEventStream, Any]]:
        """The stored streams themselves from an index on, each with its note, or None where nobody took one."""
        history = self._histories.get(aggregate_id)
        if history is None:
            return []
        streams, notes = history.streams, history.notes
        if start == len(streams) - 1:
            return [(streams[start], notes[start])]
        return list(zip(streams[start:], notes[start:], strict=True))

    def aggregate_ids(self) -> list[AggregateRef]:
        """Every aggregate that has streams, in order of its first append."""
        return list(self._histories)

    def close(self) -> None:
        """Nothing to give up."""

    def _streams(self, aggregate_id: AggregateRef) -> list[DomainEventStream]:
        history = self._histories.get(aggregate_id)
        return history.streams if history is not None else []
