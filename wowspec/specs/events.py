"""Lets an event reach the functions of projections, event processors and sagas: `when_event`, and specs of views."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import RetriesExhaustedError, SpecError
from ..messages.codec import encode
from ..messages.envelopes import DomainEvent, DomainEventStream, StateEvent
from ..messages.header import Header
from ..modeling.aggregates import aggregate_metadata
from ..modeling.builtin import BUILT_IN_EVENTS
from ..modeling.claims import aggregates_of_state
from ..modeling.events import aggregate_of_event as aggregate_named_by, event_metadata
from ..modeling.identity import AggregateRef, FunctionKind, NamedAggregate
from ..modeling.processors import ProcessorKind, is_processor, processor_metadata
from ..runtime.downstream.event_dispatcher import EVENT_HANDLER, EventDispatcher
from ..runtime.downstream.registrar import RegisteredFunction
from ..runtime.sourcing import StateAggregate
from .laws import check_laws
from .nodes import WhenEvent
from .render import render
from .run import Run
from .session import Session
from .takers import no_taker, refuse_command, require_own_state


def is_projection(subject: type | None) -> bool:
    """Whether a spec is about a projection, so that what is given is delivered to it."""
    return is_processor(subject) and processor_metadata(subject).kind is ProcessorKind.PROJECTION  # type: ignore[arg-type]


def send_event(session: Session, step: WhenEvent, subject: type | None, previous: Run | None) -> Run:
    """Publish one event (without storing it) and let the world come to rest.

    Raises:
        SpecError: if the event belongs to no aggregate, or no function takes it.
    """
    world = session.world
    started, logged = 0 if step.event is None else len(world.trace), len(world.log)
    heard = len(session.runtime.notifier.received)
    audit = session.runtime.audit
    assert audit is not None
    audit.begin_step()
    armory = session.runtime.armory
    struck = len(armory.fired) if armory is not None else 0
    if step.event is not None:
        event = step.event if isinstance(step.event, DomainEvent) else _event(session, step)
        _require_taker(session, step, event, subject)
        with _only(session, step.function):
            _publish(session, step, event)
            world.scheduler.run()
    if world.spec_errors:
        raise world.spec_errors[0]
    entries = world.log[logged:]
    for entry in entries:
        if isinstance(entry.error, SpecError):
            raise entry.error
    own = [index for index, entry in enumerate(entries) if _is_of(entry.point, subject)]
    failure = entries[own[0]].error if own else None
    if isinstance(failure, RetriesExhaustedError) and failure.__cause__ is not None:
        failure = failure.__cause__
    untold = session.take_untold()
    run = Run(
        session,
        step.event,
        None,
        None,
        failure,
        None,
        range(started, len(world.trace)),
        [*untold, *entries],
        [signal for _, signal in session.runtime.notifier.received[heard:]],
        check_laws(session.runtime, session.laws_off, session.shadows, session.initial),
        armory.fired[struck:] if armory is not None else [],
        previous,
        earlier=len(untold),
    )
    run.excused.update(len(untold) + index for index in own)
    return run


def _is_of(point: str, subject: type | None) -> bool:
    return subject is not None and point.startswith(f"{EVENT_HANDLER}:{subject.__name__}.")


def _event(session: Session, step: WhenEvent) -> DomainEvent[Any]:
    """The event's envelope: the next version of its aggregate, a command of nobody's."""
    body = step.event
    encode(body)
    reference = _reference(session, step)
    session.speak_of(reference)
    about = event_metadata(type(body))
    world = session.world
    command_id = world.next_id()
    return DomainEvent(
        world.next_id(),
        body,
        reference,
        session.runtime.event_store.head_version(reference) + 1,
        about.name,
        command_id,
        Header(),
        revision=about.revision,
        owner_id=step.owner_id,
        space_id=step.space_id,
        create_time=world.now_millis(),
    )


def _aggregate_of(session: Session, step: WhenEvent) -> tuple[NamedAggregate, str | None]:
    """The event's aggregate, and the tenant of all its instances, if it is fixed.

    One of another context is in nobody's hands here: then a function that names the aggregates whose events it takes
    says it (EVT-105).
    """
    body = step.event
    kind = type(body)
    found = session.runtime.catalog.for_event(kind)
    if found is None and kind in BUILT_IN_EVENTS and session.last_named is not None:
        found = session.metadata_of(session.last_named)
    if found is not None:
        return found.named, found.static_tenant_id
    named = aggregate_named_by(body) if event_metadata(kind).aggregate_name is not None else None
    if named is None:
        topics = {topic for function in _functions(session, step) for topic in function.topics}
        named = min(topics, key=str, default=None)
    if named is None:
        refuse_command(body)
        if not any(len(dispatcher.functions) for dispatcher in _dispatchers(session)):
            raise no_taker(body, step.state, step.function, None, ())
        raise SpecError(
            f"when_event({render(body)}): the event belongs to no aggregate",
            why="a function takes the events of aggregates; none says that this class is its event",
            instead=f"annotate the command function that returns {kind.__name__}, or source it in a state class; for "
            "another context's: @on_event(aggregates=('billing.invoice',)) above the function that takes it",
        )
    return named, None


def _functions(session: Session, step: WhenEvent) -> Iterator[RegisteredFunction]:
    """Functions for the class of the event (or of the state), whatever aggregates they listen to."""
    wanted = FunctionKind.EVENT if step.state is None else FunctionKind.STATE_EVENT
    for dispatcher in _dispatchers(session):
        for function in dispatcher.functions:
            value = getattr(step.state, "state", step.state) if function.handler.wraps_state else step.event
            named = step.function is None or function.info.name == step.function
            if named and function.info.kind is wanted and isinstance(value, function.handler.supported):
                yield function


def _reference(session: Session, step: WhenEvent) -> AggregateRef:
    named, static_tenant_id = _aggregate_of(session, step)
    getter = event_metadata(type(step.event)).aggregate_id
    text = (
        step.aggregate_id or (getter(step.event) if getter is not None else None) or _id_of_state(session, step.state)
    )
    if text is None:
        spoken = session.spoken.get(named)
        if spoken is not None:
            return spoken
        text = session.world.next_id()
    return session.reference_in(named, text, step.tenant_id or static_tenant_id)


def _id_of_state(session: Session, state: Any) -> str | None:
    """The id that the state after an event carries: a state is that of one instance."""
    if state is None:
        return None
    if isinstance(state, StateAggregate):
        return state.aggregate_id.id
    owners = aggregates_of_state(type(state))
    held = [item for item in session.runtime.catalog.aggregates.values() if item.state_class is type(state)]
    metadata = next(iter(held), None) or (aggregate_metadata(owners[0]) if owners else None)
    return metadata.state.id_of(state) if metadata is not None else None


def _publish(session: Session, step: WhenEvent, event: DomainEvent[Any]) -> None:
    stream = DomainEventStream(session.world.next_id(), event.command_id, event.header.copy(), (event,))
    runtime = session.runtime
    if step.state is None:
        runtime.domain_event_bus.send_now(stream)
        return
    state = step.state
    if isinstance(state, StateAggregate):
        runtime.state_event_bus.send_now(state.to_state_event(stream))
        return
    runtime.state_event_bus.send_now(StateEvent(stream, state, stream.operator, stream.create_time))


def _dispatchers(session: Session) -> list[EventDispatcher]:
    return [session.runtime.event_dispatcher(kind) for kind in ProcessorKind]


def _require_taker(session: Session, step: WhenEvent, event: DomainEvent[Any], subject: type | None) -> None:
    if step.state is not None:
        require_own_state(event.body, step.state, event.aggregate_id.named_aggregate)
    stream = DomainEventStream("", "", Header(), (event,))
    state_event = None if step.state is None else StateEvent(stream, getattr(step.state, "state", step.state))
    takers = [
        function
        for dispatcher in _dispatchers(session)
        for function in dispatcher.functions.taking(event, state_event)
        if step.function is None or function.info.name == step.function
    ]
    if takers:
        return
    refuse_command(event.body)
    held = [function for dispatcher in _dispatchers(session) for function in dispatcher.functions]
    raise no_taker(event.body, step.state, step.function, subject, held)


@contextmanager
def _only(session: Session, name: str | None) -> Iterator[None]:
    """Let no other function take events for a while."""
    if name is None:
        yield
        return
    kept = [(dispatcher, dispatcher.functions) for dispatcher in _dispatchers(session)]
    for dispatcher, functions in kept:
        dispatcher.functions = functions.filter(lambda function: function.info.name == name)
    try:
        yield
    finally:
        for dispatcher, functions in kept:
            dispatcher.functions = functions
