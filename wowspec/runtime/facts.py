"""What is known of an aggregate, as an interface that state aggregates, snapshots and state events share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol, runtime_checkable

from ..modeling.identity import AggregateRef

Tags = dict[str, list[str]]

MAX_INT: Final = 2_147_483_647
MIN_INT: Final = -2_147_483_648


def next_version(version: int) -> int:
    """The version after this one; versions are 32-bit and wrap (STA-002)."""
    return version + 1 if version != MAX_INT else MIN_INT


def versions_between(earlier: int, later: int) -> int:
    """How far two versions are apart; 32-bit like themselves, so it wraps (SNP-016)."""
    return (later - earlier - MIN_INT) % (1 << 32) + MIN_INT


class AggregateFacts(Protocol):
    """What is known of an aggregate besides its state (STA-001). Times are epoch milliseconds."""

    @property
    def aggregate_id(self) -> AggregateRef:
        """Which aggregate."""
        ...

    @property
    def version(self) -> int:
        """Version of the last stream; 0 before the first."""
        ...

    @property
    def owner_id(self) -> str:
        """Owner, or empty."""
        ...

    @property
    def space_id(self) -> str:
        """Space, or empty."""
        ...

    @property
    def event_id(self) -> str:
        """Id of the last stream (not of an event), or empty."""
        ...

    @property
    def first_operator(self) -> str:
        """Operator of the first stream, or empty."""
        ...

    @property
    def operator(self) -> str:
        """Operator of the last stream, or empty."""
        ...

    @property
    def first_event_time(self) -> int:
        """Create time of the first stream, or 0."""
        ...

    @property
    def event_time(self) -> int:
        """Create time of the last stream, or 0."""
        ...

    @property
    def tags(self) -> Tags:
        """Tags by key."""
        ...

    @property
    def deleted(self) -> bool:
        """Whether it is deleted."""
        ...


@runtime_checkable
class ReadOnlyStateAggregate(AggregateFacts, Protocol):
    """What can be seen of a state aggregate: an interface, not a copy (STA-031).

    State aggregates, snapshots and state events have it.
    """

    @property
    def state(self) -> Any:
        """The state object itself, shared by all who see it."""
        ...


def copy_tags(tags: Mapping[str, Any]) -> Tags:
    """Tags of one's own."""
    return {key: list(values) for key, values in tags.items()} if tags else {}
