"""The chain around one event function: notifier, retry, the function itself (EVT-122 to EVT-128)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ...errors import Recoverability
from ...messages.exchange import DomainEventExchange
from ...messages.stages import CommandStage
from ...modeling.ordering import ORDER_DEFAULT, ORDER_FIRST, Order
from ...modeling.processors import ProcessorKind
from ...world.points import EVENT_DELIVER
from ..chain import Filter, FilterRow, Next
from ..command_filters import nothing
from ..invocation import invoke
from ..retrying import EVENT_RETRIES
from ..waiting.notifier_filters import NotifierFilter
from .sagas import send_commands

if TYPE_CHECKING:
    from ..system import Runtime

#: The stage that each kind of processor signals (PRJ-005).
STAGE_OF: Final[dict[ProcessorKind, CommandStage]] = {
    ProcessorKind.EVENT_PROCESSOR: CommandStage.EVENT_HANDLED,
    ProcessorKind.PROJECTION: CommandStage.PROJECTED,
    ProcessorKind.STATELESS_SAGA: CommandStage.SAGA_HANDLED,
}


class RetryableFilter:
    """Re-runs the rest of the chain after recoverable errors (EVT-127, EVT-128)."""

    __slots__ = ("_runtime",)

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def filter(self, exchange: Any, next: Next) -> None:  # noqa: A002
        """Go on; again, up to three times, after a recoverable error."""
        await EVENT_RETRIES.run(lambda: next(exchange), self._runtime.world.scheduler, self._is_recoverable)

    def _is_recoverable(self, error: BaseException) -> bool:
        return self._runtime.world.errors.recoverability(error) is Recoverability.RECOVERABLE


class EventFunctionFilter:
    """Delivers the event to its function; a saga's result is sent, any other is dropped (EVT-122, PRJ-003)."""

    __slots__ = ("_runtime",)

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def filter(self, exchange: DomainEventExchange[Any], next: Next) -> None:  # noqa: A002
        """Call the function, then go on."""
        runtime = self._runtime
        world = runtime.world
        exchange.services = world.services
        target, event = exchange.event_function, exchange.message
        await world.at(
            f"{EVENT_DELIVER}:{target.info.processor_name}.{target.info.name}",
            exchange.lane,
            event,
            f"{type(event.body).__name__} v{event.version}#{event.sequence}",
            nothing,
        )
        if world.injector is None:
            result = await invoke(target.handler, target.instance, exchange, world)
        else:
            result = await self._watched(exchange)
        if target.kind is ProcessorKind.STATELESS_SAGA:
            exchange.command_stream = await send_commands(result, event, runtime, target.handler)
        unrest = world.unrest
        if unrest is not None and unrest.is_doomed(exchange.lane):
            await unrest.die(exchange.lane.function)
        await next(exchange)

    async def _watched(self, exchange: DomainEventExchange[Any]) -> Any:
        """Call the function, and write what it changed in place in rows of its views."""
        runtime, target = self._runtime, exchange.event_function
        try:
            result = await invoke(target.handler, target.instance, exchange, runtime.world)
        except BaseException:
            runtime.views.let_go(exchange)
            raise
        runtime.views.settle(exchange, runtime.world, target.handler.place)
        return result


def _notifier(kind: ProcessorKind) -> FilterRow:
    def make(runtime: Runtime) -> Filter:
        return NotifierFilter(STAGE_OF[kind], runtime.notifier, runtime.world)

    return FilterRow(f"{STAGE_OF[kind].name}NotifierFilter", Order(ORDER_FIRST), "PRJ-005", make)


RETRYABLE: Final = "RetryableFilter"
EVENT_FUNCTION: Final = "EventFunctionFilter"

#: The chain of each kind of processor, outermost first (EVT-124, EVT-125).
EVENT_FILTERS: dict[ProcessorKind, tuple[FilterRow, ...]] = {
    kind: (
        _notifier(kind),
        FilterRow(RETRYABLE, Order(ORDER_DEFAULT, before=(EVENT_FUNCTION,)), "EVT-127", RetryableFilter),
        FilterRow(EVENT_FUNCTION, Order(ORDER_DEFAULT), "EVT-122", EventFunctionFilter),
    )
    for kind in ProcessorKind
}
