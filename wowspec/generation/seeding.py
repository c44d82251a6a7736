"""Commands that might have stored a given event: their fields are filled with values that are found near it.

Nothing is drawn: values come in a fixed order, those of the event first.
"""

from __future__ import annotations

import copy
import enum
import inspect
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from typing import Annotated, Any, Final

import hypothesis
from pydantic import ConfigDict, TypeAdapter

from ..exploration.alterations import fields_of
from ..messages.codec import encode
from ..messages.field_types import complete, is_pydantic, is_record, namespace_of, pydantic_fields, record_fields
from ..modeling.annotations import AggregateVersion, OwnerId, SpaceId, TenantId
from ..modeling.fields import fields_of as declared_fields
from ..modeling.functions import strip_annotated, union_members
from .building import LEFT_OUT
from .callers import Caller
from .domain import id_field
from .overrides import Overrides
from .resolver import resolve

#: How many values each field is given at most, and in how many ways a command is filled.
MOST_VALUES: Final = 12
MOST_FILLINGS: Final = 80
#: How deep values are looked into, and how many elements of a container are.
_DEPTH: Final = 3
_ELEMENTS: Final = 4
_NUMBERS: Final = (int, float, Decimal)
_LIBRARIES: Final = frozenset({"builtins", "enum", "pydantic", "typing"})
_ANY_CLASS: Final = ConfigDict(arbitrary_types_allowed=True)
#: What single values are tried besides, of simple types.
_SAMPLES: Final[tuple[Any, ...]] = (True, False, 1, 0, 100, 1.0, Decimal(1), "1", "x")
_MINIMAL: Final = hypothesis.settings(
    max_examples=20,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[hypothesis.Phase.generate],
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.filter_too_much],
)


class Seeds:
    """Values to fill fields with, in groups: those of an earlier group go first."""

    __slots__ = ("groups",)

    def __init__(self, groups: Iterable[Iterable[Any]]) -> None:
        self.groups: list[_Group] = [_Group(roots) for roots in groups]

    @property
    def first(self) -> _Group:
        """The values of the event itself."""
        return self.groups[0]


class _Group:
    """Values by the names of the fields that hold them, and all of them in their order."""

    __slots__ = ("named", "values")

    def __init__(self, roots: Iterable[Any]) -> None:
        self.named: dict[str, list[Any]] = {}
        self.values: list[Any] = []
        level = [("", root) for root in roots]
        for depth in range(_DEPTH + 1):
            below: list[tuple[str, Any]] = []
            for name, value in level:
                if name or depth or not _has_fields(value):
                    self.named.setdefault(_plain(name), []).append(value)
                    self.values.append(value)
                below += _parts(name, value)
            level = below


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _has_fields(value: Any) -> bool:
    return is_pydantic(type(value)) or is_record(type(value))


def _parts(name: str, value: Any) -> list[tuple[str, Any]]:
    """What is in a value: fields, properties, elements."""
    if _has_fields(value):
        held = [(each, inner) for each, inner, _ in fields_of(value)]
        return held + list(_properties(value))
    if isinstance(value, Mapping):
        return [pair for key, inner in islice(value.items(), _ELEMENTS) for pair in ((name, key), (name, inner))]
    if isinstance(value, list | tuple):
        return [(name.removesuffix("s"), inner) for inner in value[:_ELEMENTS]]
    return []


def _properties(value: Any) -> Iterator[tuple[str, Any]]:
    cls: type = type(value)
    for name in _property_names(cls):
        with suppress(Exception):
            yield name, getattr(value, name)


@lru_cache(maxsize=512)
def _property_names(cls: type) -> tuple[str, ...]:
    """The public properties of the author's; in the order of declaration, those of bases first."""
    own = [base for base in reversed(cls.__mro__) if base.__module__.partition(".")[0] not in _LIBRARIES]
    names = (name for base in own for name, member in vars(base).items() if isinstance(member, property))
    return tuple(dict.fromkeys(name for name in names if not name.startswith("_")))


# --- fields -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter:
    """A field of a command, or of a record in it.

    Attributes:
        name: its name.
        key: the name by which its class's constructor takes it.
        accepts: gives the value that the field makes of another one, or raises.
        annotation: its type.
        has_default: whether it may be left out.
    """

    name: str
    key: str
    accepts: Callable[..., Any]
    annotation: Any
    has_default: bool


