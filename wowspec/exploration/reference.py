"""What processors make of the stored facts when nothing goes wrong: each stream delivered once, in its order.

Computed from the distinct streams that a run stored, never from what it delivered: the value that read models converge
to, and the commands that sagas owe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..faults.planned import PlanArmory
from ..faults.plans import Plan
from ..messages.codec import encode
from ..messages.envelopes import CommandMessage, DomainEventStream
from ..modeling.identity import AggregateRef
from ..runtime.sourcing import StateAggregate, new_state_aggregate
from ..specs.execution import plan_of
from ..specs.render import render
from ..specs.session import Session, new_session
from ..world.clock import NANOS_PER_MILLI
from .ledgers import Ledgers
from .playing import Played, Way, opening_of

#: Projection and id of a row.
RowKey = tuple[str, str]
#: Event id, processor, index: which command of which function for which event.
CommandKey = tuple[str, str, int]
#: By how much the second reference runs later, to tell what depends on the time of handling: a day.
_LATER_NANOS = 86_400 * 1_000_000_000


@dataclass(frozen=True, slots=True)
class Made:
    """What processors made of facts.

    Attributes:
        rows: each row of each projection, and each entry of each injected mapping, as text.
        commands: what sagas sent, as class name and JSON.
    """

    rows: dict[RowKey, str]
    commands: dict[CommandKey, str]


def made_by(ledgers: Ledgers) -> Made:
    """What the processors of a run made, whatever was delivered to them."""
    commands = {key: command_text(message) for key, message in ledgers.sent.items()}
    return Made(rows_of(ledgers.played.session), commands)


def command_text(message: CommandMessage[Any]) -> str:
    """A command as text: for whom, what."""
    body = message.body
    return f"{type(body).__name__}({message.aggregate_id.id}) {encode(body).decode()}"


def rows_of(session: Session) -> dict[RowKey, str]:
    """Every row that projections keep, as text; mappings that were injected count as read models."""
    runtime = session.runtime
    found = {(owner, view_id): render(row) for owner, view_id, row in runtime.views.rows()}
    for name, service in runtime.world.services.named():
        if isinstance(service, dict):
            found |= {(name, str(key)): render(value) for key, value in service.items()}
    return found


def reference(way: Way, played: Played, *, later: bool = False) -> Made:
    """What the same processors make of the facts that a run stored, each delivered once and in order.

    Args:
        way: the steps of the spec: its services are made anew.
        played: the run.
        later: handles everything a day later, which shows what depends on the time of handling.
    """
    session = _processors_alone(way, played)
    runtime = session.runtime
    armory = PlanArmory(Plan())
    runtime.armory = session.world.injector = armory
    ledgers = Ledgers(played)
    public = {stream.id for stream in ledgers.public}
    states: dict[AggregateRef, StateAggregate | None] = {}
    clock = session.world.clock
    for stream in played.audit.whole:
        nanos = stream.create_time * NANOS_PER_MILLI + (_LATER_NANOS if later else 0)
        clock.nanos = nanos
        _source(states, stream, played)
        if stream.id not in public:
            continue
        runtime.domain_event_bus.send_now(stream.copy())
        state = states.get(stream.aggregate_id)
        if state is not None:
            runtime.state_event_bus.send_now(state.to_state_event(stream.copy()))
        session.world.scheduler.run()
    sent = {
        cause: command_text(message) for message in _accepted(session) if (cause := _cause(armory, message)) is not None
    }
    return Made(rows_of(session), sent)


def _accepted(session: Session) -> list[CommandMessage[Any]]:
    return [row.subject for row in session.world.trace.rows if row.point == "command_bus.send" and row.outcome == "ok"]


def _cause(armory: PlanArmory, message: CommandMessage[Any]) -> CommandKey | None:
    cause = armory.chains.cause_of(message)
    return None if cause is None else (cause[0].id, cause[1], cause[2])


def _source(states: dict[AggregateRef, StateAggregate | None], stream: DomainEventStream, played: Played) -> None:
    """Bring the state up to a stream; None where it cannot be sourced."""
    reference = stream.aggregate_id
    session = played.session
    if reference not in states:
        start = session.initial.get(reference)
        if start is not None:
            states[reference] = session.runtime.snapshot_store.restored(start)
        else:
            metadata = session.runtime.catalog.aggregates.get(reference.named_aggregate)
            states[reference] = None if metadata is None else new_state_aggregate(metadata.state, reference)
    state = states[reference]
    if state is None:
        return
    try:
        state.on_sourcing(stream.copy())
    except Exception:  # noqa: BLE001 - a user's sourcing function: another law tells of it
        states[reference] = None


def _processors_alone(way: Way, played: Played) -> Session:
    """A world that holds the processors of a spec, and no aggregate: commands are sent and processed by nobody."""
    _, _, opening = opening_of(way)
    plan, services = plan_of(opening)
    processors = list(played.session.runtime.catalog.processors)
    return new_session(processors, plan.profile, prepare=services)


__all__ = ["CommandKey", "Made", "RowKey", "command_text", "made_by", "reference", "rows_of"]
