"""Dispatch of events to functions: which ones, in what order, and what a failure does to the others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runtime.downstream.shop import (
    OTHER,
    Bench,
    LedgerState,
    Order,
    OrderState,
    Place,
    Placed,
    Rushed,
    Ship,
    Shipped,
    state_event_of,
    stream_of,
)
from wowspec import (
    Clock,
    DomainEvent,
    DomainEventExchange,
    StateEvent,
    blocking,
    event_processor,
    on_event,
    on_state_event,
    order,
    projection,
    stateless_saga,
)
from wowspec.modeling.identity import FunctionKind, NamedAggregate
from wowspec.modeling.processors import ProcessorKind, processor_metadata
from wowspec.runtime.chain import log_error
from wowspec.runtime.downstream.compensation import COMPENSATE_ID
from wowspec.runtime.downstream.registrar import FunctionRegistrar, RegisteredFunction


class Journal(list):
    """What functions wrote down, a service by name."""


def bench_of(*parts: Any, **options: Any) -> tuple[Bench, Journal]:
    """A bench of these processors and their journal."""
    journal = Journal()
    return Bench(*parts, services={"journal": journal}, **options), journal


@projection(context="shop")
class Wide:
    """Takes a base class; its subclass's events are taken as well."""

    def on_event(self, event: Placed, journal: Journal) -> None:
        journal.append(f"placed {type(event).__name__}")

    @on_state_event
    def shipped(self, event: Shipped, journal: Journal) -> None:
        journal.append("state shipped")


@pytest.mark.clause("EVT-106")
def test_a_function_takes_subclasses_too():
    """Events match by instance-of; an event of another type reaches nobody and is skipped."""
    bench, journal = bench_of(Wide)

    bench.publish(stream_of(Shipped(), Rushed(), Placed()))

    assert journal == ["placed Rushed", "placed Placed"]
    assert bench.logged == []


@pytest.mark.clause("EVT-106")
def test_a_function_takes_its_topics_alone():
    """The same event of an aggregate that is none of the function's topics is not taken."""

    @projection(context="shop")
    class Elsewhere:
        @on_event(aggregates=("shop.ledger",))
        def booked(self, event: Placed, journal: Journal) -> None:
            journal.append("ledger")

    bench, journal = bench_of(Elsewhere)
    bench.publish(stream_of(Placed()))
    assert journal == []

    ledger = stream_of(Placed(), ref=OTHER.__class__("shop", "ledger", "l-1"))
    bench.publish(ledger)
    assert journal == ["ledger"]


@pytest.mark.clause("EVT-113", "EVT-114", "PRJ-002", "TCK-013")
def test_each_kind_of_function_hears_its_own_bus():
    """A stream never runs state-event functions, a state event never event functions; one class may have both."""
    bench, journal = bench_of(Wide)

    bench.publish(stream_of(Placed(), Shipped()))
    assert journal == ["placed Placed"]
    bench.publish(state_event_of(Placed(), Shipped(), version=2))
    assert journal == ["placed Placed", "state shipped"]


@pytest.mark.clause("EVT-113", "EVT-115")
def test_one_subscription_for_each_aggregate():
    """Only what the functions declare is subscribed to, and once, however many functions there are."""
    named, ledger = NamedAggregate("shop", "order"), NamedAggregate("shop", "ledger")
    bench, _ = bench_of()
    domain, state = bench.runtime.domain_event_bus, bench.runtime.state_event_bus
    before = state.subscriber_count(named)

    @event_processor(context="shop")
    class Two:
        @on_event
        def first(self, event: Placed) -> None: ...

        @on_event
        def second(self, event: Shipped) -> None: ...

    bench.runtime.add_processor(processor_metadata(Two))

    assert domain.subscriber_count(named) == 1
    assert domain.subscriber_count(ledger) == 0
    assert state.subscriber_count(named) == before


def functions_of(cls: type, instance: Any) -> list[RegisteredFunction]:
    """The registered form of a processor's functions."""
    metadata = processor_metadata(cls)
    return [
        RegisteredFunction(function.handler, function.info, function.topics(), instance, metadata.kind)
        for function in metadata.functions
    ]


