"""Compensation: failed event functions are run again by publishing their stream again (section 6 of the contract)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ...errors import IllegalArgumentError
from ...messages.envelopes import DomainEventStream, StateEvent
from ...messages.header import Header
from ...messages.streams import ignores_sourcing
from ...modeling.identity import AggregateRef, FunctionInfo, FunctionKind, NamedAggregate
from ...modeling.states import StateMetadata
from ..snapshots import StateTypes, require_state_type
from ..sourcing import new_state_aggregate

COMPENSATE_ID: Final = "compensate.id"
COMPENSATE_CONTEXT: Final = "compensate.context"
COMPENSATE_PROCESSOR: Final = "compensate.processor"
COMPENSATE_FUNCTION: Final = "compensate.function"


@dataclass(frozen=True, slots=True)
class CompensationTarget:
    """Which failed execution is compensated, and the function that it was."""

    id: str
    function: FunctionInfo


def mark_for_compensation(header: Header, target: CompensationTarget) -> Header:
    """Aim a message at one function; the function's kind is not written (EVT-132). Returns the header.

    Raises:
        UnsupportedOperationError: if the header is read-only.
    """
    header[COMPENSATE_ID] = target.id
    header[COMPENSATE_CONTEXT] = target.function.context_name
    header[COMPENSATE_PROCESSOR] = target.function.processor_name
    header[COMPENSATE_FUNCTION] = target.function.name
    return header


def compensation_id(header: Mapping[str, str]) -> str | None:
    """The id of the failed execution that a message is sent again for; None for any other message."""
    return header.get(COMPENSATE_ID)


def is_aimed_at(header: Mapping[str, str], function: FunctionInfo) -> bool:
    """Whether a message is for a function: without a mark for any, else for the one that it names (EVT-133)."""
    if COMPENSATE_ID not in header:
        return True
    return (
        header.get(COMPENSATE_CONTEXT) == function.context_name
        and header.get(COMPENSATE_PROCESSOR) == function.processor_name
        and header.get(COMPENSATE_FUNCTION) == function.name
    )


class LoadStreams(Protocol):
    """The part of an event store that compensation needs."""

    def load(
        self, aggregate_id: AggregateRef, head_version: int = ..., tail_version: int = ...
    ) -> Awaitable[list[DomainEventStream]]:
        """Streams in the inclusive range of versions."""
        ...


class DomainEventCompensator:
    """Publishes stored streams again (EVT-134).

    Only the stream's header is marked. Dispatch looks at the headers of events: in memory they are others, and every
    function runs again; a stream that went through JSON shares one header with its events (EVT-137).

    Args:
        event_store: where the streams are.
        send: puts a stream on the bus of domain events.
    """

    __slots__ = ("_event_store", "_send")

    def __init__(self, event_store: LoadStreams, send: Callable[[DomainEventStream], Awaitable[None]]) -> None:
        self._event_store = event_store
        self._send = send

    async def compensate(
        self, aggregate_id: AggregateRef, *, head_version: int, tail_version: int, target: CompensationTarget
    ) -> int:
        """Send each stream of the range, one after another; how many there were.

        Raises:
            IllegalArgumentError: for a range that no store accepts.
        """
        streams = await self._event_store.load(aggregate_id, head_version, tail_version)
        for stream in streams:
            mark_for_compensation(stream.header, target)
            await self._send(stream)
        return len(streams)


class StateEventCompensator:
    """Replays an aggregate and publishes state events again for the versions asked for (EVT-135).

    Args:
        event_store: where the streams are.
        types: the state type of a named aggregate.
        send: puts a state event on the bus of state events.
    """

    __slots__ = ("_event_store", "_send", "_types")

    def __init__(
        self, event_store: LoadStreams, types: StateTypes, send: Callable[[StateEvent[Any]], Awaitable[None]]
    ) -> None:
        self._event_store = event_store
        self._types = types
        self._send = send

    async def compensate(
        self, aggregate_id: AggregateRef, *, head_version: int, tail_version: int, target: CompensationTarget
    ) -> int:
        """Send a state event for each version of the range that has one; how many were sent.

        Raises:
            IllegalStateError: if the aggregate has no type.
        """
        metadata = require_state_type(self._types, aggregate_id.named_aggregate)
        streams = await self._event_store.load(aggregate_id, 1, tail_version)
        sent = 0
        for state_event in replayed(aggregate_id, metadata, streams):
            if state_event.version < head_version:
                continue
            mark_for_compensation(state_event.header, target)
            await self._send(state_event)
            sent += 1
        return sent


def replayed(
    aggregate_id: AggregateRef, metadata: StateMetadata, streams: list[DomainEventStream]
) -> Iterator[StateEvent[Any]]:
    """The state event of each version that has one, from the first stream on."""
    aggregate = new_state_aggregate(metadata, aggregate_id)
    for stream in streams:
        if ignores_sourcing(stream) or (aggregate.version == 0 and stream.version != 1):
            continue
        yield aggregate.on_sourcing(stream).to_state_event(stream)


class Compensator(Protocol):
    """Publishes a range of versions again for one function."""

    async def compensate(
        self, aggregate_id: AggregateRef, *, head_version: int, tail_version: int, target: CompensationTarget
    ) -> int:
        """How many messages were sent."""
        ...


class CompensateSupporter:
    """Chooses the compensator by the kind of the failed function (EVT-136), and knows which aggregates are local."""

    __slots__ = ("_compensators", "_is_local")

    def __init__(
        self, domain_events: Compensator, state_events: Compensator, is_local: Callable[[NamedAggregate], bool]
    ) -> None:
        self._compensators: Final[dict[FunctionKind, Compensator]] = {
            FunctionKind.EVENT: domain_events,
            FunctionKind.STATE_EVENT: state_events,
        }
        self._is_local = is_local

    def is_local(self, named: NamedAggregate) -> bool:
        """Whether the aggregate's type is held by this process (EVT-089)."""
        return self._is_local(named)

    async def compensate(
        self,
        aggregate_id: AggregateRef,
        *,
        target: CompensationTarget,
        version: int | None = None,
        head_version: int | None = None,
        tail_version: int | None = None,
    ) -> int:
        """Send again what a function failed on: one version, or a range of versions; how many messages were sent.

        Raises:
            IllegalArgumentError: for a function that takes no published events, or without a version.
        """
        compensator = self._compensators.get(target.function.kind)
        if compensator is None:
            message = f"a {target.function.kind.value} function cannot be compensated: it takes no published events"
            raise IllegalArgumentError(message)
        head = version if head_version is None else head_version
        tail = head if tail_version is None else tail_version
        if head is None or tail is None:
            message = "name the version to compensate, or head_version and tail_version"
            raise IllegalArgumentError(message)
        return await compensator.compensate(aggregate_id, head_version=head, tail_version=tail, target=target)
