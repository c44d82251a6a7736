"""Bodies and states as JSON, and back: pydantic models, dataclasses, plain classes (SER-013, SER-014).

A class is looked at once. If no set can occur in it, writing is pydantic's own call; else the members of each set are
put in order afterwards, so that one value has one text in every run. Fields are written by their names, never by their
aliases.
"""

from __future__ import annotations

import collections.abc
import datetime as dt
import math
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from types import CoroutineType
from typing import Any, Final, TypeVar
from uuid import UUID

from pydantic import BaseModel, RootModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError
from pydantic_core import PydanticSerializationError, SchemaSerializer, SchemaValidator, from_json, to_json

from ..errors import DecodeError, DefinitionError, NotSerializableError
from ..modeling.functions import Namespace, UnresolvedAnnotation
from ..modeling.unawaited import NEVER_RAN, close_unawaited
from .field_types import (
    NOTHING,
    Facts,
    complete,
    facts_of,
    is_pydantic,
    namespace_of,
    record_of,
    remember_namespace,
)
from .records import RECORD_CONFIG, RecordCodec, attributes_of, with_records
from .serializable import unserializable

#: A definition is refused at the line of its author, not at ours.
__tracebackhide__ = True

T = TypeVar("T")

WHY: Final = "events, commands and states are stored and sent as JSON in production"


@dataclass(frozen=True, slots=True)
class Codec:
    """How one type is written and read."""

    encode: Callable[[Any], bytes]
    decode: Callable[[bytes | str], Any]
    facts: Facts


_CODECS: Final[dict[Any, Codec]] = {}


def encode(value: Any) -> bytes:
    """The JSON text of an object, in UTF-8.

    Raises:
        NotSerializableError: if it, or anything in it, has no JSON.
    """
    cls = type(value)
    codec = _CODECS.get(cls)
    if codec is None:
        codec = codec_of(cls)
    return codec.encode(value)


def decode(cls: type[T], data: bytes | str) -> T:
    """The object of this type that a JSON text stands for.

    Raises:
        DecodeError: if the text is no JSON, or not of this type.
        NotSerializableError: if the type cannot be read at all.
    """
    codec = _CODECS.get(cls)
    if codec is None:
        codec = codec_of(cls)
    return codec.decode(data)  # type: ignore[no-any-return]


def check_serializable(cls: Any, namespace: Namespace | None = None) -> bool:
    """Refuse, when it is defined, a class whose instances could never be written as JSON and read back.

    Args:
        cls: a class of events, commands or states.
        namespace: the local names of its definition; remembered, so that it is written and read with them later.

    Returns:
        False if its annotations cannot be resolved yet, so that nothing was checked.

    Raises:
        DefinitionError: naming the first field that has no JSON.
    """
    if namespace is not None:
        remember_namespace(cls, namespace)
    try:
        found = unserializable(cls, namespace_of(cls))
    except (UnresolvedAnnotation, NameError):
        return False
    if found is None:
        return True
    name = getattr(cls, "__name__", str(cls))
    place = f"{name}.{found.path}" if found.path else name
    instead = "hold plain values, dataclasses or pydantic models; a handler is given its services as parameters"
    if found.plain_class:
        instead = f"make {found.shown.rpartition('.')[2]} a dataclass or a pydantic model"
    raise DefinitionError(f"{place} is a {found.shown}, which has no JSON", why=WHY, instead=instead)


def codec_of(tp: Any) -> Codec:
    """The codec of a type, made at its first use.

    Raises:
        NotSerializableError: if there is none.
    """
    codec = _CODECS.get(tp)
    if codec is None:
        codec = _CODECS[tp] = _make(tp)
    return codec


def _make(tp: Any) -> Codec:
    namespace = namespace_of(tp)
    cls = typing.get_origin(tp) or tp
    name = getattr(cls, "__name__", str(cls))
    try:
        if is_pydantic(cls):
            complete(cls, namespace)
            facts = facts_of(tp, namespace)
            dump, load = _pydantic_calls(cls, facts)
        elif record_of(tp) is not None:
            record = RecordCodec(tp, namespace, encode, decode)
            facts = facts_of(tp, namespace)
            dump, load = record.encode, record.decode
        else:
            facts = facts_of(tp, namespace)
            dump, load = _adapter_calls(tp)
    except (UnresolvedAnnotation, NameError) as error:
        raise NotSerializableError(
            f"{name} cannot be read from JSON: {error}", why=WHY, instead="define the class before its first use"
        ) from error
    except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError) as error:
        raise NotSerializableError(
            f"{name} has no JSON: {str(error).splitlines()[0]}", why=WHY, instead="make it a pydantic model"
        ) from error
    return Codec(_encoder(dump, facts), _decoder(load, name), facts)


def _pydantic_calls(cls: Any, facts: Facts) -> tuple[Callable[..., bytes], Callable[..., Any]]:
    write, read = cls.__pydantic_serializer__.to_json, cls.__pydantic_validator__.validate_json
    round_trip = facts.round_trip
    # Keywords are written out: those of a `partial` make a dictionary at each call.

    def load(data: bytes | str) -> Any:
        return read(data, by_alias=False, by_name=True)

    def strict(value: Any, warnings: bool = True) -> bytes:
        return write(value, by_alias=False, round_trip=round_trip, warnings="error" if warnings else False)  # type: ignore[no-any-return]

    if not issubclass(cls, BaseModel) or cls.model_config.get("extra") == "allow":
        return strict, load
    scalars = _SCALARS | {float} if facts.floats else _SCALARS

    def dump(value: Any, warnings: bool = True) -> bytes:
        # Where each field holds a scalar, none hides what its type does not allow; to ask for errors takes longest.
        if not warnings or scalars.issuperset(map(type, value.__dict__.values())):
            return write(value, by_alias=False, round_trip=round_trip, warnings=False)  # type: ignore[no-any-return]
        return strict(value)

    return dump, load


