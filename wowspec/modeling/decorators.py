"""Decorators that mark message functions, and the table of roles a function can have.

A function with a role's conventional name needs no decorator (CMD-242, STA-021, EVT-102).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeVar, overload

from ..errors import DefinitionError
from .identity import FunctionKind

#: A definition is refused at the line of its author, not at ours.
__tracebackhide__ = True

F = TypeVar("F", bound=Callable[..., Any])

MARK: Final = "__wowspec_mark__"


class Role(StrEnum):
    """What a function of a domain class is for."""

    COMMAND = "on_command"
    AFTER_COMMAND = "after_command"
    ERROR = "on_error"
    SOURCING = "on_sourcing"
    EVENT = "on_event"
    STATE_EVENT = "on_state_event"


@dataclass(frozen=True, slots=True)
class RoleRow:
    """One role: its conventional name is the role's text.

    Attributes:
        role: the role.
        kind: kind of its functions (EVT-103).
        wire_name: the conventional name in the modelled runtime.
        first: what the first parameter is, for error texts.
        needs_return: a function found by name alone must not return nothing (CMD-242).
        single: a function found by name alone has exactly one parameter (STA-021).
    """

    role: Role
    kind: FunctionKind
    wire_name: str
    first: str
    needs_return: bool = False
    single: bool = False


ROLES: Final[dict[Role, RoleRow]] = {
    row.role: row
    for row in (
        RoleRow(Role.COMMAND, FunctionKind.COMMAND, "onCommand", "command", needs_return=True),
        RoleRow(Role.AFTER_COMMAND, FunctionKind.COMMAND, "afterCommand", "command"),
        RoleRow(Role.ERROR, FunctionKind.ERROR, "onError", "command"),
        RoleRow(Role.SOURCING, FunctionKind.SOURCING, "onSourcing", "event", single=True),
        RoleRow(Role.EVENT, FunctionKind.EVENT, "onEvent", "event"),
        RoleRow(Role.STATE_EVENT, FunctionKind.STATE_EVENT, "onStateEvent", "event"),
    )
}


@dataclass(frozen=True, slots=True)
class Mark:
    """What a decorator says of a function.

    Attributes:
        role: its role.
        returns: event types that the return annotation cannot tell.
        order: position among after-command functions; lower runs earlier (CMD-279).
        include: command types an after-command function is for; empty means all (CMD-276).
        exclude: command types it is never for; wins over `include`.
        aggregates: aggregates whose events an event function takes; empty means the event's own (EVT-105).
    """

    role: Role
    returns: tuple[type, ...] = ()
    order: int = 0
    include: tuple[type, ...] = ()
    exclude: tuple[type, ...] = ()
    aggregates: tuple[Any, ...] = field(default=())


def mark_of(function: Any) -> Mark | None:
    """The mark of a function, if it was decorated."""
    mark = getattr(function, MARK, None)
    return mark if isinstance(mark, Mark) else None


def overridden_event_mark(cls: type, name: str) -> Mark | None:
    """What a function that is found by its name has from the nearest event function it overrides (EVT-103, EVT-105)."""
    marks = (mark_of(vars(base)[name]) for base in cls.__mro__ if name in vars(base))
    found = next((mark for mark in marks if mark is not None), None)
    if found is None or found.role not in (Role.EVENT, Role.STATE_EVENT):
        return None
    return Mark(found.role, aggregates=found.aggregates)


def _apply(function: F, mark: Mark) -> F:
    if isinstance(function, staticmethod | classmethod) or not callable(function):
        kind = type(function).__name__
        raise DefinitionError(
            f"@{mark.role.value} stands on a {kind}",
            why="a message function is called on an instance of its class",
            instead=f"@{mark.role.value} on a plain method: def handle(self, {ROLES[mark.role].first}: ...)",
        )
    previous = mark_of(function)
    if previous is not None:
        name = getattr(function, "__qualname__", repr(function))
        raise DefinitionError(
            f"{name} is marked twice: @{previous.role.value} and @{mark.role.value}",
            why="a function has one role",
            instead="write one method for each role",
        )
    setattr(function, MARK, mark)
    return function


@overload
def on_command(function: F, /) -> F: ...
@overload
def on_command(*, returns: tuple[type, ...] | type = ...) -> Callable[[F], F]: ...
def on_command(function: Any = None, /, *, returns: tuple[type, ...] | type = ()) -> Any:
    """Mark a command function; the command type is its first parameter's annotation (CMD-242).

    Args:
        function: the method.
        returns: event types, where the return annotation cannot say them.
    """
    mark = Mark(Role.COMMAND, returns=_types(returns))
    return _apply(function, mark) if function is not None else lambda target: _apply(target, mark)


@overload
def after_command(function: F, /) -> F: ...
@overload
def after_command(
    *, order: int = ..., include: tuple[type, ...] | type = ..., exclude: tuple[type, ...] | type = ...
) -> Callable[[F], F]: ...
def after_command(
    function: Any = None,
    /,
    *,
    order: int = 0,
    include: tuple[type, ...] | type = (),
    exclude: tuple[type, ...] | type = (),
) -> Any:
    """Mark a function that runs after a successful command function and may add events (CMD-276 to CMD-283).

    Args:
        function: the method.
        order: lower runs earlier.
        include: command types it is for; none means all.
        exclude: command types it is not for; wins over `include`.
    """
    mark = Mark(Role.AFTER_COMMAND, order=order, include=_types(include), exclude=_types(exclude))
    return _apply(function, mark) if function is not None else lambda target: _apply(target, mark)


def on_error(function: F, /) -> F:
    """Mark a function that sees each failure of its command type; the failure goes on all the same (CMD-288)."""
    return _apply(function, Mark(Role.ERROR))


def on_sourcing(function: F, /) -> F:
    """Mark a function that applies one type of event to the state (STA-021)."""
    return _apply(function, Mark(Role.SOURCING))


@overload
def on_event(function: F, /) -> F: ...
@overload
def on_event(*, aggregates: tuple[Any, ...] = ...) -> Callable[[F], F]: ...
def on_event(function: Any = None, /, *, aggregates: tuple[Any, ...] = ()) -> Any:
    """Mark a function of a projection, event processor or saga that takes published events (EVT-102).

    Args:
        function: the method.
        aggregates: aggregate classes or `context.aggregate` texts whose events it takes; none means the event's own.
    """
    mark = Mark(Role.EVENT, aggregates=tuple(aggregates))
    return _apply(function, mark) if function is not None else lambda target: _apply(target, mark)


@overload
def on_state_event(function: F, /) -> F: ...
@overload
def on_state_event(*, aggregates: tuple[Any, ...] = ...) -> Callable[[F], F]: ...
def on_state_event(function: Any = None, /, *, aggregates: tuple[Any, ...] = ()) -> Any:
    """Mark a function that takes the events of state events, with the state after them (STA-046).

    Args:
        function: the method.
        aggregates: as in `on_event`.
    """
    mark = Mark(Role.STATE_EVENT, aggregates=tuple(aggregates))
    return _apply(function, mark) if function is not None else lambda target: _apply(target, mark)


def _types(value: tuple[type, ...] | type) -> tuple[type, ...]:
    types = (value,) if isinstance(value, type) else tuple(value)
    for item in types:
        if not isinstance(item, type):
            raise DefinitionError(
                f"{item!r} is no class",
                why="functions are matched by the exact class of their message",
                instead="include=(PayOrder, ShipOrder)",
            )
    return types
