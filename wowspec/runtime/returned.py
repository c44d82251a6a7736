"""What is said of a value that a function returned, and that can be no event, or no command."""

from __future__ import annotations

from collections.abc import Iterable
from types import CoroutineType
from typing import Any, Final

from ..errors import SpecError
from ..messages.exchange import ServerCommandExchange
from ..modeling.functions import HandlerFunction
from ..modeling.places import place_of
from ..modeling.unawaited import NEVER_RAN, close_unawaited

#: Characters of a value in an error's text.
_BRIEF: Final = 60


def written(handlers: Iterable[HandlerFunction]) -> str:
    """The functions, each with its place in the author's files: `Order.pay (shop.py:86)`."""
    return " or ".join(place_of(handler) or handler.place for handler in handlers) or "a function"


def makers_of(exchange: ServerCommandExchange[Any] | None) -> str:
    """The functions that made the events of a command."""
    if exchange is None or exchange.command_aggregate is None:
        return written(())
    return written(exchange.command_aggregate.makers(exchange.message))


def no_event(body: Any, exchange: ServerCommandExchange[Any] | None) -> SpecError:
    """The error of an author whose function returned what can be no event; a coroutine is closed."""
    place = makers_of(exchange)
    stray = _stray(body, place, "an event", "what happened, with its data")
    if stray is not None:
        return stray
    text = repr(body)
    what = text if len(text) <= _BRIEF else f"{text[: _BRIEF - 1]}…"
    if exchange is not None and type(body) is type(exchange.message.body):
        what = f"the command {type(body).__name__} itself"
    return SpecError(
        f"{place} returned {what}, which is no event",
        why="an event says what happened, and is an object of a class of its own",
        instead="return OrderPaid(...), or None if nothing happened",
    )


def no_command(item: Any, handler: HandlerFunction) -> SpecError | None:
    """The error of an author whose saga returned a class or a coroutine, which is closed; None for all else."""
    return _stray(item, written([handler]), "a command", "what is to be done, with its data")


def _stray(item: Any, place: str, sort: str, says: str) -> SpecError | None:
    if isinstance(item, type) and item.__module__ != "builtins":
        name = item.__name__
        return SpecError(
            f"{place} returned the class {name}",
            why=f"{sort} is an object of its class: {says}",
            instead=f"return {name}(...)",
        )
    if isinstance(item, CoroutineType):
        name = close_unawaited(item)
        return SpecError(
            f"{place} returned the coroutine of {name}(...), where {sort} belongs",
            why=NEVER_RAN,
            instead=f"`await` before {name}(...), in an async def",
        )
    return None
