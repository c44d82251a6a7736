"""State aggregates: a state object with its version and facts, moved on by streams (section 8 of the contract)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from ..errors import IllegalArgumentError, SourcingVersionConflictError, SpecError
from ..messages.codec import remember_namespace
from ..messages.envelopes import DomainEvent, DomainEventStream, StateEvent
from ..messages.exchange import DomainEventExchange
from ..messages.header import COMMAND_OPERATOR
from ..messages.streams import ignores_sourcing
from ..modeling.builtin import (
    AggregateDeleted,
    AggregateRecovered,
    IgnoreSourcing,
    OwnerTransferred,
    ResourceTagsApplied,
    SpaceTransferred,
)
from ..modeling.functions import First, HandlerFunction, Parameter
from ..modeling.identity import DEFAULT_OWNER_ID, DEFAULT_SPACE_ID, DEFAULT_TENANT_ID, AggregateRef, NamedAggregate
from ..modeling.states import StateMetadata
from ..texts import is_blank
from .facts import MAX_INT, AggregateFacts, Tags, copy_tags, next_version

#: Gives an annotated sourcing function its further arguments, positional and by keyword.
Supply = Callable[[HandlerFunction, DomainEventExchange[Any]], tuple[list[Any], dict[str, Any]]]


class StateAggregate:
    """A state object and what its streams said of it (STA-001). Equal by id and version alone (STA-003).

    Make a blank one with `new_state_aggregate`, one from known values with `restore`.
    """

    __slots__ = (
        "aggregate_id",
        "deleted",
        "event_id",
        "event_time",
        "first_event_time",
        "first_operator",
        "metadata",
        "operator",
        "owner_id",
        "space_id",
        "state",
        "supply",
        "tags",
        "version",
    )

    def __init__(
        self, metadata: StateMetadata, aggregate_id: AggregateRef, state: Any, supply: Supply | None = None
    ) -> None:
        self.metadata: StateMetadata = metadata
        self.aggregate_id: AggregateRef = aggregate_id
        self.state: Any = state
        self.supply: Supply = supply or supply_from_exchange
        self.owner_id: str = DEFAULT_OWNER_ID
        self.space_id: str = DEFAULT_SPACE_ID
        self.version: int = 0
        self.event_id: str = ""
        self.first_operator: str = ""
        self.operator: str = ""
        self.first_event_time: int = 0
        self.event_time: int = 0
        self.tags: Tags = {}
        self.deleted: bool = False
        if metadata.namespace.local_names:
            remember_namespace(metadata.cls, metadata.namespace)
        if metadata.is_aggregate_aware:
            state.set_state_aggregate(self)

    @property
    def tenant_id(self) -> str:
        """Its tenant."""
        return self.aggregate_id.tenant_id

    @property
    def initialized(self) -> bool:
        """Whether it has a version above 0 (STA-002)."""
        return self.version > 0

    @property
    def is_initial_version(self) -> bool:
        """Whether it is at version 1 (STA-002)."""
        return self.version == 1

    @property
    def expected_next_version(self) -> int:
        """The version that the next stream must have (STA-002)."""
        return next_version(self.version)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, StateAggregate)
            and self.aggregate_id == other.aggregate_id
            and self.version == other.version
        )

    def __hash__(self) -> int:
        return hash((self.aggregate_id, self.version))

    def __repr__(self) -> str:
        return f"StateAggregate({self.aggregate_id}, version={self.version}, state={self.state!r})"

    def on_sourcing(self, stream: DomainEventStream) -> StateAggregate:
        """Apply one stream; the order of the steps is the contract's (STA-004). Nothing is rolled back (STA-020).

        Raises:
            IllegalArgumentError: the stream is another aggregate's (STA-006).
            SourcingVersionConflictError: it does not have the version that follows (STA-007).
            Exception: whatever a sourcing function raises.
        """
        events, version = stream.events, stream.version
        first = events[0]
        # 1. a refused opening leaves no trace, whatever its id (STA-005)
        if version == 1 and isinstance(first.body, IgnoreSourcing) and ignores_sourcing(stream):
            return self
        # 2. and 3. identity, then version
        if first.aggregate_id is not self.aggregate_id and first.aggregate_id != self.aggregate_id:
            message = f"a stream of {first.aggregate_id} cannot be applied to {self.aggregate_id}"
            raise IllegalArgumentError(message)
        expected = self.version + 1
        if version != expected or expected > MAX_INT:
            expected = next_version(self.version)
            if version != expected:
                raise SourcingVersionConflictError(stream, expected)
        # 4. what the stream says of the aggregate (STA-008 to STA-011)
        self.version = version
        owner_id, space_id = first.owner_id, first.space_id
        if owner_id and not is_blank(owner_id):
            self.owner_id = owner_id
        if space_id and not is_blank(space_id):
            self.space_id = space_id
        self.event_id = stream.id
        self.operator = operator = stream.header.get(COMMAND_OPERATOR, "")
        self.event_time = create_time = first.create_time
        if version == 1:
            self.first_operator = operator
            self.first_event_time = create_time
        # 5. the state hears its version before any event (STA-012)
        metadata, state = self.metadata, self.state
        if metadata.is_version_aware:
            state.set_version(version)
        # 6. events in order: built-in effects, then the function of exactly this class (STA-013, STA-017, STA-018)
        plans = metadata.plans
        for event in events:
            body = event.body
            plan = plans.get(type(body))
            if plan is None:
                plan = _plan_of(metadata, body)
            for effect in plan.effects:
                effect(self, body)
            function = plan.of_body
            if function is not None:
                if metadata.evolves:
                    state = self.state = function(state, body)
                else:
                    function(state, body)
            elif plan.handler is not None:
                _call(self, plan.handler, event, stream)
        # 7. the state has the last word on tags (STA-015)
        if metadata.extracts_tags:
            self.tags = copy_tags(state.extract_tags(self))
        return self

    def to_state_event(self, stream: DomainEventStream) -> StateEvent[Any]:
        """The state event of the stream just applied: a copy of it, and the live state (STA-042 to STA-045)."""
        return StateEvent(
            stream.copy(),
            self.state,
            self.first_operator,
            self.first_event_time,
            copy_tags(self.tags) if self.tags else {},
            self.deleted,
        )


# ---------------------------------------------------------------------------------------------- making aggregates


def new_state_aggregate(
    metadata: StateMetadata, aggregate_id: AggregateRef, supply: Supply | None = None
) -> StateAggregate:
    """A blank aggregate at version 0, without a look at any store (STA-041, CMD-189)."""
    return StateAggregate(metadata, aggregate_id, metadata.create(aggregate_id), supply)


def restore(metadata: StateMetadata, facts: AggregateFacts, state: Any, supply: Supply | None = None) -> StateAggregate:
    """A writable aggregate around this very state object, with every fact of a view (STA-031)."""
    aggregate = StateAggregate(metadata, facts.aggregate_id, state, supply)
    aggregate.version = facts.version
    aggregate.owner_id = facts.owner_id
    aggregate.space_id = facts.space_id
    aggregate.event_id = facts.event_id
    aggregate.first_operator = facts.first_operator
    aggregate.operator = facts.operator
    aggregate.first_event_time = facts.first_event_time
    aggregate.event_time = facts.event_time
    aggregate.tags = copy_tags(facts.tags)
    aggregate.deleted = facts.deleted
    return aggregate


def aggregate_of_state(
    metadata: StateMetadata,
    named_aggregate: NamedAggregate,
    state: Any,
    *,
    aggregate_id: str = "",
    tenant_id: str = DEFAULT_TENANT_ID,
    supply: Supply | None = None,
) -> StateAggregate:
    """A state aggregate around a bare state; the id that the state carries beats the one given (STA-027).

    Raises:
        IllegalArgumentError: if neither is there.
    """
    text = metadata.id_of(state)
    if text is None:
        text = aggregate_id
    if is_blank(text):
        message = f"{metadata.cls.__name__} carries no id: pass aggregate_id"
        raise IllegalArgumentError(message)
    ref = AggregateRef(named_aggregate.context_name, named_aggregate.aggregate_name, text, tenant_id)
    return StateAggregate(metadata, ref, state, supply)


def state_event_of(stream: DomainEventStream, state: Any) -> StateEvent[Any]:
    """A state event from a bare state: operator and time are the stream's, no tags, not deleted (STA-044)."""
    return StateEvent(stream, state, stream.operator, stream.create_time)