@pytest.mark.clause("EVT-109", "EVT-110")
def test_registrar():
    """Registering again is a no-op; an unregistered function is found no more; a filtered registrar is independent."""
    registrar, wide = FunctionRegistrar(), Wide()
    event = stream_of(Placed()).events[0]
    first, second = functions_of(Wide, wide)

    assert registrar.register(first)
    assert registrar.register(second)
    assert not registrar.register(functions_of(Wide, wide)[0])
    assert registrar.register(functions_of(Wide, Wide())[0])
    assert len(registrar) == 3
    assert len(list(registrar.taking(event, None))) == 2

    events = registrar.filter(lambda function: function.info.kind is FunctionKind.EVENT)
    assert registrar.unregister(first)
    assert not registrar.unregister(first)
    assert len(list(registrar.taking(event, None))) == 1
    assert len(list(events)) == 2
    assert first in list(events.taking(event, None))


@pytest.mark.clause("EVT-107")
def test_qualified_name():
    """A function is told apart from its overloads by the type that it takes."""
    assert [function.qualified_name for function in functions_of(Wide, Wide())] == [
        "Wide.on_event(Placed)",
        "Wide.shipped(Shipped)",
    ]


@pytest.mark.clause("EVT-109")
def test_a_processor_registered_twice_runs_once():
    """The world takes a processor in once."""
    bench, journal = bench_of(Wide)
    metadata = processor_metadata(Wide)
    bench.runtime.add_processor(metadata)
    bench.runtime.event_dispatcher(ProcessorKind.PROJECTION).register(metadata, bench.runtime.processor(Wide))

    bench.publish(stream_of(Placed()))

    assert journal == ["placed Placed"]


@pytest.mark.clause("EVT-111")
def test_a_ready_function_is_registered_unchanged():
    """Put into the sagas' dispatcher as it is, an event processor's function is run, and its result is not sent."""

    @event_processor(context="shop")
    class Reader:
        def on_event(self, event: Placed, journal: Journal) -> Ship:
            journal.append("read")
            return Ship()

    bench, journal = bench_of()
    (function,) = functions_of(Reader, Reader())
    bench.runtime.event_dispatcher(ProcessorKind.STATELESS_SAGA).add(function)

    assert bench.send(Place()) == "Ok"
    assert journal == ["read"]
    assert bench.stored() == [Placed()]


@pytest.mark.clause("EVT-116", "EVT-117", "DOC-002", "DOC-012")
def test_events_of_a_stream_one_after_another():
    """The next event waits for every function of the one before; functions of one event run beside each other."""

    @event_processor(context="shop")
    class Pair:
        @order(2)
        @on_event
        async def a_slow(self, event: Placed, clock: Clock, journal: Journal) -> None:
            journal.append(f"slow begins {event.item}")
            await clock.sleep(2)
            journal.append(f"slow ends {event.item}")

        @order(1)
        @on_event
        async def b_quick(self, event: Placed, clock: Clock, journal: Journal) -> None:
            journal.append(f"quick begins {event.item}")
            await clock.sleep(1)
            journal.append(f"quick ends {event.item}")

    bench, journal = bench_of(Pair)

    bench.publish(stream_of(Placed(item="1"), Placed(item="2")))

    of_one = ["slow begins", "quick begins", "quick ends", "slow ends"]
    assert journal == [f"{what} {item}" for item in ("1", "2") for what in of_one]


@pytest.mark.clause("EVT-116", "DOC-012")
def test_order_holds_for_an_aggregate_not_between_aggregates():
    """Streams of one aggregate are handled one at a time; another aggregate's go on beside them; so do state events."""

    @event_processor(context="shop")
    class Watch:
        @on_event
        async def placed(self, event: DomainEvent[Placed], clock: Clock, journal: Journal) -> None:
            journal.append(f"{event.aggregate_id.id} v{event.version} begins")
            await clock.sleep(1)
            journal.append(f"{event.aggregate_id.id} v{event.version} ends")

        @on_state_event
        def state(self, event: DomainEvent[Placed], journal: Journal) -> None:
            journal.append(f"state v{event.version}")

    bench, journal = bench_of(Watch)
    bus = bench.runtime.domain_event_bus
    bus.send_now(stream_of(Placed(), version=1))
    bus.send_now(stream_of(Placed(), version=2))
    bus.send_now(stream_of(Placed(), version=1, ref=OTHER))
    bench.publish(state_event_of(Placed(), version=1))

    assert journal == [
        "o-1 v1 begins",
        "o-2 v1 begins",
        "state v1",
        "o-1 v1 ends",
        "o-1 v2 begins",
        "o-2 v1 ends",
        "o-1 v2 ends",
    ]


