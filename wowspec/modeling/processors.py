"""Projections, event processors and stateless sagas: classes of functions that take published events (EVT-102)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeVar, overload

from ..errors import DefinitionError
from .aggregates import DEFAULT_CONTEXT, aggregate_metadata, is_aggregate
from .claims import aggregates_of_event, aggregates_of_state
from .decorators import Role
from .functions import HandlerFunction, Namespace, UnresolvedAnnotation, discover
from .identity import FunctionInfo, NamedAggregate

#: A definition is refused at the line of its author, not at ours.
__tracebackhide__ = True

T = TypeVar("T", bound=type)

DEFINITION: Final = "__wowspec_processor__"


class ProcessorKind(StrEnum):
    """What a class of event functions is."""

    EVENT_PROCESSOR = "event processor"
    PROJECTION = "projection"
    STATELESS_SAGA = "stateless saga"


@dataclass(frozen=True, slots=True)
class EventFunction:
    """One event function with its identity; overloads of one name share it (EVT-107)."""

    handler: HandlerFunction
    info: FunctionInfo

    def topics(self) -> frozenset[NamedAggregate]:
        """The aggregates whose events it takes: those it names, else the one its event class belongs to (EVT-105).

        A name without a context is in that of the event class, else in the processor's.
        """
        named = self.handler.mark.aggregates
        own = frozenset(aggregate_metadata(owner).named for owner in self._owners())
        if not named:
            return own
        contexts = {topic.context_name for topic in own} or {self.info.context_name}
        return frozenset(_topic(item, context) for item in named for context in contexts)

    def _owners(self) -> Iterable[type]:
        """The aggregates that the event classes (or state classes) and their subclasses belong to."""
        for supported in self.handler.supported:
            for cls in (supported, *_subclasses(supported)):
                yield from aggregates_of_state(cls) if self.handler.wraps_state else aggregates_of_event(cls)


def _topic(item: Any, context: str) -> NamedAggregate:
    if isinstance(item, str):
        head, dot, tail = item.partition(".")
        return NamedAggregate(head, tail) if dot else NamedAggregate(context, item)
    return aggregate_metadata(item).named


def _subclasses(cls: type) -> Iterable[type]:
    subclasses: list[type] = type.__subclasses__(cls)
    for subclass in subclasses:
        yield subclass
        yield from _subclasses(subclass)


@dataclass(frozen=True, slots=True, eq=False)
class ProcessorMetadata:
    """What the runtime knows of a class of event functions."""

    cls: type
    kind: ProcessorKind
    context_name: str
    name: str
    functions: tuple[EventFunction, ...]


class ProcessorDefinition:
    """A processor as declared; completed at its first use if an annotation cannot be resolved before."""

    __slots__ = ("_cls", "_context", "_kind", "_metadata", "_namespace")

    def __init__(self, cls: type, kind: ProcessorKind, context: str, namespace: Namespace) -> None:
        self._cls = cls
        self._kind = kind
        self._context = context
        self._namespace = namespace
        self._metadata: ProcessorMetadata | None = None

    def metadata(self) -> ProcessorMetadata:
        """The completed metadata; raises `DefinitionError` if the class is no legal processor."""
        if self._metadata is None:
            try:
                self._build()
            except UnresolvedAnnotation as error:
                raise DefinitionError(
                    f"an annotation of {self._cls.__name__} cannot be resolved: {error}",
                    why="the kit reads from annotations which events each function takes",
                    instead="import or define that class at module level, or before the processor",
                ) from error
        assert self._metadata is not None
        return self._metadata

    def try_complete(self) -> None:
        """Complete now if all annotations can be resolved."""
        try:
            self._build()
        except UnresolvedAnnotation:
            return

    def _build(self) -> None:
        cls = self._cls
        functions = tuple(
            EventFunction(handler, FunctionInfo(handler.row.kind, self._context, cls.__name__, handler.name))
            for handler in discover(cls, (Role.EVENT, Role.STATE_EVENT), self._namespace)
        )
        if not functions:
            raise DefinitionError(
                f"{cls.__name__} has no event function",
                why=f"a {self._kind} without one never does anything",
                instead="def on_event(self, event: OrderCreated) -> ...: ..., or @on_event above a method",
            )
        self._metadata = ProcessorMetadata(cls, self._kind, self._context, cls.__name__, functions)


def _declare(kind: ProcessorKind, cls: Any, context: str, namespace: Namespace) -> Any:
    def declare(target: T) -> T:
        definition = ProcessorDefinition(target, kind, context, namespace)
        definition.try_complete()
        type.__setattr__(target, DEFINITION, definition)
        return target

    return declare(cls) if cls is not None else declare


@overload
def projection(cls: T, /) -> T: ...
@overload
def projection(*, context: str = ...) -> Callable[[T], T]: ...
def projection(cls: Any = None, /, *, context: str = DEFAULT_CONTEXT) -> Any:
    """Declare a projection: its functions keep a read model."""
    return _declare(ProcessorKind.PROJECTION, cls, context, Namespace.of_caller())


@overload
def event_processor(cls: T, /) -> T: ...
@overload
def event_processor(*, context: str = ...) -> Callable[[T], T]: ...
def event_processor(cls: Any = None, /, *, context: str = DEFAULT_CONTEXT) -> Any:
    """Declare an event processor: its functions react to events."""
    return _declare(ProcessorKind.EVENT_PROCESSOR, cls, context, Namespace.of_caller())


@overload
def stateless_saga(cls: T, /) -> T: ...
@overload
def stateless_saga(*, context: str = ...) -> Callable[[T], T]: ...
def stateless_saga(cls: Any = None, /, *, context: str = DEFAULT_CONTEXT) -> Any:
    """Declare a stateless saga: what its functions return is sent as commands."""
    return _declare(ProcessorKind.STATELESS_SAGA, cls, context, Namespace.of_caller())


def is_processor(value: Any) -> bool:
    """Whether a class was declared as a projection, event processor or saga."""
    return isinstance(value, type) and DEFINITION in vars(value)


def processor_metadata(cls: type) -> ProcessorMetadata:
    """The metadata of a processor class.

    Raises:
        DefinitionError: if it is none.
    """
    definition = getattr(cls, "__dict__", {}).get(DEFINITION)
    if not isinstance(definition, ProcessorDefinition):
        shown = getattr(cls, "__name__", repr(cls))
        raise DefinitionError(
            f"{shown} is no projection, event processor or saga",
            why="only these take published events",
            instead=f'@projection(context="...") (or @event_processor, @stateless_saga) above class {shown}',
        )
    return definition.metadata()


class Context:
    """A bounded context's parts, to be used as a whole: `shop = Context("shop", Order, Cart, OrderSaga)`."""

    __slots__ = ("members", "name")

    def __init__(self, name: str, *members: type) -> None:
        for member in members:
            if not is_aggregate(member) and not is_processor(member):
                raise DefinitionError(
                    f"{member!r} in Context({name!r}, ...) is neither an aggregate root nor a processor",
                    why="a context holds what a world runs",
                    instead="decorate it with @aggregate_root, @projection, @event_processor or @stateless_saga",
                )
        self.name: str = name
        self.members: tuple[type, ...] = tuple(members)

    def __repr__(self) -> str:
        return f"Context({self.name!r}, {', '.join(member.__name__ for member in self.members)})"
