"""What event functions are given besides their event: by type from the exchange, then from the services."""

from __future__ import annotations

from typing import Annotated

import pytest

from tests.runtime.downstream.shop import ORDER, Bench, OrderState, Placed, Shipped, state_event_of, stream_of
from wowspec import (
    AggregateRef,
    CommandResultAccessor,
    DomainEvent,
    DomainEventExchange,
    DomainEventStream,
    Header,
    Name,
    ReadOnlyStateAggregate,
    StateDomainEventExchange,
    StateEvent,
    on_event,
    on_state_event,
    projection,
)
from wowspec.messages.exchange import ServerCommandExchange, StateEventExchange
from wowspec.runtime.injection import MissingServiceError
from wowspec.world.services import ServiceProvider


class Journal(list):
    """What functions were given."""


class Inventory:
    """A service."""


class CountedInventory(Inventory):
    """A service of a narrower type."""


@pytest.mark.clause("EVT-092")
def test_what_exchanges_hold():
    """Each attribute of the runtime's exchanges has its place on one of ours."""
    held = {
        "__ERROR__": (DomainEventExchange, "error"),
        "__SERVICE_PROVIDER__": (DomainEventExchange, "services"),
        "__FUNCTION__": (DomainEventExchange, "function"),
        "__COMMAND_RESULT__": (DomainEventExchange, "command_result"),
        "__COMMAND_STREAM__": (DomainEventExchange, "command_stream"),
        "__EVENT_STREAM__": (ServerCommandExchange, "event_stream"),
        "__COMMAND_AGGREGATE__": (ServerCommandExchange, "command_aggregate"),
        "__AGGREGATE_METADATA__": (ServerCommandExchange, "aggregate_metadata"),
        "__AGGREGATE_PROCESSOR__": (ServerCommandExchange, "aggregate_processor"),
        "__AGGREGATE_VERSION__": (ServerCommandExchange, "aggregate_version"),
        "__COMMAND_INVOKE_RESULT__": (ServerCommandExchange, "invoke_result"),
    }

    for cls, name in held.values():
        exchange = cls(None)
        value = object()
        setattr(exchange, name, value)
        assert getattr(exchange, name) is value


@pytest.mark.clause("EVT-093")
def test_each_result_entry_makes_a_new_map():
    """A map that was handed out does not change when another entry is set."""
    exchange = DomainEventExchange(stream_of(Placed()).events[0])
    exchange.set_command_result("a", 1)
    before = exchange.get_command_result()

    exchange.set_command_result("b", 2)

    assert before == {"a": 1}
    assert exchange.get_command_result() == {"a": 1, "b": 2}


@pytest.mark.clause("EVT-094")
def test_aggregate_version():
    """An event's exchange has its message's version; a command's has what was set on it."""
    event = stream_of(Placed(), version=6).events[0]

    assert DomainEventExchange(event).aggregate_version == 6
    assert StateEventExchange(state_event_of(Placed(), version=7)).aggregate_version == 7
    command = ServerCommandExchange(None)
    assert command.aggregate_version is None
    command.aggregate_version = 8
    assert command.aggregate_version == 8


@projection(context="shop")
class Taking:
    """Asks for all that an event's exchange holds."""

    @on_event
    def event(
        self,
        event: Placed,
        exchange: DomainEventExchange[Placed],
        message: DomainEvent[Placed],
        header: Header,
        aggregate_id: AggregateRef,
        services: ServiceProvider,
        result: CommandResultAccessor,
        inventory: Inventory,
        journal: Journal,
    ) -> None:
        journal.append((event, exchange, message, header, aggregate_id, services, result, inventory))


@pytest.mark.clause("EVT-095")
def test_by_type_from_the_exchange_then_from_services():
    """Exchange, message, header, aggregate id and services are the exchange's own; anything else is a service."""
    journal, inventory = Journal(), CountedInventory()
    bench = Bench(Taking, services={"journal": journal, "inventory": inventory})
    stream = stream_of(Placed())

    bench.publish(stream)

    ((event, exchange, message, header, aggregate_id, services, result, given),) = journal
    assert message is stream.events[0]
    assert event is message.body
    assert exchange.message is message
    assert header is message.header
    assert aggregate_id is message.aggregate_id
    assert services is bench.world.services
    assert result is exchange
    assert given is inventory


@pytest.mark.clause("EVT-095")
def test_what_nothing_supplies():
    """Where the runtime would pass nothing, a spec is told; a parameter that takes None is given it."""

    @projection(context="shop")
    class Lacking:
        @on_event
        def nullable(self, event: Placed, inventory: Inventory | None, journal: Journal) -> None:
            journal.append(inventory)

        @on_event
        def required(self, event: Placed, inventory: Inventory) -> None: ...

    journal = Journal()
    bench = Bench(Lacking, services={"journal": journal})
    bench.publish(stream_of(Placed()))

    assert journal == [None]
    (error,) = bench.world.spec_errors
    assert isinstance(error, MissingServiceError)
    assert "nothing supplies parameter 'inventory' of Lacking.required" in str(error)


@pytest.mark.clause("EVT-096")
def test_a_named_service():
    """A parameter that names its service gets the one of that name, and no other of its type."""

    @projection(context="shop")
    class Naming:
        @on_event
        def by_name(self, event: Placed, inventory: Annotated[Inventory, Name("second")], journal: Journal) -> None:
            journal.append(inventory)

        @on_event
        def absent(self, event: Placed, header: Annotated[Header | None, Name("third")], journal: Journal) -> None:
            journal.append(header)

    journal, first, second = Journal(), Inventory(), Inventory()
    bench = Bench(Naming, services={"journal": journal, "first": first, "second": second})
    bench.publish(stream_of(Placed()))

    assert sorted(journal, key=str) == sorted([None, second], key=str)
    assert second in journal


@projection(context="shop")
class OfStates:
    """Asks for the state in every way."""

    @on_state_event
    def shipped(
        self,
        event: DomainEvent[Shipped],
        state: OrderState,
        state_event: StateEvent[OrderState],
        aggregate: ReadOnlyStateAggregate,
        stream: DomainEventStream,
        exchange: StateDomainEventExchange[OrderState, Shipped],
        journal: Journal,
    ) -> None:
        journal.append((event, state, state_event, aggregate, stream, exchange))


@pytest.mark.clause("EVT-095", "EVT-097")
def test_the_state_in_state_event_functions():
    """State aggregate and state event are the message itself, the stream its stream, the state its raw state."""
    journal = Journal()
    bench = Bench(OfStates, services={"journal": journal})
    state_event = state_event_of(Shipped(), version=5)

    bench.publish(state_event)

    ((event, state, taken, aggregate, stream, exchange),) = journal
    assert event is state_event.events[0]
    assert state is state_event.state
    assert taken is aggregate is exchange.state_event is state_event
    assert stream is state_event.stream
    assert (aggregate.version, aggregate.aggregate_id, aggregate.deleted) == (5, ORDER, False)
