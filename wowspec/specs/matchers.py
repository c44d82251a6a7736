"""Looser than an exact event, and visibly so: `some`, `any_of`, `unordered`, `ANY_EVENTS`.

An expected event is matched by the equality of `messages.equality`; any object with an `__eq__` of its own (from
dirty-equals, `unittest.mock.ANY`, a user's) matches too, as an event or as a field. A matcher has no place inside a
pydantic model, which validates its fields: its refusal shows 49 characters of the matcher's repr, the first 25 and the
last 24, so each repr ends in what to write.
"""

from __future__ import annotations

import difflib
from dataclasses import fields as dataclass_fields, is_dataclass
from typing import Any, ClassVar, Final, Generic, TypeVar, final

from pydantic import BaseModel

from ..errors import SpecError
from ..messages.equality import MISSING, Difference
from .compare import Unreadable, below, differences, equals
from .render import BRIEF, render, render_call

T = TypeVar("T")

#: Plain ASCII, since pydantic counts bytes; the last 24 are what it shows of a long one.
_HINT: Final = ": a matcher; write some(Event, x=...)"


@final
class Some(Generic[T]):
    """An object of exactly this class whose listed fields are as said; made by `some`."""

    __slots__ = ("fields", "kind")

    def __init__(self, kind: type[T], fields: dict[str, Any]) -> None:
        self.kind: type[T] = kind
        self.fields: dict[str, Any] = fields

    def __wowspec_differences__(self, actual: Any) -> list[Difference]:
        if type(actual) is not self.kind:
            return [Difference("", self, actual)]
        found: list[Difference] = []
        for name, expected in self.fields.items():
            found.extend(below(name, differences(expected, read(actual, name))))
        return found

    def __eq__(self, other: object) -> bool:
        return other is self or not self.__wowspec_differences__(other)

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __wowspec_code__(self) -> tuple[str, list[tuple[str, Any]]]:
        return "some", [("", self.kind), *self.fields.items()]

    def __str__(self) -> str:
        return render(self)

    def __repr__(self) -> str:
        return render(self) + _HINT


@final
class AnyOf:
    """One value that equals one of these; made by `any_of`."""

    __slots__ = ("items",)

    def __init__(self, items: tuple[Any, ...]) -> None:
        self.items: tuple[Any, ...] = items

    def __wowspec_differences__(self, actual: Any) -> list[Difference]:
        if any(equals(item, actual) for item in self.items):
            return []
        # The fields of the nearest alternative of its class say more than the whole.
        near = [differences(item, actual) for item in self.items if kind_of(item) is type(actual)]
        near = [found for found in near if all(each.path for each in found)]
        return min(near, key=len) if near else [Difference("", self, actual)]

    def __eq__(self, other: object) -> bool:
        return other is self or any(equals(item, other) for item in self.items)

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __wowspec_code__(self) -> tuple[str, list[tuple[str, Any]]]:
        return "any_of", [("", item) for item in self.items]

    def __str__(self) -> str:
        return render(self)

    def __repr__(self) -> str:
        return render(self) + _HINT


@final
class Unordered:
    """These events in any order, with no other between them; made by `unordered`."""

    __slots__ = ("items",)

    def __init__(self, items: tuple[Any, ...]) -> None:
        self.items: tuple[Any, ...] = items

    def __wowspec_code__(self) -> tuple[str, list[tuple[str, Any]]]:
        return "unordered", [("", item) for item in self.items]

    def __str__(self) -> str:
        return render(self)

    def __repr__(self) -> str:
        return render(self) + ": a matcher, for expect_events(...)"


