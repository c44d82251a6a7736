"""A handler chain: filters around each other, sorted by their order, and what a handler makes of an error (section I)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from ..modeling.ordering import Order, sorted_by_order
from ..world.world import World

Next = Callable[[Any], Awaitable[None]]


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
    """A made filter with its place in the order."""

    name: str
    order: Order
    filter: Filter


async def end_of_chain(exchange: Any) -> None:
    """An empty chain completes at once (CMD-175)."""


def build_chain(filters: Iterable[NamedFilter]) -> Next:
    """Link filters, outermost first, after sorting them (CMD-174)."""
    chain: Next = end_of_chain
    for item in reversed(sorted_by_order(filters, lambda item: item.order, lambda item: item.name)):
        chain = partial(item.filter.filter, next=chain)
    return chain


async def handle(chain: Next, exchange: Any, world: World, point: str) -> None:
    """Run a chain; an error is stored on the exchange, logged, and swallowed, so that the lane goes on (CMD-170, CMD-171)."""
    try:
        await chain(exchange)
    except Exception as error:  # noqa: BLE001 - whatever a handler raised
        exchange.error = error
        world.log_failure(point, exchange.message, error)
