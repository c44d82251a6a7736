"""The one table of points: every effect of the pipeline passes one, every fault strikes at one.

The runtime, the trace, fault plans, enumeration, reports and docs all read `POINTS`. To add a point, add a row here and
one `await world.at(...)` in the room that owns the effect.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
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
    DUPLICATE = "duplicate"
    REORDER = "reorder"
    DELAY = "delay"
    DROP = "drop"
    CRASH_BEFORE = "crash_before"
    CRASH_AFTER = "crash_after"
    CORRUPT = "corrupt"


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
    KindRow(FaultKind.DUPLICATE, "duplicates()", "the message arrives a second time"),
    KindRow(FaultKind.REORDER, "reorders()", "the message arrives after the next one of its aggregate"),
    KindRow(FaultKind.DELAY, "delays(steps=1)", "the message arrives after so many others, or when nothing else moves"),
    KindRow(FaultKind.DROP, "drops()", "the message is accepted and never arrives"),
    KindRow(FaultKind.CRASH_BEFORE, "crashes_before()", "the process dies before the effect, and starts again"),
    KindRow(FaultKind.CRASH_AFTER, "crashes_after()", "the process dies right after the effect, and starts again"),
    KindRow(FaultKind.CORRUPT, "corrupts()", "what is loaded cannot be read"),
)


class Room(StrEnum):
    """Where in the pipeline a point lies: each room is one kind of lane."""

    GATEWAY = "gateway"
    COMMAND = "command"
    SNAPSHOT = "snapshot"
    EVENT = "event"
    SERVICE = "service"
    USER = "user"
    ANY = "any"


class Port(StrEnum):
    """What a point is a way into: profiles say by port what may go wrong."""

    GATEWAY = "gateway"
    BUS = "bus"
    STORE = "store"
    DELIVERY = "delivery"
    CODE = "code"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class PointRow:
    """One point.

    Attributes:
        name: the part before `:` of a point's text.
        room: where it is passed.
        port: what it is a way into.
        kinds: the fault kinds that are possible there at all; a profile allows some of them (`profiles.py`).
        part: what stands after `:`, or empty.
        retried_by: who retries a recoverable failure there, or empty.
        doc: what the effect is.
    """

    name: str
    room: Room
    port: Port
    kinds: frozenset[FaultKind]
    part: str
    retried_by: str
    doc: str


_CRASH: Final = frozenset({FaultKind.CRASH_BEFORE, FaultKind.CRASH_AFTER})
_BEFORE: Final = _CRASH | {FaultKind.FAIL, FaultKind.TIMEOUT, FaultKind.HANG}
_PORT: Final = _BEFORE | {FaultKind.ACK_LOST, FaultKind.ACK_LOST_PERMANENT}
_SEND: Final = _PORT | {FaultKind.DUPLICATE, FaultKind.REORDER, FaultKind.DELAY, FaultKind.DROP}
_LOAD: Final = _PORT | {FaultKind.CORRUPT}
_APPEND: Final = _PORT | {FaultKind.CONFLICT, FaultKind.RIVAL}
_DELIVERY: Final = _BEFORE | {FaultKind.DUPLICATE, FaultKind.DELAY}
_NOTICE: Final = _PORT | {FaultKind.DELAY, FaultKind.DROP}
#: A plain call cannot hang.
_PLAIN: Final = _PORT - {FaultKind.HANG}

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
PROJECTION_WRITE: Final = "projection.write"
WAIT_NOTIFY: Final = "wait.notify"
SERVICE_CALL: Final = "service"

_PROCESSOR: Final = "the retrying aggregate processor (3 retries from 500 ms)"
_EVENT_RETRY: Final = "the retry filter of event functions (3 retries from 2 s)"

#: In pipeline order.
POINTS: Final[tuple[PointRow, ...]] = (
    PointRow(
        REQUEST_ID_CHECK, Room.GATEWAY, Port.GATEWAY, _PORT, "", "", "the gateway's check that the request id is new"
    ),
    PointRow(
        COMMAND_VALIDATE, Room.GATEWAY, Port.GATEWAY, frozenset(), "", "", "field validation; traced, never faulted"
    ),
    PointRow(COMMAND_BUS_SEND, Room.GATEWAY, Port.BUS, _SEND, "", "", "the command bus accepts the command"),
    PointRow(
        SNAPSHOT_LOAD, Room.COMMAND, Port.STORE, _LOAD, "", _PROCESSOR, "the repository asks for the latest snapshot"
    ),
    PointRow(
        EVENT_STORE_LOAD,
        Room.COMMAND,
        Port.STORE,
        _LOAD,
        "",
        _PROCESSOR,
        "the repository loads the streams that follow",
    ),
    PointRow(
        SERVICE_CALL, Room.SERVICE, Port.CODE, _PORT, "<service>.<method>", "", "a handler calls an injected service"
    ),
    PointRow(
        EVENT_STORE_APPEND, Room.COMMAND, Port.STORE, _APPEND, "", _PROCESSOR, "the event stream is stored: the commit"
    ),
    PointRow(COMMAND_ACKNOWLEDGE, Room.COMMAND, Port.BUS, _PORT, "", "", "the command is acknowledged to its bus"),
    PointRow(DOMAIN_EVENT_BUS_SEND, Room.COMMAND, Port.BUS, _SEND, "", "", "the event stream is published"),
    PointRow(
        STATE_EVENT_BUS_SEND,
        Room.COMMAND,
        Port.BUS,
        _SEND,
        "",
        "",
        "the state event is published; failures are logged",
    ),
    PointRow(SNAPSHOT_SAVE, Room.SNAPSHOT, Port.STORE, _PORT, "", "", "the snapshot strategy saves a snapshot"),
    PointRow(
        EVENT_DELIVER,
        Room.EVENT,
        Port.DELIVERY,
        _DELIVERY,
        "<processor>.<function>",
        _EVENT_RETRY,
        "an event reaches a function",
    ),
    PointRow(
        PROJECTION_WRITE,
        Room.EVENT,
        Port.CODE,
        _PLAIN,
        "<projection>",
        _EVENT_RETRY,
        "a projection writes to its views",
    ),
    PointRow(
        WAIT_NOTIFY,
        Room.ANY,
        Port.NOTICE,
        _NOTICE,
        "<STAGE>",
        "",
        "a wait signal reaches the notifier; failures are logged",
    ),
)

POINT_BY_NAME: Final[dict[str, PointRow]] = {row.name: row for row in POINTS}
#: The row of every point that a user's own code passes: `world.fault_point("payment.charge")`.
USER_POINT: Final = PointRow(
    "<user's own>", Room.USER, Port.CODE, _PORT, "", "", "a fault point of the user's own code"
)

_USER_NAME: Final = re.compile(r"[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*)+")
#: From here on a name is taken for a point of the table that was misspelt.
_TOO_CLOSE: Final = 0.8


@lru_cache(maxsize=1024)
def is_user_point(name: str) -> bool:
    """Whether a text can name a point of the user's own: words with dots between, not close to a point of the table."""
    if _USER_NAME.fullmatch(name) is None or name in POINT_BY_NAME:
        return False
    return not difflib.get_close_matches(name, POINT_BY_NAME, 1, _TOO_CLOSE)


def point_row(point: str) -> PointRow | None:
    """The row of a point's text, such as `event_store.append`, `wait.notify:PROCESSED` or a user's `payment.charge`.

    None if it can be no point.
    """
    row = POINT_BY_NAME.get(point.partition(":")[0])
    if row is None and is_user_point(point):
        return USER_POINT
    return row
