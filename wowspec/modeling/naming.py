"""Names: from classes to wire names, between styles, and to named aggregates (NAM-002, NAM-010 to NAM-012)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ..errors import IllegalArgumentError
from ..texts import is_blank
from .annotations import ClassName, plain_mark
from .identity import NamedAggregate

#: A definition is refused at the line of its author, not at ours.
__tracebackhide__ = True

#: Own attribute of a built-in class: its simple name in the modelled runtime, where that differs.
WIRE_NAME: Final = "__wowspec_wire_name__"

_BEFORE_CAPITAL: Final = re.compile(r"(?<!^)(?=[A-Z])")

Converter = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class NamingStrategy:
    """A style of names: how one is split into words, and how words make one (NAM-012)."""

    segment: Callable[[str], list[str]]
    transform: Callable[[Sequence[str]], str]


def _before_capitals(text: str) -> list[str]:
    """Split before every A-Z, so that an acronym falls into letters (CMD-004)."""
    return _BEFORE_CAPITAL.split(text)


def _pascal(words: Sequence[str]) -> str:
    """Raises `IndexError` for an empty word, which has no first letter."""
    return "".join(word[0].upper() + word[1:].lower() for word in words)


def _camel(words: Sequence[str]) -> str:
    """As `_pascal`, but for the first letter, which is lowered once it was raised."""
    return "".join(word[0].upper().lower() + word[1:].lower() for word in words[:1]) + _pascal(words[1:])


def _delimited(delimiter: str) -> NamingStrategy:
    return NamingStrategy(
        lambda text: text.split(delimiter), lambda words: delimiter.join(word.lower() for word in words)
    )


SNAKE: Final = _delimited("_")
KEBAB: Final = _delimited("-")
LOWER_DOT: Final = _delimited(".")
PASCAL: Final = NamingStrategy(_before_capitals, _pascal)
CAMEL: Final = NamingStrategy(_before_capitals, _camel)


def convert(source: NamingStrategy, target: NamingStrategy) -> Converter:
    """A converter between two styles."""
    return lambda text: target.transform(source.segment(text))


def ignore_prefix(prefix: str) -> Converter:
    """A converter that takes a prefix away, where there is one."""
    return lambda text: text.removeprefix(prefix)


def append_prefix(prefix: str) -> Converter:
    """A converter that puts a prefix in front."""
    return lambda text: prefix + text


def ignore_suffix(suffix: str) -> Converter:
    """A converter that takes a suffix away, where there is one."""
    return lambda text: text.removesuffix(suffix)


def append_suffix(suffix: str) -> Converter:
    """A converter that puts a suffix at the end."""
    return lambda text: text + suffix


def composite(first: Converter, source: NamingStrategy, target: NamingStrategy) -> Converter:
    """A converter that lets another one work first, then changes the style."""
    restyle = convert(source, target)
    return lambda text: restyle(first(text))


to_snake: Final = convert(PASCAL, SNAKE)


def simple_name(cls: type) -> str:
    """A class's own name, without enclosing classes and type arguments; a built-in one's as the runtime has it."""
    wire: str | None = cls.__dict__.get(WIRE_NAME)
    if wire is not None:
        return wire
    generic = getattr(cls, "__pydantic_generic_metadata__", None)
    origin = generic.get("origin") if isinstance(generic, dict) else None
    return origin.__name__ if isinstance(origin, type) else cls.__name__


def message_name(cls: type) -> str:
    """Name of a command, event, service or aggregate class.

    The nearest `@name` on the class or a superclass, if it is not blank; else the class's name in snake case (CMD-003,
    NAM-011).
    """
    mark = plain_mark(cls, ClassName)
    if mark is not None and not is_blank(mark.value):
        return mark.value
    return to_snake(simple_name(cls))


def to_named_aggregate(text: str, context_name: str | None = None) -> NamedAggregate:
    """Parse `context.aggregate`, or an aggregate name in a given context (NAM-002).

    Raises:
        IllegalArgumentError: if the text has not exactly one dot and no context is given.
    """
    parts = text.split(".")
    if len(parts) == 2:
        return NamedAggregate(parts[0], parts[1])
    if not context_name:
        message = (
            f"{text!r} names no context: write 'context.{text or 'aggregate'}', or give the context that it belongs to"
        )
        raise IllegalArgumentError(message)
    return NamedAggregate(context_name, text)
