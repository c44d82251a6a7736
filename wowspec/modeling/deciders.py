"""Deciders: plain functions as an aggregate, so that any functional domain gets the same specs (api section 12)."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar, cast, get_origin

from ..errors import DefinitionError, SpecError
from . import claims
from .aggregates import CHECKS, DEFAULT_CONTEXT, DEFINITION, AggregateMetadata, CommandFunction, built_in_commands
from .decorators import ROLES, Mark, Role
from .functions import (
    First,
    HandlerFunction,
    Namespace,
    UnresolvedAnnotation,
    injected_parameter,
    message_classes,
    returned_types,
    union_members,
)
from .identity import FunctionInfo, FunctionKind, NamedAggregate
from .states import StateMetadata

#: A definition is refused at the line of its author, not at ours.
__tracebackhide__ = True

S = TypeVar("S")

_EMPTY: Final = inspect.Parameter.empty


class DeciderDefinition:
    """A decider as declared; its metadata is complete, or completed at the first use."""

    __slots__ = ("_build", "_decide", "_metadata", "_namespace")

    def __init__(
        self, build: Callable[[], AggregateMetadata], decide: Callable[..., Any], namespace: Namespace
    ) -> None:
        self._build = build
        self._decide = decide
        self._namespace = namespace
        self._metadata: AggregateMetadata | None = None

    def metadata(self) -> AggregateMetadata:
        """The completed metadata; raises `DefinitionError` if the functions are no decider."""
        if self._metadata is None:
            self.complete()
        assert self._metadata is not None
        return self._metadata

    def complete(self) -> None:
        """Resolve the annotations now."""
        try:
            self._metadata = self._build()
        except UnresolvedAnnotation as error:
            raise DefinitionError(
                f"an annotation of the decider cannot be resolved: {error}",
                why="the kit reads from annotations which commands and events there are",
                instead="import or define that class at module level, before the decider",
            ) from error

    def learn(self, message_class: type) -> bool:
        """Take in a class that the functions can see where they stand."""
        return self._namespace.learn(message_class, self._decide)

    def try_complete(self) -> None:
        """Complete now, or before the first use."""
        try:
            self._metadata = self._build()
        except UnresolvedAnnotation:
            claims.postpone(self)


class Decided(Generic[S]):
    """What type checkers take a decider's class for: an aggregate root around a state. Objects of it are never made."""

    def __init__(self, state: S) -> None:
        self.state = state


def decider(
    decide: Callable[..., Any],
    evolve: Callable[[S, Any], S],
    initial: S,
    *,
    name: str,
    context: str | None = None,
) -> type[Decided[S]]:
    """Wrap plain functions as an aggregate root.

    Args:
        decide: `decide(command, state) -> events`; what it returns is as in a command function, but an empty list means
            that nothing happened. Further parameters are injected. The command types are its annotation.
        evolve: `evolve(state, event) -> state`; the event types are its annotation.
        initial: the state before the first event (copied for each instance).
        name: the aggregate's name.
        context: its bounded context.

    Returns:
        A class that stands for the aggregate wherever one is named: `spec(wallet)`, `on(wallet, "w-1", ...)`.

    Raises:
        DefinitionError: if the annotations do not say the types; where one cannot be resolved yet, at the first use.
    """
    namespace = Namespace.of_caller()
    text: Any = name
    if not isinstance(text, str) or not text.strip():
        raise DefinitionError(
            f"a decider was given the name {name!r}",
            why="an aggregate is named by a text",
            instead='decider(decide, evolve, initial, name="wallet")',
        )
    root = type(name, (), {"__doc__": decide.__doc__, "__module__": getattr(decide, "__module__", __name__)})
    named = NamedAggregate(context or DEFAULT_CONTEXT, name)
    definition = DeciderDefinition(
        lambda: _metadata(root, named, decide, evolve, initial, namespace), decide, namespace
    )
    type.__setattr__(root, DEFINITION, definition)
    definition.try_complete()
    return cast("type[Decided[S]]", root)


