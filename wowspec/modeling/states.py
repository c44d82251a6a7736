"""State classes: how they are made, where their id is, which function applies which event (STA-017 to STA-029)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, runtime_checkable

from ..errors import DefinitionError
from .annotations import AggregateId, TenantId, marks_field
from .decorators import Role
from .functions import HandlerFunction, Namespace, UnresolvedAnnotation, discover, strip_annotated
from .identity import AggregateRef

#: A definition is refused at the line of its author, not at ours.
__tracebackhide__ = True

_METADATA: Final = "__wowspec_state__"
_ID: Final = "id"
_TENANT_ID: Final = "tenant_id"


@runtime_checkable
class VersionAware(Protocol):
    """A state object that is told its version, before the events of that version are applied (STA-012)."""

    def set_version(self, version: int, /) -> None:
        """Take the new version."""
        ...


@runtime_checkable
class StateAggregateAware(Protocol):
    """A state object that is handed its state aggregate when it is made, or restored from a snapshot (STA-029)."""

    def set_state_aggregate(self, aggregate: Any, /) -> None:
        """Take the aggregate; it shows version, owner, operator and so on as they are at each moment."""
        ...


@runtime_checkable
class TagsExtractor(Protocol):
    """A state object that says the tags of its aggregate after each stream, whatever events applied (STA-015)."""

    def extract_tags(self, aggregate: Any, /) -> dict[str, list[str]]:
        """The tags, from the state and its read-only state aggregate."""
        ...


@dataclass(slots=True, eq=False)
class StateMetadata:
    """What the runtime knows of a state class.

    Attributes:
        cls: the class.
        create: makes a blank state for an aggregate id.
        functions: sourcing function by exact event class (STA-017).
        id_name: the attribute that holds the aggregate id, or None (STA-027).
        is_version_aware: see `VersionAware`.
        is_aggregate_aware: see `StateAggregateAware`.
        extracts_tags: see `TagsExtractor`.
        namespace: where its annotations are looked up besides its module.
        plans: the runtime's own, by event class; filled as events are met.
        evolves: a sourcing function gives the next state instead of changing the one it gets (deciders).
        bodies_alone: the runtime's own: whether no sourcing function can see a header; None until somebody asks.
    """

    cls: type
    create: Callable[[AggregateRef], Any]
    functions: dict[type, HandlerFunction]
    id_name: str | None
    is_version_aware: bool
    is_aggregate_aware: bool
    extracts_tags: bool
    namespace: Namespace = field(default_factory=Namespace, repr=False)
    plans: dict[type, Any] = field(default_factory=dict, repr=False)
    evolves: bool = False
    bodies_alone: bool | None = field(default=None, repr=False)

    @property
    def event_classes(self) -> tuple[type, ...]:
        """Event classes that have a sourcing function."""
        return tuple(self.functions)

    def id_of(self, state: Any) -> str | None:
        """The aggregate id that a state object carries, or None."""
        value = getattr(state, self.id_name or _ID, None)
        return value if isinstance(value, str) else None


def state_metadata(cls: type, namespace: Namespace | None = None) -> StateMetadata:
    """The metadata of a state class, made once for each class and kept on it.

    Args:
        cls: the state class.
        namespace: where its annotations are looked up besides its module.

    Raises:
        DefinitionError: if it cannot be made from an id, or a sourcing function is no legal one.
        UnresolvedAnnotation: if an annotation cannot be resolved yet.
    """
    known = vars(cls).get(_METADATA)
    if isinstance(known, StateMetadata):
        return known
    names = namespace or Namespace()
    metadata = StateMetadata(
        cls,
        _maker(cls, names),
        _functions(discover(cls, (Role.SOURCING,), names)),
        _id_name(cls, names),
        issubclass(cls, VersionAware),
        issubclass(cls, StateAggregateAware),
        issubclass(cls, TagsExtractor),
        names,
    )
    with suppress(TypeError):  # a built-in class keeps nothing; its metadata is made again
        type.__setattr__(cls, _METADATA, metadata)
    return metadata


def _functions(handlers: Iterable[HandlerFunction]) -> dict[type, HandlerFunction]:
    """Where two functions claim one event class, the first wins: own ones, then inherited ones, by name (STA-021)."""
    functions: dict[type, HandlerFunction] = {}
    for handler in handlers:
        _require_plain(handler)
        for event_class in handler.supported:
            functions.setdefault(event_class, handler)
    return functions


def _require_plain(handler: HandlerFunction) -> None:
    function = handler.function
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function) or (
        inspect.isasyncgenfunction(function)
    ):  # fmt: skip
        raise DefinitionError(
            f"{handler.place} is a coroutine or a generator",
            why="what a sourcing function returns is ignored, so its body would never run (STA-020)",
            instead=f"def {handler.name}(self, event: ...) -> None, with plain assignments",
        )


# ------------------------------------------------------------------------------------------------ making a state


@dataclass(frozen=True, slots=True)
class _ConstructorParameter:
    name: str
    is_id: bool
    is_tenant: bool
    is_required: bool
    by_keyword: bool


def _maker(cls: type, namespace: Namespace) -> Callable[[AggregateRef], Any]:
    """`cls(id=…)`, `cls(id=…, tenant_id=…)` or `cls()`: by what its constructor takes (STA-026)."""
    parameters = list(_constructor_parameters(cls, namespace))
    ids = [parameter for parameter in parameters if parameter.is_id and parameter.by_keyword]
    if not ids:
        # a class that is its own aggregate root may call its one parameter `account_id`
        required = [parameter for parameter in parameters if parameter.is_required]
        ids = [p for p in required if len(required) == 1 and p.name.endswith("_id") and not p.is_tenant]
    tenants = [parameter for parameter in parameters if parameter.is_tenant and parameter.by_keyword]
    given = {parameter.name for parameter in (*ids[:1], *tenants[:1])}
    missing = [parameter.name for parameter in parameters if parameter.is_required and parameter.name not in given]
    if missing:
        raise DefinitionError(
            f"{cls.__name__} cannot be made for a new aggregate: its constructor needs {', '.join(missing)}",
            why=f"the runtime makes a blank state as {cls.__name__}(id=...), with tenant_id=... where it takes it, "
            f"or as {cls.__name__}()",
            instead="give each other parameter a default, and set it in the sourcing function of the first event",
        )
    if ids and tenants:
        id_name, tenant_name = ids[0].name, tenants[0].name
        return lambda ref: cls(**{id_name: ref.id, tenant_name: ref.tenant_id})
    if ids:
        only = ids[0].name
        if only == _ID:
            return lambda ref: cls(id=ref.id)  # as below, without a dictionary for each state
        return lambda ref: cls(**{only: ref.id})
    if tenants:
        only = tenants[0].name
        return lambda ref: cls(**{only: ref.tenant_id})
    return lambda _: cls()


def _constructor_parameters(cls: type, namespace: Namespace) -> Iterator[_ConstructorParameter]:
    try:
        signature = inspect.signature(cls)
    except (TypeError, ValueError):
        return  # a built-in constructor: called without arguments
    init = getattr(cls, "__init__", None)
    owner = init if inspect.isfunction(init) else cls
    for parameter in signature.parameters.values():
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            continue
        required = parameter.default is inspect.Parameter.empty
        try:
            _, marks = strip_annotated(namespace.resolve(owner, parameter.annotation))
        except UnresolvedAnnotation:
            if required and parameter.name not in (_ID, _TENANT_ID):
                raise
            marks = ()
        yield _ConstructorParameter(
            parameter.name,
            parameter.name == _ID or _has(marks, AggregateId),
            parameter.name == _TENANT_ID or _has(marks, TenantId),
            required,
            parameter.kind is not inspect.Parameter.POSITIONAL_ONLY,
        )


def _has(marks: Iterable[Any], annotation: type) -> bool:
    return any(marks_field(mark, annotation) for mark in marks)


# ------------------------------------------------------------------------------------------------ where the id is


def _id_name(cls: type, namespace: Namespace) -> str | None:
    """The attribute marked `AggregateId()`, own ones before inherited ones, else `id` where it is text (STA-027)."""
    declared: dict[str, list[tuple[type, Any, tuple[Any, ...]]]] = {}
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] not in ("builtins", "pydantic", "typing"):
            for name, bare, marks in _attributes(base, namespace):
                declared.setdefault(name, []).append((base, bare, marks))
    named: str | None = None
    for name, places in sorted(declared.items(), key=lambda item: (item[1][0][0] is not cls, item[0])):
        if not _is_text(places[0][1]):
            continue
        if any(_has(marks, AggregateId) for _, _, marks in places):
            return name
        if name == _ID:
            named = name
    return named


def _attributes(base: type, namespace: Namespace) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    found: list[tuple[str, Any, Any]] = [(name, base, text) for name, text in inspect.get_annotations(base).items()]
    for name, value in vars(base).items():
        if isinstance(value, property) and value.fget is not None:
            found.append((name, value.fget, inspect.get_annotations(value.fget).get("return", Any)))
    for name, owner, annotation in found:
        try:
            bare, marks = strip_annotated(namespace.resolve(owner, annotation))
        except (TypeError, UnresolvedAnnotation):
            continue  # a ClassVar, or a name that only a type checker knows: no text field
        yield name, bare, marks


def _is_text(bare: Any) -> bool:
    bare = getattr(bare, "__supertype__", bare)
    return isinstance(bare, type) and issubclass(bare, str)
