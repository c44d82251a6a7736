"""Configured metadata: contexts, their aggregates, and the scopes by which a class finds its own (NAM-013 to NAM-015).

A domain that is declared with decorators needs none of this: there, a class belongs to the aggregate that handles it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, Protocol, TypeVar

from ..errors import IllegalStateError
from ..texts import is_blank
from .identity import NamedAggregate

V = TypeVar("V")

_LOG: Final = logging.getLogger("wowspec")


@dataclass(frozen=True, slots=True)
class ConfiguredAggregate:
    """What is known of a class's aggregate without looking at an instance.

    Attributes:
        named: the aggregate.
        tenant_id: the one tenant of all its instances; None if none is configured (CMD-017).
    """

    named: NamedAggregate
    tenant_id: str | None = None


class Scopes(Protocol):
    """Where a command or event class finds its aggregate and its context."""

    def aggregate_of(self, cls: type) -> ConfiguredAggregate | None:
        """The aggregate that the class belongs to, or None."""
        ...

    def context_of(self, cls: type) -> str | None:
        """The context that the class belongs to, or None."""
        ...


@dataclass(frozen=True, slots=True)
class AggregateConfiguration:
    """One aggregate of a metadata document; commands and events are class names (NAM-013)."""

    scopes: tuple[str, ...] = ()
    type: str | None = None
    tenant_id: str | None = None
    id: str | None = None
    commands: tuple[str, ...] = ()
    events: tuple[str, ...] = ()

    def merge(self, other: AggregateConfiguration) -> AggregateConfiguration:
        """Both; sets are united, of single values the first that is not blank stays (NAM-014).

        Raises:
            IllegalStateError: if both have a type, and not the same one.
        """
        return AggregateConfiguration(
            _union(self.scopes, other.scopes),
            _same(self.type, other.type, "type"),
            _first(self.tenant_id, other.tenant_id),
            _first(self.id, other.id),
            _union(self.commands, other.commands),
            _union(self.events, other.events),
        )


@dataclass(frozen=True, slots=True)
class ContextConfiguration:
    """One bounded context of a metadata document (NAM-013)."""

    alias: str | None = None
    description: str = ""
    scopes: tuple[str, ...] = ()
    aggregates: Mapping[str, AggregateConfiguration] = field(default_factory=dict)

    def merge(self, other: ContextConfiguration) -> ContextConfiguration:
        """Both, by the rules of `AggregateConfiguration.merge`; aggregates of one name are merged.

        Raises:
            IllegalStateError: if both have an alias, and not the same one.
        """
        return ContextConfiguration(
            _same(self.alias, other.alias, "alias"),
            other.description if is_blank(self.description) else self.description,
            _union(self.scopes, other.scopes),
            _merge_by_name(self.aggregates, other.aggregates),
        )


@dataclass(frozen=True, slots=True)
class WowMetadata:
    """A metadata document, or several merged into one (NAM-013, NAM-014).

    Raises:
        IllegalStateError: if two contexts have the same alias.
    """

    contexts: Mapping[str, ContextConfiguration] = field(default_factory=dict)

    def __post_init__(self) -> None:
        owners: dict[str, str] = {}
        for name, context in self.contexts.items():
            if not context.alias or is_blank(context.alias):
                continue
            owner = owners.setdefault(context.alias, name)
            if owner != name:
                message = f"the contexts {owner!r} and {name!r} have the same alias {context.alias!r}: give one another"
                raise IllegalStateError(message)

    def merge(self, other: WowMetadata) -> WowMetadata:
        """Both documents in one; contexts of one name are merged."""
        return WowMetadata(_merge_by_name(self.contexts, other.contexts))

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> WowMetadata:
        """The metadata that a JSON document holds; unknown keys are ignored (NAM-013)."""
        return cls({name: _context_of_document(context) for name, context in (document.get("contexts") or {}).items()})

    def to_document(self) -> dict[str, Any]:
        """The JSON document, every field present."""
        return {"contexts": {name: _document_of_context(context) for name, context in self.contexts.items()}}


def _context_of_document(document: Mapping[str, Any]) -> ContextConfiguration:
    aggregates = document.get("aggregates") or {}
    return ContextConfiguration(
        document.get("alias"),
        document.get("description") or "",
        _union(document.get("scopes") or ()),
        {
            name: AggregateConfiguration(
                _union(aggregate.get("scopes") or ()),
                aggregate.get("type"),
                aggregate.get("tenantId"),
                aggregate.get("id"),
                _union(aggregate.get("commands") or ()),
                _union(aggregate.get("events") or ()),
            )
            for name, aggregate in aggregates.items()
        },
    )


def _document_of_context(context: ContextConfiguration) -> dict[str, Any]:
    return {
        "alias": context.alias,
        "description": context.description,
        "scopes": list(context.scopes),
        "aggregates": {
            name: {
                "scopes": list(aggregate.scopes),
                "type": aggregate.type,
                "tenantId": aggregate.tenant_id,
                "id": aggregate.id,
                "commands": list(aggregate.commands),
                "events": list(aggregate.events),
            }
            for name, aggregate in context.aggregates.items()
        },
    }


def _union(*sets: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for items in sets for item in items))


def _first(left: str | None, right: str | None) -> str | None:
    return left if left and not is_blank(left) else right


def _same(left: str | None, right: str | None, what: str) -> str | None:
    if left and right and left != right and not is_blank(left) and not is_blank(right):
        message = f"the {what} is {left!r} in one document and {right!r} in another: keep one of them"
        raise IllegalStateError(message)
    return _first(left, right)


class _Mergeable(Protocol):
    def merge(self, other: Any) -> Any: ...


W = TypeVar("W", bound=_Mergeable)


def _merge_by_name(left: Mapping[str, W], right: Mapping[str, W]) -> dict[str, W]:
    merged = dict(left)
    for name, item in right.items():
        merged[name] = merged[name].merge(item) if name in merged else item
    return merged


def local_aggregates(metadata: WowMetadata) -> dict[NamedAggregate, type]:
    """The aggregates whose type class can be loaded; others are logged and left out (NAM-016).

    A type is a class's module and qualified name, as in the scopes.
    """
    found: dict[NamedAggregate, type] = {}
    for context_name, context in metadata.contexts.items():
        for name, aggregate in context.aggregates.items():
            loaded = _loaded(aggregate.type or "")
            if loaded is not None:
                found[NamedAggregate(context_name, name)] = loaded
            elif aggregate.type:
                _LOG.warning("the class %s of the aggregate %s.%s is not here", aggregate.type, context_name, name)
    return found


def _loaded(class_name: str) -> type | None:
    """The class of this module and qualified name; its module is imported, if need be."""
    head, tail = class_name.rpartition(".")[0], class_name.split(".")
    while head:
        try:
            found: Any = import_module(head)
        except ModuleNotFoundError:
            head = head.rpartition(".")[0]
            continue
        for name in tail[head.count(".") + 1 :]:
            found = getattr(found, name, None)
        return found if isinstance(found, type) else None
    return None


# --- scopes -----------------------------------------------------------------------------------------------------------


def search_scope(scopes: Mapping[str, V], class_name: str) -> V | None:
    """What the exact class name, else its longest dotted prefix, stands for; None without a hit (NAM-015).

    A longer prefix of one class name always has more dots, so the longest is the most specific (CMD-025). A blank scope
    is a prefix of nothing.
    """
    scope = class_name
    while scope:
        if scope in scopes:
            return scopes[scope]
        scope = scope.rpartition(".")[0]
    return None


class MetadataScopes:
    """Scopes of a metadata document: a class is found by its module and qualified name.

    Of two equal scopes the last one counts, a blank scope none. Commands and events of an aggregate count as scopes of
    that aggregate, not of its context (NAM-015).
    """

    __slots__ = ("_aggregates", "_contexts", "metadata")

    def __init__(self, metadata: WowMetadata) -> None:
        self.metadata: WowMetadata = metadata
        self._aggregates: dict[str, ConfiguredAggregate] = {}
        self._contexts: dict[str, str] = {}
        for context_name, context in metadata.contexts.items():
            self._contexts.update((scope, context_name) for scope in context.scopes)
            for name, aggregate in context.aggregates.items():
                self._contexts.update((scope, context_name) for scope in aggregate.scopes)
                configured = ConfiguredAggregate(NamedAggregate(context_name, name), _first(aggregate.tenant_id, None))
                keys = (*aggregate.scopes, *aggregate.commands, *aggregate.events)
                self._aggregates.update((scope, configured) for scope in keys)

    def search_aggregate(self, class_name: str) -> NamedAggregate | None:
        """The aggregate that a class name belongs to, or None."""
        found = search_scope(self._aggregates, class_name)
        return found.named if found else None

    def require_aggregate(self, class_name: str) -> NamedAggregate:
        """Like `search_aggregate`, but no hit is an `IllegalStateError`."""
        return _required(self.search_aggregate(class_name), class_name, "aggregate", self._aggregates)

    def search_context(self, class_name: str) -> str | None:
        """The context that a class name belongs to, or None."""
        return search_scope(self._contexts, class_name)

    def require_context(self, class_name: str) -> str:
        """Like `search_context`, but no hit is an `IllegalStateError`."""
        return _required(self.search_context(class_name), class_name, "context", self._contexts)

    def aggregate_of(self, cls: type) -> ConfiguredAggregate | None:
        """The aggregate that a class belongs to, or None."""
        return search_scope(self._aggregates, f"{cls.__module__}.{cls.__qualname__}")

    def context_of(self, cls: type) -> str | None:
        """The context that a class belongs to, or None."""
        return self.search_context(f"{cls.__module__}.{cls.__qualname__}")


def _required(found: V | None, class_name: str, what: str, scopes: Mapping[str, Any]) -> V:
    if found is None:
        message = f"no scope of any {what} covers {class_name}; there are: {', '.join(scopes) or 'none'}"
        raise IllegalStateError(message)
    return found


# --- text forms -------------------------------------------------------------------------------------------------------


def context_alias(metadata: WowMetadata, context_name: str) -> str:
    """The context's alias, or its name where it has none or a blank one (NAM-003)."""
    context = metadata.contexts.get(context_name)
    return context.alias if context and context.alias and not is_blank(context.alias) else context_name


def alias_prefix(metadata: WowMetadata, context_name: str) -> str:
    """The alias and a dot; empty for the empty context (NAM-003)."""
    alias = context_alias(metadata, context_name)
    return f"{alias}." if alias else ""


def alias_text(metadata: WowMetadata, named: NamedAggregate) -> str:
    """`alias.aggregate`, or the aggregate name alone in the empty context (NAM-003, NAM-023)."""
    return alias_prefix(metadata, named.context_name) + named.aggregate_name
