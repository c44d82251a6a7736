"""Other values of the same type: each field of a message changed, alone, to what its class still accepts."""

from __future__ import annotations

import copy
import dataclasses
import datetime as dt
import enum
import string
import typing
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from pydantic import BaseModel, RootModel
from pydantic.fields import FieldInfo

from ..messages.field_types import is_pydantic, is_record, namespace_of, pydantic_fields, record_fields
from ..messages.records import attributes_of
from ..modeling.functions import UnresolvedAnnotation, strip_annotated, union_members

#: How many levels of nested records are looked into.
DEPTH: Final = 4
_REFUSED: Final[Any] = object()


@dataclass(frozen=True, slots=True)
class Alteration:
    """A message with one value in it changed.

    Attributes:
        path: where, such as `.items[0].price`.
        how: `altered`, `set to None`, `given a value`, `emptied`, `last element dropped`, `last element doubled`.
        message: the changed message.
        was: the value before.
        now: the value after.
    """

    path: str
    how: str
    message: Any
    was: Any
    now: Any


@dataclass(frozen=True, slots=True)
class _Group:
    """One way to change a value: the first candidate that is accepted is taken."""

    path: str
    how: str
    candidates: Iterable[tuple[Any, Any]]
    was: Any


def alterations(message: Any) -> Iterator[Alteration]:
    """Each field of a message changed by each way that its type allows, in the order of the fields."""
    for group in _in_record(message, 0):
        for altered, now in group.candidates:
            yield Alteration(group.path, group.how, altered, group.was, now)
            break


def fields_of(holder: Any) -> list[tuple[str, Any, Any]]:
    """Name, value and declared type of each field; the type is `Any` where it is not known."""
    cls = type(holder)
    if is_pydantic(cls):
        wanted = {name: field.annotation for name, field in pydantic_fields(cls).items()}
        return [(name, getattr(holder, name), annotation) for name, annotation in wanted.items()]
    names = getattr(cls, "_fields", None) if isinstance(holder, tuple) else None
    held = dict(zip(names, holder, strict=True)) if names is not None else attributes_of(holder)
    try:
        wanted = record_fields(cls, namespace_of(cls))
    except (UnresolvedAnnotation, NameError, TypeError):
        wanted = {}
    return [(name, value, wanted.get(name, Any)) for name, value in held.items() if not name.startswith("_")]


def with_field(holder: Any, name: str, value: Any) -> Any:
    """A copy with another value in a field; `_REFUSED` if the class does not take it, or makes the same of it."""
    try:
        made = _made(holder, name, value)
        return _REFUSED if made == holder and getattr(made, name) == getattr(holder, name) else made
    except Exception:  # noqa: BLE001 - whatever a validator, a constructor or a comparison of the author's raises
        return _REFUSED


def _made(holder: Any, name: str, value: Any) -> Any:
    cls = type(holder)
    if isinstance(holder, RootModel):
        return cls.model_validate(value)
    if isinstance(holder, BaseModel):
        by_name = bool(cls.model_config.get("populate_by_name") or cls.model_config.get("validate_by_name"))
        data = {_key(each, field, by_name): getattr(holder, each) for each, field in cls.model_fields.items()}
        data[_key(name, cls.model_fields[name], by_name)] = value
        return cls.model_validate({**data, **(holder.model_extra or {})})
    if dataclasses.is_dataclass(cls):
        return dataclasses.replace(holder, **{name: value})
    if isinstance(holder, tuple):
        return holder._replace(**{name: value})  # type: ignore[attr-defined]
    made = copy.copy(holder)
    setattr(made, name, value)
    return made


def _key(name: str, field: FieldInfo, by_name: bool) -> str:
    alias = field.validation_alias
    return alias if isinstance(alias, str) and not by_name else name


# --- records and containers -------------------------------------------------------------------------------------------


