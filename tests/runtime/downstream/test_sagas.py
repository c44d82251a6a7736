"""Stateless sagas: how results become commands, what they inherit, and what a failure in the middle leaves."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from tests.runtime.downstream.shop import ORDER, Bench, Book, Booked, Place, Placed, Ship, Shipped, stream_of
from wowspec import (
    CommandMessage,
    DomainEvent,
    DomainEventExchange,
    OwnerId,
    TenantId,
    chain,
    command_builder,
    on_event,
    on_state_event,
    projected,
    projection,
    saga_handled,
    stateless_saga,
)
from wowspec.errors import CommandResultError, DuplicateRequestIdError, InjectedTimeout
from wowspec.faults.values import Fault
from wowspec.messages.stages import CommandStage
from wowspec.modeling.identity import AggregateRef
from wowspec.modeling.processors import ProcessorKind
from wowspec.runtime.downstream.sagas import CommandStream
from wowspec.world.points import COMMAND_BUS_SEND, FaultKind


class Lodge(BaseModel):
    """A command that says tenant and owner itself."""

    id: str = "l-1"
    tenant: Annotated[str, TenantId()] = "t-body"
    owner: Annotated[str, OwnerId()] = "u-body"


class Seen(list):
    """Exchanges that a saga function ran with, a service by name."""


def run_saga(result: Any, event: Any = None, *, stream: Any = None) -> tuple[Bench, list[CommandMessage[Any]], Seen]:
    """Publish an event to a saga that returns this (or what a function makes of the bench); the commands it sent."""
    seen = Seen()

    @stateless_saga(context="shop")
    class Saga:
        def on_event(self, exchange: DomainEventExchange[Placed], seen: Seen) -> Any:
            seen.append(exchange)
            return result() if callable(result) else result

    bench = Bench(Saga, services={"seen": seen})
    sent: list[CommandMessage[Any]] = []
    put = bench.runtime.command_bus.send_now

    class Bus:
        def send_now(self, message: Any) -> None:
            sent.append(message)
            put(message)

        async def send(self, message: Any) -> None:
            self.send_now(message)

    bench.runtime.gateway.bus = Bus()
    bench.publish(stream or stream_of(event or Placed()))
    return bench, sent, seen


def commands_of(bench: Bench) -> list[Any]:
    """The bodies of the events of all ledgers, by id."""
    store = bench.runtime.event_store
    return [
        (ref.id, stream.request_id, stream.aggregate_id.tenant_id)
        for ref in sorted(store.aggregate_ids(), key=lambda ref: ref.id)
        if ref.aggregate_name == "ledger"
        for stream in store.peek(ref)
    ]


@pytest.mark.clause("SAG-002", "SAG-003", "CMD-079")
@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (None, []),
        ([], []),
        (Book(id="l-1"), [("l-1", "o-1/v1#1-0", "(0)")]),
        (lambda: command_builder(Book(id="l-1")), [("l-1", "o-1/v1#1-0", "(0)")]),
        (
            [Book(id="l-1"), Book(id="l-2")],
            [("l-1", "o-1/v1#1-0", "(0)"), ("l-2", "o-1/v1#1-1", "(0)")],
        ),
        (lambda: (Book(id=f"l-{n}") for n in (1, 2)), [("l-1", "o-1/v1#1-0", "(0)"), ("l-2", "o-1/v1#1-1", "(0)")]),
    ],
    ids=["nothing", "empty", "body", "builder", "list", "generator"],
)
def test_results_become_commands(result, expected):
    """Nothing, a body, a builder, or several: each gets the event's id and its position as request id."""
    bench, _, seen = run_saga(result)

    assert commands_of(bench) == expected
    assert isinstance(seen[0].command_stream, CommandStream)
    assert len(seen[0].command_stream) == len(expected)
    assert bench.logged == []


@pytest.mark.clause("SAG-002")
def test_a_set_of_commands_has_no_order():
    """Commands are sent one after another; a saga that returns a set is told to return a list."""
    bench, sent, _ = run_saga(lambda: frozenset({1, 2}))

    assert sent == []
    (error,) = bench.world.spec_errors
    assert "Saga.on_event returned a frozenset of commands" in str(error)


@pytest.mark.clause("SAG-001")
def test_both_kinds_of_functions_send():
    """Functions of events and of state events are sagas' functions alike."""

    @stateless_saga(context="shop")
    class Both:
        @on_event
        def placed(self, event: Placed) -> Book:
            return Book(id="l-1", what="event")

        @on_state_event
        async def placed_state(self, event: Placed) -> Book:
            return Book(id="l-2", what="state")

    bench = Bench(Both)
    bench.send(Place())

    assert bench.stored(AggregateRef("shop", "ledger", "l-1")) == [Booked(what="event")]
    assert bench.stored(AggregateRef("shop", "ledger", "l-2")) == [Booked(what="state")]
    functions = bench.runtime.event_dispatcher(ProcessorKind.STATELESS_SAGA).functions
    assert [function.info.processor_name for function in functions] == ["Both", "Both"]


