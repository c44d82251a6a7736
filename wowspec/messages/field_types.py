"""What the annotations of a class say of its JSON: field by field, and whether a set can occur anywhere inside.

A *record* is a class without JSON rules of its own: a standard dataclass, or a plain class with attributes. The types
of its fields are those of its class body and of `self.x: T = …` or `self.x = parameter` in its constructors.
"""

from __future__ import annotations

import abc
import ast
import collections
import collections.abc
import dataclasses
import datetime as dt
import decimal
import enum
import functools
import inspect
import pathlib
import re
import sys
import types
import typing
import uuid
from collections.abc import Iterator
from typing import Any, Final, cast

from pydantic import BaseModel, Json, SerializeAsAny
from pydantic.dataclasses import rebuild_dataclass
from pydantic.errors import PydanticUndefinedAnnotation
from pydantic.functional_serializers import PlainSerializer, WrapSerializer

from ..modeling.functions import Namespace, UnresolvedAnnotation
from ..modeling.places import tree_of

#: A definition is refused at the line of its author, not at ours.
__tracebackhide__ = True

_NO_NAMES: Final = Namespace()

#: Leaves whose JSON is one value, the same in every run.
PLAIN_LEAVES: Final[frozenset[Any]] = frozenset(
    (
        type(None), None, bool, int, str, bytes, bytearray, decimal.Decimal, dt.datetime, dt.date,
        dt.time, dt.timedelta, uuid.UUID, pathlib.Path, pathlib.PurePath, pathlib.PosixPath, re.Pattern,
        typing.Pattern,
    )
)  # fmt: skip
_SETS: Final[frozenset[Any]] = frozenset((set, frozenset, collections.abc.Set, collections.abc.MutableSet))
#: Containers that keep an order of their own.
_ORDERED: Final[frozenset[Any]] = frozenset(
    (
        list, tuple, dict, collections.deque, collections.defaultdict, collections.OrderedDict, collections.Counter,
        collections.abc.Sequence, collections.abc.MutableSequence, collections.abc.Mapping,
        collections.abc.MutableMapping,
    )
)  # fmt: skip
_ROOTS: Final[frozenset[Any]] = frozenset((object, abc.ABC, typing.Generic, typing.Protocol))
_LIBRARY: Final = frozenset(sys.stdlib_module_names) - {"__main__"}


@dataclasses.dataclass(frozen=True, slots=True)
class Facts:
    """What can occur in values of a type.

    Attributes:
        sets: a set, whose order in JSON has to be made the same in every run.
        floats: a float, of which three values have no JSON of their own.
        round_trip: computed fields have to be left out, since reading would refuse them.
    """

    sets: bool = False
    floats: bool = False
    round_trip: bool = False

    def __or__(self, other: Facts) -> Facts:
        return Facts(self.sets or other.sets, self.floats or other.floats, self.round_trip or other.round_trip)


NOTHING: Final = Facts()
UNKNOWN: Final = Facts(sets=True, floats=True)
_JSON_MARK: Final = type(typing.get_args(Json[int])[1])
_SERIALIZERS: Final[tuple[type, ...]] = (PlainSerializer, WrapSerializer, cast("type", SerializeAsAny))


_NAMESPACES: Final[dict[Any, Namespace]] = {}


def remember_namespace(tp: Any, namespace: Namespace) -> None:
    """Local names with which the annotations of a class resolve, for one that was defined inside a function."""
    if namespace.local_names:
        _NAMESPACES.setdefault(typing.get_origin(tp) or tp, namespace)


def namespace_of(tp: Any) -> Namespace:
    """The local names that are remembered for a class."""
    return _NAMESPACES.get(typing.get_origin(tp) or tp, _NO_NAMES)


def is_pydantic(cls: Any) -> bool:
    """Whether pydantic itself made the class: a model or a pydantic dataclass."""
    return isinstance(cls, type) and "__pydantic_serializer__" in vars(cls)


def is_record(cls: Any) -> bool:
    """Whether the class is a record: no rules of its own, and nothing inherited from the standard library."""
    if not isinstance(cls, type) or is_pydantic(cls) or hasattr(cls, "__get_pydantic_core_schema__"):
        return False
    if getattr(cls, "_is_protocol", False) or issubclass(cls, enum.Enum):
        return False
    return cls not in _ROOTS and all(
        base in _ROOTS or base.__module__.partition(".")[0] not in _LIBRARY for base in cls.__mro__
    )


