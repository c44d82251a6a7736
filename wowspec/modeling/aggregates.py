"""Aggregate roots: which commands a class handles, with which state, under which names (sections K and M, STA-025)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, overload

from ..errors import DefinitionError
from . import claims
from .annotations import StaticTenantId, function_mark, merged_mark
from .builtin import BUILT_IN_COMMANDS, BuiltInCommand
from .configuration import ConfiguredAggregate
from .decorators import Role
from .functions import HandlerFunction, Namespace, UnresolvedAnnotation, discover, strip_annotated
from .identity import FunctionInfo, FunctionKind, NamedAggregate
from .naming import message_name
from .ordering import Order
from .states import StateMetadata, state_metadata

#: A definition is refused at the line of its author, not at ours.
__tracebackhide__ = True

T = TypeVar("T", bound=type)

DEFAULT_CONTEXT: Final = "default"
DEFINITION: Final = "__wowspec_aggregate__"
#: Further checks of a definition, put in by rooms that know what is forbidden; each raises `DefinitionError`.
CHECKS: Final[list[Callable[[AggregateMetadata, Namespace], None]]] = []
_ROLES: Final = (Role.COMMAND, Role.AFTER_COMMAND, Role.ERROR)


@dataclass(frozen=True, slots=True)
class CommandFunction:
    """A command function with its identity."""

    handler: HandlerFunction
    info: FunctionInfo


@dataclass(frozen=True, slots=True, eq=False)
class AggregateMetadata:
    """What the runtime knows of an aggregate type.

    Attributes:
        named: its name.
        command_class: the aggregate root's class.
        state_class: its state's class; the same one for a single-class aggregate (STA-028).
        state: metadata of the state class.
        functions: command function by exact command class (CMD-252).
        after: after-command functions in their order (CMD-279).
        errors: error function by exact command class (CMD-284).
        mounted: commands that are declared without a function (CMD-255).
        events: event classes that its functions return or source.
        static_tenant_id: tenant of every instance, if it is fixed (NAM-009).
        built_in: built-in commands that it answers itself (CMD-257).
        make_root: makes the command root around a state.
        configured: what command classes are told of it.
    """

    named: NamedAggregate
    command_class: type
    state_class: type
    state: StateMetadata
    functions: dict[type, CommandFunction]
    after: tuple[HandlerFunction, ...]
    errors: dict[type, HandlerFunction]
    mounted: tuple[type, ...]
    events: tuple[type, ...]
    static_tenant_id: str | None
    built_in: dict[type, tuple[BuiltInCommand, FunctionInfo]]
    make_root: Callable[[Any], Any]
    configured: ConfiguredAggregate = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "configured", ConfiguredAggregate(self.named, self.static_tenant_id))

    @property
    def is_single_class(self) -> bool:
        """Whether the state object itself is the command root (CMD-227)."""
        return self.command_class is self.state_class

    @property
    def commands(self) -> tuple[type, ...]:
        """Every command class that it handles or mounts."""
        return tuple(dict.fromkeys((*self.functions, *self.mounted)))


class AggregateDefinition:
    """An aggregate root as declared; its metadata is completed when the class is made, or at the first use."""

    __slots__ = ("_cls", "_context", "_metadata", "_mounted", "_name", "_namespace", "_tenant")

    def __init__(
        self,
        cls: type,
        *,
        context: str,
        name: str | None,
        mounted: tuple[type, ...],
        tenant: str | None,
        namespace: Namespace,
    ) -> None:
        self._cls = cls
        self._context = context
        self._name = name
        self._mounted = mounted
        self._tenant = tenant
        self._namespace = namespace
        self._metadata: AggregateMetadata | None = None

    def metadata(self) -> AggregateMetadata:
        """The completed metadata.

        Raises:
            DefinitionError: if the class is no legal aggregate root.
        """
        if self._metadata is None:
            self.complete()
        assert self._metadata is not None
        return self._metadata

    def complete(self) -> None:
        """Resolve the annotations now."""
        if self._metadata is not None:
            return
        try:
            self._build()
        except UnresolvedAnnotation as error:
            raise DefinitionError(
                f"an annotation of {self._cls.__name__} cannot be resolved: {error}",
                why="the kit reads from annotations what each function handles",
                instead="import or define it at module level (not under TYPE_CHECKING), or before the first use",
            ) from error

    def learn(self, message_class: type) -> bool:
        """Take in a class that the aggregate root can see where it stands."""
        return self._namespace.learn(message_class, self._cls)

    def try_complete(self) -> None:
        """Complete now, or before the first use if an annotation names something that does not exist yet."""
        try:
            self._build()
        except UnresolvedAnnotation:
            claims.postpone(self)

    def _build(self) -> None:
        cls = self._cls
        named = NamedAggregate(self._context, self._name or message_name(cls))
        state_class, make_root = _state_class_of(cls, self._namespace)
        state = state_metadata(state_class, self._namespace)
        found = discover(cls, _ROLES, self._namespace)
        functions = _by_command(cls, named, (item for item in found if item.row.role is Role.COMMAND))
        after = tuple(sorted((item for item in found if item.row.role is Role.AFTER_COMMAND), key=_order_of))
        errors: dict[type, HandlerFunction] = {}
        for item in found:
            if item.row.role is Role.ERROR:
                for command_class in item.supported:
                    errors.setdefault(command_class, item)
        events = tuple(
            dict.fromkeys(
                [
                    *(event for item in found if item.row.role is not Role.ERROR for event in item.events),
                    *state.event_classes,
                ]
            )
        )
        registered = (*functions, *self._mounted)
        metadata = AggregateMetadata(
            named,
            cls,
            state_class,
            state,
            functions,
            after,
            errors,
            self._mounted,
            events,
            self._tenant,
            built_in_commands(cls, named, registered),
            make_root,
        )
        for check in CHECKS:
            check(metadata, self._namespace)
        self._claim(registered, events)
        claims.claim_state(state_class, self._cls)
        self._metadata = metadata

    def _claim(self, commands: Iterable[type], events: Iterable[type]) -> None:
        own = [event for event in events if not _is_built_in(event)]
        for event in own:
            claims.claim_event(event, self._cls)
        for command_class in dict.fromkeys(commands):
            if not _is_built_in(command_class):
                claims.claim_command(command_class, self._cls)


def _order_of(handler: HandlerFunction) -> int:
    placed = function_mark(handler.function, Order)
    return handler.mark.order if placed is None else placed.value


def _is_built_in(cls: type) -> bool:
    """Whether a message belongs to every aggregate, as all in the module of the built-in ones do."""
    return cls.__module__ == BuiltInCommand.__module__


def _by_command(cls: type, named: NamedAggregate, handlers: Iterable[HandlerFunction]) -> dict[type, CommandFunction]:
    functions: dict[type, CommandFunction] = {}
    for handler in handlers:
        info = FunctionInfo(FunctionKind.COMMAND, named.context_name, cls.__name__, handler.name)
        for command_class in handler.supported:
            other = functions.get(command_class)
            if other is not None:
                raise DefinitionError(
                    f"two functions of {cls.__name__} handle {command_class.__name__}: "
                    f"{other.handler.name} and {handler.name}",
                    why="a command has one command function; the runtime would keep one of them silently",
                    instead=f"keep one, and let it call the other; or @after_command(include={command_class.__name__})",
                )
            functions[command_class] = CommandFunction(handler, info)
    return functions


def built_in_commands(
    cls: type, named: NamedAggregate, registered: tuple[type, ...]
) -> dict[type, tuple[BuiltInCommand, FunctionInfo]]:
    """The built-in commands that the aggregate answers itself: off once it registers one of that sort (CMD-257)."""
    found = {}
    for row in BUILT_IN_COMMANDS:
        if not any(issubclass(command_class, row.command) for command_class in registered):
            name = f"{cls.__name__}.{row.wire_name}"
            found[row.command] = (row, FunctionInfo(FunctionKind.COMMAND, named.context_name, cls.__name__, name))
    return found


def _state_class_of(cls: type, namespace: Namespace) -> tuple[type, Callable[[Any], Any]]:
    """One required parameter that is no text: the state class; else the class is its own state (CMD-228, STA-025)."""
    parameters = [
        parameter
        for parameter in inspect.signature(cls).parameters.values()
        if parameter.default is inspect.Parameter.empty
        and parameter.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    ]
    if len(parameters) == 1:
        parameter = parameters[0]
        init = inspect.getattr_static(cls, "__init__")
        owner = init if inspect.isfunction(init) else cls
        try:
            annotation, _ = strip_annotated(namespace.resolve(owner, _raw_annotation(cls, parameter), cls))
        except UnresolvedAnnotation as error:
            raise UnresolvedAnnotation(f"{error} (in {cls.__name__}.__init__)", error.name) from error
        if annotation is inspect.Parameter.empty:
            raise DefinitionError(
                f"parameter {parameter.name!r} of {cls.__name__}.__init__ has no annotation",
                why="its type is the state class of the aggregate",
                instead=f"def __init__(self, {parameter.name}: {cls.__name__}State) -> None: ...",
            )
        if isinstance(annotation, type) and annotation is not str:
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                keyword = parameter.name
                return annotation, lambda state: cls(**{keyword: state})
            return annotation, cls
    names = {parameter.name for parameter in parameters}
    if names <= {"id", "tenant_id"} or len(parameters) == 1:
        return cls, lambda state: state
    raise DefinitionError(
        f"{cls.__name__} cannot be made: its constructor needs {', '.join(sorted(names))}",
        why="an aggregate root is made around its state, or is its own state and made from its id",
        instead=f"def __init__(self, state: {cls.__name__}State) -> None: ...",
    )


def _raw_annotation(cls: type, parameter: inspect.Parameter) -> Any:
    init = vars(cls).get("__init__")
    if inspect.isfunction(init) and parameter.name in init.__annotations__:
        return init.__annotations__[parameter.name]
    return parameter.annotation


def require_context(context: Any, owner: str) -> None:
    """Refuse a bounded context that is no text, or blank, with a `DefinitionError`."""
    if not isinstance(context, str) or not context.strip():
        raise DefinitionError(
            f"the context of {owner} is {context!r}",
            why="every aggregate, event and function is named by its bounded context",
            instead='context="shop"',
        )


def _mounted(commands: Iterable[type] | type, owner: str) -> tuple[type, ...]:
    mounted = (commands,) if isinstance(commands, type) else tuple(commands)
    for item in mounted:
        if not isinstance(item, type):
            raise DefinitionError(
                f"commands=[...] of {owner} names {item!r}, which is no class",
                why="commands are recognised by their classes",
                instead=f"@aggregate_root(commands=[ViewCart]) above class {owner}",
            )
    return mounted


@overload
def aggregate_root(cls: T, /) -> T: ...
@overload
def aggregate_root(
    *, context: str = ..., name: str | None = ..., commands: Iterable[type] | type = ..., tenant_id: str | None = ...
) -> Callable[[T], T]: ...
def aggregate_root(
    cls: Any = None,
    /,
    *,
    context: str = DEFAULT_CONTEXT,
    name: str | None = None,
    commands: Iterable[type] | type = (),
    tenant_id: str | None = None,
) -> Any:
    """Declare an aggregate root.

    Args:
        cls: the class, whose constructor takes its state object, or which is its own state.
        context: name of its bounded context.
        name: the aggregate's name; default: a `@name` below this decorator, else the class's name in snake case.
        commands: command classes that belong to it without a function here, such as void commands (CMD-255).
        tenant_id: the one tenant of all its instances, if it is fixed; default: a `@static_tenant_id` below this
            decorator (NAM-009).

    Raises:
        DefinitionError: if the class is no legal aggregate root; where an annotation cannot be resolved yet, at its
            first use.
    """
    namespace = Namespace.of_caller()

    def declare(target: T) -> T:
        if not isinstance(target, type):
            raise DefinitionError(
                f"@aggregate_root stands on {getattr(target, '__qualname__', repr(target))}, which is no class",
                why="an aggregate root is a class around a state",
                instead='@aggregate_root(context="shop") above class Cart: ...',
            )
        require_context(context, target.__name__)
        mark = merged_mark(target, StaticTenantId)
        definition = AggregateDefinition(
            target,
            context=context,
            name=name,
            mounted=_mounted(commands, target.__name__),
            tenant=tenant_id if tenant_id is not None or mark is None else mark.value,
            namespace=namespace,
        )
        definition.try_complete()
        type.__setattr__(target, DEFINITION, definition)
        return target

    return declare(cls) if cls is not None else declare


def is_aggregate(value: Any) -> bool:
    """Whether a class was declared as an aggregate root itself (not by a superclass alone)."""
    return isinstance(value, type) and DEFINITION in vars(value)


def aggregate_metadata(cls: type) -> AggregateMetadata:
    """The metadata of an aggregate root.

    Raises:
        DefinitionError: if the class is none, or no legal one.
    """
    definition = getattr(cls, "__dict__", {}).get(DEFINITION)
    if definition is None:
        shown = getattr(cls, "__name__", repr(cls))
        raise DefinitionError(
            f"{shown} is no aggregate root",
            why="only an aggregate root has commands and history",
            instead=f'@aggregate_root(context="...") above class {shown}',
        )
    metadata: AggregateMetadata = definition.metadata()
    return metadata
