"""Finding, from annotations alone, a field that no JSON can carry: a socket, a function, an iterator."""

from __future__ import annotations

import collections.abc
import enum
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from ..modeling.functions import Namespace
from .field_types import (
    PLAIN_LEAVES,
    complete,
    custom_serialized,
    is_pydantic,
    pydantic_fields,
    record_fields,
    record_of,
    serializes_itself,
    unfold,
)

#: A definition is refused at the line of its author, not at ours.
__tracebackhide__ = True

#: Types that pydantic takes as they are, but that are gone once they were written.
_NEVER: Final[frozenset[Any]] = frozenset(
    (
        type, collections.abc.Callable, collections.abc.Iterator, collections.abc.Generator,
        collections.abc.AsyncIterator, collections.abc.AsyncIterable, collections.abc.AsyncGenerator,
        collections.abc.Awaitable, collections.abc.Coroutine,
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unserializable:
    """A place in a type whose values have no JSON.

    Attributes:
        path: field by field, such as `lines[].handle`; empty for the type as a whole.
        shown: the type that stands there.
        plain_class: whether it is a plain class in a pydantic model, which would do as a dataclass.
    """

    path: str
    shown: str
    plain_class: bool = False


def unserializable(tp: Any, namespace: Namespace) -> Unserializable | None:
    """The first place that has no JSON, in the order of the fields.

    Raises:
        UnresolvedAnnotation: if an annotation cannot be resolved yet.
    """
    return next(_problems(tp, "", namespace, set(), in_model=False), None)


def _problems(tp: Any, path: str, namespace: Namespace, seen: set[Any], *, in_model: bool) -> Iterator[Unserializable]:
    if tp in PLAIN_LEAVES or tp in (float, Any, object) or serializes_itself(tp):
        return
    inner, suffix = unfold(tp), ""
    origin = typing.get_origin(tp)
    if inner is None and origin is not None and origin not in _NEVER and not is_pydantic(origin):
        inner, suffix = typing.get_args(tp), "[]"
        if record_of(origin) is not None:
            inner = None
    if inner is not None:
        for part in inner:
            if part is not Ellipsis:
                yield from _problems(part, path + suffix, namespace, seen, in_model=in_model)
        return
    cls = origin or tp
    if cls in _NEVER or not isinstance(cls, type):
        if cls in _NEVER:
            yield Unserializable(path, _shown(tp))
        return
    if tp in seen:
        return
    seen.add(tp)
    if is_pydantic(cls):
        yield from _in_pydantic(cls, path, namespace, seen)
    elif record_of(cls) is not None:
        if in_model and not hasattr(cls, "__dataclass_fields__"):
            yield Unserializable(path, _shown(tp), plain_class=True)
        for name, field in record_fields(tp, namespace).items():
            yield from _problems(field, _join(path, name), namespace, seen, in_model=False)
    elif typing.is_typeddict(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        for name, field in typing.get_type_hints(cls, include_extras=True).items():
            yield from _problems(field, _join(path, name), namespace, seen, in_model=in_model)
    elif not issubclass(cls, enum.Enum) and not _is_known_to_pydantic(cls):
        yield Unserializable(path, _shown(tp))


def _in_pydantic(cls: Any, path: str, namespace: Namespace, seen: set[Any]) -> Iterator[Unserializable]:
    complete(cls, namespace)
    whole, some = custom_serialized(cls)
    if whole:
        return
    for name, field in pydantic_fields(cls).items():
        if name in some or field.exclude or any(serializes_itself(entry) for entry in field.metadata):
            continue
        yield from _problems(field.annotation, _join(path, name), namespace, seen, in_model=True)


def _is_known_to_pydantic(cls: type) -> bool:
    try:
        TypeAdapter(cls)
    except (PydanticSchemaGenerationError, PydanticUserError):
        return False
    return True


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _shown(tp: Any) -> str:
    if isinstance(tp, type) and typing.get_origin(tp) is None:
        return tp.__qualname__ if tp.__module__ == "builtins" else f"{tp.__module__}.{tp.__qualname__}"
    return str(tp).removeprefix("typing.")