@pytest.mark.clause("EVT-118", "EVT-094", "CMD-436")
def test_each_function_has_an_exchange_of_its_own():
    """Two functions of one event get two exchanges around one event, each with its function and the event's version."""

    @event_processor(context="shop")
    class Two:
        @on_event
        def first(self, exchange: DomainEventExchange[Placed], journal: Journal) -> None:
            exchange.set_command_result("seen", "first")
            journal.append(exchange)

        @on_event
        def second(self, exchange: DomainEventExchange[Placed], journal: Journal) -> None:
            journal.append(exchange)

    bench, journal = bench_of(Two)
    stream = stream_of(Placed(), version=4)
    bench.publish(stream)
    first, second = journal

    assert first is not second
    assert first.message is second.message is stream.events[0]
    assert [exchange.function.name for exchange in journal] == ["first", "second"]
    assert first.get_command_result() == {"seen": "first"}
    assert second.get_command_result() == {}
    assert [exchange.aggregate_version for exchange in journal] == [4, 4]


@pytest.mark.clause("EVT-119", "EVT-120")
def test_a_failing_function_holds_nobody_up():
    """Its error is stored on the exchange and logged; its siblings, later events and later streams are handled."""

    @event_processor(context="shop")
    class Mixed:
        @on_event
        def bad(self, exchange: DomainEventExchange[Placed], journal: Journal) -> None:
            journal.append(exchange)
            raise KeyError(exchange.message.body.item)

        @on_event
        def good(self, event: Placed, journal: Journal) -> None:
            journal.append(event.item)

    bench, journal = bench_of(Mixed)

    bench.publish(stream_of(Placed(item="1"), Placed(item="2")))
    bench.publish(stream_of(Placed(item="3"), version=2))

    assert [item for item in journal if isinstance(item, str)] == ["1", "2", "3"]
    assert bench.logged == ["event.handler:Mixed.bad KeyError"] * 3
    assert [repr(item.error) for item in journal if not isinstance(item, str)] == [
        "KeyError('1')",
        "KeyError('2')",
        "KeyError('3')",
    ]


@pytest.mark.clause("EVT-121")
def test_an_error_handler_that_raises_ends_the_dispatcher():
    """With a handler that raises again, the first failure ends all that the dispatcher does; others go on."""

    @event_processor(context="shop")
    class Bad:
        def on_event(self, event: Placed, journal: Journal) -> None:
            journal.append(f"bad {event.item}")
            raise KeyError(event.item)

    bench, journal = bench_of(Bad, Wide)
    bench.runtime.event_dispatcher(ProcessorKind.EVENT_PROCESSOR).on_error = log_error

    bench.publish(stream_of(Placed(item="1"), Placed(item="2")))
    bench.publish(stream_of(Placed(item="3"), version=2))
    bench.publish(stream_of(Placed(item="4"), ref=OTHER))

    assert sorted(journal) == ["bad 1", *["placed Placed"] * 4]
    assert bench.logged == ["event.handler:Bad.on_event KeyError", "DomainEventDispatcher KeyError"]
    assert bench.runtime.event_dispatcher(ProcessorKind.EVENT_PROCESSOR).ended


@pytest.mark.clause("EVT-121")
@pytest.mark.parametrize("failing", ["event", "state event"])
def test_the_end_drops_what_waits_and_what_runs(failing):
    """Both children end: queued messages are not handled, and functions that wait for something never go on."""

    @event_processor(context="shop")
    class Both:
        @on_event
        async def placed(self, event: DomainEvent[Placed], clock: Clock, journal: Journal) -> None:
            await self.handle("event", event, clock, journal)

        @on_state_event
        async def placed_state(self, event: DomainEvent[Placed], clock: Clock, journal: Journal) -> None:
            await self.handle("state event", event, clock, journal)

        async def handle(self, kind: str, event: DomainEvent[Placed], clock: Clock, journal: Journal) -> None:
            if event.body.item == "bad" and kind == failing:
                raise KeyError(event.body.item)
            journal.append(f"{kind} begins")
            await clock.sleep(1)
            journal.append(f"{kind} ends")

    bench, journal = bench_of(Both)
    bench.runtime.event_dispatcher(ProcessorKind.EVENT_PROCESSOR).on_error = log_error
    events, states = bench.runtime.domain_event_bus, bench.runtime.state_event_bus
    first = [stream_of(Placed(), ref=OTHER), state_event_of(Placed(), ref=OTHER)]
    bad = [stream_of(Placed(item="bad")), state_event_of(Placed(item="bad"))]
    later = [stream_of(Placed(), version=2), state_event_of(Placed(), version=2)]
    for stream, state_event in (first, bad, later):
        events.send_now(stream)
        states.send_now(state_event)
    bench.run()

    assert journal.count(f"{failing} begins") == 1
    assert journal.count("event ends") == journal.count("state event ends") == 0
    assert bench.world.log[-1].subject is bad[failing == "state event"]


