"""Takes out of what is compared what depends on a run's order alone, and makes it hashable."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from types import ModuleType
from typing import Any, Final

from pydantic_core import from_json

from ..messages.ids import machine_id_of
from ..messages.records import attributes_of
from ..world.clock import NANOS_PER_MILLI, NANOS_PER_SECOND
from .render import render

_GLOBAL_ID: Final = re.compile(r"\b[0-9A-Za-z]{15}\b")
_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")


class Mask:
    """Replaces what depends on the schedule alone: ids that the run made, and instants of the run.

    Args:
        began: when the run began, in epoch nanoseconds.
        ended: when it ended.
        machines: machine ids of its processes.
        commands: ids of its commands, in their order.
    """

    __slots__ = ("_began", "_ended", "_ids", "_machines")

    def __init__(self, began: int, ended: int, machines: Collection[int], commands: Iterable[str]) -> None:
        self._began = began
        self._ended = max(ended, began + 1)
        self._machines = machines
        #: Ids of the commands are the same in every run.
        self._ids: dict[str, str] = {text: f"<command {place}>" for place, text in enumerate(commands, 1) if text}

    def json(self, text: bytes) -> Any:
        """A JSON text."""
        return self.value(from_json(text))

    def value(self, value: Any) -> Any:
        """A value of JSON, hashable."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return tuple((name, self.value(item)) for name, item in value.items())
        if isinstance(value, list | tuple):
            return tuple(self.value(item) for item in value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value if value is None or isinstance(value, bool) else render(value)
        return "<time>" if self._is_instant(value) else (type(value).__name__, value)

    def structure(self, value: Any) -> Any:
        """What any object holds, hashable: whatever it holds directly or by way of others."""
        return self._structure(value, {})

    def _structure(self, value: Any, above: dict[int, int]) -> Any:
        if value is None or isinstance(value, str | int | float):
            return self.value(value)
        if id(value) in above:
            return "<above>", above[id(value)]
        above = {**above, id(value): len(above)}
        kind = type(value).__name__
        if isinstance(value, Mapping):
            return kind, tuple(
                (self._structure(key, above), self._structure(item, above)) for key, item in value.items()
            )
        if isinstance(value, list | tuple | deque):
            return kind, tuple(self._structure(item, above) for item in value)
        if isinstance(value, set | frozenset):
            return kind, tuple(sorted(repr(self._structure(item, above)) for item in value))
        if isinstance(value, type | ModuleType) or callable(value):
            return "<code>", getattr(value, "__qualname__", kind)
        held = attributes_of(value)
        if not held:
            text = value.isoformat() if isinstance(value, datetime) else str(value)
            # An address is another one in each run.
            return kind, "" if " at 0x" in text else self.text(text)
        return kind, tuple((name, self._structure(item, above)) for name, item in held.items())

    def text(self, value: str) -> str:
        """A text, or an id, or an instant."""
        if _INSTANT.match(value) and self._is_own_time(value):
            return "<time>"
        return _GLOBAL_ID.sub(self._id, value)

    def _id(self, found: re.Match[str]) -> str:
        text = found[0]
        if machine_id_of(text) not in self._machines:
            return text
        return self._ids.setdefault(text, f"<id {len(self._ids) + 1}>")

    def _is_own_time(self, value: str) -> bool:
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return False
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return self._is_instant(aware.timestamp())

    def _is_instant(self, value: float) -> bool:
        return any(
            self._began // unit <= value <= -(-self._ended // unit)
            for unit in (1, NANOS_PER_MILLI, NANOS_PER_SECOND)
            if self._began // unit
        )
