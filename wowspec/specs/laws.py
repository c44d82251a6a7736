"""The always-on laws: what holds after every step of every spec, whatever the spec expects.

Each law has a row in `LAWS`. They look at the aggregates for which something was stored in the step; where one
is broken, the later ones of the table are not asked, since they usually break for the same reason. Only state objects
are compared, never owner or space, which the runtime itself loses in snapshots (STA-043, SNP-015).
"""

from __future__ import annotations

import difflib
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from ..errors import DecodeError, SpecError
from ..messages.codec import decode, encode
from ..messages.envelopes import DomainEventStream
from ..messages.equality import Difference, deep_difference, deep_equal
from ..modeling.identity import AggregateRef
from ..runtime.audit import Audit, difference_of
from ..runtime.facts import next_version
from ..runtime.snapshots import SnapshotRecord
from ..runtime.sourcing import StateAggregate
from ..runtime.system import Runtime
from . import law_texts as texts
from .shadows import Noted, Shadow, Shadows, new_shadow, replayed


@dataclass(frozen=True, slots=True)
class Breach:
    """A law that did not hold.

    Attributes:
        law: its name in `LAWS`.
        aggregate_id: where.
        text: what is wrong, why it matters, what to write instead, and how to switch the law off.
    """

    law: str
    aggregate_id: AggregateRef
    text: str


class Case:
    """One aggregate after one step.

    Attributes:
        head: version of its newest stream.
        record: its stored snapshot.
        working: the working states that its commands left behind, each with the stream that it stored.
        survives_as: version of the last working state that was found to be what its snapshot holds.
    """

    __slots__ = (
        "_noted", "aggregate_id", "audit", "head", "record", "runtime", "shadow", "survives_as", "working",
    )  # fmt: skip

    def __init__(self, runtime: Runtime, audit: Audit, aggregate_id: AggregateRef, head: int, shadow: Shadow) -> None:
        self.runtime: Runtime = runtime
        self.audit: Audit = audit
        self.aggregate_id: AggregateRef = aggregate_id
        self.head: int = head
        self.shadow: Shadow = shadow
        self.record: SnapshotRecord | None = runtime.snapshot_store.record(aggregate_id)
        self.working: list[tuple[DomainEventStream, StateAggregate]] = [
            pair for pair in audit.working if (ref := pair[1].aggregate_id) is aggregate_id or ref == aggregate_id
        ]
        self.survives_as: int = 0
        self._noted: tuple[int, list[Noted]] | None = None

    def noted(self, start: int) -> list[Noted]:
        """The stored streams from an index on; the laws mostly ask for the same."""
        known = self._noted
        if known is None or known[0] != start:
            known = self._noted = (start, self.runtime.event_store.noted(self.aggregate_id, start))
        return known[1]

    def working_after(self, stream: DomainEventStream) -> StateAggregate | None:
        """The working state of the command that stored a stream, if it got that far."""
        for other, state in self.working:
            if other is stream:
                return state
        return None

    def settle(self) -> None:
        """Take note of what can no longer change: later loads begin after the snapshot."""
        record, shadow = self.record, self.shadow
        if record is None:
            return
        streams = self.noted(shadow.settled)
        if streams and streams[-1][0].version <= record.version:
            shadow.settled += len(streams)
        else:
            shadow.settled += bisect_right(streams, record.version, key=lambda noted: noted[0].version)


# ------------------------------------------------------------------------------------------------------- the laws


def _contiguous(case: Case) -> str | None:
    """A gap can only come from history that a spec wrote, unless a command of this step stored what comes after it."""
    shadow, found = case.shadow, None
    previous = shadow.last_version
    for stream, _ in case.noted(shadow.looked):
        shadow.looked += 1
        version = stream.version
        follows = version == previous + 1 or version == next_version(previous)
        if not follows and found is None and stream.id in case.audit.decided:
            found = texts.gap(case.aggregate_id, previous, stream)
        previous = version
    shadow.last_version = previous
    return found


def _immutable(case: Case) -> str | None:
    for mutation in case.audit.mutations:
        if mutation.aggregate_id == case.aggregate_id:
            return texts.mutation(mutation)
    shadow, text_of = case.shadow, case.audit.text_of
    streams = case.noted(shadow.settled)
    if len(streams) == 1 and shadow.settled == shadow.count and _is_as_decided(shadow, streams[0]):
        return None
    for stream, noted in streams:
        for event, before in zip(stream.events, noted or (), strict=False):
            now = text_of(event.body)
            if now != before and now is not None and before is not None:
                difference = difference_of(type(event.body), before, now)
                if difference is not None:
                    return texts.changed(event, difference, _keepers(case, stream, event.sequence - 1))
    return None


