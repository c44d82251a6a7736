"""Names and values in words, for people who do not read Python: `OrderPaid(amount=60)` is "Order paid (amount: 60)"."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import re
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import fields as dataclass_fields, is_dataclass
from itertools import islice
from typing import Any, Final

from pydantic import BaseModel, RootModel, SecretBytes, SecretStr

from ..messages.commands import CommandBuilder
from ..messages.records import attributes_of
from ..modeling.builtin import AggregateDeleted, AggregateRecovered, DeleteAggregate, RecoverAggregate
from ..modeling.phrasing import phrase_of
from ..specs.items import CommandOf
from ..specs.matchers import AnyEvents, AnyOf, Some, Unordered
from ..specs.render import in_order, render, shorten

#: Characters of one value; what is cut is counted in its place.
_MOST_TEXT: Final = 160
#: Members of one list, set or mapping.
_MOST_MEMBERS: Final = 12
#: Digits of a decimal number on either side of its point.
_MOST_DIGITS: Final = 30
#: Levels of nesting.
_MOST_LEVELS: Final = 8

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+|[^\W\d_]+")
#: Text that needs no quotes to be told from the words around it.
_BARE: Final = re.compile(r"[\w](?:[\w \-./@+%€$£&#]*[\w./%€$£#])?")
#: Text that says something else where it stands alone.
_OTHERWISE: Final = frozenset({"yes", "no", "none", "any", "anything", "empty"})


def words(name: str) -> str:
    """A name of a class, a field or a test in words: `OrderPaid`, `order_paid` and `orderPaid` are "order paid"."""
    found = _WORD.findall(name)
    return " ".join(word if len(word) > 1 and word.isupper() and not name.isupper() else word.lower() for word in found)


def title(name: str) -> str:
    """The same, beginning with a capital: "Order paid"."""
    text = words(name)
    return text[:1].upper() + text[1:]


def plural(count: int, noun: str) -> str:
    """A number of things: "1 event", "2 events"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def times(count: int) -> str:
    """How often: "once", "twice", "3 times"."""
    return {0: "not once", 1: "once", 2: "twice"}.get(count, f"{count} times")


def ordinal(number: int) -> str:
    """The place in a row: "first", "second", "11th"."""
    return {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth"}.get(number) or _ordinal(number)


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def joined(texts: Iterable[str], last: str = "and") -> str:
    """Several things in one sentence: "a, b and c"."""
    listed = list(texts)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} {last} {listed[-1]}" if listed else ""


def quoted(text: str) -> str:
    """Text as it is, in quotation marks; line ends as signs."""
    return f"“{shorten(' ⏎ '.join(text.splitlines()), _MOST_TEXT)}”"


# --- values -----------------------------------------------------------------------------------------------------------


def value_in_words(value: Any) -> str:
    """A field's value, readable and unmistakable. Never raises."""
    return _value(value, 0)


def _value(value: Any, level: int) -> str:
    if level >= _MOST_LEVELS:
        return "…"
    try:
        return _known(value, level)
    except Exception:  # noqa: BLE001 - a report must not fail for a property of the user's
        return render(value)


def _known(value: Any, level: int) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    for family, write in _ATOMS:
        if isinstance(value, family):
            return write(value)
    if isinstance(value, Mapping):
        entries = _few(value.items(), lambda entry: f"{_value(entry[0], level + 1)}: {_value(entry[1], level + 1)}")
        return f"({', '.join(entries)})" if entries else "none"
    if isinstance(value, AbstractSet):
        return joined(_few(in_order(value), lambda item: _member(item, level))) or "none"
    if isinstance(value, Some):
        return _loose(value)
    if isinstance(value, AnyOf):
        return f"either {joined((_member(item, level) for item in value.items), 'or')}"
    fields = _fields(value)
    if fields is not None:
        return _money(value) or _record(fields, level)
    if isinstance(value, Sequence):
        return joined(_few(value, lambda item: _member(item, level))) or "none"
    if isinstance(value, type) or callable(value):
        name = getattr(value, "__name__", "")
        return title(name) if name and "<" not in name else "anything that meets its condition"
    return _matcher(value) or shorten(render(value), _MOST_TEXT)


def _member(value: Any, level: int) -> str:
    """A value among others: lists in lists are kept apart."""
    text = _value(value, level + 1)
    return f"({text})" if isinstance(value, list | tuple | set | frozenset) and not text.startswith("(") else text


def _record(fields: Sequence[tuple[str, Any]], level: int) -> str:
    return f"({', '.join(_said(name, item, level) for name, item in fields)})" if fields else "(no details)"


def _said(label: str, value: Any, level: int) -> str:
    """A field and its value: "amount: 60", "no items", "address (country: China)"."""
    if isinstance(value, list | tuple | set | frozenset | dict) and not value:
        return f"no {label}"
    text = _value(value, level + 1)
    return f"{label} {text}" if text.startswith("(") else f"{label}: {text}"