@pytest.mark.clause("SAG-004", "SAG-005")
def test_what_a_builder_has_is_kept():
    """Request id, tenant and space of the builder stay; without them they are the event's; owner and id never are."""

    def of(builder, **values):
        builder = builder.aggregate_id("l-9")
        for name, value in values.items():
            getattr(builder, name)(value)
        return builder

    stream = stream_of(Placed(), ref=AggregateRef("shop", "order", "o-1", "t-1"))
    stream.events[0].space_id = "s-1"
    stream.events[0].owner_id = "u-1"
    own = {"request_id": "r-own", "tenant_id": "t-own", "space_id": "s-own", "owner_id": "u-own"}

    _, sent, _ = run_saga(
        lambda: [of(command_builder(Book(id="l-9"))), of(command_builder(Book(id="l-9")), **own)],
        stream=stream,
    )

    facts = [(m.request_id, m.aggregate_id.tenant_id, m.space_id, m.owner_id, m.aggregate_id.id) for m in sent]
    assert facts == [
        ("o-1/v1#1-0", "t-1", "s-1", "", "l-9"),
        ("r-own", "t-own", "s-own", "u-own", "l-9"),
    ]


@pytest.mark.clause("SAG-005")
def test_the_aggregate_id_is_not_inherited():
    """A command without an id of its own gets a generated one, not the event's aggregate's."""

    class Open(BaseModel):
        what: str = ""

    _, sent, _ = run_saga(lambda: command_builder(Open()).named_aggregate("shop.ledger"))

    assert len(sent[0].aggregate_id.id) == 15
    assert sent[0].aggregate_id.id != ORDER.id


@pytest.mark.clause("SAG-006")
def test_what_the_body_says_beats_the_builder():
    """Tenant, owner and id that a body declares win over the builder's and the event's."""
    _, sent, _ = run_saga(
        lambda: (
            command_builder(Lodge()).named_aggregate("shop.ledger").tenant_id("t-2").owner_id("u-2").aggregate_id("x")
        )
    )

    assert (sent[0].aggregate_id.tenant_id, sent[0].owner_id, sent[0].aggregate_id.id) == ("t-body", "u-body", "l-1")


@pytest.mark.clause("SAG-007", "EVT-150")
def test_headers_are_propagated():
    """The trace goes on; the event is the upstream, by its id and name; a header of the user's own is not handed on."""
    stream = stream_of(Placed(), trace_id="tr-1", command_operator="ann", custom="x")

    _, sent, _ = run_saga(Book(id="l-1"), stream=stream)

    header = sent[0].header
    assert header["trace_id"] == "tr-1"
    assert header["upstream_id"] == "o-1/v1#1"
    assert header["upstream_name"] == "placed"
    assert header["command_operator"] == "ann"
    assert "custom" not in header


@pytest.mark.clause("SAG-008", "CMD-077")
def test_a_ready_message_is_sent_as_it_is():
    """The very message goes out, its request id, tenant and space untouched, with the event's headers added."""
    ready = []

    def result():
        ready.append(bench_message())
        return ready[0]

    def bench_message():
        return Bench().runtime.message(Book(id="l-1"), request_id="r-own", tenant_id="t-own", space_id="s-own")

    _, sent, _ = run_saga(result, stream=stream_of(Placed(), trace_id="tr-1"))

    assert sent[0] is ready[0]
    assert (sent[0].request_id, sent[0].aggregate_id.tenant_id, sent[0].space_id) == ("r-own", "t-own", "s-own")
    assert sent[0].header["upstream_id"] == "o-1/v1#1"
    assert sent[0].header["trace_id"] == "tr-1"


@pytest.mark.clause("SAG-008")
def test_a_ready_message_needs_a_writable_header():
    """A message that was sent before is frozen, so it cannot be sent again."""

    def result():
        message = Bench().runtime.message(Book(id="l-1"))
        message.header.freeze()
        return message

    bench, sent, _ = run_saga(result)

    assert sent == []
    assert bench.logged == ["event.handler:Saga.on_event UnsupportedOperationError"]


class Rewriter:
    """Books under another id, or not at all."""

    async def rewrite(self, builder):
        """None for a body that says so."""
        body = builder.values.body
        return None if body.what == "nothing" else builder.body(Book(id="l-new", what=body.what))


