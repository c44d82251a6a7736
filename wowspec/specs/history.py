"""Writes the items of `given(...)`: events into the store, commands through the gateway, time onto the clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from ..errors import CommandValidationError, IllegalArgumentError, SpecError, SpecFailure
from ..messages.codec import encode
from ..messages.envelopes import DomainEvent, DomainEventStream
from ..messages.header import Header
from ..modeling.aggregates import AggregateMetadata, is_aggregate
from ..modeling.builtin import BUILT_IN_EVENTS
from ..modeling.claims import aggregates_of_event
from ..modeling.commands import command_metadata
from ..modeling.events import event_metadata
from ..modeling.identity import AggregateRef
from ..modeling.processors import is_processor
from ..runtime.snapshots import Snapshot
from ..runtime.sourcing import aggregate_of_state
from ..runtime.validation import violations_of
from ..world.clock import VirtualClock
from .items import CommandOf, CommandOptions, On, Options, SentCommand, Stream, TimeStep, build_command, wanted
from .nodes import GivenState
from .refusals import require_item
from .render import BRIEF, render
from .requirements import require_agreement
from .run import failure_of
from .run_hints import never_created, with_hints
from .saying import first_line, traceback_text
from .session import Session
from .showing import shown

UNSAID = Options()


#: Gives the items and commands that come after the ones that are being written.
Following = Callable[[], Iterable[Any]]


def nothing_more() -> Iterable[Any]:
    """Nothing follows."""
    return ()


def write_history(session: Session, items: Sequence[Any], following: Following, *, deliver: bool) -> None:
    """Write the items in their order.

    Args:
        session: the world to write into.
        items: the items of one `given(...)`.
        following: gives what comes after them: a bare event may belong to the next command's aggregate.
        deliver: whether events are published as well.

    Raises:
        SpecError: for an item that cannot stand there.
        SpecFailure: for a command that failed; it names the item.
    """
    writer = _Writer(session, items, following, deliver=deliver)
    for place, item in enumerate(items):
        writer.place = place
        writer.write(item, UNSAID, None)


class _Writer:
    """Writes the items of one `given(...)`; looks at each class of them once.

    Attributes:
        place: index of the item that is being written.
    """

    __slots__ = ("_commands", "_deliver", "_following", "_header", "_held", "_homes", "_items", "_session", "place")

    def __init__(self, session: Session, items: Sequence[Any], following: Following, *, deliver: bool) -> None:
        self._session = session
        self._items = items
        self._following = following
        self._deliver = deliver
        #: Of every stream and event: nobody says anything in it, and the store hands out copies.
        self._header = Header().freeze()
        #: Whether a class of items is one of commands, and which aggregate claims an event class; asked again when
        #: another aggregate has joined the world.
        self._commands: dict[type, bool] = {}
        self._homes: dict[type, AggregateMetadata | None] = {}
        self._held = 0
        self.place = 0

    def write(self, item: Any, options: Options, target: AggregateRef | None) -> None:
        """Write one item."""
        if self._commands.get(type(item)) is False and self._held == len(self._session.runtime.catalog.aggregates):
            self._append((item,), options, target)
        elif isinstance(item, TimeStep):
            pass_time(self._session, item)
        elif isinstance(item, On):
            reference = self._session.reference(item)
            self._session.speak_of(reference)
            for inner in item.items:
                self.write(inner, item.options, reference)
        elif isinstance(item, Stream):
            merged = Options(
                item.options.owner_id if item.options.owner_id is not None else options.owner_id,
                item.options.space_id if item.options.space_id is not None else options.space_id,
                item.options.tenant_id if item.options.tenant_id is not None else options.tenant_id,
            )
            for body in item.events:
                require_item(body, self.place)
            self._append(item.events, merged, target)
        elif isinstance(item, SentCommand):
            _send(self._session, item.command, item.options, options, target, self.place)
        elif isinstance(item, CommandOf):
            _send(self._session, item, CommandOptions(), options, target, self.place)
        else:
            require_item(item, self.place)
            if self._is_command(item):
                _send(self._session, item, CommandOptions(), options, target, self.place)
            else:
                self._append((item,), options, target)

    def _is_command(self, item: Any) -> bool:
        self._look_again()
        kind = type(item)
        known = self._commands.get(kind)
        if known is None:
            known = self._commands[kind] = _is_command(self._session, item)
        return known

    def _look_again(self) -> None:
        held = len(self._session.runtime.catalog.aggregates)
        if held != self._held:
            self._held = held
            self._commands.clear()
            self._homes.clear()

    def _require_own(self, body: Any, metadata: AggregateMetadata) -> None:
        """An event that nobody claims may stand in any history; one that another aggregate claims, in its own alone."""
        kind = type(body)
        if kind in metadata.events:
            return
        owner = next(iter(aggregates_of_event(kind)), None)
        if owner is not None:
            raise SpecError(
                f"item {self.place + 1} of given(...), {render(body, BRIEF)}, belongs to "
                f"{owner.__name__}, not to {metadata.command_class.__name__}",
                why="a history holds what its own aggregate stored",
                instead=f"on({owner.__name__}, 'an-id', {kind.__name__}(...)) beside it",
            )

    def _later(self) -> Iterator[Any]:
        """Items and commands that come after the one that is being written."""
        yield from self._items[self.place + 1 :]
        yield from self._following()

    def _append(self, bodies: Sequence[Any], options: Options, target: AggregateRef | None) -> None:
        """Write one stream; its version follows the head, its command is nobody's."""
        session = self._session
        metadata = self._aggregate_of(bodies[0], target)
        reference = target or _instance_of(session, bodies[0], options, metadata, self._later())
        session.speak_of(reference)
        runtime, world = session.runtime, session.runtime.world
        texts = tuple([encode(body) for body in bodies])
        for body in bodies:
            kind = type(body)
            if kind not in metadata.state.functions and kind not in BUILT_IN_EVENTS:
                self._require_own(body, metadata)
                session.unsourced[kind] = metadata.command_class.__name__
        version = runtime.event_store.head_version(reference) + 1
        if session.initial and reference in session.initial:
            version = max(version, session.initial[reference].version + 1)
        header, next_id, now = self._header, world.ids.next_id, world.now_millis()
        stream_id, command_id = next_id(now), next_id(now)
        owner_id, space_id, count = options.owner_id or "", options.space_id or "", len(bodies)
        events = []
        for sequence, body in enumerate(bodies, 1):
            about = event_metadata(type(body))
            events.append(
                DomainEvent(
                    next_id(now), body, reference, version, about.name, command_id, header, sequence, sequence == count,
                    about.revision, owner_id, space_id, now,
                )
            )  # fmt: skip
        stream = DomainEventStream(stream_id, command_id, header, tuple(events))
        if runtime.audit is not None:
            runtime.audit.wrote(stream, texts)
        runtime.event_store.append_now(stream)
        if self._deliver:
            _deliver(session, stream, reference)

    def _aggregate_of(self, body: Any, target: AggregateRef | None) -> AggregateMetadata:
        session = self._session
        if target is not None:
            return session.metadata_of(target.named_aggregate)
        self._look_again()
        kind = type(body)
        if kind in self._homes:
            claimed = self._homes[kind]
        else:
            claimed = None if kind in BUILT_IN_EVENTS else session.runtime.catalog.for_event(kind)
            if claimed is not None:
                session.runtime.add_aggregate(claimed)
            self._homes[kind] = claimed
        if claimed is not None:
            return claimed
        if session.last_named is not None:
            return session.metadata_of(session.last_named)
        subject = next(iter(session.runtime.catalog.aggregates.values()), None)
        if subject is not None:
            return subject
        raise SpecError(
            f"item {self.place + 1} of given(...), {render(body)}, belongs to no aggregate",
            why="an event belongs to the aggregate whose functions return or source it; none says so of this class",
            instead=f"on(Order, 'o-1', {kind.__name__}(...)), or annotate the command function that returns it",
        )


