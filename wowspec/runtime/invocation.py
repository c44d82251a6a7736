"""Calling a user's function: plain, async, generator or async generator, adapted each (CMD-267, EVT-112)."""

from __future__ import annotations

from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, Final

from ..errors import SpecError
from ..modeling.functions import First, HandlerFunction
from ..world.foreign import ForeignAwaitError
from ..world.world import World
from .fault_points import CALLERS
from .injection import arguments

#: What nearly every function takes first.
_BODY: Final = First.BODY
#: What event loops say when they are used where none runs.
_NO_LOOP: Final = ("no running event loop", "must be called from async context", "unknown async library")


async def invoke(handler: HandlerFunction, instance: Any, exchange: Any, world: World) -> Any:
    """As `call`, always to be awaited."""
    result = call(handler, instance, exchange, world)
    return await result if type(result) is CoroutineType else result


def call(handler: HandlerFunction, instance: Any, exchange: Any, world: World) -> Any:
    """Call a message function and adapt what it returns.

    A value comes back as it is, nothing as None, a generator of either sort as one list (possibly empty). Where
    something must be awaited for that, a coroutine of it comes back; its class tells (`CoroutineType`).
    """
    if world.perturber is not None:
        return world.perturber.call(handler, instance, exchange, world)
    kind = handler.first
    message = exchange.message
    first = message.body if kind is _BODY else message if kind is First.MESSAGE else exchange
    if handler.wraps_state:
        first = exchange.state_event
    try:
        if handler.parameters:
            positional, keywords = arguments(handler, exchange, world)
            result = handler.function(instance, first, *positional, **keywords)
        else:
            result = handler.function(instance, first)
    except (ForeignAwaitError, RuntimeError) as error:
        blamed = _blamed(handler, error, world)
        if blamed is None:
            raise
        raise blamed from blamed.__cause__
    cls = type(result)
    plain = _PLAIN.get(cls)
    if plain is None:
        plain = _PLAIN[cls] = not hasattr(cls, "__await__") and cls not in (GeneratorType, AsyncGeneratorType)
    return result if plain else _adapted(handler, result, exchange, world)


#: Whether an object of this class, returned by a function, is its result as it is.
_PLAIN: Final[dict[type, bool]] = {}


# `running_call` looks at the exchange.
async def _adapted(handler: HandlerFunction, result: Any, exchange: Any, world: World) -> Any:  # noqa: ARG001
    try:
        return await adapt(result)
    except (ForeignAwaitError, RuntimeError) as error:
        blamed = _blamed(handler, error, world)
        if blamed is None:
            raise
        raise blamed from blamed.__cause__


CALLERS.update((call.__code__, _adapted.__code__))


def _blamed(handler: HandlerFunction, error: ForeignAwaitError | RuntimeError, world: World) -> SpecError | None:
    """The error of the author's that names the function, if this is one."""
    if isinstance(error, ForeignAwaitError):
        return world.blame_author(_named(handler, error))
    if not any(text in str(error) for text in _NO_LOOP):
        return None
    named = _named(handler, _no_loop(error))
    named.__cause__ = error
    return world.blame_author(named)


async def adapt(result: Any) -> Any:
    """Await and collect what a function returned."""
    kind = type(result)
    if kind is CoroutineType or hasattr(kind, "__await__"):
        result = await result
        kind = type(result)
    if kind is GeneratorType:
        return list(result)
    if kind is AsyncGeneratorType:
        return [item async for item in result]
    return result


def _no_loop(error: RuntimeError) -> ForeignAwaitError:
    return ForeignAwaitError(
        f"the code asked for a running event loop: {error}",
        why="a world steps its code on virtual time and runs no event loop, so that every run is the same",
        instead="inject a service that answers at once, ask for `clock: Clock` and `await clock.sleep(...)`, "
        "or use the asynchronous form (`gateway.aio`) inside an async test",
    )


def _named(handler: HandlerFunction, error: SpecError) -> ForeignAwaitError:
    named = ForeignAwaitError(f"{handler.place}: {error.what}", why=error.why, instead=error.instead)
    named.__traceback__ = error.__traceback__
    return named
