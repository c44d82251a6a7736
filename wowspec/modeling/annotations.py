"""What a user writes on commands, events and their fields: decorators for classes, markers for `Annotated[...]`.

The modelled runtime looks annotations up in two ways, and both are kept:

* plainly: on the class and its superclasses, for the three flags and the name (CMD-003, CMD-008). What an interface (a
  `Protocol` base) or another annotation carries does not count.
* merged: on all supertypes, nearest first, and through annotations that themselves carry others, for everything else
  (CMD-010, CMD-020, EVT-054).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, overload

from ..errors import DefinitionError
from .identity import DEFAULT_TENANT_ID
from .ordering import ORDER_FIRST, ORDER_LAST, Order

#: A definition is refused at the line of its author, not at ours.
__tracebackhide__ = True

T = TypeVar("T", bound=type)
A = TypeVar("A", bound=Any)
M = TypeVar("M")

MARKS: Final = "__wowspec_marks__"
DEFAULT_REVISION: Final = "0.0.1"


# --- fields -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AggregateId:
    """`Annotated[str, AggregateId()]`: this field is the id of the aggregate (CMD-011)."""


@dataclass(frozen=True, slots=True)
class TenantId:
    """`Annotated[str, TenantId()]`: this field is the tenant (CMD-016)."""


@dataclass(frozen=True, slots=True)
class OwnerId:
    """`Annotated[str, OwnerId()]`: this field is the owner (CMD-018)."""


@dataclass(frozen=True, slots=True)
class SpaceId:
    """`Annotated[str, SpaceId()]`: this field is the space.

    A convenience of specs: the modelled runtime takes the space as an argument only (CMD-002).
    """


@dataclass(frozen=True, slots=True)
class AggregateVersion:
    """`Annotated[int, AggregateVersion()]`: this field is the expected version (CMD-019)."""


@dataclass(frozen=True, slots=True)
class AggregateName:
    """`Annotated[str, AggregateName()]`: this field names the aggregate, or context and aggregate (CMD-023)."""


@dataclass(frozen=True, slots=True)
class Name:
    """`Annotated[Clock, Name("wall_clock")]`: the service of this name is passed (CMD-294)."""

    value: str


def carries(*marks: Any) -> Callable[[T], T]:
    """Make a class a field marker that stands for these ones: `@carries(AggregateId()) class LedgerRef: ...`.

    A subclass of a marker needs no decorator: `class LedgerRef(AggregateId): ...` marks what its base marks.
    """

    def carry(target: T) -> T:
        _require_class(target, "carries")
        return add_mark(target, Carried(marks))

    return carry


# --- classes and functions --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mark:
    """What a decorator says of a class or a function; kept as data on it."""


@dataclass(frozen=True, slots=True)
class Create(Mark):
    """The command creates its aggregate (CMD-005)."""


@dataclass(frozen=True, slots=True)
class AllowCreate(Mark):
    """The command creates its aggregate where there is none (CMD-006)."""


@dataclass(frozen=True, slots=True)
class Void(Mark):
    """The command is for other consumers and reaches no aggregate (CMD-007, CMD-158)."""


@dataclass(frozen=True, slots=True)
class StaticAggregateId(Mark):
    """The one aggregate id of all instances (CMD-010)."""

    value: str


@dataclass(frozen=True, slots=True)
class StaticTenantId(Mark):
    """The one tenant of all instances (CMD-015)."""

    value: str = DEFAULT_TENANT_ID


@dataclass(frozen=True, slots=True)
class ClassName(Mark):
    """The name in place of the class's own (CMD-003)."""

    value: str


@dataclass(frozen=True, slots=True)
class Event(Mark):
    """Revision of an event class; an empty one counts as the default (EVT-054)."""

    revision: str = DEFAULT_REVISION


@dataclass(frozen=True, slots=True)
class Blocking(Mark):
    """The function blocks its thread; the runtime calls it on an elastic worker (CMD-269)."""


@dataclass(frozen=True, slots=True)
class Retry(Mark):
    """How compensation retries an event function later; nothing is retried in the process (EVT-129).

    `min_backoff` and `execution_timeout` are in seconds.
    """

    enabled: bool = True
    max_retries: int = 10
    min_backoff: int = 180
    execution_timeout: int = 120
    recoverable: tuple[type[BaseException], ...] = ()
    unrecoverable: tuple[type[BaseException], ...] = ()


@dataclass(frozen=True, slots=True)
class Carried(Mark):
    """Marks that stand on a custom annotation, and through it on whatever it annotates."""

    marks: tuple[Any, ...] = field(default=())


#: Marks that the runtime looks up plainly: an annotation that carries one of them has no effect (CMD-003, CMD-008).
PLAIN: Final = (Create, AllowCreate, Void, ClassName)