@pytest.mark.clause("SAG-009")
def test_rewriters_apply_to_saga_commands():
    """A rewriter of the body's class changes what the saga sends; one that yields nothing fails the function."""

    @stateless_saga(context="shop")
    class Saga:
        def on_event(self, event: Placed) -> Book:
            return Book(id="l-1", what=event.item)

    bench = Bench(Saga)
    bench.runtime.command_factory.rewriters.register(Book, Rewriter())

    bench.publish(stream_of(Placed(item="pen"), Placed(item="nothing")))

    assert commands_of(bench) == [("l-new", "o-1/v1#1-0", "(0)")]
    assert bench.logged == ["event.handler:Saga.on_event RewriteNoCommandError"]


@pytest.mark.clause("SAG-009")
def test_what_is_rewritten_is_validated_first():
    """The fields of a body that has a rewriter are checked before it is rewritten."""

    class Strict(BaseModel):
        id: str = "l-1"
        what: str = ""
        amount: Annotated[int, Field(gt=0)] = 1

    @stateless_saga(context="shop")
    class Saga:
        def on_event(self, event: Placed) -> Any:
            return Strict.model_construct(id="l-1", what="", amount=0)

    bench = Bench(Saga)
    bench.runtime.command_factory.rewriters.register(Strict, Rewriter())

    bench.publish(stream_of(Placed()))

    assert commands_of(bench) == []
    assert bench.logged == ["event.handler:Saga.on_event CommandValidationError"]


@pytest.mark.clause("SAG-010", "SAG-011", "CMD-078")
def test_commands_are_sent_in_order_and_not_waited_for():
    """Each send ends before the next command is built; the function is done before the first command is processed."""
    bench, sent, seen = run_saga([Book(id="l-1"), Book(id="l-1"), Book(id="l-1")])

    points = [str(row.point) for row in bench.world.trace]
    first, last = points.index(COMMAND_BUS_SEND), len(points) - 1 - points[::-1].index(COMMAND_BUS_SEND)
    assert points.count(COMMAND_BUS_SEND) == 3
    assert "event_store.append" not in points[first:last]
    assert [message.request_id for message in sent] == ["o-1/v1#1-0", "o-1/v1#1-1", "o-1/v1#1-2"]
    assert list(seen[0].command_stream) == sent
    assert [request for _, request, _ in commands_of(bench)] == ["o-1/v1#1-0", "o-1/v1#1-1", "o-1/v1#1-2"]


@pytest.mark.clause("SAG-010", "CMD-078")
def test_a_failure_stops_the_rest():
    """What was sent before stays sent, what was to follow is not, and no list of commands is recorded."""

    class Strict(BaseModel):
        id: str = "l-1"
        amount: Annotated[int, Field(gt=0)] = 1

    refused = Strict.model_construct(id="l-1", amount=0)
    bench, sent, seen = run_saga(
        lambda: [Book(id="l-1"), command_builder(refused).named_aggregate("shop.ledger"), Book(id="l-3")]
    )

    assert [message.request_id for message in sent] == ["o-1/v1#1-0"]
    assert commands_of(bench) == [("l-1", "o-1/v1#1-0", "(0)")]
    assert [exchange.command_stream for exchange in seen] == [None]


@pytest.mark.clause("SAG-011")
def test_the_gateway_checks_saga_commands():
    """A saga's command passes the gateway: one that its fields refuse never reaches the bus."""

    class Strict(BaseModel):
        id: str = "l-1"
        amount: Annotated[int, Field(gt=0)] = 1

    bench, sent, _ = run_saga(
        lambda: command_builder(Strict.model_construct(id="l-1", amount=0)).named_aggregate("shop.ledger")
    )

    assert sent == []
    assert bench.logged == ["event.handler:Saga.on_event CommandValidationError"]


@pytest.mark.clause("SAG-012")
def test_the_command_stream():
    """It holds the event's id and the commands in order, and it is there when nothing was sent as well."""
    _, sent, seen = run_saga([Book(id="l-1"), Book(id="l-2")])
    stream = seen[0].command_stream
    assert (stream.domain_event_id, tuple(stream), len(stream)) == ("o-1/v1#1", tuple(sent), 2)

    _, _, seen = run_saga(None)
    assert (seen[0].command_stream.domain_event_id, len(seen[0].command_stream)) == ("o-1/v1#1", 0)


@stateless_saga(context="shop")
class ThreeBookings:
    """Sends three commands for each order."""

    def on_event(self, exchange: DomainEventExchange[Placed], seen: Seen) -> list[Book]:
        seen.append(exchange)
        return [Book(id="l-1"), Book(id="l-2"), Book(id="l-3")]