def pass_time(session: Session, step: TimeStep) -> None:
    """Move the clock; what is due on the way happens.

    Raises:
        SpecError: for an instant that is past.
    """
    clock = session.world.clock
    target = step.to if step.to is not None else clock.nanos + step.by
    if target < clock.nanos:
        if len(session.world.trace) or session.runtime.event_store.aggregate_ids():
            asked = VirtualClock(target).now()
            raise SpecError(
                f"at({asked:%Y-%m-%d %H:%M:%S}) has passed: the world's time is {clock.now():%Y-%m-%d %H:%M:%S}",
                why="virtual time goes one way, as real time does",
                instead="at(...) before every event and command, or advance(...) from there",
            )
        clock.nanos = target
        return
    session.world.scheduler.run(until=target)


# --- commands ---------------------------------------------------------------------------------------------------------


def _is_command(session: Session, item: Any) -> bool:
    if isinstance(item, type):
        raise SpecError(
            f"{item.__name__} in given(...) is a class",
            why="given(...) takes what happened: instances of events and commands",
            instead=f"{item.__name__}(...)"
            if not (is_aggregate(item) or is_processor(item))
            else f".using({item.__name__}), or given({item.__name__}, ...) with the processor first"
            if is_processor(item)
            else f"spec({item.__name__}).given(...)",
        )
    kind = type(item)
    catalog = session.runtime.catalog
    for metadata in catalog.aggregates.values():
        if kind in metadata.functions or kind in metadata.mounted:
            return True
        if kind in metadata.events:
            return False
    if kind in BUILT_IN_EVENTS:
        return False
    if any(kind in metadata.built_in for metadata in catalog.aggregates.values()):
        return True
    if catalog.for_event(kind) is not None:
        return False
    return catalog.for_command(kind) is not None


