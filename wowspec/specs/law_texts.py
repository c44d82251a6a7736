"""What a broken law says: what is wrong, where, why it matters, what to write instead, and how to switch it off."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from pydantic_core import from_json

from ..errors import DecodeError
from ..messages.envelopes import DomainEvent, DomainEventStream
from ..messages.equality import MISSING, Difference
from ..modeling.identity import AggregateRef
from ..runtime.audit import Mutation, Subject
from ..runtime.snapshots import SnapshotRecord
from ..runtime.sourcing import StateAggregate
from .compare import line_of
from .render import BRIEF, render, shorten

#: Characters of a JSON text that are shown.
_MOST_JSON: Final = 300


class Cause(StrEnum):
    """What made a replay come to another state."""

    IMPURE = "impure"
    LOSSY_EVENT = "lossy event"
    LOSSY_STATE = "lossy state"
    CHANGED_LATER = "changed later"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Advice:
    """Why it matters, and what to write instead."""

    why: str
    instead: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A replay that differs from the working state, and why."""

    state: StateAggregate
    stream: DomainEventStream
    difference: Difference
    cause: Cause


def with_law(text: str, law: str) -> str:
    """The text with the law's name, and the line that switches it off."""
    return f'{text}\n  law: {law}, switched off by .without_law("{law}")'


def _told(head: str, lines: list[str], why: str, instead: str) -> str:
    return "\n".join([head, *(f"    {line}" for line in lines), f"  why: {why}", f"  instead: {instead}"])


def _events(stream: DomainEventStream) -> str:
    return ", ".join(dict.fromkeys(type(event.body).__name__ for event in stream.events))


# ------------------------------------------------------------------------------------------------------- versions


def gap(aggregate_id: AggregateRef, previous: int, stream: DomainEventStream) -> str:
    """A command stored a stream at a version that does not follow."""
    return _told(
        f"{aggregate_id} stored v{stream.version} after v{previous}: a version is missing",
        [f"v{stream.version}: {_events(stream)}"],
        "a replay refuses a stream that does not follow the last one, so nobody can load this aggregate again",
        "leave versions to the runtime: no sourcing function sets the version of its state aggregate, and nothing but "
        "a command appends to the event store",
    )


# ------------------------------------------------------------------------------------------------------- mutations

_SUBJECTS: Final[dict[Subject, Advice]] = {
    Subject.STATE: Advice(
        "a command function decides and sourcing functions apply: what it changes itself is in no event, and lost when "
        "the aggregate is loaded again",
        "return an event that says so, and set the field in the sourcing function of that event",
    ),
    Subject.COMMAND: Advice(
        "a retry runs the function again with the same command, and its sender still holds it",
        "work on a copy, such as `command.model_copy(update=...)` or `list(command.items)`",
    ),
}


def mutation(found: Mutation) -> str:
    """A function changed what it must leave as it is."""
    advice = _SUBJECTS[found.subject]
    return _told(
        f"{found.place} changed the {found.subject.value} {found.value.__name__} of {found.aggregate_id}",
        [f"{line_of(found.difference, found.subject.value)}  (before ≠ after)"],
        advice.why,
        advice.instead,
    )


def changed(event: DomainEvent[Any], difference: Difference, keepers: list[str]) -> str:
    """A stored event is not what was decided; `keepers` are the sourcing functions that do it in a replay too."""
    name = type(event.body).__name__
    if keepers:
        who = f"{' or '.join(keepers)} changed it, or a part of it that the state shares"
        instead = (
            "leave the event as it is, and let the state keep copies: `self.lines = list(event.lines)`, not "
            "`self.lines = event.lines`"
        )
    else:
        who = "no sourcing function did it, so it was another function that was handed the event, or the spec"
        instead = "whoever changes a part of an event changes a copy, such as `list(event.lines)`"
    return _told(
        f"{name} of {event.aggregate_id} v{event.version} is no longer what was decided",
        [f"{line_of(difference, 'event')}  (decided ≠ now)"],
        f"{who}; an event is a fact that every replay and every subscriber has to see alike",
        instead,
    )


# ---------------------------------------------------------------------------------------------------------- replay

_CAUSES: Final[dict[Cause, Advice]] = {
    Cause.IMPURE: Advice(
        "two replays of the same events differ from each other: a sourcing function asks the clock, chance, an id "
        "generator such as uuid4(), or anything else that is not in its event",
        "ask in the command function, and put the answer into the event",
    ),
    Cause.LOSSY_EVENT: Advice(
        "the event itself makes this state, but its JSON does not: the event loses something when it is stored",
        "give the event's fields types that are read back as they were written, and keep nothing in private attributes "
        "or excluded fields",
    ),
    Cause.LOSSY_STATE: Advice(
        "the command loaded a snapshot, which is JSON; what all events make depends on something that JSON does not "
        "keep, such as one list that two fields share",
        "give each field an object of its own, and keep nothing but fields",
    ),
    Cause.CHANGED_LATER: Advice(
        "the state was right when its snapshot was saved, and was changed afterwards: whoever is handed a state event "
        "shares its state",
        "a function that takes a state event copies what it keeps or changes",
    ),
    Cause.UNKNOWN: Advice(
        "what is in no event is lost when the aggregate is loaded again",
        "change the state in sourcing functions alone, from what their event holds",
    ),
}


