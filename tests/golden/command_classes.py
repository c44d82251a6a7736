"""Command classes made from their recorded descriptions, in each way that Python has to write one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import make_dataclass
from typing import Annotated, Any, Final, Protocol

from pydantic import BaseModel, ConfigDict

from wowspec.errors import DefinitionError
from wowspec.modeling.annotations import (
    AggregateId,
    AggregateName,
    AggregateVersion,
    Carried,
    ClassAnnotation,
    Create,
    OwnerId,
    TenantId,
    add_mark,
    allow_create,
    carries,
    combine,
    create_aggregate,
    name,
    static_aggregate_id,
    static_tenant_id,
    void_command,
)
from wowspec.modeling.builtin import DeleteAggregate, RecoverAggregate, SelfNamed
from wowspec.modeling.configuration import MetadataScopes, WowMetadata
from wowspec.modeling.naming import simple_name

PACKAGE: Final = "golden.parts.command"


class Long(int):
    """An integer type that is not the plain one."""


class LedgerRef(AggregateId):
    """A custom marker: it is an `AggregateId`."""


@carries(AggregateId())
class CarriedRef:
    """A custom marker: it carries an `AggregateId`."""


TYPES: Final[dict[str, type]] = {"str": str, "int": int, "long": Long}
MARKERS: Final[dict[str, Any]] = {
    "aggregate_id": AggregateId(),
    "tenant_id": TenantId(),
    "owner_id": OwnerId(),
    "aggregate_version": AggregateVersion(),
    "aggregate_name": AggregateName(),
    "ledger_ref": LedgerRef(),
}
#: A command names its own aggregate with these fields, in Python's spelling.
SELF_NAMING: Final = {"contextName": "context_name", "aggregateName": "aggregate_name"}
INTERFACES: Final[dict[str, type]] = {
    "delete_aggregate": DeleteAggregate,
    "recover_aggregate": RecoverAggregate,
    "named_aggregate": SelfNamed,
}
#: Classes that are wowspec's own.
BUILT_IN: Final[dict[str, type]] = {
    "DefaultDeleteAggregate": DeleteAggregate,
    "DefaultRecoverAggregate": RecoverAggregate,
}
assert all(simple_name(cls) == recorded for recorded, cls in BUILT_IN.items())


def annotate(cls: type, annotation: dict[str, Any]) -> None:
    """Leave one recorded class annotation."""
    kind, value = annotation["annotation"], annotation.get("value")
    if kind == "create_like":
        # `combine` refuses it, since it has no effect; the recorded class has it all the same.
        add_mark(cls, Carried((Create(),)))
        return
    if kind == "static_like":
        combine(static_aggregate_id("meta-static"), static_tenant_id("meta-tenant"))(cls)
        return
    decorators: dict[str, Callable[[], ClassAnnotation]] = {
        "create_aggregate": lambda: create_aggregate,
        "allow_create": lambda: allow_create,
        "void_command": lambda: void_command,
        "name": lambda: name(value),
        "static_aggregate_id": lambda: static_aggregate_id(value),
        "static_tenant_id": lambda: static_tenant_id() if value is None else static_tenant_id(value),
    }
    decorator = decorators[kind]()
    try:
        decorator(cls)
    except DefinitionError:
        # The kit refuses a void command that creates; the runtime does not, and has the recorded class.
        assert any(mark == decorator.mark for mark in cls.__dict__["__wowspec_marks__"])


def _annotations(description: dict[str, Any], markers: dict[str, Any]) -> dict[str, Any]:
    """Python annotations of the recorded fields. Python has no private field of a public name."""
    self_named = "named_aggregate" in description.get("implements", ())
    found: dict[str, Any] = {}
    for item in description["fields"]:
        annotation: Any = TYPES[item["type"]]
        if item["nullable"]:
            annotation |= None
        if item["annotations"]:
            annotation = Annotated[(annotation, *(markers[mark] for mark in item["annotations"]))]
        found[SELF_NAMING.get(item["name"], item["name"]) if self_named else item["name"]] = annotation
    return found


# --- ways of writing a class ------------------------------------------------------------------------------------------


def _dataclass(cls_name: str, annotations: dict[str, Any], bases: tuple[type, ...], **options: Any) -> type:
    return make_dataclass(cls_name, list(annotations.items()), bases=bases, kw_only=True, **options)


def _slotted(cls_name: str, annotations: dict[str, Any], bases: tuple[type, ...]) -> type:
    return _dataclass(cls_name, annotations, bases, slots=True, frozen=True)


def _pydantic(cls_name: str, annotations: dict[str, Any], bases: tuple[type, ...]) -> type:
    own = () if any(issubclass(base, BaseModel) for base in bases) else (BaseModel,)
    namespace = {
        "__annotations__": annotations,
        "__module__": __name__,
        "model_config": ConfigDict(arbitrary_types_allowed=True),
    }
    return type(BaseModel)(cls_name, (*own, *bases), namespace)


def _plain(cls_name: str, annotations: dict[str, Any], bases: tuple[type, ...]) -> type:
    def init(self: Any, **values: Any) -> None:
        for key, value in values.items():
            setattr(self, key, value)

    return type(Protocol)(cls_name, bases, {"__annotations__": annotations, "__init__": init})


WAYS: Final[dict[str, Callable[[str, dict[str, Any], tuple[type, ...]], type]]] = {
    "dataclass": _dataclass,
    "slotted dataclass": _slotted,
    "pydantic model": _pydantic,
    "plain class": _plain,
}


def ways_of(description: dict[str, Any]) -> list[str]:
    """The ways in which a described class can be written."""
    if description["class_name"] in BUILT_IN:
        return ["dataclass"]
    has_interface = any(item["kind"] == "interface" for item in description.get("supers", ()))
    described = (description, *description.get("supers", ()))
    has_underscore = any(item["name"].startswith("_") for part in described for item in part.get("fields", ()))
    # A Pydantic model has no underscored fields, and its metaclass does not go with Protocol's.
    return [way for way in WAYS if way != "pydantic model" or not (has_interface or has_underscore)]


class CommandClasses:
    """Makes each described class once, in one way, with the scopes that the descriptions tell of."""

    def __init__(self, way: str) -> None:
        self.way = way
        self._made: dict[str, type] = {}
        self._metadata = WowMetadata()
        # Both forms of a custom marker are exercised.
        self._markers = {**MARKERS, "ledger_ref": CarriedRef()} if way == "plain class" else MARKERS

    @property
    def scopes(self) -> MetadataScopes:
        """The scopes of all classes made so far."""
        return MetadataScopes(self._metadata)

    def class_of(self, description: dict[str, Any]) -> type:
        """The class of a description."""
        cls_name = description["class_name"]
        if cls_name in BUILT_IN:
            return BUILT_IN[cls_name]
        if cls_name not in self._made:
            self._made[cls_name] = self._make(description)
        return self._made[cls_name]

    def instance(self, description: dict[str, Any], values: dict[str, Any]) -> Any:
        """An instance of a described class."""
        cls = self.class_of(description)
        parts = (description, *description.get("supers", ()))
        long = {item["name"] for part in parts for item in part["fields"] if item["type"] == "long"}
        named = "named_aggregate" in description.get("implements", ())
        given = {
            SELF_NAMING.get(key, key) if named else key: Long(value) if key in long and value is not None else value
            for key, value in values.items()
        }
        return cls(**given)

    def _make(self, description: dict[str, Any]) -> type:
        bases = [self._super(item) for item in description.get("supers", ())]
        bases += [INTERFACES[item] for item in description.get("implements", ())]
        cls = WAYS[self.way](description["class_name"], _annotations(description, self._markers), tuple(bases))
        module = f"{PACKAGE}.{description['package']}"
        cls.__module__ = module
        for annotation in description["annotations"]:
            annotate(cls, annotation)
        self._configure(module, description)
        return cls

    def _super(self, description: dict[str, Any]) -> type:
        if description["class_name"] in self._made:
            return self._made[description["class_name"]]
        annotations = _annotations(description, self._markers)
        if description["kind"] == "interface":
            cls = type(Protocol)(description["class_name"], (Protocol,), {"__annotations__": annotations})
        else:
            cls = WAYS[self.way](description["class_name"], annotations, ())
        cls.__module__ = PACKAGE
        for annotation in description["annotations"]:
            annotate(cls, annotation)
        self._made[description["class_name"]] = cls
        return cls

    def _configure(self, module: str, description: dict[str, Any]) -> None:
        contexts: dict[str, Any] = {}
        configured = description.get("configured_aggregate")
        if configured:
            aggregate = {"scopes": [module], "tenantId": configured["tenant_id"]}
            contexts[configured["context_name"]] = {"aggregates": {configured["aggregate_name"]: aggregate}}
        if description.get("configured_context"):
            contexts.setdefault(description["configured_context"], {})["scopes"] = [module]
        self._metadata = self._metadata.merge(WowMetadata.from_document({"contexts": contexts}))