def _send(
    session: Session, command: Any, said: CommandOptions, options: Options, target: AggregateRef | None, place: int
) -> None:
    """A command in `given` is a real one: it runs to the end, downstream included, and must succeed."""
    merged = CommandOptions(
        said.aggregate_id if said.aggregate_id is not None else (target.id if target is not None else None),
        said.tenant_id if said.tenant_id is not None else (target.tenant_id if target is not None else None),
        said.owner_id if said.owner_id is not None else options.owner_id,
        said.space_id if said.space_id is not None else options.space_id,
        said.request_id,
        said.expected_version,
        said.header,
        said.wait_for,
    )
    world = session.world
    logged = len(world.log)
    try:
        body = build_command(command) if isinstance(command, CommandOf) else command
    except ValidationError as refused:
        raise _failed(command, CommandValidationError(command, violations_of(refused)), place) from None
    message = session.message(body, merged)
    require_agreement("sent_as", message, said)
    own = message.aggregate_id
    if target is not None and (own.id != target.id or own.named_aggregate != target.named_aggregate):
        raise SpecError(
            f"item {place + 1} of given(...), on({target.aggregate_name}, {target.id!r}, {shown(command)}), "
            f"is a command for {own}",
            why="on(...) says whose history it is, and the command says another",
            instead="the command beside on(...), or one for that instance within it",
        )
    gateway, scheduler = session.runtime.gateway, world.scheduler
    if message.is_void:
        task: Any = scheduler.spawn(gateway.send(message), "given")
    else:
        plan = wanted(merged.wait_for).plan(message.id)
        task = scheduler.spawn(gateway.send_and_wait(message, plan), "given")
    scheduler.run()
    if world.spec_errors:
        raise world.spec_errors[0]
    if session.answers is not None:
        session.answers.append((message, failure_of(task, message)))
        return
    error = failure_of(task, message) or next((entry.error for entry in world.log[logged:]), None)
    if error is None:
        return
    original = getattr(error, "original", None) or error
    if isinstance(original, SpecError):
        raise original
    raise _failed(command, original, place, never_created(session, message, original)) from None


def _failed(command: Any, error: BaseException, place: int, hint: str | None = None) -> SpecFailure:
    name, said = type(error).__name__, first_line(error)
    text = (
        f"item {place + 1} of given(...), {shown(command)}, failed with {name}{f': {said}' if said else ''}\n"
        f"{traceback_text(error)}\n"
        "  why: what is given must have happened\n"
        "  instead: mend the item, or send the command by when(...) and expect its failure"
    )
    return SpecFailure(with_hints(text, [hint]))


# --- events -----------------------------------------------------------------------------------------------------------