def replay_differs(found: Diagnosis) -> str:
    """The working state is not what its events make."""
    why, instead = _CAUSES[found.cause].why, _CAUSES[found.cause].instead
    if found.cause is Cause.UNKNOWN and _is_private(found.difference):
        why = f"{why}; a private attribute counts, since functions may decide by it"
        instead = f"{instead}; a value that is only computed from others is a @property or a @cached_property"
    return _told(
        f"{found.state.aggregate_id} v{found.stream.version}: all its events make another "
        f"{type(found.state.state).__name__} than the command left behind",
        [
            f"{line_of(found.difference, 'state')}  (replayed ≠ after the command)",
            f"v{found.stream.version}: {_events(found.stream)}",
        ],
        why,
        instead,
    )


def replay_raises(aggregate_id: AggregateRef, stream: DomainEventStream, error: Exception, cause: Cause) -> str:
    """What was just stored cannot be replayed."""
    advice = _CAUSES[cause]
    return _told(
        f"{aggregate_id} v{stream.version}: replaying all its events raises {type(error).__name__}: {error}",
        [f"v{stream.version}: {_events(stream)}"],
        "the command's own sourcing did not raise, so the aggregate is stored and can never be loaded again"
        + (f"; {advice.why}" if cause is not Cause.UNKNOWN else ""),
        advice.instead
        if cause is not Cause.UNKNOWN
        else "sourcing functions depend on the state and the event alone, and refuse nothing: what is stored happened",
    )


# ------------------------------------------------------------------------------------------------- JSON, snapshots


def json_differs(state: StateAggregate, stream: DomainEventStream, difference: Difference, text: bytes) -> str:
    """A state does not survive its JSON."""
    name = type(state.state).__name__
    if _is_private(difference):
        instead = "make it a field, or a @property or @cached_property if it is computed from fields"
    elif difference.actual is MISSING or not _is_written(difference, text):
        instead = "let each field be written; one that can be computed from others is a @property"
    elif type(difference.expected) is not type(difference.actual):
        instead = (
            f"declare the type that it really has: what is read back is a {type(difference.actual).__name__}, what was "
            f"written a {type(difference.expected).__name__}"
        )
    else:
        instead = "let validators and serializers be each other's reverse"
    return _told(
        f"{state.aggregate_id} v{stream.version}: {name} is another one after JSON",
        [f"{line_of(difference, 'state')}  (written ≠ read back)", f"its JSON: {_shown(text)}"],
        "snapshots are JSON: the next command that loads one decides on the other state",
        instead,
    )


def json_unreadable(state: StateAggregate, stream: DomainEventStream, error: DecodeError, text: bytes) -> str:
    """The JSON of a state is refused when it is read."""
    name = type(state.state).__name__
    return _told(
        f"{state.aggregate_id} v{stream.version}: {name} cannot be read back from its own JSON",
        [str(error), f"its JSON: {_shown(text)}"],
        "snapshots are JSON: the next command that loads one fails",
        f"sourcing functions keep what the fields of {name} promise; checks belong into command functions",
    )


def snapshot_differs(record: SnapshotRecord, head: int, difference: Difference) -> str:
    """Loading from the snapshot gives another state than replaying everything."""
    tail = "" if record.version == head else f" and the events up to v{head}"
    return _told(
        f"{record.aggregate_id} v{head}: loading the snapshot of v{record.version}{tail} gives another state than all "
        "events make",
        [f"{line_of(difference, 'state')}  (replayed ≠ loaded)", f"the snapshot: {_shown(record.state_json)}"],
        "the next command decides on the state that the snapshot gives",
        "sourcing functions depend on the fields of the state alone, not on which objects its fields share, nor on "
        "what JSON does not keep",
    )


def snapshot_unreadable(record: SnapshotRecord, error: DecodeError) -> str:
    """A stored snapshot cannot be read."""
    return _told(
        f"{record.aggregate_id}: its snapshot of v{record.version} cannot be read",
        [str(error), f"the snapshot: {_shown(record.state_json)}"],
        "every later command that loads it fails",
        "sourcing functions keep what the fields of the state promise; checks belong into command functions",
    )


def tail_raises(record: SnapshotRecord, error: Exception) -> str:
    """Events that replay from the start do not apply to the snapshot."""
    return _told(
        f"{record.aggregate_id}: what came after its snapshot of v{record.version} does not apply to it: "
        f"{type(error).__name__}: {error}",
        [f"the snapshot: {_shown(record.state_json)}"],
        "replaying all events works, but the runtime loads the snapshot: every later command fails",
        "sourcing functions depend on the fields of the state alone, not on what JSON does not keep",
    )


def _is_private(difference: Difference) -> bool:
    return any(step.startswith("_") for step in difference.path.split("."))


def _is_written(difference: Difference, text: bytes) -> bool:
    tree = from_json(text)
    return not isinstance(tree, dict) or re.split(r"[.\[]", difference.path)[0] in tree


def _shown(text: bytes) -> str:
    try:
        return shorten(text.decode(), _MOST_JSON)
    except UnicodeDecodeError:
        return render(from_json(text), BRIEF)