def _metadata(
    root: type,
    named: NamedAggregate,
    decide: Callable[..., Any],
    evolve: Callable[[Any, Any], Any],
    initial: Any,
    namespace: Namespace,
) -> AggregateMetadata:
    command, state_of_decide, *injected = _parameters(decide, "decide(command, state)", 2, root)
    state_of_evolve, event = _parameters(evolve, "evolve(state, event)", 2, root)[:2]
    _require_order(root, decide, (state_of_decide, command), initial, namespace)
    _require_order(root, evolve, (state_of_evolve, event), initial, namespace)
    commands = _classes(decide, command, Role.COMMAND, namespace)
    events = _classes(evolve, event, Role.SOURCING, namespace)
    state_type = _state_type(evolve, state_of_evolve, decide, state_of_decide, initial, namespace)
    state = StateMetadata(
        state_type,
        lambda _: copy.deepcopy(initial),
        {kind: _sourcing(root, evolve, kind, state_type) for kind in events},
        None,
        False,
        False,
        False,
        namespace,
        evolves=True,
    )
    returned = tuple(kind for kind in returned_types(decide, namespace) if kind is not type(None))
    parameters = tuple(
        injected_parameter(parameter, namespace.resolve(decide, parameter.annotation)) for parameter in injected
    )
    handler = HandlerFunction(
        root,
        decide.__name__,
        ROLES[Role.COMMAND],
        Mark(Role.COMMAND),
        _deciding(decide),
        commands,
        First.BODY,
        parameters,
        returned,
    )
    info = FunctionInfo(FunctionKind.COMMAND, named.context_name, named.aggregate_name, decide.__name__)
    all_events = tuple(dict.fromkeys((*returned, *events)))
    metadata = AggregateMetadata(
        named,
        root,
        state_type,
        state,
        {kind: CommandFunction(handler, info) for kind in commands},
        (),
        {},
        (),
        all_events,
        None,
        built_in_commands(root, named, commands),
        lambda current: current,
    )
    for check in CHECKS:
        check(metadata, namespace)
    for kind in all_events:
        claims.claim_event(kind, root)
    for kind in commands:
        claims.claim_command(kind, root)
    return metadata


def _parameters(function: Callable[..., Any], form: str, least: int, root: type) -> list[inspect.Parameter]:
    parameters = list(inspect.signature(function).parameters.values())
    if len(parameters) < least:
        raise DefinitionError(
            f"{function.__name__} of the decider {root.__name__} takes {len(parameters)} parameters",
            why=f"a decider calls it as {form}",
            instead=f"def {function.__name__}({form.partition('(')[2]}: ...",
        )
    return parameters


def _require_order(
    root: type,
    function: Callable[..., Any],
    parameters: tuple[inspect.Parameter, inspect.Parameter],
    initial: Any,
    namespace: Namespace,
) -> None:
    """Refuse a function whose parameters are swapped: the state stands where the message belongs."""
    state, message = parameters
    if _is_class_of(message, initial, function, namespace) and not _is_class_of(state, initial, function, namespace):
        first, second = list(inspect.signature(function).parameters.values())[:2]
        said = "decide(command, state)" if second == state else "evolve(state, event)"
        raise DefinitionError(
            f"{function.__name__} of the decider {root.__name__} takes ({first.name}, {second.name})",
            why=f"a decider calls it as {said}, and its state is of class {type(initial).__name__}",
            instead=f"def {function.__name__}({second}, {first}): ...".replace("'", ""),
        )


def _is_class_of(parameter: inspect.Parameter, value: Any, function: Callable[..., Any], namespace: Namespace) -> bool:
    """Whether an annotation names the class of a value."""
    if parameter.annotation is _EMPTY or value is None:
        return False
    members = union_members(namespace.resolve(function, parameter.annotation))
    return any((get_origin(member) or member) is type(value) for member in members)


def _classes(
    function: Callable[..., Any], parameter: inspect.Parameter, role: Role, namespace: Namespace
) -> tuple[type, ...]:
    row = ROLES[role]
    if parameter.annotation is _EMPTY:
        raise DefinitionError(
            f"parameter {parameter.name!r} of {function.__name__} has no annotation",
            why=f"it says which {row.first}s there are",
            instead=f"{parameter.name}: Deposit | Withdraw" if role is Role.COMMAND else f"{parameter.name}: Deposited",
        )
    annotation = namespace.resolve(function, parameter.annotation)
    return message_classes(function.__name__, row, annotation)


def _state_type(
    evolve: Callable[..., Any],
    of_evolve: inspect.Parameter,
    decide: Callable[..., Any],
    of_decide: inspect.Parameter,
    initial: Any,
    namespace: Namespace,
) -> Any:
    for function, parameter in ((evolve, of_evolve), (decide, of_decide)):
        if parameter.annotation is not _EMPTY:
            resolved = namespace.resolve(function, parameter.annotation)
            if resolved is not Any:
                return resolved
    return type(initial)


def _deciding(decide: Callable[..., Any]) -> Callable[..., Any]:
    def function(state: Any, command: Any, *injected: Any, **named: Any) -> Any:
        result = decide(command, state, *injected, **named)
        # In a decider an empty list means that nothing happened, where a command function's would be refused.
        return None if isinstance(result, list | tuple) and not result else result

    return function


def _sourcing(root: type, evolve: Callable[[Any, Any], Any], kind: type, state_type: Any) -> HandlerFunction:
    takes_none = type(None) in union_members(state_type)

    def function(state: Any, event: Any) -> Any:
        following = evolve(state, event)
        if following is None and not takes_none:
            raise SpecError(
                f"{evolve.__name__} of the decider {root.__name__} gave None for {kind.__name__}",
                why="what it returns is the next state",
                instead="return state",
            )
        return following

    return HandlerFunction(
        root,
        evolve.__name__,
        ROLES[Role.SOURCING],
        Mark(Role.SOURCING),
        function,
        (kind,),
        First.BODY,
        (),
        (),
    )