# ------------------------------------------------------------------------------------------------ applying events


def _delete(aggregate: StateAggregate, _: Any) -> None:
    aggregate.deleted = True


def _recover(aggregate: StateAggregate, _: Any) -> None:
    aggregate.deleted = False


def _transfer_owner(aggregate: StateAggregate, body: Any) -> None:
    aggregate.owner_id = body.to_owner_id


def _transfer_space(aggregate: StateAggregate, body: Any) -> None:
    aggregate.space_id = body.to_space_id


def _replace_tags(aggregate: StateAggregate, body: Any) -> None:
    aggregate.tags = copy_tags(body.tags)


Effect = Callable[[StateAggregate, Any], None]

#: What events of these sorts do before the user's function; an event may be of several (STA-013, STA-014).
EFFECTS: Final[tuple[tuple[type, Effect], ...]] = (
    (AggregateDeleted, _delete),
    (AggregateRecovered, _recover),
    (OwnerTransferred, _transfer_owner),
    (SpaceTransferred, _transfer_space),
    (ResourceTagsApplied, _replace_tags),
)


class _Plan:
    """What happens at events of one class: effects, then a function of the body alone, or a richer one."""

    __slots__ = ("effects", "handler", "of_body")

    def __init__(self, effects: tuple[Effect, ...], handler: HandlerFunction | None) -> None:
        self.effects = effects
        plain = handler is not None and handler.first is First.BODY and not handler.parameters
        self.of_body = handler.function if handler is not None and plain else None
        self.handler = None if plain else handler