def _in_record(holder: Any, depth: int) -> Iterator[_Group]:
    for name, value, wanted in fields_of(holder):
        path = "" if isinstance(holder, RootModel) else f".{name}"
        for group in _ways(value, wanted, depth):
            yield _Group(path + group.path, group.how, _put(holder, name, group.candidates), group.was)


def _put(holder: Any, name: str, candidates: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
    for candidate, now in candidates:
        made = with_field(holder, name, candidate)
        if made is not _REFUSED:
            yield made, now


def _ways(value: Any, wanted: Any, depth: int) -> Iterator[_Group]:
    """How a value can be changed; each candidate comes with what is told of it."""
    members = _members(wanted)
    if value is None:
        yield _simple("given a value", (sample for member in members for sample in _samples(member)), None)
        return
    scalar = next((change for kind, change in _SCALARS if isinstance(value, kind)), None)
    if scalar is not None:
        yield _simple("altered", [*_literals(members, value), *_of_its_class(value, scalar(value))], value)
    elif isinstance(value, Mapping):
        yield from _in_mapping(value, depth)
    elif isinstance(value, list | tuple | set | frozenset) and not hasattr(type(value), "_fields"):
        yield from _in_collection(value, members, depth)
    elif depth < DEPTH and _has_fields(value):
        yield from _in_record(value, depth + 1)
    if type(None) in members:
        yield _simple("set to None", (None,), value)


def _simple(how: str, candidates: Iterable[Any], was: Any) -> _Group:
    return _Group("", how, ((candidate, candidate) for candidate in candidates), was)


def _in_collection(value: Any, members: tuple[Any, ...], depth: int) -> Iterator[_Group]:
    kind = type(value)
    element = next((arg for member in members for arg in typing.get_args(member) if arg is not Ellipsis), Any)
    items = list(value)
    if not items:
        yield _simple("given an element", (kind([sample]) for sample in _samples(element)), value)
        return
    yield _simple("emptied", (kind(),), value)
    if len(items) > 1:
        yield _simple("last element dropped", (kind(items[:-1]),), value)
    if not isinstance(value, list | tuple):
        return
    yield _simple("last element doubled", (kind([*items, items[-1]]),), value)
    for group in _ways(items[0], element, depth + 1):
        changed = ((kind([candidate, *items[1:]]), now) for candidate, now in group.candidates)
        yield _Group(f"[0]{group.path}", group.how, changed, group.was)


def _in_mapping(value: Mapping[Any, Any], depth: int) -> Iterator[_Group]:
    if type(value) is not dict or not value:
        return
    entries = list(value.items())
    yield _simple("emptied", ({},), value)
    if len(entries) > 1:
        yield _simple("last element dropped", (dict(entries[:-1]),), value)
    key, first = entries[0]
    for group in _ways(first, Any, depth + 1):
        changed = (({**value, key: candidate}, now) for candidate, now in group.candidates)
        yield _Group(f"[{key!r}]{group.path}", group.how, changed, group.was)


def _has_fields(value: Any) -> bool:
    cls = type(value)
    return is_pydantic(cls) or is_record(cls) or hasattr(cls, "_fields")


# --- single values ----------------------------------------------------------------------------------------------------


def _members(wanted: Any) -> tuple[Any, ...]:
    return tuple(strip_annotated(member)[0] for member in union_members(strip_annotated(wanted)[0]))


def _literals(members: Iterable[Any], value: Any) -> list[Any]:
    """The other values that a `Literal` lists."""
    listed = [
        arg for member in members if typing.get_origin(member) is typing.Literal for arg in typing.get_args(member)
    ]
    return [arg for arg in listed if (type(arg), arg) != (type(value), value)]


def _of_its_class(value: Any, candidates: Iterable[Any]) -> Iterator[Any]:
    """Candidates of a subclass, such as a text with a meaning, are made what the value is."""
    kind = type(value)
    for candidate in candidates:
        if type(candidate) is kind or isinstance(candidate, kind):
            yield candidate
            continue
        try:
            yield kind(candidate)
        except Exception:  # noqa: BLE001 - a constructor of the author's
            yield candidate


def _others(value: enum.Enum) -> Iterator[Any]:
    members = list(type(value))
    place = members.index(value) if value in members else -1
    yield from (member for member in [*members[place + 1 :], *members[: max(place, 0)]] if member is not value)


def _numbers(value: Any) -> Iterator[Any]:
    yield value + 1
    yield value - 1
    yield value * 2
    yield from (value // 2, -value, value * 0) if value else ()


def _decimals(value: Decimal) -> Iterator[Decimal]:
    if not value.is_finite():
        yield Decimal(1)
        return
    unit = Decimal((0, (1,), int(value.as_tuple().exponent)))
    yield from (value + 1, value - 1, value + unit, value - unit)


#: Sorts of characters; a text changed within one still matches most patterns.
_SORTS: Final = (string.digits, string.ascii_lowercase, string.ascii_uppercase)


def _texts(value: str) -> Iterator[str]:
    for place in range(len(value) - 1, -1, -1):
        sort = next((sort for sort in _SORTS if value[place] in sort), None)
        if sort is not None:
            other = sort[(sort.index(value[place]) + 1) % len(sort)]
            yield f"{value[:place]}{other}{value[place + 1 :]}"
    yield f"{value}x"
    yield f"{value}0"
    yield value[:-1]


def _shifted(*steps: dt.timedelta) -> Callable[[Any], Iterator[Any]]:
    def shift(value: Any) -> Iterator[Any]:
        for step in steps:
            try:
                yield value + step
            except OverflowError:
                continue

    return shift


def _times_of_day(value: dt.time) -> Iterator[dt.time]:
    yield value.replace(minute=(value.minute + 1) % 60)
    yield value.replace(hour=(value.hour + 1) % 24)


_SECOND, _DAY = dt.timedelta(seconds=1), dt.timedelta(days=1)
#: The first class that a value is of decides what it may become, best candidates first.
_SCALARS: Final[tuple[tuple[type, Callable[[Any], Iterator[Any]]], ...]] = (
    (enum.Enum, _others),
    (bool, lambda value: iter((not value,))),
    (int, _numbers),
    (float, _numbers),
    (Decimal, _decimals),
    (str, _texts),
    (bytes, lambda value: iter((value + b"x", value[:-1]))),
    (dt.datetime, _shifted(_SECOND, -_SECOND, _DAY, -_DAY)),
    (dt.date, _shifted(_DAY, -_DAY)),
    (dt.time, _times_of_day),
    (dt.timedelta, _shifted(_SECOND, -_SECOND)),
    (uuid.UUID, lambda value: iter((uuid.UUID(int=value.int ^ 1),))),
)

#: What stands in for None, or in an empty list, by declared class.
_SAMPLES: Final[dict[type, tuple[Any, ...]]] = {
    bool: (True,),
    int: (1, 0),
    float: (1.0, 0.0),
    Decimal: (Decimal(1), Decimal("0.1")),
    str: ("x", "1"),
    bytes: (b"x",),
    dt.datetime: (dt.datetime(2024, 1, 1, tzinfo=dt.UTC), dt.datetime(2024, 1, 1)),  # noqa: DTZ001 - some are naive
    dt.date: (dt.date(2024, 1, 1),),
    dt.time: (dt.time(12),),
    dt.timedelta: (_SECOND,),
    uuid.UUID: (uuid.UUID(int=1),),
}


def _samples(wanted: Any) -> Iterator[Any]:
    bare = strip_annotated(wanted)[0]
    bare = getattr(bare, "__supertype__", bare)
    if typing.get_origin(bare) is typing.Literal:
        yield from typing.get_args(bare)
        return
    cls: Any = typing.get_origin(bare) or bare
    if not isinstance(cls, type) or cls is type(None):
        return
    if issubclass(cls, enum.Enum):
        yield from cls
    elif cls in _SAMPLES:
        yield from _SAMPLES[cls]
    else:
        try:
            yield cls()
        except Exception:  # noqa: BLE001 - a class that wants more
            return
