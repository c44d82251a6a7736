"""A run as plain JSON: its story and what came of it, for reports, which are drawn where no run can be looked at."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypedDict

from ..messages.envelopes import CommandMessage, DomainEvent, DomainEventStream, StateEvent
from ..messages.header import UPSTREAM_ID
from ..modeling.identity import AggregateRef
from ..world.clock import NANOS_PER_MILLI
from ..world.points import Room
from ..world.trace import TraceRow
from .departing import departure_place
from .render import render
from .run import Run
from .story import swallowed

#: How many rows of a run are kept at most; how many of its events and commands.
MOST_ROWS: Final = 200
MOST_ITEMS: Final = 50
#: Rows that are kept in any case: at the end, and on either side of what was struck or failed.
_LAST, _AROUND = 20, 2
#: Characters of a text within a row.
_MOST_TEXT: Final = 300
_LEDGERS: Final = ("emitted", "stored", "published", "delivered")
_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")


class RowJson(TypedDict):
    """One passed point.

    Attributes:
        millis: virtual time since the first row of the run.
        lane: whose work it belongs to, as stories write it.
        role: the room: `gateway`, `command`, `snapshot`, `event`, `service`, `user`.
        point: its text, such as `event_store.append`.
        subject: number of the message that passed it, counted from 0 within the run; -1: none.
        cause: number of the message that it came of; -1: none, or not seen. An event came of its stream, a stream of
            its command, a saga's command of the event that the saga heard; what is loaded is loaded for a command.
        detail: what passed it, for reading.
        outcome: `ok`, a fault kind, `error:<class>`, `rival:<outcome>`, or `violations:<n>`.
        struck: whether a fault struck here.
        note: an error that was logged and swallowed here; empty: none.
    """

    millis: int
    lane: str
    role: str
    point: str
    subject: int
    cause: int
    detail: str
    outcome: str
    struck: bool
    note: str


class RunJson(TypedDict):
    """What came of a step that runs something; of a finding: of the whole spec under its plan.

    Attributes:
        step: place of that step among the spec's steps; -1: of all of them.
        command: as its author would write it; empty: none.
        outcome: `succeeded`, `failed`, `unknown`.
        error: class and first line of what failed; empty: nothing.
        attempts: how often it was processed.
        faults: those that struck, as `point@visit=kind`.
        departure: place in `rows` of the first one that the run without faults does not have; -1: none, or no faults.
        ledgers: how many events were `emitted`, `stored`, `published`, `delivered`.
        events: what was emitted, each as text; of a finding: what was stored.
        sent: what sagas sent, each as text.
        rows: the story.
        left_out: how many rows, of a long run, are not among `rows`: those in its middle where nothing went wrong.
        schedule: of commands in flight together the order that came to this, as `schedule=` takes it; else empty.
    """

    step: int
    command: str
    outcome: str
    error: str
    attempts: int
    faults: list[str]
    departure: int
    ledgers: dict[str, int]
    events: list[str]
    sent: list[str]
    rows: list[RowJson]
    left_out: int
    schedule: str


def run_json(run: Run, step: int, command: str, usual: Sequence[TraceRow] | None = None) -> RunJson:
    """A run of a spec.

    Args:
        run: the run.
        step: place of its step.
        command: what was sent, as text.
        usual: the rows of the run without faults, where there is one.
    """
    rows = run.rows
    departs = -1 if usual is None else departure_place(rows, usual)
    told, left_out, departure = rows_json(rows, departs, swallowed(run, rows))
    return RunJson(
        step=step,
        command=command,
        outcome=outcome_of(run.failure, unknown=run.is_unknown),
        error=error_text(run.error),
        attempts=run.attempts,
        faults=[f"{fired.point}@{fired.visit}={fired.kind.value}" for fired in run.fired],
        departure=departure,
        ledgers={name: len(getattr(run, name)) for name in _LEDGERS},
        events=texts(run.emitted),
        sent=texts(run.commands),
        rows=told,
        left_out=left_out,
        schedule="",
    )


def outcome_of(failure: BaseException | None, *, unknown: bool) -> str:
    """What a sender knows of its command."""
    return "succeeded" if failure is None else "unknown" if unknown else "failed"


def error_text(error: BaseException | None) -> str:
    """Class and first line of an error."""
    if error is None:
        return ""
    name, said = type(error).__name__, str(error).partition("\n")[0]
    return _text(f"{name}: {said}" if said else name)


def texts(bodies: Iterable[Any]) -> list[str]:
    """Messages as code; the first ones, where there are many, and how many more."""
    kept = list(bodies)
    more = [f"… {len(kept) - MOST_ITEMS} more"] if len(kept) > MOST_ITEMS else []
    return [render(body) for body in kept[:MOST_ITEMS]] + more


def rows_json(
    rows: Sequence[TraceRow], departs: int = -1, notes: Mapping[int, str] = MappingProxyType({})
) -> tuple[list[RowJson], int, int]:
    """Rows, how many are left out, and where the run departs among those that are not.

    Args:
        rows: the rows.
        departs: the place at which the run departs from the one without faults; -1: nowhere.
        notes: what is said of a row besides, by its place.
    """
    kept = _kept(rows, {departs, *notes})
    started = rows[0].nanos if rows else 0
    subjects: dict[object, int] = {}
    streams: dict[str, int] = {}
    numbers = [_number(row.subject, subjects) for row in rows]
    told: list[RowJson] = []
    for place, row in enumerate(rows):
        subject = numbers[place]
        if isinstance(row.subject, DomainEventStream):
            streams.update((event.id, subject) for event in row.subject.events)
        if place in kept:
            told.append(
                RowJson(
                    millis=(row.nanos - started) // NANOS_PER_MILLI,
                    lane=str(row.lane),
                    role=row.lane.room.value,
                    point=row.point,
                    subject=subject,
                    cause=_cause(rows, place, subjects, streams),
                    detail=_text(row.detail),
                    outcome=row.outcome,
                    struck=row.was_struck,
                    note=_text(notes.get(place, "")),
                )
            )
    return told, len(rows) - len(told), sorted(kept).index(departs) if departs in kept else -1


def _number(subject: Any, known: dict[object, int]) -> int:
    """Copies of a message are the same one."""
    if subject is None:
        return -1
    own = getattr(subject, "id", None)
    key = (type(subject).__name__, own) if isinstance(own, str) else id(subject)
    return known.setdefault(key, len(known))


def _cause(rows: Sequence[TraceRow], place: int, subjects: Mapping[object, int], streams: Mapping[str, int]) -> int:
    """The number of the message that a row's subject came of."""
    row = rows[place]
    subject = row.subject
    if isinstance(subject, DomainEvent):
        return streams.get(subject.id, -1)
    if isinstance(subject, StateEvent):
        return subjects.get((DomainEventStream.__name__, subject.stream.id), -1)
    if isinstance(subject, DomainEventStream):
        return subjects.get((CommandMessage.__name__, subject.command_id), -1)
    if isinstance(subject, CommandMessage):
        upstream = subject.header.get(UPSTREAM_ID)
        return next(
            (subjects[key] for kind in (DomainEvent, StateEvent) if (key := (kind.__name__, upstream)) in subjects), -1
        )
    if isinstance(subject, AggregateRef) and row.lane.room is Room.COMMAND:
        # An aggregate's commands are processed one after another: what is loaded is for the one that is told of next.
        after = (each.subject for each in rows[place + 1 :] if each.lane == row.lane)
        command = next((found for each in after if (found := getattr(each, "command_id", ""))), "")
        return subjects.get((CommandMessage.__name__, command), -1)
    return -1


def _kept(rows: Sequence[TraceRow], told: Collection[int]) -> set[int]:
    """The places of the rows that are kept: the ends, what went wrong with what is around it, then from the start."""
    count = len(rows)
    if count <= MOST_ROWS:
        return set(range(count))
    kept = {0, *range(count - _LAST, count)}
    wrong = [each for each, row in enumerate(rows) if row.outcome != "ok" or each in told]
    for place in [*(near for each in wrong for near in _around(each, count)), *range(count)]:
        if len(kept) >= MOST_ROWS:
            break
        kept.add(place)
    return kept


def _around(place: int, count: int) -> range:
    return range(max(0, place - _AROUND), min(count, place + _AROUND + 1))


def _text(text: str) -> str:
    """Without addresses, which differ from process to process, and of some length at most."""
    text = _ADDRESS.sub("", text)
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"