@pytest.mark.clause("SAG-013")
def test_a_failing_send_stops_the_rest():
    """The first command stays sent, the others are not sent, there is no command stream, and the function failed."""
    seen = Seen()
    bench = Bench(ThreeBookings, services={"seen": seen})
    bench.runtime.arm().arm(Fault(COMMAND_BUS_SEND, FaultKind.FAIL, at=2))

    bench.publish(stream_of(Placed()))

    assert [ref for ref, _, _ in commands_of(bench)] == ["l-1"]
    assert seen[0].command_stream is None
    assert bench.logged == ["event.handler:ThreeBookings.on_event InjectedFault"]


@pytest.mark.clause("SAG-014", "EVT-125", "EVT-127")
def test_a_retry_meets_its_own_commands():
    """A recoverable failure runs the function again; its first command is a duplicate then, so no other is sent."""
    seen = Seen()
    bench = Bench(ThreeBookings, services={"seen": seen})
    bench.runtime.arm().arm(Fault(COMMAND_BUS_SEND, FaultKind.TIMEOUT, at=2))

    bench.publish(stream_of(Placed()))

    assert len(seen) == 2
    assert [ref for ref, _, _ in commands_of(bench)] == ["l-1"]
    (failure,) = bench.world.log
    assert isinstance(failure.error, DuplicateRequestIdError)
    assert not isinstance(failure.error, InjectedTimeout)


@pytest.mark.clause("SAG-015")
def test_the_signal_lists_the_commands():
    """The SAGA_HANDLED signal has the ids of the commands that were sent; the other stages' signals have none."""

    @stateless_saga(context="shop")
    class OnShip:
        def on_event(self, event: Shipped) -> list[Book]:
            return [Book(id="l-1"), Book(id="l-2")]

    bench = Bench(OnShip)
    bench.send(Place())
    bench.send(Ship(), CommandStage.SAGA_HANDLED)

    commands = {signal.stage: signal.commands for _, signal in bench.runtime.notifier.received}
    store = bench.runtime.event_store
    sent = [store.peek(AggregateRef("shop", "ledger", name))[0].command_id for name in ("l-1", "l-2")]
    assert list(commands[CommandStage.SAGA_HANDLED]) == sent
    assert commands[CommandStage.PROCESSED] == ()


@stateless_saga(context="shop")
class Ledgers:
    """One booking for each item of an order, none for an order that was shipped."""

    def on_event(self, event: Placed | Shipped) -> list[Book]:
        return [Book(id=f"l-{event.item}", what=event.item)] if isinstance(event, Placed) else []


@projection(context="shop")
class Bookings:
    """Fails on a bad booking."""

    def on_event(self, event: Booked) -> None:
        if event.what == "bad":
            raise KeyError(event.what)


def wait_for_chain(bench: Bench, body: Any) -> Any:
    """Send a command, and wait for the saga and for what becomes of its commands; the task."""
    plan = chain(saga_handled("shop", "Ledgers"), then=projected("shop", "Bookings"))
    message = bench.runtime.message(body)
    task = bench.world.scheduler.spawn(bench.runtime.gateway.send_and_wait(message, plan.plan(message.id)), "send")
    bench.world.scheduler.run()
    return task


@pytest.mark.clause("SAG-016")
def test_a_chain_waits_for_the_commands_of_the_saga():
    """It ends when every command of the saga reached the tail stage; a failed tail fails it."""
    bench = Bench(Ledgers, Bookings)

    assert wait_for_chain(bench, Place(items=("pen",))).result().error_code == "Ok"
    assert bench.stored(AggregateRef("shop", "ledger", "l-pen")) == [Booked(what="pen")]

    failed = wait_for_chain(bench, Place(id="o-2", items=("bad",)))
    assert isinstance(failed.error, CommandResultError)


@pytest.mark.clause("SAG-016")
def test_a_chain_without_commands_ends_with_the_saga():
    """A saga that sends nothing leaves nothing to wait for."""
    bench = Bench(Ledgers, Bookings)
    bench.send(Place())

    assert wait_for_chain(bench, Ship()).result().error_code == "Ok"


@pytest.mark.clause("SAG-017")
def test_nothing_is_kept_between_events():
    """Each event finds the saga as it is; the world stores nothing for it."""

    @stateless_saga(context="shop")
    class Forgetful:
        def on_event(self, event: DomainEvent[Placed]) -> Book:
            return Book(id="l-1", what=event.body.item)

    bench = Bench(Forgetful)
    bench.send(Place(items=("a", "b")))

    assert {ref.aggregate_name for ref in bench.runtime.event_store.aggregate_ids()} == {"order", "ledger"}
    assert bench.stored(AggregateRef("shop", "ledger", "l-1")) == [Booked(what="a"), Booked(what="b")]
