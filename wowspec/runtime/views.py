"""Materialised views of a snapshot, with the state converted to something to show (SNP-022)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from .facts import Tags
from .snapshots import Snapshot

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SmallView(Generic[T]):
    """Version, time of the first stream (epoch milliseconds), and the converted state."""

    version: int
    first_event_time: int
    state: T


@dataclass(frozen=True, slots=True)
class MediumView(Generic[T]):
    """Who, when and which version besides the converted state; its tags are always empty (SNP-022)."""

    tenant_id: str
    owner_id: str
    space_id: str
    version: int
    event_id: str
    first_operator: str
    operator: str
    first_event_time: int
    event_time: int
    state: T
    tags: Tags = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FullView(Generic[T]):
    """Everything, as the runtime gives it: space and tags are left at their defaults (SNP-022)."""

    context_name: str
    aggregate_name: str
    tenant_id: str
    owner_id: str
    aggregate_id: str
    version: int
    event_id: str
    first_operator: str
    operator: str
    first_event_time: int
    event_time: int
    state: T
    snapshot_time: int
    deleted: bool
    space_id: str = ""
    tags: Tags = field(default_factory=dict)


def to_small(snapshot: Snapshot, convert: Callable[[Any], T]) -> SmallView[T]:
    """The small view."""
    return SmallView(snapshot.version, snapshot.first_event_time, convert(snapshot.state))


def to_medium(snapshot: Snapshot, convert: Callable[[Any], T]) -> MediumView[T]:
    """The medium view."""
    return MediumView(
        snapshot.aggregate_id.tenant_id,
        snapshot.owner_id,
        snapshot.space_id,
        snapshot.version,
        snapshot.event_id,
        snapshot.first_operator,
        snapshot.operator,
        snapshot.first_event_time,
        snapshot.event_time,
        convert(snapshot.state),
    )


def to_full(snapshot: Snapshot, convert: Callable[[Any], T]) -> FullView[T]:
    """The full view."""
    ref = snapshot.aggregate_id
    return FullView(
        ref.context_name,
        ref.aggregate_name,
        ref.tenant_id,
        snapshot.owner_id,
        ref.id,
        snapshot.version,
        snapshot.event_id,
        snapshot.first_operator,
        snapshot.operator,
        snapshot.first_event_time,
        snapshot.event_time,
        convert(snapshot.state),
        snapshot.snapshot_time,
        snapshot.deleted,
    )