@pytest.mark.clause("EVT-112", "PRJ-003", "PRJ-004", "DOC-004")
def test_what_functions_return():
    """Plain, async, generator and async generator functions are run to their end; what they give is dropped."""

    @projection(context="shop")
    class Returning:
        @on_event
        def value(self, event: Placed, journal: Journal) -> str:
            journal.append("value")
            return "dropped"

        @on_event
        def nothing(self, event: Placed, journal: Journal) -> None:
            journal.append("nothing")

        @on_event
        async def later(self, event: Placed, journal: Journal) -> str:
            journal.append("later")
            return "dropped"

        @on_event
        def several(self, event: Placed, journal: Journal) -> Any:
            journal.append("several 1")
            yield Ship()
            journal.append("several 2")

        @on_event
        async def streamed(self, event: Placed, journal: Journal) -> Any:
            journal.append("streamed 1")
            yield Ship()
            journal.append("streamed 2")

        @blocking
        @on_event
        def blocked(self, event: Placed, journal: Journal) -> None:
            journal.append("blocked")

    bench, journal = bench_of(Returning)
    bench.publish(stream_of(Placed()))

    expected = ["value", "nothing", "later", "several 1", "several 2", "streamed 1", "streamed 2", "blocked"]
    assert sorted(journal) == sorted(expected)
    assert bench.logged == []
    assert bench.stored() == []


@pytest.mark.clause("EVT-133", "EVT-137")
def test_the_header_of_the_event_decides():
    """A mark on an event aims it at one function; a mark on the stream alone is not seen."""

    @event_processor(context="shop")
    class Two:
        @on_event
        def first(self, event: Placed, journal: Journal) -> None:
            journal.append("first")

        @on_event
        def second(self, event: Placed, journal: Journal) -> None:
            journal.append("second")

    mark = {
        COMPENSATE_ID: "f-1",
        "compensate.context": "shop",
        "compensate.processor": "Two",
        "compensate.function": "second",
    }
    bench, journal = bench_of(Two)
    stream = stream_of(Placed())
    stream.header.update(mark)
    bench.publish(stream)
    assert journal == ["first", "second"]

    journal.clear()
    bench.publish(stream_of(Placed(), **mark))
    assert journal == ["second"]


@pytest.mark.clause("PRJ-014")
def test_dispatchers_start_in_one_order():
    """Event processors hear of an event before projections, these before sagas, in whatever order they are named."""

    @stateless_saga(context="shop")
    class Saga:
        def on_event(self, event: Placed, journal: Journal) -> None:
            journal.append("saga")

    @projection(context="shop")
    class View:
        def on_event(self, event: Placed, journal: Journal) -> None:
            journal.append("projection")

    @event_processor(context="shop")
    class Processor:
        def on_event(self, event: Placed, journal: Journal) -> None:
            journal.append("event processor")

    bench, journal = bench_of(Saga, View, Processor)
    bench.publish(stream_of(Placed()))

    assert journal == ["event processor", "projection", "saga"]


@pytest.mark.clause("PRJ-015", "TCK-013")
def test_a_stopped_dispatcher_finishes_what_it_took():
    """Stopping drains what was taken; what comes later is not handled."""

    @event_processor(context="shop")
    class Sleeper:
        async def on_event(self, event: Placed, clock: Clock, journal: Journal) -> None:
            await clock.sleep(1)
            journal.append(event.item)

    bench, journal = bench_of(Sleeper)
    bus, dispatcher = bench.runtime.domain_event_bus, bench.runtime.event_dispatcher(ProcessorKind.EVENT_PROCESSOR)
    bus.send_now(stream_of(Placed(item="1"), Placed(item="2")))
    bus.send_now(stream_of(Placed(item="3"), version=2))
    dispatcher.stop()
    bus.send_now(stream_of(Placed(item="4"), version=3))
    bench.run()

    assert journal == ["1", "2", "3"]


@pytest.mark.clause("EVT-104")
def test_functions_of_the_state():
    """A function may take the state event itself, by the class of the state; it is run for each of its events."""

    @projection(context="shop")
    class States:
        @on_state_event(aggregates=(Order,))
        def changed(self, state_event: StateEvent[OrderState], journal: Journal) -> None:
            journal.append((state_event.version, state_event.state.id))

        @on_state_event(aggregates=(Order,))
        def other(self, state_event: StateEvent[LedgerState], journal: Journal) -> None:
            journal.append("never")

    bench, journal = bench_of(States)
    bench.publish(state_event_of(Placed(), Shipped(), version=3))

    assert journal == [(3, "o-1"), (3, "o-1")]