def _is_as_decided(shadow: Shadow, noted: Noted) -> bool:
    """A quick look at the usual case: the events are what their JSON is read back as; False says nothing."""
    read = shadow.look_ahead(*noted)
    return all(deep_equal(now.body, before.body) for before, now in zip(read.events, noted[0].events, strict=True))


def _keepers(case: Case, target: DomainEventStream, position: int) -> list[str]:
    """The sourcing functions that change an earlier event when everything is replayed; costly."""
    shadow = new_shadow(case.runtime, case.aggregate_id, case.shadow.start)
    functions = shadow.replay.metadata.functions
    event: Any = None
    text = b""
    for stream, noted in case.noted(0):
        read = shadow.read(stream, noted)
        if stream is target:
            event = read.events[position].body
            text = encode(event)
        shadow.apply(read)
        if event is not None and encode(event) != text:
            taken = [functions.get(type(each.body)) for each in stream.events]
            return list(dict.fromkeys(function.place for function in taken if function is not None))
    return []


def _replays(case: Case) -> str | None:
    """Goes on with the shadow, and compares it with each working state on its way."""
    shadow, found = case.shadow, None
    for stream, noted in case.noted(shadow.count):
        shadow.advance(stream, noted)
        if found is not None:
            continue
        if shadow.failure is not None:
            # A rival's or the spec's stream that the state refuses fails the command that loads it, and blames nobody.
            if not shadow.has_gap and stream.id in case.audit.decided:
                cause = why_it_raises(case, stream)
                found = texts.replay_raises(case.aggregate_id, stream, shadow.failure, cause)
            continue
        state = case.working_after(stream)
        if state is None:
            continue
        difference = differs(shadow.replay, state)
        if difference is not None:
            found = texts.replay_differs(diagnosis(case, stream, state, difference))
    return found


def _survives_json(case: Case) -> str | None:
    record = case.record
    for stream, state in case.working:
        # What a snapshot keeps is this state's JSON, unless somebody changed the state in the meantime.
        same = record is not None and record.version == stream.version
        if same and record is not None and through_json(state, record.state_json) is None:
            case.survives_as = stream.version
            continue
        text = encode(state.state)
        found = through_json(state, text)
        if isinstance(found, Difference):
            return texts.json_differs(state, stream, found, text)
        if isinstance(found, DecodeError):
            return texts.json_unreadable(state, stream, found, text)
    return None


def _snapshot_loads(case: Case) -> str | None:
    """Snapshot and tail, as the repository loads them, against the replay."""
    record, shadow = case.record, case.shadow
    if record is None or record is shadow.start:
        return None
    if record.version == case.survives_as == case.head:
        # It is the working state, and whether that is what all events make is another law's question.
        return None
    for stream, noted in case.noted(shadow.count):
        shadow.advance(stream, noted)
    if shadow.failure is not None:
        return None
    try:
        tail = _tail(case, record)
    except DecodeError as error:
        return texts.snapshot_unreadable(record, error)
    except SpecError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a user's function raises
        return texts.tail_raises(record, error)
    difference = differs(shadow.replay, tail)
    return None if difference is None else texts.snapshot_differs(record, case.head, difference)


def _tail(case: Case, record: SnapshotRecord) -> StateAggregate:
    shadow = case.shadow
    tail = shadow.tail
    if tail is None or shadow.tail_of is not record:
        tail = shadow.tail = case.runtime.snapshot_store.restored(record)
        shadow.tail_of = record
        shadow.tail_count = len(case.runtime.event_store.peek(case.aggregate_id, 0, record.version))
    for stream, noted in case.noted(shadow.tail_count):
        shadow.tail_count += 1
        tail.on_sourcing(shadow.read(stream, noted))
    return tail


@dataclass(frozen=True, slots=True)
class Law:
    """One law: its name, what it says, and the text of its breach, if it is broken."""

    name: str
    doc: str
    check: Callable[[Case], str | None]


#: In the order in which they are asked: causes before what they cause.
LAWS: Final[tuple[Law, ...]] = (
    Law("contiguous_versions", "a command stores its stream at the version that follows the last one", _contiguous),
    Law(
        "immutability",
        "command functions leave the state and the command as they are, and nobody changes an event once it is decided",
        _immutable,
    ),
    Law(
        "replay_equality",
        "the working state after a command is what all stored events make of a new one, each read from its JSON",
        _replays,
    ),
    Law("json_equality", "a state written as JSON and read back is the same state", _survives_json),
    Law("snapshot_equality", "snapshot and later events load as the state that all events make", _snapshot_loads),
)

LAW_NAMES: Final[tuple[str, ...]] = tuple(law.name for law in LAWS)