#: What has one JSON text, whatever the type of the field that holds it.
_SCALARS: Final = frozenset((str, int, bool, type(None), Decimal, dt.datetime, dt.date, dt.time, UUID))


def _adapter_calls(tp: Any) -> tuple[Callable[..., bytes], Callable[..., Any]]:
    schema = TypeAdapter(with_records(tp, encode, decode, namespace_of(tp))).core_schema
    dump = partial(SchemaSerializer(schema, RECORD_CONFIG).to_json, warnings="error")
    return dump, SchemaValidator(schema, RECORD_CONFIG).validate_json


def _encoder(dump: Callable[..., bytes], facts: Facts) -> Callable[[Any], bytes]:
    def careful(value: Any) -> bytes:
        try:
            data = dump(value)
        except PydanticSerializationError:
            return untyped(value)
        return to_json(_ordered(value, from_json(data), _CODECS))

    def untyped(value: Any) -> bytes:
        # Some field holds what its type does not allow, or what has no JSON at all.
        try:
            data = dump(value, warnings=False)
        except (PydanticSerializationError, ValueError, RecursionError) as error:
            raise _refused(value, error) from error
        return to_json(_ordered(value, from_json(data), {}))

    def with_floats(value: Any) -> bytes:
        try:
            data = dump(value)
        except PydanticSerializationError:
            return untyped(value)
        # A float that is no number is written as null, which would not be read back.
        return careful(value) if b"null" in data else data

    def without_sets(value: Any) -> bytes:
        try:
            return dump(value)
        except PydanticSerializationError:
            return untyped(value)

    if facts.sets:
        return careful
    return with_floats if facts.floats else without_sets


def _decoder(load: Callable[..., Any], name: str) -> Callable[[bytes | str], Any]:
    def read(data: bytes | str) -> Any:
        try:
            return load(data)
        except ValidationError as error:
            message = f"cannot read {name} from JSON: {_reasons(error)}"
            raise DecodeError(message) from error

    return read


def _reasons(error: ValidationError) -> str:
    rows = error.errors(include_url=False, include_context=False)
    texts = [f"{'.'.join(map(str, row['loc']))}: {row['msg']}" if row["loc"] else row["msg"] for row in rows[:3]]
    return "; ".join(texts) + ("" if len(rows) <= 3 else f" (and {len(rows) - 3} more)")


def _ordered(value: Any, tree: Any, known: Mapping[Any, Codec]) -> Any:
    """The JSON tree of a value, with the members of every set in order.

    Where a serializer of the user's own made another shape, its choice stays. Objects are skipped whose codec is
    `known` to need no order.
    """
    if isinstance(value, RootModel):
        value = value.root
    if tree is None:
        return _not_a_number(value) if type(value) is float else None
    if type(tree) is dict:
        return _ordered_object(value, tree, known)
    if type(tree) is not list or not isinstance(value, collections.abc.Collection) or len(value) != len(tree):
        return tree
    items = [_ordered(item, sub, known) for item, sub in zip(value, tree, strict=True)]
    if isinstance(value, collections.abc.Set) and len(items) > 1:
        items.sort(key=_sort_key)
    return items


def _ordered_object(value: Any, tree: dict[str, Any], known: Mapping[Any, Codec]) -> dict[str, Any]:
    codec = known.get(type(value))
    if codec is not None and codec.facts == NOTHING:
        return tree
    if isinstance(value, collections.abc.Mapping):
        if len(value) != len(tree):
            return tree
        return {key: _ordered(item, sub, known) for (key, sub), item in zip(tree.items(), value.values(), strict=True)}
    return {key: _ordered(getattr(value, key, None), sub, known) for key, sub in tree.items()}


def _not_a_number(value: float) -> str | None:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return None


def _sort_key(item: Any) -> tuple[int, Any]:
    if isinstance(item, str):
        return 1, item
    if isinstance(item, int | float):
        return 0, item
    return 2, to_json(item)


def _refused(value: Any, error: Exception) -> NotSerializableError:
    path, culprit = _culprit(value, type(value).__name__, 0)
    if isinstance(error, NotSerializableError):
        return error
    if isinstance(culprit, CoroutineType):
        name = close_unawaited(culprit)
        return NotSerializableError(
            f"{path} is the coroutine of {name}(...), which has no JSON",
            why=NEVER_RAN,
            instead=f"hold its result: `await` before {name}(...)",
        )
    reason = str(error).splitlines()[0]
    instead = "hold plain values, dataclasses or pydantic models, and give handlers their services as parameters"
    if isinstance(culprit, bytes):
        instead = 'set model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")'
    return NotSerializableError(
        f"{path} is a {type(culprit).__name__} that has no JSON: {reason}", why=WHY, instead=instead
    )


def _culprit(value: Any, path: str, depth: int) -> tuple[str, Any]:
    """The innermost part that cannot be written, with its path."""
    if depth < 20:
        for label, item in _parts(value):
            try:
                to_json(item)
            except (PydanticSerializationError, ValueError, RecursionError):
                return _culprit(item, path + label, depth + 1)
    return path, value


def _parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, collections.abc.Mapping):
        return [(f"[{key!r}]", item) for key, item in value.items()]
    if isinstance(value, list | tuple | set | frozenset):
        return [(f"[{index}]", item) for index, item in enumerate(value)]
    if is_pydantic(type(value)) or record_of(type(value)) is not None:
        return [(f".{name}", item) for name, item in attributes_of(value).items()]
    return []


__all__ = ["WHY", "Codec", "check_serializable", "codec_of", "decode", "encode", "remember_namespace"]
