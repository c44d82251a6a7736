"""Classes and their names in JSON: `bodyType` is the full name of the body's class (SER-013)."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol

from ..modeling.builtin import BUILT_IN_COMMANDS, BUILT_IN_EVENTS, wire_type


@dataclass(frozen=True, slots=True)
class DroppedEvent:
    """What is left of an event that an upgrader dropped; it keeps its place in the stream (EVT-065)."""

    __wowspec_wire_name__: ClassVar[str] = "DroppedEvent"
    __wowspec_wire_package__: ClassVar[str] = "me.ahoo.wow.event.upgrader"


class TypeNames(Protocol):
    """How classes are named in JSON."""

    def name_of(self, cls: type) -> str:
        """The name of a class."""
        ...

    def class_of(self, name: str) -> type | None:
        """The class of a name; None if there is none."""
        ...


class PythonTypeNames:
    """Module and qualified name; the runtime's own names for its built-in classes.

    It remembers the classes that it named, so that one defined inside a function is found again.
    """

    __slots__ = ("_classes",)

    def __init__(self) -> None:
        built_in = (*(row.command for row in BUILT_IN_COMMANDS), *BUILT_IN_EVENTS, DroppedEvent)
        self._classes: dict[str, type | None] = {wire_type(cls): cls for cls in built_in}

    def name_of(self, cls: type) -> str:
        """See `TypeNames.name_of`."""
        name = wire_type(cls)
        self._classes[name] = cls
        return name

    def class_of(self, name: str) -> type | None:
        """See `TypeNames.class_of`."""
        found = self._classes.get(name)
        if found is None:
            found = self._classes[name] = find_class(name)
        return found


def find_class(name: str) -> type | None:
    """The class of a module and a qualified name, importing the module if need be; None if there is none.

    A module that cannot be imported holds no class, for whatever reason.
    """
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        module = _module(".".join(parts[:count]))
        if module is not None:
            found: Any = module
            for part in parts[count:]:
                found = getattr(found, part, None)
            return found if isinstance(found, type) else None
    return None


def _module(name: str) -> Any:
    module = sys.modules.get(name)
    if module is not None or not all(part.isidentifier() for part in name.split(".")):
        return module
    try:
        return importlib.import_module(name)
    except Exception:  # noqa: BLE001
        return None


PYTHON_NAMES: Final = PythonTypeNames()