@dataclass(frozen=True, slots=True)
class ClassAnnotation:
    """A class decorator that leaves a mark; `text` is how it is written."""

    text: str
    mark: Mark

    @overload
    def __call__(self, cls: T, /) -> T: ...
    @overload
    def __call__(self, /) -> ClassAnnotation: ...
    def __call__(self, cls: Any = None, /) -> Any:
        """Leave the mark on the class and return the class; empty parentheses change nothing."""
        if cls is None:
            return self
        _require_class(cls, self.text)
        _refuse_second(cls, self.text, type(self.mark))
        add_mark(cls, self.mark)
        refuse_illegal_flags(cls)
        return cls


create_aggregate: ClassAnnotation = ClassAnnotation("create_aggregate", Create())
allow_create: ClassAnnotation = ClassAnnotation("allow_create", AllowCreate())
void_command: ClassAnnotation = ClassAnnotation("void_command", Void())


def static_aggregate_id(value: str) -> ClassAnnotation:
    """Class decorator: every instance of the command has this aggregate id, before any field (CMD-010)."""
    return ClassAnnotation("static_aggregate_id", StaticAggregateId(_require_text(value, "static_aggregate_id")))


@overload
def static_tenant_id(value: T, /) -> T: ...
@overload
def static_tenant_id(value: str = ..., /) -> ClassAnnotation: ...
def static_tenant_id(value: Any = DEFAULT_TENANT_ID, /) -> Any:
    """Class decorator: every instance of the command has this tenant, before any field (CMD-015).

    Bare or without a value it is the default tenant `(0)`.
    """
    if isinstance(value, type):
        return ClassAnnotation("static_tenant_id", StaticTenantId())(value)
    return ClassAnnotation("static_tenant_id", StaticTenantId(_require_text(value, "static_tenant_id")))


def name(value: str) -> ClassAnnotation:
    """Class decorator: the name of a command, event, service or aggregate; a blank one counts as none (NAM-011)."""
    return ClassAnnotation("name", ClassName(_require_text(value, "name")))


def event(*, revision: str = DEFAULT_REVISION) -> ClassAnnotation:
    """Class decorator: the revision of an event class (EVT-054)."""
    return ClassAnnotation("event", Event(_require_text(revision, "event", "revision=")))


def combine(*annotations: ClassAnnotation) -> ClassAnnotation:
    """A custom class decorator that carries these ones.

    Raises:
        DefinitionError: for a flag or a name, which the runtime finds on classes only, not through other annotations.
    """
    for annotation in annotations:
        if isinstance(annotation.mark, PLAIN):
            raise DefinitionError(
                f"combine(...) carries @{annotation.text}",
                why="the runtime looks for it on a class and its superclasses, never inside another annotation",
                instead=f"@{annotation.text} above the class, or on a superclass of it",
            )
    text = f"combine({', '.join(annotation.text for annotation in annotations)})"
    return ClassAnnotation(text, Carried(tuple(annotation.mark for annotation in annotations)))


def order(
    value: int = 0, *, before: tuple[type, ...] | type = (), after: tuple[type, ...] | type = ()
) -> Callable[[A], A]:
    """Decorator: place among others, `before` and `after` name exact classes and beat the value (NAM-022).

    Args:
        value: lower comes first; a signed 32-bit integer.
        before: classes to stand directly before.
        after: classes to stand directly after.
    """
    if type(value) is not int or not ORDER_FIRST <= value <= ORDER_LAST:
        raise DefinitionError(
            f"@order has the value {value!r}",
            why="places are compared as signed 32-bit integers",
            instead="@order(1), or @order(before=Other)",
        )
    mark = Order(value, _classes(before, "before"), _classes(after, "after"))
    return lambda target: add_mark(target, mark)


def blocking(target: A) -> A:
    """Decorator: the function blocks its thread (CMD-062, CMD-269). A model without threads runs it in place."""
    return add_mark(target, Blocking())


def retry(
    *,
    enabled: bool = True,
    max_retries: int = 10,
    min_backoff: int = 180,
    execution_timeout: int = 120,
    recoverable: tuple[type[BaseException], ...] = (),
    unrecoverable: tuple[type[BaseException], ...] = (),
) -> Callable[[A], A]:
    """Decorator: what compensation needs to know; nothing is retried in the process (EVT-129).

    Args:
        enabled: whether failures are handed to compensation.
        max_retries: how often it tries again.
        min_backoff: seconds before the first of these.
        execution_timeout: seconds after which one counts as failed.
        recoverable: errors worth another try.
        unrecoverable: errors that are not; of two listed classes the nearer one in the hierarchy wins.
    """
    mark = Retry(enabled, max_retries, min_backoff, execution_timeout, tuple(recoverable), tuple(unrecoverable))
    return lambda target: add_mark(target, mark)


# --- look-up ----------------------------------------------------------------------------------------------------------


def add_mark(target: A, mark: Any) -> A:
    """Leave a mark on a class or function without any check, and return it: what the decorators rest on."""
    _write_marks(target, (*own_marks(target), mark))
    return target


