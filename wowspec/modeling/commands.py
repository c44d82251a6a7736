"""Metadata of command classes: name, flags, and where target, tenant, owner and version come from (section A)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from .annotations import (
    AggregateId,
    AggregateName,
    AggregateVersion,
    AllowCreate,
    Create,
    OwnerId,
    SpaceId,
    StaticAggregateId,
    StaticTenantId,
    TenantId,
    Void,
    merged_mark,
    plain_mark,
)
from .builtin import DeleteAggregate, RecoverAggregate, SelfNamed
from .configuration import ConfiguredAggregate, Scopes
from .fields import Field, Getter, fields_of, first_marked, integer_getter, text_getter
from .identity import NamedAggregate
from .naming import message_name, to_named_aggregate
from .scopes import DECLARED

#: A definition is refused at the line of its author, not at ours.
__tracebackhide__ = True

METADATA: Final = "__wowspec_command_metadata__"

#: Names the aggregate of one instance; the context is looked up in the scopes only if the name needs one.
NamedAggregateGetter = Callable[[Any, Scopes], NamedAggregate]


@dataclass(frozen=True, slots=True, eq=False)
class CommandMetadata:
    """What the runtime knows of a command class (CMD-002). Equal to another of the same class (CMD-001).

    Attributes:
        command_class: the class.
        name: name on messages (CMD-003).
        is_create: it creates its aggregate (CMD-005).
        allow_create: it creates its aggregate where there is none (CMD-006).
        is_void: it reaches no aggregate (CMD-007).
        named_aggregate: names the aggregate of an instance; None if nothing does.
        aggregate_id: gives the aggregate id or None; None if nothing does (CMD-010 to CMD-013).
        tenant_id: gives the tenant or None; None if nothing does (CMD-015 to CMD-017).
        owner_id: gives the owner or None; None if nothing does (CMD-018).
        space_id: gives the space or None; a convenience of specs that the runtime lacks (CMD-002).
        aggregate_version: gives the expected version or None; None if nothing does (CMD-019).
        static_tenant_id: the tenant where it is the same for all instances.
    """

    command_class: type
    name: str
    is_create: bool = False
    allow_create: bool = False
    is_void: bool = False
    named_aggregate: NamedAggregateGetter | None = None
    aggregate_id: Getter | None = None
    tenant_id: Getter | None = None
    owner_id: Getter | None = None
    space_id: Getter | None = None
    aggregate_version: Getter | None = None
    static_tenant_id: str | None = None
    _completed: list[tuple[ConfiguredAggregate, CommandMetadata]] = field(default_factory=list, repr=False)

    @property
    def is_delete(self) -> bool:
        """Whether it is a delete command (CMD-026)."""
        return issubclass(self.command_class, DeleteAggregate)

    @property
    def is_recover(self) -> bool:
        """Whether it is a recover command."""
        return issubclass(self.command_class, RecoverAggregate)

    def in_scopes(self, scopes: Scopes) -> CommandMetadata:
        """This metadata, completed by the aggregate that the class belongs to, and its configured tenant.

        A class that names its aggregate itself is not looked up, and so gets no configured tenant (CMD-017, CMD-022,
        CMD-023).
        """
        if self.named_aggregate is not None:
            return self
        configured = scopes.aggregate_of(self.command_class)
        if configured is None:
            return self
        # One entry is enough: a class rarely lives in two worlds at once.
        if self._completed:
            known, completed = self._completed[0]
            if known is configured or known == configured:
                return completed
        completed = _complete(self, configured)
        self._completed[:] = [(configured, completed)]
        return completed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CommandMetadata) and self.command_class is other.command_class

    def __hash__(self) -> int:
        return hash(self.command_class)


def command_metadata(cls: type) -> CommandMetadata:
    """The metadata of a command class, parsed at the first use and kept on the class itself (CMD-001).

    Raises:
        IllegalArgumentError: if a field that supplies an id or a version has another type (CMD-014, CMD-019).
        DefinitionError: if an annotation that may hold a marker cannot be resolved.
    """
    metadata: CommandMetadata | None = getattr(cls, METADATA, None)
    # A class that inherits from another one, or that `dataclass(slots=True)` made of it, finds that one's.
    if metadata is not None and metadata.command_class is cls:
        return metadata
    metadata = _parse(cls)
    try:
        type.__setattr__(cls, METADATA, metadata)
    except TypeError:
        return metadata  # a class of Python's own keeps nothing
    return metadata


def _parse(cls: type) -> CommandMetadata:
    fields = fields_of(cls)
    static_id = merged_mark(cls, StaticAggregateId)
    static_tenant = merged_mark(cls, StaticTenantId)
    version = first_marked(fields, AggregateVersion)
    return CommandMetadata(
        cls,
        message_name(cls),
        plain_mark(cls, Create) is not None,
        plain_mark(cls, AllowCreate) is not None,
        plain_mark(cls, Void) is not None,
        _naming(cls, fields),
        _constant(static_id.value) if static_id else _aggregate_id(cls, fields),
        _constant(static_tenant.value) if static_tenant else _marked_text(cls, fields, TenantId, "tenant"),
        _marked_text(cls, fields, OwnerId, "owner"),
        _marked_text(cls, fields, SpaceId, "space"),
        integer_getter(cls, version, "expected version") if version else None,
        static_tenant.value if static_tenant else None,
    )


def _complete(metadata: CommandMetadata, configured: ConfiguredAggregate) -> CommandMetadata:
    named, tenant = configured.named, configured.tenant_id
    changes: dict[str, Any] = {"named_aggregate": lambda _body, _scopes: named, "_completed": []}
    if metadata.tenant_id is None and tenant is not None:
        changes.update(tenant_id=_constant(tenant), static_tenant_id=tenant)
    return replace(metadata, **changes)


def _constant(value: str) -> Getter:
    return lambda _body: value


def _marked_text(cls: type, fields: tuple[Field, ...], kind: type, role: str) -> Getter | None:
    found = first_marked(fields, kind)
    return text_getter(cls, found, role) if found else None


def _aggregate_id(cls: type, fields: tuple[Field, ...]) -> Getter | None:
    """The first marked field, else a field named exactly `id` (CMD-011, CMD-012)."""
    marked = _marked_text(cls, fields, AggregateId, "aggregate id")
    if marked is not None:
        return marked
    by_name = next((item for item in fields if item.name == "id"), None)
    return text_getter(cls, by_name, "aggregate id") if by_name else None


def _naming(cls: type, fields: tuple[Field, ...]) -> NamedAggregateGetter | None:
    """Self-naming first, then the marked field (CMD-022, CMD-023)."""
    if issubclass(cls, SelfNamed):
        return lambda body, _scopes: NamedAggregate(body.context_name, body.aggregate_name)
    get = _marked_text(cls, fields, AggregateName, "aggregate's name")
    if get is None:
        return None
    return lambda body, scopes: _name_of(cls, get(body), scopes)


def _name_of(cls: type, text: str | None, scopes: Scopes) -> NamedAggregate:
    if text is None:
        message = f"{cls.__name__} names its aggregate in a field that is None: give 'context.aggregate'"
        raise TypeError(message)  # as for any value that is not there: code BadRequest
    needs_context = text.count(".") != 1
    return to_named_aggregate(text, scopes.context_of(cls) if needs_context else None)


def named_aggregate_of(body: Any, scopes: Scopes = DECLARED) -> NamedAggregate | None:
    """The aggregate that a command names, or that its class belongs to; None if nothing says."""
    get = command_metadata(type(body)).in_scopes(scopes).named_aggregate
    return get(body, scopes) if get is not None else None
