"""JSON of records: standard dataclasses and plain classes, which pydantic does not read and write by itself.

A record's JSON is an object of its attributes. Reading calls the constructor with those of its parameters that are
fields, as the modelled runtime does, and then sets every attribute that the text has; a missing one keeps the
constructor's default.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import operator
import types
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

import typing_extensions
from pydantic import ConfigDict, TypeAdapter
from pydantic_core import (
    CoreConfig,
    PydanticSerializationUnexpectedValue,
    SchemaSerializer,
    SchemaValidator,
    core_schema,
    from_json,
    to_json,
)

from ..errors import DecodeError, NotSerializableError
from ..modeling.functions import Namespace
from .field_types import namespace_of, record_fields, record_of, remember_namespace

#: Bytes that are no text, and floats that are no number, keep their value.
RECORD_CONFIG: Final = CoreConfig(ser_json_bytes="base64", val_json_bytes="base64", ser_json_inf_nan="strings")
#: Before Python 3.12 pydantic takes this one alone.
_typed_dict: Final[Any] = typing_extensions.TypedDict
#: JSON text of any record, and a record of a type from JSON text: what the codec does with a nested record.
Encode = Callable[[Any], bytes]
Decode = Callable[[Any, bytes], Any]


class RecordSchema:
    """Tells pydantic how a field that holds one of these record types is read and written."""

    __slots__ = ("_choices", "_decode", "_encode")

    def __init__(self, choices: tuple[Any, ...], encode: Encode, decode: Decode) -> None:
        self._choices = choices
        self._encode = encode
        self._decode = decode

    def __get_pydantic_core_schema__(self, _source: Any, _handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._read,
            serialization=core_schema.plain_serializer_function_ser_schema(self._write),
        )

    def _read(self, value: Any) -> Any:
        data = to_json(value)
        errors = []
        for choice in self._by_fit(value):
            try:
                return self._decode(choice, data)
            except DecodeError as error:
                errors.append(str(error))
        raise ValueError("; ".join(errors))

    def _by_fit(self, value: Any) -> tuple[Any, ...] | list[Any]:
        """Of several record types first the one that knows most of the keys, then in the order of declaration."""
        if len(self._choices) == 1 or not isinstance(value, dict):
            return self._choices
        return sorted(self._choices, key=lambda choice: len(value.keys() - record_fields(choice, namespace_of(choice))))

    def _write(self, value: Any) -> Any:
        if not any(isinstance(value, record_of(choice) or object) for choice in self._choices):
            message = f"expected {self._choices}, got {type(value)}"
            raise PydanticSerializationUnexpectedValue(message)
        return from_json(self._encode(value))


def with_records(tp: Any, encode: Encode, decode: Decode, namespace: Namespace) -> Any:
    """The same type, in which pydantic can read and write the records."""
    if record_of(tp) is not None:
        remember_namespace(tp, namespace)
        return Annotated[tp, RecordSchema((tp,), encode, decode)]
    origin, args = typing.get_origin(tp), typing.get_args(tp)
    if not args or origin is typing.Literal or (isinstance(tp, type) and not isinstance(tp, types.GenericAlias)):
        return tp
    if hasattr(tp, "__metadata__"):
        return Annotated[(with_records(tp.__origin__, encode, decode, namespace), *tp.__metadata__)]
    new = tuple(arg if _no_type(arg) else with_records(arg, encode, decode, namespace) for arg in args)
    if new == args:
        return tp
    if isinstance(tp, types.UnionType) or origin is typing.Union:
        records = tuple(arg for arg in args if record_of(arg) is not None)
        others = [made for arg, made in zip(args, new, strict=True) if record_of(arg) is None]
        one = Annotated[records[0], RecordSchema(records, encode, decode)] if records else None
        return functools.reduce(operator.or_, [*others, one] if records else others)
    return origin[new] if isinstance(tp, types.GenericAlias) else tp.copy_with(new)


def _no_type(arg: Any) -> bool:
    return arg is Ellipsis or isinstance(arg, list | str | typing.ForwardRef)


def attributes_of(value: Any) -> dict[str, Any]:
    """What an object holds: its attributes and slots, without what a cached property computed."""
    cls = type(value)
    held = dict(getattr(value, "__dict__", ()))
    for name in [name for name in held if isinstance(_static(cls, name), functools.cached_property)]:
        del held[name]
    for name in slots_of(cls):
        found = getattr(value, name, _MISSING)
        if found is not _MISSING:
            held[name] = found
    return held


_MISSING: Final = object()


def _static(cls: type, name: str) -> Any:
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def slots_of(cls: type) -> tuple[str, ...]:
    """Names of the slots of a class, those of its bases first."""
    known = _SLOTS.get(cls)
    if known is None:
        known = _SLOTS[cls] = _find_slots(cls)
    return known


_SLOTS: Final[dict[type, tuple[str, ...]]] = {}


def _find_slots(cls: type) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__"):
                mangled = name.startswith("__") and not name.endswith("__")
                found[f"_{base.__name__.lstrip('_')}{name}" if mangled else name] = None
    return tuple(found)


class RecordCodec:
    """Reads and writes one record type."""

    __slots__ = ("_cls", "_creator", "_declared", "_keeps_unknown", "_required", "_to_json", "_validate")

    def __init__(self, tp: Any, namespace: Namespace, encode: Encode, decode: Decode) -> None:
        cls: type = typing.get_origin(tp) or tp
        fields = record_fields(tp, namespace)
        known = {name: with_records(field, encode, decode, namespace) for name, field in fields.items()}
        shape = _typed_dict(cls.__name__, known, total=False)
        shape.__pydantic_config__ = ConfigDict(extra="allow", val_json_bytes="base64")
        schema = TypeAdapter(shape).core_schema
        self._cls = cls
        self._declared = frozenset(fields)
        self._keeps_unknown = not dataclasses.is_dataclass(cls)
        self._to_json = SchemaSerializer(schema, RECORD_CONFIG).to_json
        self._validate = SchemaValidator(schema, RECORD_CONFIG).validate_json
        self._creator, self._required = _creator(cls, self._declared)

    def encode(self, value: Any, warnings: Any = "error") -> bytes:
        """JSON text of a record; pydantic's errors pass."""
        held = attributes_of(value)
        if len(held) != len(self._declared) or held.keys() != self._declared:
            if not self._keeps_unknown:
                held = {name: field for name, field in held.items() if name in self._declared}
            for name, field in held.items():
                if name not in self._declared and not is_plain_json(field):
                    raise _undeclared(self._cls, name, field)
        return self._to_json(held, warnings=warnings)

    def decode(self, data: bytes | str) -> Any:
        """The record that a JSON text stands for; pydantic's errors pass."""
        values: dict[str, Any] = self._validate(data)
        creator = self._creator
        if creator is None:
            made: Any = object.__new__(self._cls)
        else:
            missing = [name for name in self._required if name not in values]
            if missing:
                message = f"cannot read {self._cls.__name__} from JSON: {', '.join(missing)} is missing"
                raise DecodeError(message)
            try:
                made = self._cls(**{name: values[name] for name in creator if name in values})
            except Exception as error:
                message = f"cannot read {self._cls.__name__} from JSON: its constructor raised {error!r}"
                raise DecodeError(message) from error
        for name, field in values.items():
            if self._keeps_unknown or name in self._declared:
                object.__setattr__(made, name, field)
        return made


