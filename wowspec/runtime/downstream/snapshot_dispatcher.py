"""The snapshot branch: each state event reaches the snapshot strategy (SNP-014 to SNP-021)."""

from __future__ import annotations

from functools import partial
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final

from ...messages.envelopes import StateEvent
from ...messages.exchange import StateEventExchange
from ...messages.stages import CommandStage
from ...modeling.identity import SNAPSHOT_FUNCTION, NamedAggregate
from ...modeling.ordering import ORDER_DEFAULT, ORDER_FIRST, Order
from ...world.points import SNAPSHOT_SAVE
from ...world.trace import SNAPSHOT_ROOM, make_lane
from ..chain import SNAPSHOT_DISPATCHER, Filter, FilterRow, Next, end_of_chain, handle
from ..command_filters import version_text
from ..dispatcher import PARALLELISM
from ..receivers import Delivery
from ..serial import Job, SerialGroups
from ..waiting.notifier_filters import NotifierFilter
from .compensation import is_aimed_at

if TYPE_CHECKING:
    from ..system import Runtime

SNAPSHOT_HANDLER: Final = "snapshot.handler"
SNAPSHOT_FUNCTION_FILTER: Final = "SnapshotFunctionFilter"


class SnapshotFunctionFilter:
    """Runs the strategy, acknowledges after success and failure alike, then goes on (SNP-020)."""

    __slots__ = ("_runtime", "_world")

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._world = runtime.world

    async def filter(self, exchange: StateEventExchange[Any], next: Next) -> None:  # noqa: A002
        """Save a snapshot if the strategy says so."""
        state_event = exchange.message
        strategy = self._runtime.snapshot_strategy
        try:
            if strategy.should_save(state_event):
                saving = self._world.carry(
                    SNAPSHOT_SAVE,
                    exchange.lane,
                    state_event,
                    version_text,
                    strategy.save_now,
                )
                if type(saving) is CoroutineType:
                    await saving
        except Exception:
            await exchange.acknowledge()
            raise
        if exchange.delivery is not None:
            await exchange.acknowledge()
        if next is not end_of_chain:
            await next(exchange)


def _notifier(runtime: Runtime) -> Filter:
    return NotifierFilter(CommandStage.SNAPSHOT, runtime.notifier, runtime.world)


#: The snapshot chain, outermost first; no retry (EVT-126).
SNAPSHOT_FILTERS: tuple[FilterRow, ...] = (
    FilterRow("SnapshotNotifierFilter", Order(ORDER_FIRST), "SNP-021", _notifier),
    FilterRow(SNAPSHOT_FUNCTION_FILTER, Order(ORDER_DEFAULT), "SNP-020", SnapshotFunctionFilter),
)


class SnapshotDispatcher:
    """Takes every state event of the aggregates it knows, in order for each aggregate id (SNP-018)."""

    __slots__ = ("_chain", "_runtime", "_world", "groups")

    def __init__(self, runtime: Runtime, chain: Next) -> None:
        self._runtime = runtime
        self._world = runtime.world
        self._chain = chain
        self.groups: SerialGroups = SerialGroups(self._world.scheduler, "snapshots")

    def register(self, named: NamedAggregate) -> None:
        """Subscribe to an aggregate type's state events."""
        self._runtime.listen(self._runtime.state_event_bus, named, self._receive, SNAPSHOT_DISPATCHER)

    def _receive(self, state_event: StateEvent[Any], delivery: Delivery[Any] | None = None) -> None:
        exchange = StateEventExchange(state_event)
        exchange.function = SNAPSHOT_FUNCTION
        exchange.lane = make_lane((SNAPSHOT_ROOM, state_event.aggregate_id.id, ""))
        exchange.delivery = delivery
        job: Job = partial(handle, self._chain, exchange, self._world, SNAPSHOT_HANDLER)
        if not is_aimed_at(state_event.header, SNAPSHOT_FUNCTION):
            # SNP-019: a compensation message for another function.
            job = exchange.acknowledge
        self.groups.submit(state_event.aggregate_id.mod(PARALLELISM), job, state_event)
