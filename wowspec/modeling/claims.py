"""Which aggregate a command or event class belongs to, kept on the class itself.

There is no global registry: a class is found only by someone who already holds it. Definitions whose annotations could
not be resolved when their class was made are completed before the first question is answered.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

from ..errors import DefinitionError, SpecError

#: A definition is refused at the line of its author, not at ours.
__tracebackhide__ = True

_COMMANDS: Final = "__wowspec_command_of__"
_EVENTS: Final = "__wowspec_event_of__"
_STATES: Final = "__wowspec_state_of__"
#: Stands in the qualified name of what a function defines.
_LOCALS: Final = "<locals>"
#: How many claimants an error names.
_MOST_NAMED: Final = 3


class Completable(Protocol):
    """A definition that may still have to be completed."""

    def complete(self) -> None:
        """Resolve its annotations; raises if they still cannot be."""
        ...

    def learn(self, message_class: type) -> bool:
        """Take in a class, if the definition can see it where it stands; whether it can."""
        ...


_pending: list[Completable] = []


def postpone(definition: Completable) -> None:
    """Complete this definition before the next question."""
    _pending.append(definition)


def complete_pending(message_class: type | None = None) -> DefinitionError | None:
    """Complete what can be completed by now; the rest stays.

    Args:
        message_class: a class in hand; a definition may wait for just this one, whose name nothing holds any more.

    Returns:
        Why a definition that could have to do with the class stays, if one does.
    """
    waiting, _pending[:] = list(_pending), []
    concerned = None
    for definition in waiting:
        sees = message_class is not None and definition.learn(message_class)
        try:
            definition.complete()
        except DefinitionError as error:
            _pending.append(definition)
            waits_for = getattr(error.__cause__, "name", None)
            if sees or (message_class is not None and waits_for == message_class.__name__):
                concerned = error
    return concerned


def _qualified(cls: type) -> tuple[str, str]:
    return cls.__module__, cls.__qualname__


def _claims(message_class: type, attribute: str) -> list[type]:
    claims: list[type] = vars(message_class).get(attribute, [])
    return claims


def _claim(message_class: type, aggregate: type, attribute: str) -> list[type]:
    """Record a claim; a class that was defined anew under the same name takes over its own earlier claim."""
    others = [other for other in _claims(message_class, attribute) if _qualified(other) != _qualified(aggregate)]
    try:
        type.__setattr__(message_class, attribute, [*others, aggregate])
    except TypeError:
        raise DefinitionError(
            f"{aggregate.__name__} uses {message_class.__name__} as a message",
            why="a class of Python's own cannot say which aggregate it belongs to",
            instead=f"a class of its own: @dataclass class {message_class.__name__.title()}Message: ...",
        ) from None
    return others


def claim_command(command_class: type, aggregate: type) -> None:
    """Say that an aggregate handles (or mounts) a command class."""
    _claim(command_class, aggregate, _COMMANDS)


def claim_event(event_class: type, aggregate: type) -> None:
    """Say that an event class belongs to an aggregate.

    Aggregates that are local to functions of which neither holds the other may share an event class, as small ones
    within tests do: no line could mean both.

    Raises:
        DefinitionError: if another aggregate claims it already (EVT-105).
    """
    for other in _claims(event_class, _EVENTS):
        if _qualified(other) != _qualified(aggregate) and _may_meet(other, aggregate):
            raise DefinitionError(
                f"both {_told(other, aggregate)} and {_told(aggregate, other)} claim the event {event_class.__name__}",
                why="an event belongs to the aggregate whose functions return or source it; a bare event in given(...) "
                "would have two homes",
                instead="give each aggregate an event class of its own, such as "
                f"{aggregate.__name__}{event_class.__name__}",
            )
    _claim(event_class, aggregate, _EVENTS)


def _may_meet(one: type, other: type) -> bool:
    """Whether two classes can be seen from one place: not if each is local to a function outside the other's."""
    scopes = [(cls.__module__, cls.__qualname__.rpartition(f".{_LOCALS}.")[0]) for cls in (one, other)]
    (module, scope), (other_module, other_scope) = scopes
    if not scope or not other_scope:
        return True
    if module != other_module:
        return False
    inner, outer = (scope, other_scope) if len(scope) > len(other_scope) else (other_scope, scope)
    return inner == outer or inner.startswith(f"{outer}.{_LOCALS}.")


def _told(cls: type, *others: type) -> str:
    """A class's name; with its module where another has the same name, or is of another module."""
    alike = any(other.__name__ == cls.__name__ or other.__module__ != cls.__module__ for other in others)
    return f"{cls.__module__}.{cls.__qualname__}" if alike else cls.__name__


def claim_state(state_class: type, aggregate: type) -> None:
    """Say that an aggregate keeps its state in a class."""
    _claim(state_class, aggregate, _STATES)


def aggregates_of_state(state_class: type) -> tuple[type, ...]:
    """The aggregates that keep their state in a class."""
    complete_pending()
    return tuple(_claims(state_class, _STATES))


def aggregate_of_command(command_class: type) -> type | None:
    """The aggregate that handles or mounts a command class; None if no one claims it.

    Raises:
        SpecError: if several do.
        DefinitionError: if no one does yet, and an aggregate's definition waits for a class of this name.
    """
    return _only(command_class, _COMMANDS, "command")


def aggregate_of_event(event_class: type) -> type | None:
    """The aggregate that an event class belongs to; None if no one claims it.

    Raises:
        SpecError: if several do, each local to a function of its own.
    """
    return _only(event_class, _EVENTS, "event")


def aggregates_of_event(event_class: type) -> tuple[type, ...]:
    """The aggregates that claim an event class: mostly one."""
    if _pending:
        complete_pending(event_class)
    return tuple(_claims(event_class, _EVENTS))


def _only(message_class: type, attribute: str, what: str) -> type | None:
    concerned = complete_pending(message_class) if _pending else None
    found = _claims(message_class, attribute)
    if not found and concerned is not None:
        raise concerned
    if len(found) > 1:
        told = [_told(one, *(other for other in found if other is not one)) for one in found[:_MOST_NAMED]]
        names = ", ".join([*told, "…"] if len(found) > _MOST_NAMED else told)
        raise SpecError(
            f"the {what} {message_class.__name__} belongs to several aggregates: {names}",
            why="the kit cannot tell which one is meant",
            instead=f"spec({found[0].__name__}).given(...), which says the aggregate",
        )
    return found[0] if found else None


def definition_of(value: Any) -> Any:
    """The aggregate definition that a class carries itself, or None."""
    return vars(value).get("__wowspec_aggregate__") if isinstance(value, type) else None