def record_of(tp: Any) -> type | None:
    """The record class that a type is, or is a parametrised form of."""
    cls = typing.get_origin(tp) or tp
    return cls if is_record(cls) else None


def record_fields(tp: Any, namespace: Namespace = _NO_NAMES) -> dict[str, Any]:
    """The types of a record's fields, as far as they are declared.

    Raises:
        UnresolvedAnnotation: if one of them cannot be resolved yet.
    """
    cls: Any = typing.get_origin(tp) or tp
    is_dataclass = hasattr(cls, "__dataclass_fields__")
    names = {field.name for field in dataclasses.fields(cls)} if is_dataclass else None
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base in _ROOTS:
            continue
        for name, annotation in inspect.get_annotations(base).items():
            if names is None and _is_no_field(cls, name, annotation):
                continue
            if names is None or name in names:
                found[name] = namespace.resolve(base, _without_final(annotation))
        if names is None:
            found.update(_constructor_fields(base, namespace))
    given = dict(zip(getattr(cls, "__parameters__", ()), typing.get_args(tp), strict=False))
    return {name: _substitute(annotation, given) for name, annotation in found.items()} if given else found


_CLASS_VAR: Final = re.compile(r"(\w+\.)?ClassVar\b")
_FINAL: Final = re.compile(r"(?:\w+\.)?Final(?:\[(.*)\])?", re.DOTALL)


def _is_no_field(cls: type, name: str, annotation: Any) -> bool:
    if isinstance(annotation, str):
        belongs_to_class = _CLASS_VAR.match(annotation) is not None
    else:
        belongs_to_class = (typing.get_origin(annotation) or annotation) is typing.ClassVar
    return belongs_to_class or isinstance(inspect.getattr_static(cls, name, None), property)


def _without_final(annotation: Any) -> Any:
    if isinstance(annotation, str):
        match = _FINAL.fullmatch(annotation)
        return (match[1] or Any) if match else annotation
    if (typing.get_origin(annotation) or annotation) is typing.Final:
        return (*typing.get_args(annotation), Any)[0]
    return annotation


def _substitute(annotation: Any, given: dict[Any, Any]) -> Any:
    if isinstance(annotation, typing.TypeVar):
        return given.get(annotation, annotation)
    parameters = getattr(annotation, "__parameters__", ())
    if not parameters or (isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias)):
        return annotation
    return annotation[tuple(given.get(parameter, parameter) for parameter in parameters)]


def _constructor_fields(cls: type, namespace: Namespace) -> Iterator[tuple[str, Any]]:
    """Fields that the class's own constructor assigns with a known type."""
    function = vars(cls).get("__init__")
    if not isinstance(function, types.FunctionType):
        return
    node = tree_of(function)
    if node is None:
        return
    for statement in ast.walk(node):
        if isinstance(statement, ast.AnnAssign):
            name = _attribute(statement.target)
            if name:
                yield name, namespace.resolve(function, ast.unparse(statement.annotation))
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            name = _attribute(statement.targets[0])
            annotation = function.__annotations__.get(_source(statement.value))
            if name and annotation is not None:
                yield name, namespace.resolve(function, annotation)


def _attribute(target: ast.expr) -> str | None:
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
        return target.attr
    return None


def _source(value: ast.expr) -> str:
    """The parameter that a value is: `x`, or `x or …`."""
    if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or):
        value = value.values[0]
    return value.id if isinstance(value, ast.Name) else ""


def pydantic_fields(cls: Any) -> dict[str, Any]:
    """The pydantic fields of a model or a pydantic dataclass."""
    return dict(cls.model_fields if issubclass(cls, BaseModel) else cls.__pydantic_fields__)


def complete(cls: Any, namespace: Namespace) -> None:
    """Let pydantic resolve what it could not when the class was defined.

    Raises:
        UnresolvedAnnotation: if a name is still missing.
    """
    if vars(cls).get("__pydantic_complete__", True) is not False:
        return
    try:
        if issubclass(cls, BaseModel):
            cls.model_rebuild(_types_namespace=namespace.local_names or None)
        else:
            rebuild_dataclass(cls, _types_namespace=namespace.local_names or None)
    except PydanticUndefinedAnnotation as error:
        raise UnresolvedAnnotation(str(error).splitlines()[0]) from error


