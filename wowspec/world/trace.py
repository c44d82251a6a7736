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


#: The rooms that each command passes; a member of an enum takes longer to find than a name.
GATEWAY_ROOM: Final = Room.GATEWAY
COMMAND_ROOM: Final = Room.COMMAND
SNAPSHOT_ROOM: Final = Room.SNAPSHOT

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
#: How many values a trace keeps of a point that was passed: nanos, point, lane, subject, detail.
_WIDTH: Final = 5


def made_row(nanos: int, point: str, lane: Lane, subject: Any, detail: Detail, *, known: bool = True) -> TraceRow:
    """The row of a point that was passed; its detail is left empty where it is not known."""
    text = "" if not known else detail if isinstance(detail, str) else detail(subject)
    return TraceRow(nanos, point, lane, lane.aggregate_id, subject, text)


class Trace:
    """The rows of a world, oldest first.

    Attributes:
        kept: the nanos, point, lane, subject and detail of each point that was passed, one after the other in one list.
            Most points are passed without any incident and never looked at, so rows are made when somebody looks; and
            values in one list give the garbage collector less to visit, again and again, than an object for each point.
    """

    __slots__ = ("_changing", "_made", "kept")

    def __init__(self) -> None:
        self.kept: list[Any] = []
        self._made: list[TraceRow] = []
        #: Rows that were made before anybody looked, since they may still change; by their places.
        self._changing: dict[int, TraceRow] = {}

    def append(self, row: TraceRow) -> None:
        """Keep a row that may still change."""
        self._changing[len(self)] = row
        self.kept += (row.nanos, row.point, row.lane, row.subject, row.detail)

    def row_from(self, start: int, *, known: bool = True) -> TraceRow:
        """The row whose values begin there in `kept`: its point was not passed without incident after all."""
        place = start // _WIDTH
        if place < len(self._made):
            row = self._made[place]
        elif place in self._changing:
            row = self._changing[place]
        else:
            row = self._changing[place] = made_row(*self.kept[start : start + _WIDTH], known=known)
        if not known:
            row.detail = ""
        return row

    def row_at(self, place: int) -> TraceRow:
        """The row at a place, which may still change."""
        return self.row_from(place * _WIDTH)

    @property
    def rows(self) -> list[TraceRow]:
        """All rows."""
        made, kept, changing = self._made, self.kept, self._changing
        for place in range(len(made), len(self)):
            row = changing.pop(place, None)
            if row is None:
                start = place * _WIDTH
                row = made_row(*kept[start : start + _WIDTH])
            made.append(row)
        return made

    def lanes(self, start: int = 0) -> dict[str, list[TraceRow]]:
        """Rows by lane, lanes in order of first appearance."""
        lanes: dict[str, list[TraceRow]] = {}
        for row in self.rows[start:]:
            lanes.setdefault(str(row.lane), []).append(row)
        return lanes

    def __iter__(self) -> Iterator[TraceRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.kept) // _WIDTH
