"""Discovery of message functions: which methods of a domain class handle what, and what else they ask for.

Members are looked at in order of their names, not of declaration, those of the class itself before inherited ones
(STA-021); a private function counts only in the class that declares it.
"""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from ..errors import DefinitionError
from ..texts import is_blank
from .annotations import Name
from .decorators import ROLES, Mark, Role, RoleRow, mark_of, overridden_event_mark
from .fields import defining_locals, enclosing_locals

#: A definition is refused at the line of its author, not at ours.
__tracebackhide__ = True

ENVELOPE: Final = "__wowspec_envelope__"
#: Envelopes of commands; all others are of events.
_COMMAND_ENVELOPES: Final = ("CommandMessage", "ServerCommandExchange")


class First(StrEnum):
    """What a function's first parameter is given."""

    BODY = "body"
    MESSAGE = "message"
    EXCHANGE = "exchange"


class UnresolvedAnnotation(Exception):  # noqa: N818 - a state of the definition, which may pass
    """An annotation names something that does not exist yet; the definition is completed at its first use.

    `name` is what does not exist, where that is known.
    """

    def __init__(self, text: str, name: str = "") -> None:
        super().__init__(text)
        self.name = name


@dataclass(frozen=True, slots=True)
class Parameter:
    """A further parameter of a message function (section M.6).

    Attributes:
        name: its name.
        wanted: the class that it asks for; None if its annotation is no class.
        service_name: looked up by this name only (CMD-294).
        default: its default; `inspect.Parameter.empty` if it has none.
        nullable: whether None may be passed.
        keyword: whether it is passed by keyword.
    """

    name: str
    wanted: type | None
    service_name: str | None
    default: Any
    nullable: bool
    keyword: bool


@dataclass(frozen=True, slots=True)
class HandlerFunction:
    """One message function of a domain class.

    Attributes:
        owner: the class it was found on.
        name: method name.
        row: its role.
        mark: what its decorator says (a plain mark if it was found by name).
        function: the unbound function.
        supported: the message types it handles.
        first: what its first parameter is given.
        parameters: what else it asks for.
        events: event types that it can return, as far as its annotations tell.
    """

    owner: type
    name: str
    row: RoleRow
    mark: Mark
    function: Callable[..., Any]
    supported: tuple[type, ...]
    first: First
    parameters: tuple[Parameter, ...]
    events: tuple[type, ...]
    wraps_state: bool = False

    @property
    def place(self) -> str:
        """Class and method, for error texts."""
        return f"{self.owner.__name__}.{self.name}"


class Namespace:
    """Where the annotations of a definition are looked up: the definer's local names besides the module's."""

    __slots__ = ("local_names",)

    def __init__(self, local_names: Mapping[str, Any] | None = None) -> None:
        self.local_names: dict[str, Any] = dict(local_names or {})

    @classmethod
    def of_caller(cls, depth: int = 1) -> Namespace:
        """The local names of the calling frame, so that classes defined inside a function resolve."""
        frame = sys._getframe(depth + 1)
        if frame.f_locals is frame.f_globals:
            return cls()
        return cls(enclosing_locals(f"{frame.f_code.co_qualname}.", frame.f_globals, frame))

    def learn(self, message_class: type, definition: Any) -> bool:
        """Take in a class that a definition can see where it stands, though its defining function has ended.

        Returns:
            Whether the definition can see it.
        """
        scope = f"{message_class.__qualname__.rpartition('.')[0]}."
        if message_class.__module__ != definition.__module__ or not definition.__qualname__.startswith(scope):
            return False
        self.local_names.setdefault(message_class.__name__, message_class)
        return True

    def resolve(self, owner: Any, annotation: Any, within: type | None = None) -> Any:
        """The object that an annotation stands for.

        Args:
            owner: the function or class that it stands on.
            annotation: the annotation.
            within: the class in whose body it stands; classes that are nested there are seen first.

        Raises:
            UnresolvedAnnotation: if it names something that does not exist (yet).
        """
        if not isinstance(annotation, str) and not _holds_text(annotation):
            return annotation
        # The annotations of a decorated method are those of the method itself.
        owner = inspect.unwrap(owner) if callable(owner) and not isinstance(owner, type) else owner
        module = sys.modules.get(getattr(owner, "__module__", ""), None)
        globals_ = getattr(owner, "__globals__", None) or (vars(module) if module else {})
        shim = types.SimpleNamespace(__annotations__={"it": annotation})
        local_names = {**self.local_names, **_nested_classes(within)} if within is not None else self.local_names
        try:
            return typing.get_type_hints(shim, globals_, local_names, include_extras=True)["it"]
        except NameError:
            pass
        # What the function's own body uses outlives the defining function; so do its names while it still runs.
        local_names = {**_closure(owner), **defining_locals(owner), **local_names}
        try:
            return typing.get_type_hints(shim, globals_, local_names, include_extras=True)["it"]
        except NameError as error:
            raise UnresolvedAnnotation(str(error), error.name or "") from error