def _few(members: Collection[Any], write: Callable[[Any], str]) -> list[str]:
    """Texts of the first members, and how many more there are: of those nothing is written."""
    count = len(members)
    if count <= _MOST_MEMBERS:
        return [write(member) for member in members]
    return [*map(write, islice(members, _MOST_MEMBERS - 1)), f"{count - _MOST_MEMBERS + 1} more"]


def _money(value: Any) -> str | None:
    """An amount with its currency, as people write it."""
    held = {name: item for name, item in attributes_of(value).items() if not name.startswith("_")}
    if set(held) not in ({"amount", "currency"}, {"value", "currency"}):
        return None
    number, currency = held.get("amount", held.get("value")), held["currency"]
    if isinstance(number, bool) or not isinstance(number, int | float | decimal.Decimal):
        return None
    return f"{_value(number, 1)} {_value(currency, 1)}" if isinstance(currency, str) else None


def _text(value: str) -> str:
    text = str.__str__(value)
    if not text:
        return "(empty)"
    if _BARE.fullmatch(text) and text.lower() not in _OTHERWISE:
        return shorten(text, _MOST_TEXT)
    return quoted(text)


def _member_name(value: enum.Enum) -> str:
    return words(value.name) if value.name else str(value.value)


def _decimal(value: decimal.Decimal) -> str:
    """With all its digits; with an exponent, where they would be zeros for the most part."""
    return f"{value:f}" if value.is_finite() and abs(value.adjusted()) <= _MOST_DIGITS else str(value)


def _date(value: dt.date) -> str:
    return f"{value.day} {MONTHS[value.month - 1]} {value.year}"


def _clock(value: dt.time | dt.datetime) -> str:
    if value.microsecond:
        return value.strftime("%H:%M:%S.%f").rstrip("0")
    return value.strftime("%H:%M:%S") if value.second else value.strftime("%H:%M")


def _datetime(value: dt.datetime) -> str:
    zone = value.tzname()
    return f"{_date(value)}, {_clock(value)}{f' {zone}' if zone else ''}"


def duration(value: dt.timedelta) -> str:
    """A length of time: "2 hours 30 minutes"."""
    micros = abs(value) // dt.timedelta(microseconds=1)
    parts = []
    for unit, size in _UNITS:
        count, micros = divmod(micros, size)
        if count:
            parts.append(plural(count, unit))
    return ("minus " if value < dt.timedelta() else "") + (joined(parts) or "no time")


#: As dates are written here.
MONTHS: Final = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
_UNITS: Final = (
    ("day", 86_400_000_000),
    ("hour", 3_600_000_000),
    ("minute", 60_000_000),
    ("second", 1_000_000),
    ("millisecond", 1_000),
    ("microsecond", 1),
)

#: The first family that a value belongs to decides how it is written.
_ATOMS: Final[tuple[tuple[Any, Callable[[Any], str]], ...]] = (
    (enum.Enum, _member_name),
    (str, _text),
    (int, str),
    (float, repr),
    (decimal.Decimal, _decimal),
    ((bytes, bytearray), lambda value: plural(len(value), "byte")),
    (dt.datetime, _datetime),
    (dt.date, _date),
    (dt.time, _clock),
    (dt.timedelta, duration),
    ((SecretStr, SecretBytes), lambda _: "a secret"),
    (uuid.UUID, str),
)


def _matcher(value: Any) -> str | None:
    """Well-known matchers of others, by their class: pytest's `approx`, `mock.ANY`, those of dirty-equals."""
    name = type(value).__name__
    if name == "_ANY":
        return "anything"
    if name.startswith("Approx") and hasattr(value, "expected"):
        return f"about {_value(value.expected, 1)}"
    if any(base.__name__ == "DirtyEquals" for base in type(value).__mro__):
        shown = value if not isinstance(value, type) else value()
        text = str(shown)
        head, _, rest = text.partition("(")
        said = rest.removesuffix(")")
        return f"{words(head).removeprefix('is ')}{f' ({said})' if said else ''}" or None
    return None


# --- fields -----------------------------------------------------------------------------------------------------------


def fields_in_words(fields: Iterable[tuple[str, Any]]) -> str:
    """Fields and their values in one line, without brackets: "status: created, no items"."""
    return ", ".join(_said(words(name), value, 0) for name, value in fields)


def details(value: Any) -> str:
    """What an object holds, in one line, without brackets and without the name of its class."""
    text = value_in_words(value)
    return text[1:-1] if text.startswith("(") and text.endswith(")") and _fields(value) else text


def _fields(value: Any) -> list[tuple[str, Any]] | None:
    """Labels and values of what has fields; those at their defaults are left out. None: it has none."""
    kind = type(value)
    if isinstance(value, RootModel):
        return None
    if isinstance(value, BaseModel):
        return [(_label(kind, name), item) for name, item in _told(value)]
    if is_dataclass(kind):
        return [(words(name), item) for name, item in _told(value)]
    names = getattr(kind, "_fields", None)
    if isinstance(value, tuple) and names is not None:
        return [(words(name), item) for name, item in zip(names, value, strict=False)]
    if getattr(kind, "__repr__", None) is object.__repr__ or hasattr(kind, "__attrs_attrs__"):
        held = attributes_of(value)
        return [(words(name), item) for name, item in held.items() if not name.startswith("_")]
    return None


