"""The one table of points: every effect of the pipeline passes one, every fault strikes at one.

The runtime, the trace, fault plans, enumeration, reports and docs all read `POINTS`. To add a point, add a row here and
one `await world.at(...)` in the room that owns the effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class FaultKind(StrEnum):
    """What may go wrong at a point, simplest first (the order that shrinking prefers)."""

    FAIL = "fail"
    TIMEOUT = "timeout"
    HANG = "hang"
    ACK_LOST = "ack_lost"
    ACK_LOST_PERMANENT = "ack_lost_permanent"
    CONFLICT = "conflict"
    RIVAL = "rival"


@dataclass(frozen=True, slots=True)
class KindRow:
    """One fault kind: the verb that arms it in a spec, and what it does."""

    kind: FaultKind
    verb: str
    meaning: str


KINDS: Final[tuple[KindRow, ...]] = (
    KindRow(FaultKind.FAIL, "fails()", "an error of no known kind before the effect; not retried"),
    KindRow(FaultKind.TIMEOUT, "times_out()", "a time-out before the effect; retried where the runtime retries"),
    KindRow(FaultKind.HANG, "hangs()", "the call never returns; no effect"),
    KindRow(FaultKind.ACK_LOST, "loses_reply()", "the effect happens, then a time-out is returned"),
    KindRow(
        FaultKind.ACK_LOST_PERMANENT,
        "loses_reply(recoverable=False)",
        "the effect happens, then an error of no known kind is returned",
    ),
    KindRow(FaultKind.CONFLICT, "conflicts()", "a bare, recoverable version conflict; no rival's stream is stored"),
    KindRow(FaultKind.RIVAL, "rival_appends(*events)", "another writer appends the same version first"),
)


class Room(StrEnum):
    """Where in the pipeline a point lies: each room is one kind of lane."""

    GATEWAY = "gateway"
    COMMAND = "command"
    SNAPSHOT = "snapshot"
    EVENT = "event"
    SERVICE = "service"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class PointRow:
    """One point.

    Attributes:
        name: the part before `:` of a point's text.
        room: where it is passed.
        kinds: the fault kinds that are legal there.
        part: what stands after `:`, or empty.
        retried_by: who retries a recoverable failure there, or empty.
        doc: what the effect is.
    """

    name: str
    room: Room
    kinds: frozenset[FaultKind]
    part: str
    retried_by: str
    doc: str


_BEFORE: Final = frozenset({FaultKind.FAIL, FaultKind.TIMEOUT, FaultKind.HANG})
_PORT: Final = _BEFORE | {FaultKind.ACK_LOST, FaultKind.ACK_LOST_PERMANENT}
_STORE: Final = _PORT | {FaultKind.CONFLICT, FaultKind.RIVAL}

REQUEST_ID_CHECK: Final = "request_id.check"
COMMAND_VALIDATE: Final = "command.validate"
COMMAND_BUS_SEND: Final = "command_bus.send"
COMMAND_ACKNOWLEDGE: Final = "command.acknowledge"
SNAPSHOT_LOAD: Final = "snapshot.load"
EVENT_STORE_LOAD: Final = "event_store.load"
EVENT_STORE_APPEND: Final = "event_store.append"
DOMAIN_EVENT_BUS_SEND: Final = "domain_event_bus.send"
STATE_EVENT_BUS_SEND: Final = "state_event_bus.send"
SNAPSHOT_SAVE: Final = "snapshot.save"
EVENT_DELIVER: Final = "event.deliver"
WAIT_NOTIFY: Final = "wait.notify"
SERVICE_CALL: Final = "service"

_PROCESSOR: Final = "the retrying aggregate processor (3 retries from 500 ms)"
_EVENT_RETRY: Final = "the retry filter of event functions (3 retries from 2 s)"

#: In pipeline order.
POINTS: Final[tuple[PointRow, ...]] = (
    PointRow(REQUEST_ID_CHECK, Room.GATEWAY, _PORT, "", "", "the gateway's check that the request id is new"),
    PointRow(COMMAND_VALIDATE, Room.GATEWAY, frozenset(), "", "", "field validation; traced, never faulted"),
    PointRow(COMMAND_BUS_SEND, Room.GATEWAY, _PORT, "", "", "the command bus accepts the command"),
    PointRow(SNAPSHOT_LOAD, Room.COMMAND, _PORT, "", _PROCESSOR, "the repository asks for the latest snapshot"),
    PointRow(EVENT_STORE_LOAD, Room.COMMAND, _PORT, "", _PROCESSOR, "the repository loads the streams that follow"),
    PointRow(SERVICE_CALL, Room.SERVICE, _PORT, "<service>.<method>", "", "a handler calls an injected service"),
    PointRow(EVENT_STORE_APPEND, Room.COMMAND, _STORE, "", _PROCESSOR, "the event stream is stored: the commit"),
    PointRow(COMMAND_ACKNOWLEDGE, Room.COMMAND, _PORT, "", "", "the command is acknowledged to its bus"),
    PointRow(DOMAIN_EVENT_BUS_SEND, Room.COMMAND, _PORT, "", "", "the event stream is published"),
    PointRow(STATE_EVENT_BUS_SEND, Room.COMMAND, _PORT, "", "", "the state event is published; failures are logged"),
    PointRow(SNAPSHOT_SAVE, Room.SNAPSHOT, _PORT, "", "", "the snapshot strategy saves a snapshot"),
    PointRow(EVENT_DELIVER, Room.EVENT, _BEFORE, "<processor>.<function>", _EVENT_RETRY, "an event reaches a function"),
    PointRow(WAIT_NOTIFY, Room.ANY, _PORT, "<STAGE>", "", "a wait signal reaches the notifier; failures are logged"),
)

POINT_BY_NAME: Final[dict[str, PointRow]] = {row.name: row for row in POINTS}


def point_row(point: str) -> PointRow | None:
    """The row of a point's text, such as `event_store.append` or `wait.notify:PROCESSED`; None if unknown."""
    return POINT_BY_NAME.get(point.partition(":")[0])