def require_law(name: str) -> str:
    """The name, if a law has it.

    Raises:
        SpecError: with the names that come close.
    """
    if name in LAW_NAMES:
        return name
    close = difflib.get_close_matches(str(name), LAW_NAMES, n=1, cutoff=0.3)
    raise SpecError(
        f"there is no law {name!r}",
        why=f"the laws are {', '.join(LAW_NAMES)}",
        instead=f'.without_law("{close[0] if close else LAW_NAMES[0]}")',
    )


def check_laws(
    runtime: Runtime,
    switched_off: frozenset[str],
    shadows: Shadows,
    initial: Mapping[AggregateRef, SnapshotRecord],
) -> list[Breach]:
    """Ask every law about the step that just ended (since `runtime.audit.begin_step()`); the world is at rest.

    Args:
        runtime: whose step; without an audit nothing is known and nothing broken.
        switched_off: names of laws that are not asked.
        shadows: the session's own; they go on.
        initial: the snapshots of `given_state`.

    Returns:
        At most one breach for each aggregate.

    Raises:
        SpecError: if a state, a command or an event of the step has no JSON, or an event cannot be read back.
    """
    audit = runtime.audit
    if audit is None:
        return []
    if audit.errors:
        raise audit.errors[0]
    heads: dict[AggregateRef, int] = {}
    for stream in audit.stored:
        first = stream.events[0]
        heads[first.aggregate_id] = first.version
    for mutation in audit.mutations:
        aggregate_id = mutation.aggregate_id
        heads.setdefault(aggregate_id, runtime.event_store.head_version(aggregate_id))
    laws = [law for law in LAWS if law.name not in switched_off] if switched_off else LAWS
    breaches = []
    for aggregate_id, head in heads.items():
        start = initial.get(aggregate_id) if initial else None
        case = Case(runtime, audit, aggregate_id, head, shadows.take(runtime, aggregate_id, start))
        for law in laws:
            text = law.check(case)
            if text is not None:
                breaches.append(Breach(law.name, aggregate_id, texts.with_law(text, law.name)))
                break
        case.settle()
    return breaches


# ------------------------------------------------------------------------------------------------------- comparing


def differs(replay: StateAggregate, other: StateAggregate) -> Difference | None:
    """The first field in which two state objects differ; a state that holds its aggregate is not asked about that."""
    if not replay.metadata.is_aggregate_aware:
        return deep_difference(replay.state, other.state)
    replay.state.set_state_aggregate(other)
    try:
        return deep_difference(replay.state, other.state)
    finally:
        replay.state.set_state_aggregate(replay)


def through_json(aggregate: StateAggregate, text: bytes) -> Difference | DecodeError | None:
    """How a state differs from what this text is read back as."""
    metadata = aggregate.metadata
    try:
        read: Any = decode(metadata.cls, text)
    except DecodeError as error:
        return error
    if metadata.is_aggregate_aware:
        read.set_state_aggregate(aggregate)
    return deep_difference(aggregate.state, read)


def diagnosis(case: Case, stream: DomainEventStream, state: StateAggregate, difference: Difference) -> texts.Diagnosis:
    """Why a replay may have come to something else; costly, for the text of a breach alone."""
    again = _replayer(case, stream)
    first, second, live, stored = again(), again(), again(live=True), again(stored_between=True)
    record = case.record
    cause = texts.Cause.UNKNOWN
    if first is None or second is None or differs(first, second) is not None:
        cause = texts.Cause.IMPURE
    elif live is not None and differs(live, state) is None:
        cause = texts.Cause.LOSSY_EVENT
    elif stored is not None and differs(stored, state) is None:
        cause = texts.Cause.LOSSY_STATE
    elif record is not None and record.version == stream.version and record.state_json != encode(state.state):
        cause = texts.Cause.CHANGED_LATER
    return texts.Diagnosis(state, stream, difference, cause)


def why_it_raises(case: Case, stream: DomainEventStream) -> texts.Cause:
    """Why a replay may raise where the command's own sourcing did not; costly."""
    again = _replayer(case, stream)
    if again() is not None:
        return texts.Cause.IMPURE
    return texts.Cause.UNKNOWN if again(live=True) is None else texts.Cause.LOSSY_EVENT


def _replayer(case: Case, stream: DomainEventStream) -> Callable[..., StateAggregate | None]:
    streams = [noted for noted in case.noted(0) if noted[0].version <= stream.version]
    return partial(replayed, case.runtime, case.aggregate_id, case.shadow.start, streams)


__all__ = ["LAWS", "LAW_NAMES", "Breach", "Law", "Shadows", "check_laws", "require_law"]