@lru_cache(maxsize=512)
def parameters_of(cls: type) -> tuple[Parameter, ...]:
    """The fields of a class by its constructor; none where they cannot be told."""
    found = []
    if is_pydantic(cls):
        complete(cls, namespace_of(cls))
        by_name = _takes_names(cls)
        for name, info in pydantic_fields(cls).items():
            alias = info.validation_alias if isinstance(info.validation_alias, str) else info.alias
            annotation = Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation
            key = name if alias is None or by_name else alias
            found.append(Parameter(name, key, _accepting(annotation), annotation, not info.is_required()))
        return tuple(found)
    types = record_fields(cls, namespace_of(cls))
    for parameter in inspect.signature(cls).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        annotation = types.get(parameter.name, Any)
        has_default = parameter.default is not parameter.empty
        found.append(Parameter(parameter.name, parameter.name, _accepting(annotation), annotation, has_default))
    return tuple(found)


def _takes_names(cls: Any) -> bool:
    config = getattr(cls, "model_config", None) or getattr(cls, "__pydantic_config__", None) or {}
    return bool(config.get("populate_by_name") or config.get("validate_by_name"))


def _accepting(annotation: Any) -> Callable[..., Any]:
    try:
        try:
            return TypeAdapter(annotation, config=_ANY_CLASS).validate_python
        except Exception:  # noqa: BLE001 - a type that has a configuration of its own
            return TypeAdapter(annotation).validate_python
    except Exception:  # noqa: BLE001 - a type that pydantic does not know is checked by nobody
        return lambda value, **_: value


class Values:
    """The values that one field is filled with, best first, each once."""

    __slots__ = ("_parameter", "_seen", "found")

    def __init__(self, parameter: Parameter) -> None:
        self._parameter = parameter
        self._seen: list[Any] = []
        self.found: list[Any] = []

    def leave_out(self) -> None:
        """Leave it to its default."""
        if self._parameter.has_default:
            self.found.append(LEFT_OUT)

    def offer(self, values: Iterable[Any], *, strict: bool = True) -> None:
        """Take those that the field's type accepts; not strictly, also what can be made one of its values."""
        for value in values:
            if len(self.found) >= MOST_VALUES:
                return
            try:
                made = self._parameter.accepts(copy.deepcopy(value), strict=strict, from_attributes=not strict or None)
                if any(type(other) is type(made) and other == made for other in self._seen):
                    continue
            except Exception:  # noqa: BLE001, S112 - a validator, or a comparison, of the author's
                continue
            self._seen.append(made)
            self.found.append(made)


def _values_of(parameter: Parameter, seeds: Seeds, depth: int, first: Sequence[Any]) -> list[Any]:
    values = Values(parameter)
    values.offer(first, strict=False)
    name = _plain(parameter.name)
    values.offer(seeds.first.named.get(name, ()), strict=False)
    values.leave_out()
    members = _members(parameter.annotation)
    values.offer(_collected(members, name, seeds), strict=False)
    if not members & {Any, object}:
        values.offer(seeds.first.values)
    values.offer(_made(members, seeds, depth))
    for group in seeds.groups[1:]:
        values.offer(group.named.get(name, ()), strict=False)
    numbers = [value for value in seeds.first.values if isinstance(value, _NUMBERS) and not isinstance(value, bool)]
    if len(numbers) > 1:
        with suppress(TypeError):
            values.offer([sum(numbers)])
    for group in seeds.groups[1:]:
        values.offer(group.values)
    values.offer(changed for value in numbers for changed in (value + 1, value - 1))
    values.offer(_listed(members))
    values.offer(_SAMPLES)
    if not values.found:
        values.offer(_minimal(parameter.annotation))
    return values.found


def _members(annotation: Any) -> set[Any]:
    """The types of a union, without their constraints."""
    return {_bare(member) for member in union_members(strip_annotated(annotation)[0])}


def _bare(tp: Any) -> Any:
    bare = strip_annotated(tp)[0]
    return getattr(bare, "__supertype__", bare)


def _collected(members: Collection[Any], name: str, seeds: Seeds) -> Iterator[Any]:
    """For a container: the values of its element's name, or of its type, that several events hold."""
    for member in sorted(members, key=str):
        origin, args = typing.get_origin(member), typing.get_args(member)
        if origin not in (list, tuple, set, frozenset) or not args:
            continue
        accepts = _accepting(args[0])
        alike = seeds.first.named.get(name.removesuffix("s"), ())
        for candidates, strict in ((alike, False), (seeds.first.values, True)):
            accepted = []
            for value in candidates:
                with suppress(Exception):
                    accepted.append(accepts(copy.deepcopy(value), strict=strict, from_attributes=not strict or None))
            if accepted:
                yield origin(accepted)
                yield from (origin([one]) for one in accepted[:_ELEMENTS])
        yield from (origin([one]) for one in islice(_made({_bare(args[0])}, seeds, _DEPTH - 1), 1))