def custom_serialized(cls: Any) -> tuple[bool, frozenset[str]]:
    """Whether a pydantic class writes itself by a function of its own, and which of its fields are written so."""
    decorators = cls.__pydantic_decorators__
    names: set[str] = set()
    for decorator in decorators.field_serializers.values():
        names.update(pydantic_fields(cls) if "*" in decorator.info.fields else decorator.info.fields)
    return bool(decorators.model_serializers), frozenset(names)


def facts_of(tp: Any, namespace: Namespace = _NO_NAMES) -> Facts:
    """What can occur in values of this type.

    Raises:
        UnresolvedAnnotation: if an annotation cannot be resolved yet.
    """
    return _facts(tp, namespace, set())


def _facts(tp: Any, namespace: Namespace, seen: set[Any]) -> Facts:
    if tp in PLAIN_LEAVES:
        return NOTHING
    if tp is float:
        return Facts(floats=True)
    inner = unfold(tp)
    if inner is not None:
        metadata = getattr(tp, "__metadata__", ())
        if serializes_itself(tp):
            return UNKNOWN
        if any(isinstance(entry, _JSON_MARK) or entry is Json for entry in metadata):
            return Facts(True, True, True)
        return _join(inner, namespace, seen)
    origin, args = typing.get_origin(tp), typing.get_args(tp)
    if origin in _SETS:
        return Facts(sets=True) | _join(args, namespace, seen)
    if origin in _ORDERED:
        return _join(args, namespace, seen)
    cls = origin or tp
    if not isinstance(cls, type):
        return UNKNOWN
    if tp in seen:
        return NOTHING
    seen.add(tp)
    if is_pydantic(cls):
        return _pydantic_facts(cls, namespace, seen)
    if issubclass(cls, enum.Enum):
        return NOTHING if all(type(member.value) in PLAIN_LEAVES for member in cls) else UNKNOWN
    if typing.is_typeddict(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        return _join(typing.get_type_hints(cls, include_extras=True).values(), namespace, seen)
    if is_record(cls):
        return _join(record_fields(tp, namespace).values(), namespace, seen)
    return UNKNOWN


def serializes_itself(tp: Any) -> bool:
    """Whether a type, or one entry of `Annotated[...]`, says how its values are written."""
    if isinstance(tp, _SERIALIZERS):
        return True
    return any(isinstance(entry, _SERIALIZERS) for entry in getattr(tp, "__metadata__", ()))


def unfold(tp: Any) -> tuple[Any, ...] | None:
    """The alternatives or the inner type of a union, alias, new type, type variable or literal; None for a leaf."""
    if typing.get_origin(tp) is typing.Literal:
        return ()
    if isinstance(tp, types.UnionType) or typing.get_origin(tp) is typing.Union:
        return typing.get_args(tp)
    if hasattr(tp, "__metadata__"):
        return (tp.__origin__,)
    if isinstance(tp, typing.TypeVar):
        return tp.__constraints__ or (tp.__bound__ or Any,)
    if isinstance(tp, typing.NewType):
        return (tp.__supertype__,)
    if type(tp).__name__ == "TypeAliasType":
        return (tp.__value__,)
    if typing.get_origin(tp) in (typing.Required, typing.NotRequired, typing.Final):
        return typing.get_args(tp)
    return None


def _join(items: Any, namespace: Namespace, seen: set[Any]) -> Facts:
    return functools.reduce(
        Facts.__or__, (_facts(item, namespace, seen) for item in items if item is not Ellipsis), NOTHING
    )


def _pydantic_facts(cls: Any, namespace: Namespace, seen: set[Any]) -> Facts:
    config = cls.model_config if issubclass(cls, BaseModel) else cls.__pydantic_config__
    computed = cls.__pydantic_decorators__.computed_fields
    whole, some = custom_serialized(cls)
    if whole or some or config.get("extra") == "allow":
        facts = UNKNOWN
    else:
        facts = _join((field.info.return_type for field in computed.values()), namespace, seen)
    if config.get("extra") == "forbid" and computed:
        facts |= Facts(round_trip=True)
    for field in pydantic_fields(cls).values():
        facts |= _facts(field.annotation, namespace, seen)
        if any(isinstance(entry, _SERIALIZERS) for entry in field.metadata):
            facts |= UNKNOWN
        if any(isinstance(entry, _JSON_MARK) or entry is Json for entry in field.metadata):
            facts |= Facts(True, True, True)
    return facts
