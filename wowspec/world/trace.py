"""PYTEST_DONT_REWRITE. The trace: one row a passed point, in the order of time; everything else is derived from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple, cast

from .points import Room


class Lane(NamedTuple):
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


#: A lane of its parts, `(room, aggregate_id, function)`: as `Lane(...)`, without a call that costs more than the work.
make_lane: Final = cast("Callable[[tuple[Room, str, str]], Lane]", partial(tuple.__new__, Lane))


@dataclass(slots=True)
class TraceRow:
    """One passed point.

    Attributes:
        nanos: epoch nanoseconds of virtual time when it was entered.
        point: its text, such as `event_store.append`.
        lane: whose work it belongs to.
        key: the aggregate id text that faults address it by: the lane's.
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

    @property
    def was_struck(self) -> bool:
        """Whether an armed fault struck here."""
        return self.outcome != "ok" and not self.outcome.startswith(("error:", "violations:"))

    def __str__(self) -> str:
        tail = f" {self.detail}" if self.detail else ""
        return f"{self.lane} {self.point} {self.outcome}{tail}"


#: What a detail may be: text, or a function of the subject, called when somebody looks.
Detail = str | Callable[[Any], str]
#: A point that was passed: nanos, point, lane, subject, detail.
Passed = tuple[int, str, Lane, Any, Detail]


def made_row(passed: Passed, *, known: bool = True) -> TraceRow:
    """The row of a point that was passed; its detail is left empty where it is not known."""
    nanos, point, lane, subject, detail = passed
    text = "" if not known else detail if isinstance(detail, str) else detail(subject)
    return TraceRow(nanos, point, lane, lane.aggregate_id, subject, text)


class Trace:
    """The rows of a world, oldest first.

    Attributes:
        kept: a row each; but a point that was passed without any incident is kept as a plain tuple until somebody
            looks, since most rows never are looked at.
    """

    __slots__ = ("_made", "kept")

    def __init__(self) -> None:
        self.kept: list[TraceRow | Passed] = []
        self._made = 0

    def append(self, row: TraceRow) -> None:
        """Keep a row that may still change."""
        self.kept.append(row)

    def row_of(self, passed: Passed, *, known: bool = True) -> TraceRow:
        """Put a row in the place of a point that was not passed without incident after all."""
        kept = self.kept
        place = len(kept) - 1
        while kept[place] is not passed:
            place -= 1
        row = kept[place] = made_row(passed, known=known)
        return row

    @property
    def rows(self) -> list[TraceRow]:
        """All rows."""
        kept = self.kept
        for index in range(self._made, len(kept)):
            item = kept[index]
            if isinstance(item, tuple):
                kept[index] = made_row(item)
        self._made = len(kept)
        return kept  # type: ignore[return-value]

    def lanes(self, start: int = 0) -> dict[str, list[TraceRow]]:
        """Rows by lane, lanes in order of first appearance."""
        lanes: dict[str, list[TraceRow]] = {}
        for row in self.rows[start:]:
            lanes.setdefault(str(row.lane), []).append(row)
        return lanes

    def __iter__(self) -> Iterator[TraceRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.kept)
