"""Phrases: what people say where a class of commands, events, errors or states has a name in code.

`@phrase("{customer} orders {quantity} × {sku}")` above the class, or the first line of its docstring, if that names at
least one field in braces, and fields alone. Reports and the living documentation write it in place of class and fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields as dataclass_fields, is_dataclass
from functools import lru_cache
from string import Formatter
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from ..errors import DefinitionError
from .annotations import Mark, add_mark, own_marks, plain_mark

#: A definition is refused at the line of its author, not at ours.
__tracebackhide__ = True

C = TypeVar("C", bound=type)

_EXAMPLE: Final = '@phrase("{customer} orders {quantity} × {sku}")'
_MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of a phrase: text, then a field, if one follows."""

    text: str
    path: tuple[str, ...] = ()
    format: str = ""


@dataclass(frozen=True, slots=True)
class Phrase(Mark):
    """What people say for a class (it changes nothing of what the runtime does)."""

    template: str
    parts: tuple[_Part, ...]


def phrase(template: str) -> Callable[[C], C]:
    """Class decorator: what people say for a command, an event, an error, a state or a row.

    Args:
        template: words with fields in braces, as for `str.format`: `{amount}`, `{address.city}`, `{price:.2f}`.

    Raises:
        DefinitionError: for a text that is no such template, or a field that the class does not have.
    """
    parts = _parsed(template)

    def mark(target: C) -> C:
        given: Any = target
        if not isinstance(given, type):
            raise DefinitionError(
                f"@phrase stands on {getattr(given, '__qualname__', given)!s}, which is no class",
                why="it says how people speak of the objects of a class",
                instead="@phrase(...) directly above class ...:",
            )
        if any(isinstance(own, Phrase) for own in own_marks(target)):
            raise DefinitionError(
                f"@phrase stands twice on {target.__name__}", why="only one of them can count", instead="keep one"
            )
        for part in parts:
            _require_known(target, part.path)
        return add_mark(target, Phrase(template, parts))

    return mark


def phrase_of(kind: type, source: Any, write: Callable[[Any], str]) -> str | None:
    """What people say of an object.

    Args:
        kind: its class.
        source: the object; or its fields by name, where it is not made; None: nothing but its class is known, and "…"
            stands for each field.
        write: writes a value that is no text, or a text that nobody would see.

    Returns:
        None if the class has no phrase, or a field of it cannot be read.
    """
    found = _phrase(kind)
    if found is None:
        return None
    said = []
    for part in found.parts:
        said.append(part.text)
        if part.path:
            text = "…" if source is None else _field(kind, source, part, write)
            if text is None:
                return None
            said.append(text)
    return "".join(said)


def _field(kind: type, source: Any, part: _Part, write: Callable[[Any], str]) -> str | None:
    value = source
    try:
        for name in part.path:
            value = _of_mapping(kind, value, name) if isinstance(value, Mapping) else getattr(value, name, _MISSING)
            if value is _MISSING:
                return None
        if part.format:
            return format(value, part.format)
    except Exception:  # noqa: BLE001 - a property, or a format, of the user's
        return None
    return str.__str__(value) if type(value) is str and value.strip() else write(value)


def _of_mapping(kind: type, fields: Mapping[str, Any], name: str) -> Any:
    if name in fields:
        return fields[name]
    if issubclass(kind, BaseModel) and name in kind.model_fields and not kind.model_fields[name].is_required():
        return kind.model_fields[name].get_default(call_default_factory=False)
    return _MISSING


@lru_cache(maxsize=4096)
def _phrase(kind: type) -> Phrase | None:
    """Its own or inherited mark; else its own docstring, where that is a phrase."""
    mark = plain_mark(kind, Phrase)
    if mark is not None:
        return mark
    doc = kind.__dict__.get("__doc__")
    first = doc.strip().partition("\n")[0].strip() if isinstance(doc, str) else ""
    if "{" not in first:
        return None
    first = first.removesuffix(".")
    try:
        parts = _parsed(first)
        known = [_require_known(kind, part.path) for part in parts if part.path]
    except DefinitionError:
        return None
    return Phrase(first, parts) if known and all(known) else None


# --- reading templates ------------------------------------------------------------------------------------------------


def _parsed(template: Any) -> tuple[_Part, ...]:
    __tracebackhide__ = True
    if not isinstance(template, str) or not template.strip():
        raise DefinitionError(
            f"@phrase({template!r}) says nothing",
            why="a phrase is what people read in place of a class and its fields",
            instead=_EXAMPLE,
        )
    try:
        found = list(Formatter().parse(template))
    except ValueError as error:
        raise DefinitionError(
            f"@phrase({template!r}): {error}",
            why="a brace begins or ends a field",
            instead="{{ and }} for braces that are text",
        ) from None
    return tuple(_Part(text, _path(template, name, kept or ""), kept or "") for text, name, kept, _ in _plain(found))


def _plain(found: list[tuple[str, str | None, str | None, str | None]]) -> Iterator[Any]:
    __tracebackhide__ = True
    for text, name, kept, conversion in found:
        if conversion:
            raise DefinitionError(
                f"@phrase(...): {{{name}!{conversion}}}",
                why="a phrase is for people; a conversion shows code",
                instead=f"{{{name}}}",
            )
        yield text, name, kept, conversion


def _path(template: str, name: str | None, kept: str) -> tuple[str, ...]:
    __tracebackhide__ = True
    if name is None:
        return ()
    path = tuple(name.split("."))
    if not all(part.isidentifier() and not part.startswith("_") for part in path) or "{" in kept:
        shown = f"{{{name}{':' + kept if kept else ''}}}"
        raise DefinitionError(
            f"@phrase({template!r}): {shown} is no field",
            why="a place in a phrase is a field, or a field of a field; nothing is called and nothing hidden is read",
            instead="{amount}, {address.city}, {price:.2f}",
        )
    return path


def _require_known(kind: type, path: tuple[str, ...]) -> bool:
    """Whether a class is known to have a field; refuses one that it cannot have."""
    __tracebackhide__ = True
    holder: Any = kind
    for name in path:
        known = _known(holder)
        if known is None:
            return False
        if name not in known:
            from difflib import get_close_matches

            close = get_close_matches(name, known, 1, 0.5)
            raise DefinitionError(
                f"@phrase(...) on {kind.__name__}: {holder.__name__} has no field {name!r}",
                why="the phrase could never be said",
                instead=f"{{{close[0]}}}" if close else f"one of {', '.join(known)}" if known else "words alone",
            )
        holder = known[name]
    return True


def _known(kind: Any) -> dict[str, Any] | None:
    """Names of the fields and properties of a class, each with its class where that is one; None: they are not known.

    Exceptions and other plain classes set their attributes in code that nobody has run yet.
    """
    if not isinstance(kind, type):
        return None
    own: dict[str, Any]
    if issubclass(kind, BaseModel):
        own = {name: field.annotation for name, field in kind.model_fields.items()}
        own |= dict.fromkeys(kind.model_computed_fields)
    elif is_dataclass(kind):
        own = {field.name: field.type for field in dataclass_fields(kind)}
    elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
        own = dict.fromkeys(getattr(kind, "_fields", ()))
    else:
        return None
    for base in kind.__mro__:
        if base is not BaseModel:
            own |= {name: None for name, value in vars(base).items() if isinstance(value, property)}
    return own
