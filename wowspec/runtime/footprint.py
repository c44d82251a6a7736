"""What passing a point touches of all that commands in flight share: the ground on which orders are told apart.

Two steps that touch nothing in common, or only read it, may happen in either order: nobody can tell. To be right, a row
may name too much, never too little.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from ..messages.wait_headers import read_wait_plan
from ..world.choices import USER_CODE
from ..world.histories import Touch
from ..world.points import (
    COMMAND_ACKNOWLEDGE,
    COMMAND_BUS_SEND,
    DOMAIN_EVENT_BUS_SEND,
    EVENT_DELIVER,
    EVENT_STORE_APPEND,
    EVENT_STORE_LOAD,
    PROJECTION_WRITE,
    REQUEST_ID_CHECK,
    SNAPSHOT_LOAD,
    SNAPSHOT_SAVE,
    STATE_EVENT_BUS_SEND,
    WAIT_NOTIFY,
)
from ..world.trace import TraceRow
from .dispatcher import PARALLELISM


@dataclass(frozen=True, slots=True)
class FootprintRow:
    """What a point touches.

    Attributes:
        point: the part before `:` of its text.
        reads: things that are looked at.
        changes: things that are changed; the last one is what its task may touch again before its next point.
        runs_code: whether the user's own code runs in the same step.
    """

    point: str
    reads: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    runs_code: bool = False


#: Things: `streams` and `snapshot` of an aggregate; `request` a request id; `commands`, `events` and `states` the queue
#: of a group of aggregates in one process; `wait` what a caller waits for.
FOOTPRINTS: Final[tuple[FootprintRow, ...]] = (
    FootprintRow(REQUEST_ID_CHECK, changes=("request",)),
    # The gateway goes on with its wait handle: with SENT, and with what it has waited for.
    FootprintRow(COMMAND_BUS_SEND, changes=("commands", "wait")),
    FootprintRow(SNAPSHOT_LOAD, reads=("snapshot",)),
    FootprintRow(EVENT_STORE_LOAD, reads=("streams",)),
    FootprintRow(EVENT_STORE_APPEND, changes=("streams", "request"), runs_code=True),
    # A function that fails, or decides nothing, is followed by the acknowledgement.
    FootprintRow(COMMAND_ACKNOWLEDGE, runs_code=True),
    FootprintRow(DOMAIN_EVENT_BUS_SEND, changes=("events",)),
    FootprintRow(STATE_EVENT_BUS_SEND, changes=("states",)),
    FootprintRow(SNAPSHOT_SAVE, changes=("snapshot",)),
    FootprintRow(EVENT_DELIVER, runs_code=True),
    FootprintRow(PROJECTION_WRITE, runs_code=True),
    FootprintRow(WAIT_NOTIFY, changes=("wait",)),
)

_BY_POINT: Final = {row.point: row for row in FOOTPRINTS}


def footprint(row: TraceRow, process: int) -> Iterable[Touch]:
    """What passing a point touched, and whether it was changed; a point that no row names touches the user's code."""
    found = _BY_POINT.get(row.point.partition(":")[0])
    if found is None:
        return ((USER_CODE, True),)
    touched = [(_thing(name, row, process), False) for name in found.reads]
    touched += [(_thing(name, row, process), True) for name in found.changes]
    if found.runs_code:
        touched.append((USER_CODE, True))
    return touched


def _thing(name: str, row: TraceRow, process: int) -> Any:
    subject = row.subject
    if name in ("streams", "snapshot"):
        return name, row.key
    if name == "request":
        return name, subject.request_id
    if name == "wait":
        extracted = read_wait_plan(subject.header)
        return name, subject.command_id if extracted is None else extracted.wait_command_id
    group = subject.aggregate_id.mod(PARALLELISM)
    if name == "commands":
        return name, process, str(subject.aggregate_id.named_aggregate), group
    return name, process, group