def _nested_classes(cls: type) -> dict[str, Any]:
    return {
        name: value
        for base in reversed(cls.__mro__)
        for name, value in vars(base).items()
        if isinstance(value, type) and not name.startswith("__")
    }


def _closure(owner: Any) -> dict[str, Any]:
    if not inspect.isfunction(owner) or not owner.__closure__:
        return {}
    found = {}
    for name, cell in zip(owner.__code__.co_freevars, owner.__closure__, strict=True):
        with suppress(ValueError):  # a name that has no value yet
            found[name] = cell.cell_contents
    return found


def _holds_text(annotation: Any) -> bool:
    return (
        any(isinstance(arg, str | typing.ForwardRef) or _holds_text(arg) for arg in typing.get_args(annotation))
        and typing.get_origin(annotation) is not typing.Literal
    )


def discover(cls: type, roles: tuple[Role, ...], namespace: Namespace) -> list[HandlerFunction]:
    """The message functions of a class in these roles: its own before those of its bases, each in order of their names.

    Raises:
        DefinitionError: for a function that cannot be one.
        UnresolvedAnnotation: if an annotation cannot be resolved yet.
    """
    found = []
    for name, function in _members(cls, roles):
        mark = mark_of(function)
        if mark is None:
            role = _conventional_role(name)
            if role is None or role not in roles:
                continue
            row = ROLES[role]
            if not _counts_by_name(cls, name, row, function):
                continue
            mark = overridden_event_mark(cls, name) or Mark(role)
        if mark.role in roles:
            found.append(_handler_or_refusal(cls, name, ROLES[mark.role], mark, function, namespace))
    return found


def _handler_or_refusal(
    cls: type, name: str, row: RoleRow, mark: Mark, function: Any, namespace: Namespace
) -> HandlerFunction:
    try:
        return _handler(cls, name, row, mark, function, namespace)
    except UnresolvedAnnotation as error:
        raise UnresolvedAnnotation(f"{error} (in {cls.__name__}.{name})", error.name) from error
    except (SyntaxError, TypeError, AttributeError) as error:
        raise DefinitionError(
            f"an annotation of {cls.__name__}.{name} cannot be read: {error}",
            why=f"the kit reads from annotations which {row.first} the function handles and what it is given",
            instead=f"def {name}(self, {row.first}: The{row.first.title()}) -> ...: ...",
        ) from error


def _members(cls: type, roles: tuple[Role, ...]) -> Iterator[tuple[str, Any]]:
    declared: dict[str, tuple[type, Any]] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if inspect.isfunction(value):
                declared[name] = (base, value)
                continue
            declared.pop(name, None)
            role = _conventional_role(name)
            if isinstance(value, staticmethod | classmethod) and role in roles:
                raise DefinitionError(
                    f"{base.__name__}.{name} is a {type(value).__name__}",
                    why=f"a method named {name} handles messages, and is called on an instance of its class",
                    instead=f"def {name}(self, ...), or another name",
                )
            mark = mark_of(value)
            if mark is not None and not isinstance(value, type):
                raise DefinitionError(
                    f"{base.__name__}.{name} is marked @{mark.role.value}, but is a {type(value).__name__}",
                    why="a message function is a plain method, whose parameters can be read",
                    instead=f"@{mark.role.value} on a method that calls it: def {name}(self, ...) -> ...: ...",
                )
    for name, (base, value) in sorted(declared.items(), key=lambda item: (item[1][0] is not cls, item[0])):
        is_private = name.startswith("_") and not name.startswith("__")
        if is_private and base is not cls:
            continue
        yield name, value


