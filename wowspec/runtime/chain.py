"""A handler chain: filters around each other in their order, and what a handler makes of an error (section I)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ..modeling.ordering import Order, sorted_by_order
from ..modeling.processors import ProcessorKind
from ..world.world import World

Next = Callable[[Any], Awaitable[None]]

#: The dispatchers, by the names that a filter's `dispatchers` holds.
COMMAND_DISPATCHER: Final = "CommandDispatcher"
SNAPSHOT_DISPATCHER: Final = "SnapshotDispatcher"
EVENT_DISPATCHERS: Final = {
    ProcessorKind.EVENT_PROCESSOR: "DomainEventDispatcher",
    ProcessorKind.PROJECTION: "ProjectionDispatcher",
    ProcessorKind.STATELESS_SAGA: "StatelessSagaDispatcher",
}


class Filter(Protocol):
    """One link of a handler chain."""

    async def filter(self, exchange: Any, next: Next) -> None:  # noqa: A002 - the field's own word
        """Do something before or after `await next(exchange)`, or instead of it."""
        ...


@dataclass(frozen=True, slots=True)
class FilterRow:
    """One filter of a chain: its name, its order, the clause, and how a runtime makes it."""

    name: str
    order: Order
    clause: str
    make: Callable[[Any], Filter]


@dataclass(frozen=True, slots=True)
class NamedFilter:
    """A made filter with its place in the order.

    Attributes:
        name: what other filters call it in their `before` and `after`.
        order: its place.
        filter: the filter.
        dispatchers: whose chains it takes part in; None means everyone's (CMD-173, EVT-123).
    """

    name: str
    order: Order
    filter: Filter
    dispatchers: tuple[str, ...] | None = (COMMAND_DISPATCHER,)


#: What a handler does with an error: error, exchange, world, and the point to log it under.
ErrorHandler = Callable[[Exception, Any, World, str], None]


async def end_of_chain(exchange: Any) -> None:
    """An empty chain completes at once (CMD-175)."""


def build_chain(filters: Iterable[NamedFilter], dispatcher: str = COMMAND_DISPATCHER) -> Next:
    """Link the filters that take part in a dispatcher's chain, outermost first, after sorting them (CMD-174)."""
    taking_part = [item for item in filters if item.dispatchers is None or dispatcher in item.dispatchers]
    in_order = sorted_by_order(taking_part, lambda item: item.order, lambda item: item.name)
    return link(item.filter for item in reversed(in_order))


def link(filters: Iterable[Filter]) -> Next:
    """Put filters around each other, innermost first."""
    chain: Next = end_of_chain
    for item in filters:
        chain = _linked(item.filter, chain)
    return chain


def _linked(call: Callable[[Any, Next], Awaitable[None]], following: Next) -> Next:
    # As `partial(call, next=following)`, which would make a dictionary at each call.
    def pass_on(exchange: Any) -> Awaitable[None]:
        return call(exchange, following)

    return pass_on


def log_resume(error: Exception, exchange: Any, world: World, point: str) -> None:
    """Log an error and go on, so that the next message is handled: the default (CMD-171)."""
    world.log_failure(point, exchange.message, error)


def log_error(error: Exception, exchange: Any, world: World, point: str) -> None:
    """Log an error and raise it again (CMD-172)."""
    world.log_failure(point, exchange.message, error)
    raise error


async def handle(
    chain: Next,
    exchange: Any,
    world: World,
    point: str,
    on_error: ErrorHandler = log_resume,
    on_escape: Callable[[Exception, Any], None] | None = None,
) -> None:
    """Run a chain; an error is stored on the exchange, then given to the error handler (CMD-170).

    Raises:
        Exception: what the error handler raises, or what the outermost filter raised at the call itself (CMD-167);
            nothing if `on_escape` takes it.
    """
    try:
        running = chain(exchange)
        try:
            await running
        except Exception as error:  # noqa: BLE001 - whatever a handler raised
            exchange.error = error
            on_error(error, exchange, world, point)
    except Exception as error:
        if on_escape is None:
            raise
        on_escape(error, exchange)
