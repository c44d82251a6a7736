"""What a message function is given besides its message: by type, then by name (section M.6).

The exchange is asked first, then the services (CMD-295). Where the runtime would pass nothing (CMD-299), the kit says
which parameter of which function nothing supplies: a spec that meets it is wrong.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from typing import Any, Final

from ..errors import SpecError
from ..messages.envelopes import DomainEventStream
from ..messages.exchange import CommandResultAccessor
from ..modeling.functions import HandlerFunction, Parameter
from ..world.services import NOBODY_IS, ServiceProvider, is_bare_protocol
from ..world.user_clock import Clock
from ..world.world import World
from .fault_points import FaultPoints
from .service_points import with_points

_NOTHING: Final = object()


class MissingServiceError(SpecError):
    """A message function asks for something that nothing supplies."""


def _held(exchange: Any) -> Iterator[tuple[str, Any]]:
    """What an exchange holds, in the order of look-up, under the names that parameters may use (CMD-296, EVT-095)."""
    yield "exchange", exchange
    yield "message", exchange.message
    yield "header", exchange.header
    aggregate_id = exchange.aggregate_id
    yield "aggregate_id", aggregate_id
    if aggregate_id is not None:
        # In the runtime a message is a named aggregate itself (CMD-297).
        yield "named_aggregate", aggregate_id.named_aggregate
    yield "services", exchange.services
    command_aggregate = getattr(exchange, "command_aggregate", None)
    if command_aggregate is not None:
        yield "command_aggregate", command_aggregate
        yield "state_aggregate", command_aggregate.state
    state_event = getattr(exchange, "state_event", None)
    if state_event is not None:
        yield "state_aggregate", state_event
        yield "state", state_event.state
        yield "event_stream", state_event.stream
    yield "event_stream", getattr(exchange, "event_stream", None)
    command_stream = getattr(exchange, "command_stream", None)
    if isinstance(command_stream, DomainEventStream):  # sourcing: the stream that is being applied
        yield "event_stream", command_stream
    yield "error", exchange.error


#: Other names under which a parameter may ask for what the exchange holds.
_ALIASES: Final = {"command": "message", "event": "message", "result": "exchange"}


#: Classes that say little of what is meant.
_BUILT_IN: Final = frozenset({dict, list, set, frozenset, tuple, str, int, float, bool, bytes})


def arguments(handler: HandlerFunction, exchange: Any, world: World) -> tuple[list[Any], dict[str, Any]]:
    """The further arguments of a function, positional and by keyword.

    Raises:
        MissingServiceError: if nothing supplies a parameter that has no default and takes no None.
    """
    return arguments_of(handler.place, handler.parameters, exchange, world, owner=handler.owner)


def arguments_of(
    place: str, parameters: Iterable[Parameter], exchange: Any, world: World, *, owner: type | None = None
) -> tuple[list[Any], dict[str, Any]]:
    """As `arguments`, for anything that has parameters; `place` names it in the error, `owner` is whose it is."""
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for parameter in parameters:
        value = _resolve(parameter, exchange, world, owner)
        if value is _NOTHING:
            if parameter.default is not inspect.Parameter.empty:
                value = parameter.default
            elif parameter.nullable:
                value = None
            else:
                raise world.blame_author(_missing(place, parameter, world.services))
        if parameter.keyword:
            keywords[parameter.name] = value
        else:
            positional.append(value)
    return positional, keywords


def _resolve(parameter: Parameter, exchange: Any, world: World, owner: type | None) -> Any:
    services = world.services
    if parameter.service_name is not None:
        return _service(services.by_name(parameter.service_name), exchange, world)
    wanted = parameter.wanted
    if wanted in _BUILT_IN:
        # A dictionary or a text is told by its name where one was injected under it: a message's header is one, too.
        named = services.by_name(parameter.name)
        if isinstance(named, wanted):
            return _service(named, exchange, world)
    if wanted is not None:
        if wanted is CommandResultAccessor:
            return exchange
        if wanted is Clock:
            return Clock(world.clock, world.scheduler)
        if wanted is FaultPoints:
            return FaultPoints(world, exchange)
        if world.parts is not None:
            part = world.parts(owner, wanted)
            if part is not None:
                return part
        for _, value in _held(exchange):
            if value is not None and _is(value, wanted):
                return value
        found = services.by_type(wanted)
        if found is not None:
            return _service(found, exchange, world)
    name = _ALIASES.get(parameter.name, parameter.name)
    if wanted is None:
        for held, value in _held(exchange):
            if held == name and value is not None:
                return value
    return _service(services.by_name(parameter.name), exchange, world)


def _service(value: Any, exchange: Any, world: World) -> Any:
    return _NOTHING if value is None else with_points(value, exchange, world)


def _is(value: Any, wanted: type) -> bool:
    try:
        return isinstance(value, wanted)
    except TypeError:
        return False


def _missing(place: str, parameter: Parameter, services: ServiceProvider) -> MissingServiceError:
    wanted = parameter.wanted
    asked = wanted.__name__ if wanted is not None else "its annotation"
    if parameter.service_name is not None:
        asked = f"the name {parameter.service_name!r}"
    by_name = f".inject({parameter.service_name or parameter.name}=...)"
    if parameter.service_name is not None:
        wanted = None
    instead = f".inject({wanted.__name__}(...)) or {by_name}" if wanted is not None else by_name
    if wanted is not None and is_bare_protocol(wanted):
        instead = f"{by_name}, or @runtime_checkable above {asked}: {NOBODY_IS}"
    classes = [service.__name__ for _, service in services.named() if isinstance(service, type)]
    if classes:
        instead += f"; an object of {classes[0]} where the class was given: .inject({classes[0]}())"
    return MissingServiceError(
        f"nothing supplies parameter {parameter.name!r} of {place} (asked for by {asked})",
        why=f"the runtime would pass nothing there; on offer are: {services.offer()}",
        instead=instead,
    )