def _conventional_role(name: str) -> Role | None:
    try:
        return Role(name)
    except ValueError:
        return None


def _counts_by_name(cls: type, name: str, row: RoleRow, function: Any) -> bool:
    """Whether a function with a conventional name and no decorator is one; what only looks like one is refused."""
    positional = _positional(function)
    if not positional:
        raise DefinitionError(
            f"{cls.__name__}.{name} takes no {row.first}",
            why=f"a method named {name} handles the {row.first} in its first parameter",
            instead=f"def {name}(self, {row.first}: ...)",
        )
    if row.single and len(positional) > 1:
        raise DefinitionError(
            f"{cls.__name__}.{name} takes {len(positional)} parameters",
            why="found by its name alone, a sourcing function takes the event and nothing else",
            instead=f"@on_sourcing above it, or def {name}(self, event: ...)",
        )
    returned = function.__annotations__.get("return", inspect.Parameter.empty)
    if row.needs_return and (returned is None or returned in ("None", type(None))):
        raise DefinitionError(
            f"{cls.__name__}.{name} returns None",
            why=f"found by its name alone, a function that returns nothing is no {name} function",
            instead=f"@{name} above it, or annotate the events that it returns",
        )
    return True


def _positional(function: Any) -> list[inspect.Parameter]:
    parameters = list(inspect.signature(function).parameters.values())[1:]
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter for parameter in parameters if parameter.kind in kinds]


def _handler(cls: type, name: str, row: RoleRow, mark: Mark, function: Any, namespace: Namespace) -> HandlerFunction:
    place = f"{cls.__name__}.{name}"
    parameters = list(inspect.signature(function).parameters.values())[1:]
    if not _positional(function):
        raise DefinitionError(
            f"{place} takes no {row.first}",
            why=f"its first parameter says which {row.first} it handles",
            instead=f"def {name}(self, {row.first}: ...)",
        )
    first, rest = parameters[0], parameters[1:]
    _require_annotation(place, first, f"which {row.first} the function handles")
    supported, kind, wraps_state = _first_parameter(place, row, namespace.resolve(function, first.annotation, cls))
    injected = []
    for parameter in rest:
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise DefinitionError(
                f"{place} takes *{parameter.name}",
                why="each further parameter is looked up by its type, then by its name",
                instead="name each thing that the function needs, with its type",
            )
        _require_annotation(place, parameter, "what to look up for it")
        injected.append(injected_parameter(parameter, namespace.resolve(function, parameter.annotation, cls)))
    events = mark.returns or returned_types(function, namespace, cls)
    return HandlerFunction(cls, name, row, mark, function, supported, kind, tuple(injected), events, wraps_state)


def _require_annotation(place: str, parameter: inspect.Parameter, purpose: str) -> None:
    if parameter.annotation is inspect.Parameter.empty:
        raise DefinitionError(
            f"parameter {parameter.name!r} of {place} has no annotation",
            why=f"its type says {purpose}",
            instead=f"{parameter.name}: TheType",
        )


