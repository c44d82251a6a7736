"""Any value as one line of the constructor code that makes it, such as `OrderPaid(id="o-1", total=3)`.

Failure texts are written when something is wrong already, so nothing here raises, whatever a user's `__repr__` or
property does; and nothing here depends on the order of sets or on addresses, so that two runs print the same text.
"""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import functools
import pathlib
import re
import types
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import MISSING, dataclass, fields as dataclass_fields, is_dataclass
from typing import Any, Final

from pydantic import BaseModel, RootModel

from ..messages.records import attributes_of


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a value is shown; what is cut is counted in its place.

    Attributes:
        text: characters of one string or of one `repr`.
        items: members of one list, set or mapping.
        depth: levels of nesting.
        line: characters of the whole line.
    """

    text: int = 120
    items: int = 12
    depth: int = 8
    line: int = 400


DEFAULT_LIMITS: Final = Limits()
#: Where only a glimpse is wanted: within a sentence.
BRIEF: Final = Limits(text=40, items=3, depth=3, line=100)
EVERYTHING: Final = Limits(text=10**9, items=10**9, depth=100, line=10**9)

_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")
_ADDRESS_IN_TEXT: Final = re.compile(r" at 0x[0-9a-fA-F]{6,}(?=>)")
_NOT_SET: Final = object()


def render(value: Any, limits: Limits = DEFAULT_LIMITS) -> str:
    """One line of code that makes this value, cut in the middle where it exceeds the limits. Never raises."""
    return shorten(_Renderer(limits).any(value), limits.line)


def render_call(name: str, arguments: Iterable[tuple[str, Any]], limits: Limits = DEFAULT_LIMITS) -> str:
    """A call such as `some(OrderPaid, total=3)`; an argument with an empty name is positional. Never raises."""
    return shorten(_Renderer(limits).call(name, arguments), limits.line)


def shorten(text: str, limit: int) -> str:
    """The text, or its two ends with the number of characters left out between them."""
    if len(text) <= limit:
        return text
    kept = max(limit - 28, 2)
    head, tail = kept - kept // 3, kept // 3
    return f"{text[:head]}… {len(text) - head - tail:,} more characters …{text[-tail:] if tail else ''}"


def without_addresses(text: str) -> str:
    """A text in which no `<... at 0x7f...>` says where in memory something was: it differs from run to run."""
    return _ADDRESS_IN_TEXT.sub("", text)


def quoted(text: str) -> str:
    """A string as code, in double quotes where it has none of its own."""
    # A single quote in front makes repr choose double quotes.
    return '"' + repr("'" + text)[2:-1] + '"' if '"' not in text else repr(text)


class _Renderer:
    """One run over a value: knows how deep it is, and which values it is in."""

    __slots__ = ("_inside", "_limits")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._inside: list[int] = []

    def any(self, value: Any) -> str:
        """The code of a value, whatever it does."""
        if id(value) in self._inside:
            return "…"
        if len(self._inside) >= self._limits.depth and not isinstance(value, _ATOMS):
            return f"{type(value).__name__}(…)"
        self._inside.append(id(value))
        try:
            return self._code(value)
        except Exception as error:  # noqa: BLE001 - a text about a failure must not become another failure
            return f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"
        finally:
            self._inside.pop()

    def call(self, name: str, arguments: Iterable[tuple[str, Any]]) -> str:
        """A call by name."""
        shown = self._some(
            list(arguments), lambda pair: f"{pair[0]}={self.any(pair[1])}" if pair[0] else self.any(pair[1])
        )
        return f"{name}({', '.join(shown)})"

    def _code(self, value: Any) -> str:
        kind = type(value)
        own = getattr(kind, "__wowspec_code__", None)
        if own is not None:
            name, arguments = own(value)
            return self.call(name, arguments)
        for family, write in _WRITERS:
            if isinstance(value, family):
                return write(self, value)
        return self._object(value)

    # -- atoms

    def text(self, value: str) -> str:
        code = quoted(shorten(str.__str__(value), self._limits.text))
        return code if type(value) is str else f"{type(value).__name__}({code})"

    def number(self, value: Any) -> str:
        kind = type(value)
        code = shorten(
            _BASE_REPR[next(base for base in _BASE_REPR if isinstance(value, base))](value), self._limits.text
        )
        return code if kind in (int, float, complex, bool) else f"{kind.__name__}({code})"

    def plain(self, value: Any) -> str:
        return shorten(_ADDRESS.sub("", repr(value)), self._limits.text)

    def by_text(self, value: Any) -> str:
        return f"{type(value).__name__}({quoted(shorten(str(value), self._limits.text))})"

    def member(self, value: enum.Enum) -> str:
        kind = type(value).__name__
        if not value.name:
            return f"{kind}({value.value!r})"
        return " | ".join(f"{kind}.{name}" for name in value.name.split("|"))

    def named(self, value: Any) -> str:
        name: str = value.__qualname__
        if "<lambda>" in name:
            return "lambda …"
        return name.rpartition("<locals>.")[2]

    def moment(self, value: Any) -> str:
        code = repr(value).removeprefix("datetime.")
        zone = getattr(value, "tzinfo", None)
        if zone is None:
            return code.replace("datetime.", "")
        return code.replace(f"tzinfo={zone!r}", f"tzinfo={self._zone(zone)}")

    def _zone(self, zone: dt.tzinfo) -> str:
        if zone is dt.UTC:
            return "UTC"
        key = getattr(zone, "key", None)
        return f'ZoneInfo("{key}")' if isinstance(key, str) else repr(zone).replace("datetime.", "")

    def error(self, value: BaseException) -> str:
        if not value.args and str(value):
            return self.by_text(value)
        return self.call(type(value).__name__, [("", argument) for argument in value.args])

    # -- containers

    def sequence(self, value: Sequence[Any]) -> str:
        kind = type(value)
        names = getattr(kind, "_fields", None)
        if isinstance(value, tuple) and names is not None:
            return self.call(kind.__name__, _tuple_arguments(value, names))
        members = self._some(value, self.any)
        if isinstance(value, tuple):
            code = f"({members[0]},)" if len(members) == 1 else f"({', '.join(members)})"
        else:
            code = f"[{', '.join(members)}]"
        return code if kind in (list, tuple) else f"{kind.__name__}({code})"

    def members(self, value: AbstractSet[Any]) -> str:
        kind = type(value)
        if not value:
            return f"{kind.__name__}()"
        code = f"{{{', '.join(self._some(in_order(value), self.any))}}}"
        return code if kind is set else f"{kind.__name__}({code})"

    def mapping(self, value: Mapping[Any, Any]) -> str:
        kind = type(value)
        entries = self._some(list(value.items()), lambda entry: f"{self.any(entry[0])}: {self.any(entry[1])}")
        code = f"{{{', '.join(entries)}}}"
        return code if kind is dict else f"{kind.__name__}({code})"

    def _some(self, members: Iterable[Any], write: Callable[[Any], str]) -> list[str]:
        listed = list(members)
        limit = max(self._limits.items, 1)
        if len(listed) <= limit:
            return [write(member) for member in listed]
        head, tail = limit - limit // 3, limit // 3
        shown = [write(member) for member in listed[:head]]
        shown.append(f"… {len(listed) - head - tail:,} more …")
        return shown + [write(member) for member in listed[len(listed) - tail :]]

    # -- records

    def model(self, value: BaseModel) -> str:
        kind = type(value)
        if isinstance(value, RootModel):
            return f"{kind.__name__}({self.any(value.root)})"
        return self.call(kind.__name__.partition("[")[0], _model_arguments(value))

    def _object(self, value: Any) -> str:
        kind = type(value)
        if is_dataclass(kind):
            return self.call(kind.__name__, _dataclass_arguments(value))
        if getattr(kind, "__repr__", None) is object.__repr__ or hasattr(kind, "__attrs_attrs__"):
            held = attributes_of(value)
            return self.call(kind.__name__, ((name, item) for name, item in held.items() if not name.startswith("_")))
        try:
            return self.plain(value)
        except Exception:
            held = attributes_of(value)
            if not held:
                raise
            return self.call(kind.__name__, held.items())


def _model_arguments(value: BaseModel) -> Iterable[tuple[str, Any]]:
    """Fields that were set, and those that no longer have their default: a list that was appended to is not "set"."""
    kind = type(value)
    given = value.model_fields_set
    for name, field in kind.model_fields.items():
        if not field.repr or name not in value.__dict__:
            continue
        item = value.__dict__[name]
        if name in given or not _is_default(item, field):
            yield _argument(kind, name), item
    yield from (value.__pydantic_extra__ or {}).items()


def _argument(kind: type[BaseModel], name: str) -> str:
    """What a field is called where the model is made: by its alias, unless its name will do."""
    config = kind.model_config
    alias = kind.model_fields[name].validation_alias
    by_name = config.get("populate_by_name") or config.get("validate_by_name")
    return alias if isinstance(alias, str) and alias.isidentifier() and not by_name else name


def _tuple_arguments(value: tuple[Any, ...], names: Sequence[str]) -> Iterable[tuple[str, Any]]:
    """Fields of a named tuple that do not have their default."""
    defaults = getattr(type(value), "_field_defaults", {})
    for name, item in zip(names, value, strict=False):
        if name not in defaults or not _same(item, defaults[name]):
            yield name, item


def _dataclass_arguments(value: Any) -> Iterable[tuple[str, Any]]:
    """Fields that do not have their default."""
    for field in dataclass_fields(value):
        item = _read(value, field.name)
        if field.repr and item is not _NOT_SET and not _is_default(item, field):
            yield field.name, item


def _is_default(item: Any, field: Any) -> bool:
    if field.default_factory not in (None, MISSING):
        # A factory is not called: it may count, or ask for an id.
        return item is None or (isinstance(item, list | dict | set | frozenset | tuple) and not item)
    return _same(item, field.default)


def _same(item: Any, default: Any) -> bool:
    try:
        return type(item) is type(default) and bool(item == default)
    except Exception:  # noqa: BLE001 - a comparison of the user's
        return False


def in_order(members: Iterable[Any]) -> list[Any]:
    """The members of a set in an order that does not depend on hashes."""
    listed = list(members)
    kinds = {type(member) for member in listed}
    if len(kinds) == 1 and kinds <= _SORTABLE:
        return sorted(listed)
    return sorted(listed, key=lambda member: (type(member).__name__, render(member, EVERYTHING)))


def _read(value: Any, name: str) -> Any:
    try:
        return getattr(value, name)
    except Exception:  # noqa: BLE001 - deleted, or a property that raises
        return _NOT_SET


_SORTABLE: Final = frozenset((str, int, bytes, bool))
_ATOMS: Final = (str, int, float, complex, bytes, type(None), dt.date, dt.time, dt.timedelta, enum.Enum, type)
_BASE_REPR: Final[dict[type, Callable[[Any], str]]] = {
    bool: bool.__repr__,
    int: int.__repr__,
    float: float.__repr__,
    complex: complex.__repr__,
}

#: The first family that a value belongs to decides how it is written.
_WRITERS: Final[tuple[tuple[Any, Callable[[_Renderer, Any], str]], ...]] = (
    (enum.Enum, _Renderer.member),
    (type(None), _Renderer.plain),
    (str, _Renderer.text),
    ((bool, int, float, complex), _Renderer.number),
    ((bytes, bytearray), _Renderer.plain),
    ((dt.date, dt.time, dt.timedelta), _Renderer.moment),
    ((decimal.Decimal, uuid.UUID, pathlib.PurePath), _Renderer.by_text),
    (BaseModel, _Renderer.model),
    ((type, types.FunctionType, types.MethodType, types.BuiltinFunctionType), _Renderer.named),
    (functools.partial, _Renderer.plain),
    (BaseException, _Renderer.error),
    (range, _Renderer.plain),
    (Mapping, _Renderer.mapping),
    (AbstractSet, _Renderer.members),
    (Sequence, _Renderer.sequence),
)