def _plan_of(metadata: StateMetadata, body: Any) -> _Plan:
    event_class = type(body)
    plan = metadata.plans[event_class] = _Plan(_effects_of(event_class), metadata.functions.get(event_class))
    return plan


def _effects_of(event_class: type) -> tuple[Effect, ...]:
    return tuple(effect for sort, effect in EFFECTS if issubclass(event_class, sort))


@contextmanager
def unsourced(metadata: StateMetadata, event_class: type) -> Iterator[None]:
    """Within, no function of the state takes events of a class; what they do to every aggregate they do."""
    known = metadata.plans.pop(event_class, None)
    metadata.plans[event_class] = _Plan(_effects_of(event_class), None)
    try:
        yield
    finally:
        del metadata.plans[event_class]
        if known is not None:
            metadata.plans[event_class] = known


def looks_at_bodies_alone(metadata: StateMetadata) -> bool:
    """Whether no sourcing function can see a header, so that stored streams may be applied without being copied."""
    known = metadata.bodies_alone
    if known is None:
        handlers = metadata.functions.values()
        known = metadata.bodies_alone = all(each.first is First.BODY and not each.parameters for each in handlers)
    return known


def _call(
    aggregate: StateAggregate, handler: HandlerFunction, event: DomainEvent[Any], stream: DomainEventStream
) -> None:
    exchange: DomainEventExchange[Any] = DomainEventExchange(event, command_stream=stream)
    kind = handler.first
    first = event.body if kind is First.BODY else event if kind is First.MESSAGE else exchange
    if handler.parameters:
        positional, keywords = aggregate.supply(handler, exchange)
        handler.function(aggregate.state, first, *positional, **keywords)
    else:
        handler.function(aggregate.state, first)


def supply_from_exchange(
    handler: HandlerFunction, exchange: DomainEventExchange[Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Further arguments by type from the event's exchange alone, where no world supplies services.

    Raises:
        SpecError: if nothing there is of the type, and the parameter has no default and takes no None.
    """
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for parameter in handler.parameters:
        value = _held(handler, parameter, exchange)
        if parameter.keyword:
            keywords[parameter.name] = value
        else:
            positional.append(value)
    return positional, keywords


def _held(handler: HandlerFunction, parameter: Parameter, exchange: DomainEventExchange[Any]) -> Any:
    wanted = parameter.wanted if parameter.service_name is None else None
    if wanted is not None:
        for value in (exchange, exchange.message, exchange.header, exchange.aggregate_id, exchange.command_stream):
            if isinstance(value, wanted):
                return value
    if parameter.default is not inspect.Parameter.empty:
        return parameter.default
    if parameter.nullable:
        return None
    raise SpecError(
        f"nothing supplies parameter {parameter.name!r} of {handler.place}",
        why="on offer are the event's exchange, the event, its header, its aggregate id and its stream",
        instead="let the command function ask the service, and put what it says into the event",
    )