@final
class AnyEvents:
    """Any number of any events; its one value is `ANY_EVENTS`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ANY_EVENTS"


ANY_EVENTS: Final = AnyEvents()


def some(kind: type[T], /, **fields: Any) -> Some[T]:
    """An object of exactly this class, with these fields; the fields that are not named may be anything.

    Args:
        kind: the class.
        fields: expected values; each may be a matcher.

    Raises:
        SpecError: if the first argument is no class, or the class has no such field.
    """
    __tracebackhide__ = True
    if not isinstance(kind, type):
        raise SpecError(
            f"some({render(kind, BRIEF)}): the first argument is no class",
            why="some(...) loosens an event to its class and the fields that you name",
            instead=f"some({type(kind).__name__}, field=...), or the exact event without some(...)",
        )
    for name in fields:
        _check_field(kind, name)
    return Some(kind, fields)


def any_of(*items: Any) -> AnyOf:
    """One event (or, as a field of `some`, one value) that equals one of these.

    Raises:
        SpecError: if there is nothing to choose from, or a choice stands for several events.
    """
    __tracebackhide__ = True
    if not items:
        raise SpecError("any_of() has nothing to choose from", instead="any_of(OrderPaid(...), some(OrderShipped))")
    _refuse_groups("any_of", items, "each choice stands for one event")
    return AnyOf(items)


def unordered(*items: Any) -> Unordered:
    """These events in any order, contiguous; each may be a matcher for one event.

    Raises:
        SpecError: if an item stands for several events.
    """
    __tracebackhide__ = True
    _refuse_groups("unordered", items, "each item stands for one event, and they follow each other without a gap")
    return Unordered(items)


def is_group(item: Any) -> bool:
    """Whether an expected item stands for any number of events rather than for one."""
    return isinstance(item, Unordered | AnyEvents)


def kind_of(item: Any) -> type | None:
    """The class that an expected item asks for; None for a matcher that does not say, and for a class itself."""
    if isinstance(item, Some):
        kind: type = item.kind
        return kind
    return None if isinstance(item, AnyOf | type) else type(item)


def is_loose(item: Any) -> bool:
    """Whether an expected item lets more than one event pass."""
    return isinstance(item, Some | AnyOf | Unordered | AnyEvents)


def read(owner: Any, name: str) -> Any:
    """An attribute; `MISSING` or what went wrong where it cannot be read."""
    try:
        return getattr(owner, name)
    except AttributeError:
        return MISSING
    except Exception as error:  # noqa: BLE001 - a property of the user's
        return Unreadable("reading it", error)


def known_fields(kind: type) -> tuple[str, ...] | None:
    """Fields and properties of a class in their order; None where objects of it may hold others too."""
    properties = [
        name
        for base in reversed(kind.__mro__)
        for name, value in vars(base).items()
        if not name.startswith("_") and hasattr(value, "__get__") and not callable(value)
    ]
    if issubclass(kind, BaseModel):
        if kind.model_config.get("extra") == "allow":
            return None
        names = [*kind.model_fields, *kind.model_computed_fields]
        inherited = frozenset(dir(BaseModel))
        return tuple(dict.fromkeys((*names, *(name for name in properties if name not in inherited))))
    if is_dataclass(kind):
        return tuple(dict.fromkeys((*(field.name for field in dataclass_fields(kind)), *properties)))
    tuple_fields = getattr(kind, "_fields", None)
    if issubclass(kind, tuple) and tuple_fields is not None:
        return tuple(dict.fromkeys((*tuple_fields, *properties)))
    return None


#: How alike two names are of which one may be meant for the other: `payed` and `paid`, but not `open` and `gone`.
_CLOSE: Final = 0.6


def suggestion(kind: type, name: str) -> str:
    """What may have been meant by a field name that a class does not have: fields close to it, else all."""
    known = known_fields(kind) or ()
    if issubclass(kind, BaseModel):
        for field_name, field in kind.model_fields.items():
            if name in (field.alias, field.validation_alias, field.serialization_alias):
                return f"{field_name}, whose alias is {name}"
    close = difflib.get_close_matches(name, known, n=3, cutoff=_CLOSE)
    if close:
        return " or ".join(close)
    return f"one of {', '.join(known)}" if known else ""


def _check_field(kind: type, name: str) -> None:
    __tracebackhide__ = True
    known = known_fields(kind)
    if known is None or name in known:
        return
    meant = suggestion(kind, name)
    raise SpecError(
        f"some({kind.__name__}, {name}=...): {kind.__name__} has no field {name!r}",
        why="no event could ever meet it",
        instead=meant or f"some({kind.__name__}), since it has no fields",
    )


def _refuse_groups(verb: str, items: tuple[Any, ...], why: str) -> None:
    __tracebackhide__ = True
    for item in items:
        if is_group(item):
            raise SpecError(
                f"{verb}(...) holds {render_call('', [('', item)], BRIEF)[1:-1]}",
                why=why,
                instead="expect_events(some(A), unordered(B(...), C(...)), ANY_EVENTS): groups stand side by side",
            )