def _creator(cls: type, declared: frozenset[str]) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """The parameters that reading passes to the constructor, and those it must pass; None: it is not called.

    A constructor is called if its required parameters are fields, since only then the text has them.
    """
    if inspect.getattr_static(cls, "__init__") is object.__init__:
        return (), ()
    parameters = [
        parameter
        for parameter in inspect.signature(cls).parameters.values()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    required = tuple(parameter.name for parameter in parameters if parameter.default is parameter.empty)
    if not declared.issuperset(required):
        return None, ()
    return tuple(parameter.name for parameter in parameters if parameter.name in declared), required


def is_plain_json(value: Any) -> bool:
    """Whether a value is read back as it is without knowing its type."""
    if value is None or type(value) in (str, int, bool):
        return True
    if type(value) is float:
        return math.isfinite(value)
    if type(value) is list:
        return all(map(is_plain_json, value))
    return type(value) is dict and all(type(key) is str and is_plain_json(item) for key, item in value.items())


def _undeclared(cls: type, name: str, value: Any) -> NotSerializableError:
    kind = type(value).__name__
    return NotSerializableError(
        f"{cls.__name__}.{name} holds a {kind}, but {cls.__name__} declares no type for it",
        why="states, events and commands are stored as JSON in production, and are read back by their declared types",
        instead=f"declare it in the class: `{name}: {_suggestion(value)}`",
    )


def _suggestion(value: Any) -> str:
    if isinstance(value, Mapping):
        keys = {type(key).__name__ for key in value} or {"str"}
        items = {type(item).__name__ for item in value.values()} or {"…"}
        return f"dict[{' | '.join(sorted(keys))}, {' | '.join(sorted(items))}]"
    if isinstance(value, list | set | frozenset | tuple):
        items = {type(item).__name__ for item in value} or {"…"}
        tail = ", ..." if isinstance(value, tuple) else ""
        return f"{type(value).__name__}[{' | '.join(sorted(items))}{tail}]"
    return type(value).__name__


__all__ = ["RecordCodec", "attributes_of", "is_plain_json", "slots_of", "with_records"]