def _told(value: Any) -> Iterable[tuple[str, Any]]:
    """Fields that somebody set, or that differ from their defaults."""
    if isinstance(value, BaseModel):
        kind = type(value)
        for name, field in kind.model_fields.items():
            if not field.repr or name not in value.__dict__:
                continue
            item = value.__dict__[name]
            if name in value.model_fields_set or not _is_default(item, field.default, field.default_factory):
                yield name, item
        yield from (value.__pydantic_extra__ or {}).items()
        return
    for own in dataclass_fields(value):
        if own.repr and hasattr(value, own.name):
            item = getattr(value, own.name)
            if not _is_default(item, own.default, own.default_factory):
                yield own.name, item


def _is_default(item: Any, default: Any, factory: Any) -> bool:
    if callable(factory):
        return item is None or (isinstance(item, list | dict | set | frozenset | tuple) and not item)
    return type(item) is type(default) and bool(item == default)


def _label(kind: type[BaseModel], name: str) -> str:
    """What people call a field: its title where it has one."""
    field = kind.model_fields.get(name)
    return field.title if field is not None and field.title else words(name)


# --- messages ---------------------------------------------------------------------------------------------------------


def message(value: Any) -> str:
    """A command, an event, a state or a matcher of one: its own phrase, or its class and fields. Never raises."""
    own = own_phrase(value)
    if own is not None:
        return own
    if isinstance(value, Some):
        return _loose(value)
    if isinstance(value, AnyOf):
        return f"either {joined((message(item) for item in value.items), 'or')}"
    if isinstance(value, Unordered):
        return f"in any order: {joined(message(item) for item in value.items)}"
    if isinstance(value, AnyEvents):
        return "anything"
    if isinstance(value, CommandOf):
        return _named(value.command_class.__name__, value.fields.items(), value.command_class)
    if isinstance(value, CommandBuilder):
        return _built(value)
    if isinstance(value, type):
        return f"{title(value.__name__)} (whatever the details)"
    matched = _matcher(value)
    if matched is not None:
        return matched
    try:
        fields = _fields(value)
        if fields is None and not isinstance(value, _NO_MESSAGES):
            fields = [(words(name), item) for name, item in attributes_of(value).items() if not name.startswith("_")]
    except Exception:  # noqa: BLE001 - a property of the user's
        fields = None
    if fields is None:
        return value_in_words(value)
    name = type(value).__name__.partition("[")[0]
    said = title(name) if type(value) not in _BUILT_IN else _BUILT_IN[type(value)]
    return f"{said} {_unwrapped(name, fields) or _record(fields, 0)}" if fields else said


#: What is told as a value, wherever it stands.
_NO_MESSAGES: Final = (str, bytes, int, float, type(None), list, tuple, set, frozenset, dict, enum.Enum, BaseException)
#: The runtime's own messages, for which people have shorter words.
_BUILT_IN: Final[dict[type, str]] = {
    DeleteAggregate: "Delete it",
    AggregateDeleted: "It is deleted",
    RecoverAggregate: "Bring it back",
    AggregateRecovered: "It is brought back",
}


def _unwrapped(name: str, fields: Sequence[tuple[str, Any]]) -> str | None:
    """The inside of an only field that says what the message's name says already: Item added (added (…))."""
    label, value = fields[0]
    if len(fields) > 1 or not set(label.split()) <= set(words(name).split()):
        return None
    text = _value(value, 1)
    return text if text.startswith("(") and text.endswith(")") and _fields(value) else None


def own_phrase(value: Any) -> str | None:
    """The phrase that its class has for it; None: it has none, or its fields cannot be read."""
    if isinstance(value, type | Some | AnyOf | Unordered):
        return None
    if isinstance(value, CommandOf):
        return phrase_of(value.command_class, value.fields, value_in_words)
    return phrase_of(type(value), value, value_in_words)


def _loose(value: Some[Any]) -> str:
    name = title(value.kind.__name__)
    if not value.fields:
        return f"{name} (whatever the details)"
    return f"{_named(value.kind.__name__, value.fields.items(), value.kind)[:-1]}; the rest may be anything)"


def _named(name: str, fields: Iterable[tuple[str, Any]], kind: type) -> str:
    label = (lambda field: _label(kind, field)) if issubclass(kind, BaseModel) else words
    said = [(label(field), value) for field, value in fields]
    return f"{title(name)} {_record(said, 0)}" if said else title(name)


def _built(value: CommandBuilder[Any]) -> str:
    to = value.values.aggregate_id
    return f"{message(value.values.body)}{f', to {value_in_words(to)}' if to else ''}"