def strip_annotated(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type inside `Annotated[...]`, and its metadata."""
    if typing.get_origin(annotation) is typing.Annotated:
        return annotation.__origin__, annotation.__metadata__
    return annotation, ()


def union_members(annotation: Any) -> tuple[Any, ...]:
    """The members of a union or of a named alias, or the annotation itself."""
    stands_for = getattr(annotation, "__value__", None) if type(annotation).__name__ == "TypeAliasType" else None
    if stands_for is not None:
        return union_members(stands_for)
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return tuple(member for arg in typing.get_args(annotation) for member in union_members(arg))
    return (annotation,)


def _first_parameter(place: str, row: RoleRow, annotation: Any) -> tuple[tuple[type, ...], First, bool]:
    bare, _ = strip_annotated(annotation)
    origin = typing.get_origin(bare)
    envelope = getattr(origin or bare, ENVELOPE, None)
    if envelope is not None:
        args = typing.get_args(bare)
        if not args:
            raise DefinitionError(
                f"the first parameter of {place} is a bare {getattr(bare, '__name__', bare)}",
                why=f"its type argument says which {row.first} the function handles",
                instead=f"{getattr(bare, '__name__', bare)}[TheType]",
            )
        name = (origin or bare).__name__
        if (name in _COMMAND_ENVELOPES) is not (row.first == "command"):
            raise DefinitionError(
                f"{place} takes a {name}, which holds no {row.first}",
                why=f"it is called with the envelope of its {row.first}",
                instead="CommandMessage[C] or ServerCommandExchange[C]"
                if row.first == "command"
                else "DomainEvent[E] or DomainEventExchange[E]",
            )
        wraps_state = name == "StateEvent"
        return message_classes(place, row, args[-1 if not wraps_state else 0]), First(envelope), wraps_state
    return message_classes(place, row, bare), First.BODY, False


def message_classes(place: str, row: RoleRow, annotation: Any) -> tuple[type, ...]:
    """The concrete message classes of an annotation; anything else is a `DefinitionError` that names the place."""
    found = []
    for member in union_members(annotation):
        bare, _ = strip_annotated(member)
        bare = typing.get_origin(bare) or bare
        if getattr(bare, ENVELOPE, None) is not None:
            raise DefinitionError(
                f"{place} handles a union with {bare.__name__}[...] in it",
                why="a function is given one sort of thing: the body, or its envelope",
                instead=f"{bare.__name__}[A | B]",
            )
        if not isinstance(bare, type) or bare in (object, type(None), Any):
            raise DefinitionError(
                f"{place} handles {member!r}, which is no concrete {row.first} class",
                why="functions are matched by the class of the message",
                instead=f"name the {row.first} classes, several as A | B",
            )
        found.append(bare)
    return tuple(found)


def injected_parameter(parameter: inspect.Parameter, annotation: Any) -> Parameter:
    """What a further parameter asks for."""
    bare, metadata = strip_annotated(annotation)
    service_name = next((item.value for item in metadata if isinstance(item, Name) and not is_blank(item.value)), None)
    members = union_members(bare)
    nullable = type(None) in members
    candidates = [member for member in members if member is not type(None)]
    wanted = (typing.get_origin(candidates[0]) or candidates[0]) if len(candidates) == 1 else None
    return Parameter(
        parameter.name,
        wanted if isinstance(wanted, type) and wanted is not Any else None,
        service_name,
        parameter.default,
        nullable,
        parameter.kind is inspect.Parameter.KEYWORD_ONLY,
    )


def returned_types(function: Any, namespace: Namespace, within: type | None = None) -> tuple[type, ...]:
    """Event types in a return annotation; what cannot be resolved counts as unknown."""
    annotation = function.__annotations__.get("return")
    if annotation is None:
        return ()
    try:
        resolved = namespace.resolve(function, annotation, within)
    except UnresolvedAnnotation:
        return ()
    return tuple(dict.fromkeys(_leaf_types(resolved)))


def _leaf_types(annotation: Any) -> Iterator[type]:
    for member in union_members(annotation):
        bare, _ = strip_annotated(member)
        origin = typing.get_origin(bare)
        if origin is not None and isinstance(origin, type) and _is_collection(origin):
            args = typing.get_args(bare)
            kept = args[:1] if not issubclass(origin, tuple) else args
            for arg in kept:
                if arg is not Ellipsis:
                    yield from _leaf_types(arg)
        elif isinstance(bare, type) and bare not in (type(None), object) and not _is_collection(bare):
            yield bare


def _is_collection(origin: type) -> bool:
    return origin.__module__ in ("builtins", "collections.abc", "typing") and origin is not type