def _write_marks(target: Any, marks: tuple[Any, ...]) -> None:
    write = type.__setattr__ if isinstance(target, type) else setattr
    write(target, MARKS, marks)


def own_marks(target: Any) -> tuple[Any, ...]:
    """The marks on a class or function itself."""
    marks: tuple[Any, ...] = getattr(target, "__dict__", {}).get(MARKS, ())
    return marks


def is_interface(cls: type) -> bool:
    """Whether the class stands for an interface: it is a `Protocol`."""
    return bool(cls.__dict__.get("_is_protocol", False))


def plain_mark(cls: type, kind: type[M]) -> M | None:
    """The nearest mark of a kind on the class or a superclass; interfaces and carried marks do not count."""
    for base in cls.__mro__:
        if base is not cls and is_interface(base):
            continue
        for mark in own_marks(base):
            if isinstance(mark, kind):
                return mark
    return None


def merged_mark(cls: type, kind: type[M]) -> M | None:
    """The nearest mark of a kind on the class or any supertype, direct or carried by another annotation.

    What a superclass has directly comes before what the class's own annotations carry: it counts as the class's own.
    """
    inherited = next(
        (
            mark
            for base in cls.__mro__[1:]
            if not is_interface(base)
            for mark in own_marks(base)
            if isinstance(mark, kind)
        ),
        None,
    )
    if inherited is not None:
        return next((mark for mark in own_marks(cls) if isinstance(mark, kind)), inherited)
    for base in cls.__mro__:
        for mark in _flat(own_marks(base)):
            if isinstance(mark, kind):
                return mark
    return None


def function_mark(function: Any, kind: type[M]) -> M | None:
    """The mark of a kind on a function, if it has one."""
    return next((mark for mark in own_marks(function) if isinstance(mark, kind)), None)


def method_mark(owner: type, name: str, kind: type[M]) -> M | None:
    """The mark of a kind on a method of a class, else on the nearest one that it overrides (EVT-103)."""
    functions = (vars(base)[name] for base in owner.__mro__ if name in vars(base))
    return next((mark for mark in (function_mark(each, kind) for each in functions) if mark is not None), None)


def marks_field(item: Any, kind: type) -> bool:
    """Whether one item of `Annotated[...]` is a marker of this kind: by its class, or because its class carries one.

    The class itself counts as well as an instance: `Annotated[str, AggregateId]`.
    """
    cls = item if isinstance(item, type) else type(item)
    if issubclass(cls, kind):
        return True
    return any(marks_field(mark, kind) for base in cls.__mro__ for mark in _flat(own_marks(base)))


def _flat(marks: tuple[Any, ...]) -> Iterator[Any]:
    for mark in marks:
        if isinstance(mark, Carried):
            yield from _flat(mark.marks)
        else:
            yield mark


# --- refusals ---------------------------------------------------------------------------------------------------------


def refuse_illegal_flags(cls: type) -> None:
    """Refuse a class whose flags contradict each other, inherited ones included.

    Raises:
        DefinitionError: for a void command that creates. The runtime itself would drop the command silently.
    """
    if plain_mark(cls, Create) is not None and plain_mark(cls, Void) is not None:
        raise DefinitionError(
            f"{cls.__name__} is both @create_aggregate and @void_command",
            why="a void command never reaches an aggregate, so it can create none",
            instead="@create_aggregate alone, or @void_command alone (look at the superclasses too)",
        )


def _require_class(target: Any, text: str) -> None:
    if isinstance(target, type):
        return
    shown = getattr(target, "__qualname__", repr(target))
    raise DefinitionError(
        f"@{text} stands on {shown}, which is no class",
        why="it says something about a class of commands or events",
        instead=f"@{text} directly above class ...:",
    )


def _refuse_second(cls: type, text: str, kind: type) -> None:
    if kind is not Carried and any(type(mark) is kind for mark in own_marks(cls)):
        raise DefinitionError(
            f"@{text} stands twice on {cls.__name__}",
            why="only one of them can count",
            instead=f"keep one @{text}",
        )


def _require_text(value: Any, text: str, argument: str = "") -> str:
    if isinstance(value, str):
        return value
    shown = value.__name__ if isinstance(value, type) else repr(value)
    raise DefinitionError(
        f"@{text} was given {shown} instead of a text",
        why="ids, names and revisions are texts",
        instead=f'@{text}({argument}"...")',
    )


def _classes(value: tuple[type, ...] | type, argument: str) -> tuple[type, ...]:
    classes = (value,) if isinstance(value, type) else tuple(value)
    for item in classes:
        if not isinstance(item, type):
            raise DefinitionError(
                f"@order({argument}=...) names {item!r}, which is no class",
                why="the others are recognised by their exact class",
                instead=f"@order({argument}=(First, Second))",
            )
    return classes
