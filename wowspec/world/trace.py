"""PYTEST_DONT_REWRITE. The trace: one row a passed point, in the order of time; everything else is derived from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .points import Room


@dataclass(frozen=True, slots=True)
class Lane:
    """Work that the runtime does in sequence: a room, an aggregate id and (for event functions) the function's name."""

    room: Room
    aggregate_id: str
    function: str = ""

    def __str__(self) -> str:
        if self.room is Room.GATEWAY:
            return f"gateway:{self.aggregate_id}"
        if self.room is Room.SNAPSHOT:
            return f"snapshot@{self.aggregate_id}"
        if self.room is Room.EVENT:
            return f"{self.function}@{self.aggregate_id}"
        return self.aggregate_id


@dataclass(slots=True)
class TraceRow:
    """One passed point.

    Attributes:
        nanos: epoch nanoseconds of virtual time when it was entered.
        point: its text, such as `event_store.append`.
        lane: whose work it belongs to.
        key: the aggregate id text that faults address it by.
        subject: the message that passed it.
        detail: what passed it, for reading.
        outcome: `ok`, a fault kind, `error:<class>`, `rival:<outcome>`, or `violations:<n>`.
        error: what it raised, if anything.
    """

    nanos: int
    point: str
    lane: Lane
    key: str
    subject: Any
    detail: str
    outcome: str = "ok"
    error: BaseException | None = None

    def __str__(self) -> str:
        tail = f" {self.detail}" if self.detail else ""
        return f"{self.lane} {self.point} {self.outcome}{tail}"


class Trace:
    """The rows of a world, oldest first."""

    __slots__ = ("rows",)

    def __init__(self) -> None:
        self.rows: list[TraceRow] = []

    def lanes(self, start: int = 0) -> dict[str, list[TraceRow]]:
        """Rows by lane, lanes in order of first appearance."""
        lanes: dict[str, list[TraceRow]] = {}
        for row in self.rows[start:]:
            lanes.setdefault(str(row.lane), []).append(row)
        return lanes

    def __iter__(self) -> Iterator[TraceRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)
