"""The lines that import what a test to paste names: a domain's classes from their modules, verbs from the kit."""

from __future__ import annotations

import ast
import builtins
import enum
import importlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import fields, is_dataclass
from typing import Any, Final

from ..messages.records import attributes_of

_KIT: Final = __name__.partition(".")[0]
#: Names that code of values has without a class of that name being the value's own.
_STANDARD: Final = {
    "UTC": "datetime",
    "datetime": "datetime",
    "timedelta": "datetime",
    "timezone": "datetime",
    "ZoneInfo": "zoneinfo",
}
_ATOMS: Final = (str, bytes, bool, int, float, type(None))
_WORD: Final = re.compile(r"\b[A-Za-z_]\w*")
_TEXT: Final = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|#[^\n]*")
#: Longer than this, the names of one module stand one below the other.
_MOST_WIDTH: Final = 100


def with_imports(code: str, *values: Any) -> str:
    """A test with the lines that import what it names, above it.

    A class that no module has by its name, such as one that a function made, is named in a comment.

    Args:
        code: the test.
        values: in which the classes that it names are found: steps, parts, classes.
    """
    lines = _lines(_names(code), _classes(values))
    return "\n".join([*lines, "", code]) if lines else code


def _names(code: str) -> list[str]:
    """Names that the code takes from outside, each once."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        # What is not written as code, such as a repr of the user's, may stand among the arguments.
        found = _WORD.findall(_TEXT.sub("", code))
        bound = {"spec", "model", "def", "depth"}
    else:
        found = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return sorted({name for name in found if name not in bound and not hasattr(builtins, name)})


def _classes(values: Iterable[Any]) -> dict[str, type]:
    """Classes by the names that code has for them, the first of each name."""
    found: dict[str, type] = {}
    for each in _reached(values, set()):
        found.setdefault(each.__name__.partition("[")[0], each)
    return found


def _reached(value: Any, seen: set[int]) -> Iterator[type]:
    """The classes in a value, and of what it holds."""
    if isinstance(value, type):
        yield value
    elif not isinstance(value, _ATOMS) and id(value) not in seen:
        seen.add(id(value))
        yield type(value)
        for each in () if isinstance(value, enum.Enum) else _held(value):
            yield from _reached(each, seen)


def _held(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return [*value, *value.values()]
    if isinstance(value, Sequence | AbstractSet):
        return list(value)
    if is_dataclass(value):
        return [getattr(value, field.name, None) for field in fields(value)]
    return attributes_of(value).values()


def _lines(names: Iterable[str], classes: Mapping[str, type]) -> list[str]:
    kit = set(importlib.import_module(_KIT).__all__)
    imported: dict[str, set[str]] = {}
    below: list[str] = []
    for name in names:
        known = classes.get(name)
        if known is not None and known.__module__.partition(".")[0] != _KIT:
            outer = _outer_name(known)
            if outer:
                imported.setdefault(known.__module__, set()).add(outer.partition(".")[0])
                below += [f"{name} = {outer}"] if "." in outer else []
            else:
                below.append(f"# {name}: as {known.__module__} makes it, which has no name for it to import")
        elif name in kit:
            imported.setdefault(_KIT, set()).add(name)
        elif name in _STANDARD:
            imported.setdefault(_STANDARD[name], set()).add(name)
    order = sorted(imported, key=lambda module: (module.partition(".")[0] not in sys.stdlib_module_names, module))
    return [line for module in order for line in _import(module, imported[module])] + below


def _outer_name(known: type) -> str:
    """By what name a class is found in its module; empty: by none."""
    name = known.__qualname__.partition("[")[0]
    place: Any = sys.modules.get(known.__module__)
    if known.__module__ == "__main__" or "<locals>" in name:
        return ""
    for part in name.split("."):
        place = getattr(place, part, None)
    return name if isinstance(place, type) and issubclass(known, place) else ""


def _import(module: str, names: Iterable[str]) -> list[str]:
    listed = sorted(names, key=lambda name: (not name.isupper(), not name[:1].isupper(), name))
    line = f"from {module} import {', '.join(listed)}"
    if len(line) <= _MOST_WIDTH:
        return [line]
    return [f"from {module} import (", *(f"    {name}," for name in listed), ")"]