def _made(members: Collection[Any], seeds: Seeds, depth: int) -> Iterator[Any]:
    """For a record in a record: it, filled in turn."""
    if depth >= _DEPTH:
        return
    for member in sorted(members, key=str):
        if isinstance(member, type) and (is_pydantic(member) or is_record(member)):
            yield from islice(fillings(member, seeds, depth=depth + 1), _ELEMENTS)


def _listed(members: Collection[Any]) -> Iterator[Any]:
    for member in sorted(members, key=str):
        if typing.get_origin(member) is typing.Literal:
            yield from typing.get_args(member)
        elif isinstance(member, type) and issubclass(member, enum.Enum):
            yield from member
        elif member is type(None):
            yield None


def _minimal(annotation: Any) -> list[Any]:
    """The simplest value that a strategy for the type gives."""
    with suppress(Exception):
        made = resolve(annotation, Overrides(), Caller("from_model", str(annotation)))
        return [hypothesis.find(made, lambda _: True, settings=_MINIMAL)]
    return []


# --- commands ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a command says of whose it is.

    Attributes:
        aggregate_id: the instance.
        tenant_id: its tenant.
        owner_id: the owner that the given stream names; empty: none.
        space_id: likewise.
    """

    aggregate_id: str
    tenant_id: str
    owner_id: str
    space_id: str


@lru_cache(maxsize=512)
def _marked(cls: type) -> tuple[tuple[str, type], ...]:
    """Fields that are marked as saying something of the envelope."""
    marks = (AggregateVersion, OwnerId, SpaceId, TenantId)
    return tuple((each.name, mark) for each in declared_fields(cls) for mark in marks if each.has(mark))


def commands_for(cls: type, seeds: Seeds, envelope: Envelope) -> Iterator[Any]:
    """Commands of a class for one instance, the most likely first; none where its constructor takes nothing of it."""
    own = id_field(cls)
    fixed: dict[str, Any] = {} if own is None else {own: envelope.aggregate_id}
    first: dict[str, tuple[Any, ...]] = {}
    said: dict[Any, str] = {OwnerId: envelope.owner_id, SpaceId: envelope.space_id, TenantId: envelope.tenant_id}
    for name, mark in _marked(cls):
        if mark is AggregateVersion:
            fixed[name] = LEFT_OUT
        elif said[mark]:
            first[name] = (said[mark],)
    yield from fillings(cls, seeds, fixed, first)


def fillings(
    cls: type,
    seeds: Seeds,
    fixed: Mapping[str, Any] | None = None,
    first: Mapping[str, Sequence[Any]] | None = None,
    depth: int = 0,
) -> Iterator[Any]:
    """Values of a class, their fields filled from seeds; what its constructor refuses is passed over.

    Args:
        cls: the class.
        seeds: where values come from.
        fixed: fields that have just one value.
        first: values that go before all others.
        depth: how many records it stands in.
    """
    try:
        parameters = parameters_of(cls)
    except Exception:  # noqa: BLE001 - annotations that cannot be resolved
        return
    columns = []
    for parameter in parameters:
        if parameter.name in (fixed or {}):
            value = (fixed or {})[parameter.name]
            columns.append([None if value is LEFT_OUT and not parameter.has_default else value])
        else:
            columns.append(_values_of(parameter, seeds, depth, (first or {}).get(parameter.name, ())))
        if not columns[-1]:
            return
    seen = set()
    for places in islice(_by_sum([len(column) for column in columns]), MOST_FILLINGS):
        drawn = zip(parameters, (column[place] for column, place in zip(columns, places, strict=True)), strict=True)
        arguments = {parameter.key: value for parameter, value in drawn if value is not LEFT_OUT}
        try:
            made = cls(**copy.deepcopy(arguments))
            text = encode(made)
        except Exception:  # noqa: BLE001, S112 - its validators, or the constructor of the author's
            continue
        if text not in seen:
            seen.add(text)
            yield made


def _by_sum(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All places in columns of these lengths, by how far they are from the first ones."""
    for total in range(sum(sizes) - len(sizes) + 1):
        yield from _with_sum(sizes, total)


def _with_sum(sizes: Sequence[int], total: int) -> Iterator[tuple[int, ...]]:
    if not sizes:
        if not total:
            yield ()
        return
    rest = sum(sizes[1:]) - len(sizes[1:])
    for place in range(max(0, total - rest), min(total, sizes[0] - 1) + 1):
        for others in _with_sum(sizes[1:], total - place):
            yield (place, *others)
