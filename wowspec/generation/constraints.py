"""Constraints that pydantic checks after a type, brought into the type itself, so that no value fails them."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from .leaves import Schema

_NUMBERS: Final = frozenset(("int", "float", "decimal", "fraction"))
_TIMES: Final = frozenset(("date", "datetime", "time", "timedelta"))
_SIZED: Final = frozenset(
    ("str", "bytes", "list", "set", "frozenset", "tuple", "dict", "deque", "ordered-dict", "counter", "generator")
)
#: Constraint → the core schema types that know it.
KNOWN: Final[dict[str, frozenset[str]]] = {
    "ge": _NUMBERS | _TIMES,
    "gt": _NUMBERS | _TIMES,
    "le": _NUMBERS | _TIMES,
    "lt": _NUMBERS | _TIMES,
    "multiple_of": _NUMBERS,
    "min_length": _SIZED,
    "max_length": _SIZED,
    "max_digits": frozenset(("decimal",)),
    "decimal_places": frozenset(("decimal",)),
    "pattern": frozenset(("str",)),
}
#: Keys under which a schema holds the one that its values go through.
_INNER: Final = ("schema", "lax_schema", "strict_schema", "json_schema", "python_schema")


def constraint_of(function: Any) -> dict[str, Any]:
    """What one of pydantic's own checks asks for, such as `{"ge": 3}`; nothing for any other function."""
    if isinstance(function, partial) and function.func.__module__.startswith("pydantic."):
        return {name: value for name, value in function.keywords.items() if name in KNOWN}
    return {}


def constrained(schema: Schema, asked: dict[str, Any]) -> Schema:
    """The schema, with the constraints at those types within that know them; None and other types stay as they are."""
    kind = schema["type"]
    own = {name: value for name, value in asked.items() if kind in KNOWN[name]}
    changed = {**schema, **own}
    if own:
        return changed
    for key in _INNER:
        if isinstance(schema.get(key), dict) and kind not in ("model", "dataclass", "json"):
            changed[key] = constrained(schema[key], asked)
    if kind == "union":
        changed["choices"] = [
            (constrained(choice[0], asked), *choice[1:]) if isinstance(choice, tuple) else constrained(choice, asked)
            for choice in schema["choices"]
        ]
    if kind == "chain":
        changed["steps"] = [constrained(step, asked) for step in schema["steps"]]
    return changed
