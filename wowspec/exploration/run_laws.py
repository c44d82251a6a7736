"""The laws of a run under faults: what must hold whatever goes wrong. One table; each says what it found."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from ..errors import (
    CommandResultError,
    DomainEventError,
    DuplicateRequestIdError,
    InjectedFault,
    InjectedTimeout,
    SpecError,
)
from ..messages.envelopes import CommandMessage, DomainEventStream
from ..messages.stages import CommandStage
from ..specs.conditions import first_breach
from ..specs.recorded import ConditionKind
from ..world.points import (
    COMMAND_ACKNOWLEDGE,
    DOMAIN_EVENT_BUS_SEND,
    EVENT_STORE_APPEND,
    STATE_EVENT_BUS_SEND,
    USER_POINT,
    WAIT_NOTIFY,
    point_row,
)
from ..world.world import LoggedFailure
from .ledgers import had_effect
from .trial import Trial


@dataclass(frozen=True, slots=True)
class Broken:
    """A law that did not hold.

    Attributes:
        law: its name in `RUN_LAWS`.
        text: what is wrong.
    """

    law: str
    text: str


def _names(stream: DomainEventStream) -> str:
    events = ", ".join(type(event.body).__name__ for event in stream.events)
    return f"{stream.aggregate_id.id} v{stream.version} [{events}]"


def _acknowledged(trial: Trial) -> Iterator[str]:
    ledgers = trial.ledgers
    store = trial.played.session.runtime.event_store
    for answer in trial.played.answers:
        message = answer.message
        if answer.failure is not None or message is None or message.is_void or answer.waited == "SENT":
            continue
        streams = [each.event_stream for each in ledgers.exchanges_of(message) if each.event_stream is not None]
        name = type(message.body).__name__
        stored = {stream.id for stream in store.peek(message.aggregate_id)}
        if streams and not any(stream.id in stored for stream in streams):
            yield f"{name} was told of success, and its events are not stored: {_names(streams[-1])}"
        if len(ledgers.streams_of(message)) > 1:
            yield f"{name} was told of success, and is stored {len(ledgers.streams_of(message))} times"


def _lying(trial: Trial) -> Iterator[str]:
    for answer in trial.played.answers:
        message, error = answer.message, answer.error
        if error is None or message is None or answer.is_unknown or isinstance(error, trial.allowed.ambiguous):
            continue
        if isinstance(error, DomainEventError) or not _is_of_command(answer.failure, message):
            continue
        if trial.asked and isinstance(error, InjectedFault | InjectedTimeout):
            # Its sender knows that the infrastructure failed, not that the command was refused.
            continue
        for stream in trial.ledgers.streams_of(message):
            if any(getattr(event.body, "error_code", None) is not None for event in stream.events):
                continue
            yield f"{type(message.body).__name__} → {type(error).__name__}, but {_names(stream)} IS stored"


def _is_of_command(failure: BaseException | None, message: CommandMessage[Any]) -> bool:
    """Whether a failure says that the command itself failed, not something later that its sender waited for."""
    if not isinstance(failure, CommandResultError):
        return True
    result = failure.result
    return result.command_id == message.id and result.stage in (CommandStage.SENT, CommandStage.PROCESSED)


def _exactly_once(trial: Trial) -> Iterator[str]:
    seen: dict[tuple[Any, str], int] = {}
    for stream in trial.ledgers.own:
        key = (stream.aggregate_id, stream.request_id)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] == 2:
            yield f"request {stream.request_id} is stored twice: {_names(stream)}"
    effects: dict[tuple[str, str], int] = {}
    for row in trial.played.rows:
        if row.detail and had_effect(row) and point_row(row.point) is USER_POINT:
            place = (row.point, row.detail)
            effects[place] = effects.get(place, 0) + 1
            if effects[place] == 2:
                yield f"{row.point} took effect twice for {row.detail}"


def _publication(trial: Trial) -> Iterator[str]:
    published = trial.ledgers.published
    for stream in trial.ledgers.own:
        if stream.id not in published:
            yield f"{_names(stream)} is stored and was never published"


def _convergence(trial: Trial) -> Iterator[str]:
    if trial.base is None or trial.went_straight:
        return
    made, due = trial.made.rows, trial.due.rows
    for key in sorted({*made, *due}):
        if made.get(key) == due.get(key) or key in trial.base.settled_rows:
            continue
        if due.get(key) != trial.due_later.rows.get(key):
            continue
        owner, row = key
        yield (
            f"{owner}[{row!r}] is {made.get(key, 'missing')}, and the stored facts make {due.get(key, 'nothing')} of it"
        )


def _state(trial: Trial) -> Iterator[str]:
    for breach in trial.played.breaches:
        yield breach.text
    runtime = trial.played.session.runtime
    for reference in runtime.snapshot_store.aggregate_ids():
        record = runtime.snapshot_store.record(reference)
        if record is None or trial.played.session.initial.get(reference) is record:
            continue
        head = runtime.event_store.head_version(reference)
        if record.version > head:
            yield f"the snapshot of {reference} has version {record.version}, ahead of the stored head {head}"


def _saga(trial: Trial) -> Iterator[str]:
    if trial.base is None or trial.went_straight:
        return
    made, due = trial.made.commands, trial.due.commands
    excused = trial.base.settled_commands
    alternative = {kind.__name__ for kind in trial.allowed.alternatives}
    stands_in = {key[1] for key, text in made.items() if text.partition("(")[0] in alternative}
    for key in dict.fromkeys([*due, *made]):
        processor = key[1]
        if processor in excused or processor in stands_in or made.get(key) == due.get(key):
            continue
        if due.get(key) != trial.due_later.commands.get(key):
            continue
        if key not in made:
            yield f"{processor} never sent {due[key]}"
        elif key not in due:
            yield f"{processor} sent {made[key]}, for which nothing stored is the cause"
        else:
            yield f"{processor} sent {made[key]}, and the stored facts make {due[key]} of it"


def _quiescence(trial: Trial) -> Iterator[str]:
    if trial.played.livelock:
        yield trial.played.livelock


def _swallowed(trial: Trial) -> Iterator[str]:
    usual = set() if trial.base is None else trial.base.usual_errors
    for entry in trial.logged():
        key = (entry.point, type(entry.cause).__name__)
        if key not in usual and not _is_done_already(trial, entry):
            subject = getattr(entry.subject, "body", entry.subject)
            what = f"while handling {type(subject).__name__}: {entry.cause}"
            yield f"{type(entry.cause).__name__} at {entry.point}, {what}"


def _is_done_already(trial: Trial, entry: LoggedFailure) -> bool:
    """Whether an error says no more than that a repetition was refused, of what is stored once and lacks nothing."""
    refused, subject = entry.cause, entry.subject
    if not isinstance(refused, DuplicateRequestIdError):
        return False
    stored = trial.played.session.runtime.event_store.peek(refused.aggregate_id)
    if sum(stream.request_id == refused.request_id for stream in stored) != 1:
        return False
    if isinstance(subject, CommandMessage):
        return True
    # The refusal ended a function. Of a saga it can be told whether that kept anything from being sent.
    mine = (getattr(subject, "id", ""), entry.place.partition(".")[0])
    made, due = (
        {key: text for key, text in each.commands.items() if key[:2] == mine} for each in (trial.made, trial.due)
    )
    return bool(made) and made == due


#: A command's own points, in the order in which it must pass them.
_IN_ORDER: Final = (
    EVENT_STORE_APPEND,
    COMMAND_ACKNOWLEDGE,
    DOMAIN_EVENT_BUS_SEND,
    STATE_EVENT_BUS_SEND,
    f"{WAIT_NOTIFY}:PROCESSED",
)
_PLACE: Final = {point: place for place, point in enumerate(_IN_ORDER)}


def _order(trial: Trial) -> Iterator[str]:
    reached: dict[str, int] = {}
    for row in trial.played.rows:
        place = _PLACE.get(row.point)
        if place is None or not had_effect(row):
            continue
        subject = row.subject
        command_id = getattr(subject, "command_id", None) or subject.id
        furthest = reached.get(command_id, -1)
        if place > furthest:
            reached[command_id] = place
        elif place < furthest and place == 0:
            yield f"{_IN_ORDER[furthest]} came before {_IN_ORDER[place]} for {type(subject).__name__} {command_id}"


def _always(trial: Trial) -> Iterator[str]:
    yield from trial.played.always_broken


def _eventually(trial: Trial) -> Iterator[str]:
    conditions = trial.way.conditions
    if conditions and not trial.played.livelock:
        played = trial.played
        text = first_breach(played.session, conditions, ConditionKind.EVENTUALLY, raising_breaks=len(played.plan) > 0)
        if text is not None:
            yield text


def _assertion(trial: Trial) -> Iterator[str]:
    if trial.played.assertion:
        yield trial.played.assertion


@dataclass(frozen=True, slots=True)
class RunLaw:
    """One law: its name, as a title and as what switches it off, what it says, and what it finds."""

    name: str
    title: str
    doc: str
    find: Callable[[Trial], Iterator[str]]


RUN_LAWS: Final[tuple[RunLaw, ...]] = (
    RunLaw(
        "no_acknowledged_loss",
        "no acknowledged loss",
        "a command whose sender was told of success has its events stored exactly once",
        _acknowledged,
    ),
    RunLaw(
        "no_lying_failure",
        "no lying failure",
        "a command whose sender was told of a failure stored nothing, or an error event, or the error is ambiguous",
        _lying,
    ),
    RunLaw(
        "exactly_once",
        "exactly once",
        "each request id is stored once in each aggregate; each keyed effect of a fault point happens once",
        _exactly_once,
    ),
    RunLaw("publication", "publication completeness", "each stored stream was published at least once", _publication),
    RunLaw(
        "convergence",
        "convergence",
        "each read model is what the stored facts make of it when each is delivered once",
        _convergence,
    ),
    RunLaw(
        "replay_equality",
        "replay equality",
        "working state, full replay, snapshot and tail, and JSON round trip agree; no snapshot is ahead of the head",
        _state,
    ),
    RunLaw(
        "saga_completeness",
        "saga completeness",
        "sagas sent the commands that the stored facts make them send, or a declared alternative",
        _saga,
    ),
    RunLaw("quiescence", "quiescence", "the world comes to rest in a bounded number of steps", _quiescence),
    RunLaw(
        "no_swallowed_error",
        "no swallowed error",
        "the runtime logged no error but those of faults, of the fault-free run, and refusals of what is done already",
        _swallowed,
    ),
    RunLaw(
        "order",
        "order",
        "a command is appended before it is acknowledged, published, and told of",
        _order,
    ),
    RunLaw("always", "always", "what the spec says should always hold held at each moment", _always),
    RunLaw(
        "eventually", "eventually", "what the spec says should hold in the end held in the world at rest", _eventually
    ),
    RunLaw("assertion", "the test's own assertions", "the function under test raised nothing", _assertion),
)

RUN_LAW_BY_NAME: Final = {law.name: law for law in RUN_LAWS}


def require_run_law(name: str) -> str:
    """The name, if a law has it.

    Raises:
        SpecError: with the name that may have been meant.
    """
    if name in RUN_LAW_BY_NAME:
        return name
    known = list(RUN_LAW_BY_NAME)
    close = difflib.get_close_matches(str(name), known, 1, 0.3)
    raise SpecError(
        f"there is no law {name!r}",
        why=f"the laws of runs under faults are {', '.join(known)}",
        instead=repr((close or known)[0]),
    )


def judge(trial: Trial) -> list[Broken]:
    """Ask every law that is not switched off; a law that is broken in several places is told with the first three."""
    off = trial.allowed.laws_off | trial.played.session.laws_off
    found: list[Broken] = []
    for law in RUN_LAWS:
        if law.name in off:
            continue
        texts = list(law.find(trial))
        if texts:
            more = [f"and {len(texts) - 3} more"] if len(texts) > 3 else []
            found.append(Broken(law.name, "\n".join([*texts[:3], *more])))
    return found