def _deliver(session: Session, stream: DomainEventStream, reference: AggregateRef) -> None:
    runtime = session.runtime
    if runtime.audit is not None:
        runtime.audit.tell(stream)
    published = stream.copy()
    runtime.domain_event_bus.send_now(published)
    aggregate = session.loaded(reference)
    if aggregate.initialized:
        runtime.state_event_bus.send_now(aggregate.to_state_event(stream))
    session.world.scheduler.run()


def _instance_of(
    session: Session, body: Any, options: Options, metadata: AggregateMetadata, following: Iterable[Any]
) -> AggregateRef:
    """The event's own id, else the instance last spoken of, else the next command's of that type, else a new one."""
    named = metadata.named
    tenant = options.tenant_id or metadata.static_tenant_id
    getter = event_metadata(type(body)).aggregate_id
    own = getter(body) if getter is not None else None
    if own is not None:
        return session.reference_in(named, own, tenant)
    spoken = session.spoken.get(named)
    if spoken is not None:
        return spoken
    for text, told in _targets(session, metadata, following):
        return session.reference_in(named, text, tenant or told)
    return session.reference_in(named, session.world.next_id(), tenant)


def _targets(
    session: Session, metadata: AggregateMetadata, following: Iterable[Any]
) -> Iterator[tuple[str, str | None]]:
    for item in following:
        if isinstance(item, On):
            if session.use_aggregate(item.aggregate) is metadata:
                yield item.id, item.options.tenant_id
            continue
        command, said = (item.command, item.options) if isinstance(item, SentCommand) else (item, CommandOptions())
        fields = command.fields if isinstance(command, CommandOf) else None
        kind = command.command_class if isinstance(command, CommandOf) else type(command)
        if kind not in metadata.functions and kind not in metadata.mounted and kind not in metadata.built_in:
            continue
        if said.aggregate_id is not None:
            yield said.aggregate_id, said.tenant_id
        elif fields is None:
            about = command_metadata(kind)
            own = about.aggregate_id(command) if about.aggregate_id is not None else None
            if own is not None:
                tenant = about.tenant_id(command) if about.tenant_id is not None else said.tenant_id
                yield own, tenant
        elif isinstance(fields.get("id"), str):
            yield fields["id"], said.tenant_id


# --- states -----------------------------------------------------------------------------------------------------------


def put_state(session: Session, given: GivenState) -> None:
    """Start an instance from a state at a version, as from its snapshot.

    Raises:
        SpecError: if no aggregate that the world holds has such a state, or the state carries no id.
    """
    kind = type(given.state)
    if isinstance(given.state, type):
        raise SpecError(
            f"given_state({given.state.__name__}) is given a class",
            why="a command starts from one state, an object",
            instead=f"given_state({given.state.__name__}(id='o-1', ...))",
        )
    metadata = next((item for item in session.runtime.catalog.aggregates.values() if item.state_class is kind), None)
    if metadata is None:
        raise SpecError(
            f"given_state({kind.__name__}(...)): no aggregate of this spec has such a state",
            why="a state is the state of one aggregate type",
            instead=f"spec(TheAggregate).given_state({kind.__name__}(...))",
        )
    if type(given.version) is not int or given.version < 1:
        raise SpecError(
            f"given_state(..., version={given.version!r})",
            why="a state that was reached by at least one stream has version 1 or more",
            instead="version=1",
        )
    spoken = session.spoken.get(metadata.named)
    try:
        aggregate = aggregate_of_state(
            metadata.state,
            metadata.named,
            given.state,
            aggregate_id=given.aggregate_id or (spoken.id if spoken is not None else ""),
            tenant_id=given.tenant_id or "(0)",
        )
    except IllegalArgumentError as error:
        raise SpecError(
            f"given_state({kind.__name__}(...)) says no id",
            why="a state belongs to one instance",
            instead="given_state(..., aggregate_id='o-1')",
        ) from error
    aggregate.version = given.version
    aggregate.owner_id = given.owner_id
    aggregate.space_id = given.space_id
    now = session.world.now_millis()
    aggregate.event_id = session.world.next_id()
    aggregate.first_event_time = aggregate.event_time = now
    store = session.runtime.snapshot_store
    store.save_now(Snapshot(aggregate, now))
    record = store.record(aggregate.aggregate_id)
    assert record is not None
    session.initial[aggregate.aggregate_id] = record
    session.speak_of(aggregate.aggregate_id)
