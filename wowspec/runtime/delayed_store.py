"""An event store that takes its time, for what must be right although a store is slow (EVT-031)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from ..messages.envelopes import DomainEventStream
from ..modeling.identity import AggregateRef, NamedAggregate
from ..world.clock import NANOS_PER_MILLI
from ..world.scheduler import Scheduler
from .event_store import (
    DEFAULT_HEAD_VERSION,
    DEFAULT_SCAN_LIMIT,
    DEFAULT_TAIL_VERSION,
    FIRST_ID,
    EventStore,
    InMemoryEventStore,
    check_limit,
    check_time_range,
    check_version_range,
)

T = TypeVar("T")

DEFAULT_DELAY_NANOS: Final = 5 * NANOS_PER_MILLI


class DelayedEventStore(EventStore):
    """A store in memory whose every operation waits on the virtual clock first.

    Whether a request id exists it finds out by loading the whole history, as stores without an index do (EVT-022).

    Args:
        scheduler: whose clock it waits on.
        delay: nanoseconds before each operation.
        delegate: the store that does the work.
    """

    __slots__ = ("_delay", "_delegate", "_scheduler")

    def __init__(
        self,
        scheduler: Scheduler,
        *,
        delay: int = DEFAULT_DELAY_NANOS,
        delegate: InMemoryEventStore | None = None,
    ) -> None:
        self._scheduler = scheduler
        self._delay = delay
        self._delegate = delegate or InMemoryEventStore()

    async def append(self, stream: DomainEventStream) -> None:
        """See `EventStore.append`."""
        await self._scheduler.sleep(self._delay)
        self._delegate.append_now(stream)

    def load(
        self,
        aggregate_id: AggregateRef,
        head_version: int = DEFAULT_HEAD_VERSION,
        tail_version: int = DEFAULT_TAIL_VERSION,
    ) -> Coroutine[Any, Any, list[DomainEventStream]]:
        """See `EventStore.load`."""
        check_version_range(head_version, tail_version)
        return self._later(lambda: self._delegate.load_now(aggregate_id, head_version, tail_version))

    def load_by_event_time(
        self, aggregate_id: AggregateRef, head_event_time: int, tail_event_time: int
    ) -> Coroutine[Any, Any, list[DomainEventStream]]:
        """See `EventStore.load_by_event_time`."""
        check_time_range(head_event_time, tail_event_time)
        return self._later(
            lambda: self._delegate.load_by_event_time_now(aggregate_id, head_event_time, tail_event_time)
        )

    def last(self, aggregate_id: AggregateRef) -> Coroutine[Any, Any, DomainEventStream | None]:
        """See `EventStore.last`."""
        return self._later(lambda: self._delegate.last_now(aggregate_id))

    def scan_aggregate_id(
        self, named_aggregate: NamedAggregate, after_id: str = FIRST_ID, limit: int = DEFAULT_SCAN_LIMIT
    ) -> Coroutine[Any, Any, list[AggregateRef]]:
        """See `EventStore.scan_aggregate_id`."""
        check_limit(limit)
        return self._later(lambda: self._delegate.scan_aggregate_id_now(named_aggregate, after_id, limit))

    async def _later(self, work: Callable[[], T]) -> T:
        await self._scheduler.sleep(self._delay)
        return work()
