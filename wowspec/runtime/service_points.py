"""Faults in calls of injected services: `faults.service("payment").charge.times_out()`.

A service is handed out as it is, unless a fault is armed in one of its methods; then a stand-in passes the point
`service:<name>.<method>` at each call. So it does where orders of tasks are explored and the service has methods that
are awaited: others may go first at each of them. Services that a processor's constructor takes are handed out before,
and so have no such points.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import CoroutineType
from typing import Any, Final
from weakref import WeakKeyDictionary

from ..world.points import SERVICE_CALL
from ..world.world import World


def with_points(service: Any, exchange: Any, world: World) -> Any:
    """The service, or a stand-in with points if faults or choices of order concern one of its methods."""
    injector = world.injector
    if injector is None:
        return service
    explored = world.scheduler.chooser is not None and _is_awaited(type(service))
    for name in world.services.names_of(service):
        if explored or injector.aims_at(f"{SERVICE_CALL}:{name}."):
            return _stand_in(type(service))(service, name, exchange, world)
    return service


def _is_awaited(cls: type) -> bool:
    """Whether any method of a class is a coroutine function."""
    return any(inspect.iscoroutinefunction(getattr(cls, name, None)) for name in dir(cls) if not name.startswith("_"))


class _StandIn:
    """Looks like the service; each call of a method passes its point."""

    __slots__ = ("_exchange", "_name", "_service", "_world")

    def __init__(self, service: Any, name: str, exchange: Any, world: World) -> None:
        for slot, value in (("_service", service), ("_name", name), ("_exchange", exchange), ("_world", world)):
            object.__setattr__(self, slot, value)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The service's own, so that `isinstance` holds."""
        return type(self._service)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._service, name, value)

    def __repr__(self) -> str:
        return repr(self._service)

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._service, name)
        if not callable(attribute):
            return attribute
        point = f"{SERVICE_CALL}:{self._name}.{name}"
        method = attribute
        if inspect.iscoroutinefunction(method):
            return self._awaited(point, method)
        return self._plain(point, method)

    def _enter(self, point: str, call: Callable[[], Any]) -> Any:
        exchange = self._exchange
        return self._world.enter(point, exchange.lane, exchange.message, "", call)

    def _awaited(self, point: str, method: Callable[..., Any]) -> Callable[..., Any]:
        async def called(*args: Any, **kwargs: Any) -> Any:
            def enter() -> Any:
                return self._enter(point, lambda: method(*args, **kwargs))

            chooser = self._world.scheduler.chooser
            if chooser is not None:
                return await chooser.pass_point(self._world, point, enter)
            result = enter()
            return await result if type(result) is CoroutineType else result

        return called

    def _plain(self, point: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            world = self._world
            return world.answered_at_once(self._enter(point, lambda: method(*args, **kwargs)), point, self._caller())

        return called

    def _caller(self) -> str:
        """Whose call it is, for error texts."""
        exchange = self._exchange
        return exchange.lane.function or f"the handler of {type(exchange.message.body).__name__}"


#: What belongs to the stand-in itself, or to its making.
_OWN: Final = frozenset(
    {
        "__class__",
        "__class_getitem__",
        "__del__",
        "__getattr__",
        "__getattribute__",
        "__init__",
        "__init_subclass__",
        "__new__",
        "__repr__",
        "__setattr__",
        "__subclasshook__",
    }
)


_STAND_INS: Final[WeakKeyDictionary[type, type[_StandIn]]] = WeakKeyDictionary()


def _stand_in(cls: type) -> type[_StandIn]:
    """The class of stand-ins for services of a class: Python asks the class, not the object, for operators."""
    known = _STAND_INS.get(cls)
    if known is not None:
        return known
    operators = [
        name
        for name in dir(cls)
        if name.startswith("__")
        and name not in _OWN
        and callable(getattr(cls, name))
        and getattr(cls, name) is not getattr(object, name, None)
    ]
    body = {"__slots__": (), **{name: _operator(name) for name in operators}}
    made = _STAND_INS[cls] = type(_StandIn.__name__, (_StandIn,), body)
    return made


def _operator(name: str) -> Callable[..., Any]:
    def operator(self: _StandIn, *args: Any) -> Any:
        return getattr(self._service, name)(*args)

    return operator
