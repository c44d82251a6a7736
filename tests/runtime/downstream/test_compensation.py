"""Compensation: targets on headers, matching, and the two compensators."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.runtime.downstream.shop import ORDER, Bench, OrderState, Place, Placed, Ship, stream_of
from wowspec import (
    DomainEvent,
    IgnoreSourcing,
    event_processor,
    on_event,
    on_state_event,
)
from wowspec.errors import IllegalArgumentError, UnsupportedOperationError
from wowspec.messages.header import Header
from wowspec.messages.json_reading import JsonTypes, read_event_stream
from wowspec.messages.json_shapes import write_event_stream
from wowspec.modeling.identity import SNAPSHOT_FUNCTION, AggregateRef, FunctionInfo, FunctionKind
from wowspec.runtime.downstream.compensation import (
    CompensateSupporter,
    CompensationTarget,
    DomainEventCompensator,
    StateEventCompensator,
    compensation_id,
    is_aimed_at,
    mark_for_compensation,
)

FUNCTION = FunctionInfo(FunctionKind.EVENT, "shop", "Pair", "first")
TARGET = CompensationTarget("f-1", FUNCTION)


class Journal(list):
    """What functions wrote down."""


@event_processor(context="shop")
class Pair:
    """Two functions of one event, and one of its state."""

    @on_event
    def first(self, event: DomainEvent[Placed], journal: Journal) -> None:
        journal.append(f"first {event.body.item} {compensation_id(event.header)}")

    @on_event
    def second(self, event: DomainEvent[Placed], journal: Journal) -> None:
        journal.append(f"second {event.body.item}")

    @on_state_event
    def state(self, event: DomainEvent[Placed], journal: Journal) -> None:
        journal.append(f"state v{event.version}")


def bench_with_history() -> tuple[Bench, Journal]:
    """An order of two versions whose events were handled already."""
    journal = Journal()
    bench = Bench(Pair, services={"journal": journal})
    bench.send(Place(items=("pen", "ink")))
    bench.send(Ship())
    journal.clear()
    return bench, journal


@pytest.mark.clause("EVT-132")
def test_marking_a_header():
    """Id, context, processor and function are written, the kind is not; a frozen header refuses."""
    header = mark_for_compensation(Header({"trace_id": "t"}), TARGET)

    assert header == {
        "trace_id": "t",
        "compensate.id": "f-1",
        "compensate.context": "shop",
        "compensate.processor": "Pair",
        "compensate.function": "first",
    }
    assert compensation_id(header) == "f-1"
    assert compensation_id(Header()) is None
    with pytest.raises(UnsupportedOperationError):
        mark_for_compensation(Header().freeze(), TARGET)


@pytest.mark.clause("EVT-133")
@pytest.mark.parametrize(
    ("change", "matches"),
    [
        ({}, True),
        ({"context_name": "other"}, False),
        ({"processor_name": "Other"}, False),
        ({"name": "other"}, False),
        ({"kind": FunctionKind.STATE_EVENT}, True),
    ],
)
def test_a_marked_header_is_aimed_at_one_function(change, matches):
    """Context, processor and name must all be equal; the kind plays no part. An unmarked header is for all."""
    facts = {"kind": FUNCTION.kind, "context_name": "shop", "processor_name": "Pair", "name": "first"} | change
    function = FunctionInfo(**facts)

    assert is_aimed_at(mark_for_compensation(Header(), TARGET), function) is matches
    assert is_aimed_at(Header(), function)
    assert is_aimed_at(Header({"compensate.function": "other"}), function)


class Sent(list):
    """A bus that keeps what it is sent, and may fail."""

    async def send(self, message: Any) -> None:
        self.append(message)


@pytest.mark.clause("EVT-134")
def test_domain_events_are_sent_again():
    """Each stream of the range is loaded, marked on its own header, and sent, one after another; they are counted."""
    bench, _ = bench_with_history()
    sent = Sent()
    compensator = DomainEventCompensator(bench.runtime.event_store, sent.send)

    assert bench.run(compensator.compensate(ORDER, head_version=1, tail_version=2, target=TARGET)) == 2
    assert [stream.version for stream in sent] == [1, 2]
    assert [compensation_id(stream.header) for stream in sent] == ["f-1", "f-1"]
    assert compensation_id(sent[0].events[0].header) is None
    assert compensation_id(bench.runtime.event_store.peek(ORDER)[0].header) is None
    assert bench.run(compensator.compensate(ORDER, head_version=2, tail_version=2, target=TARGET)) == 1
    assert bench.run(compensator.compensate(ORDER, head_version=3, tail_version=9, target=TARGET)) == 0


@pytest.mark.clause("EVT-135")
def test_state_events_are_sent_again():
    """The state is replayed from version 1; state events are sent for the versions of the range alone."""
    bench, _ = bench_with_history()
    sent = Sent()
    compensator = StateEventCompensator(bench.runtime.event_store, bench.runtime.catalog.state_type, sent.send)

    assert bench.run(compensator.compensate(ORDER, head_version=2, tail_version=5, target=TARGET)) == 1
    (state_event,) = sent
    assert state_event.version == 2
    assert state_event.state == OrderState(id="o-1", items=["pen", "ink"], shipped=True)
    assert compensation_id(state_event.header) == "f-1"
    assert bench.run(compensator.compensate(ORDER, head_version=1, tail_version=1, target=TARGET)) == 1


class RefusedEvent(IgnoreSourcing):
    """As an event: an error info that is not sourced."""

    def __init__(self) -> None:
        self.error_code = "Refused"
        self.error_message = "refused"


@pytest.mark.clause("EVT-135")
def test_what_made_no_state_is_skipped():
    """An ignored first stream, and what follows while there is no state, are skipped without an error."""
    bench = Bench()
    store, sent = bench.runtime.event_store, Sent()
    store.append_now(stream_of(RefusedEvent(), version=1))
    store.append_now(stream_of(Placed(), version=2))
    compensator = StateEventCompensator(store, bench.runtime.catalog.state_type, sent.send)

    assert bench.run(compensator.compensate(ORDER, head_version=1, tail_version=9, target=TARGET)) == 0
    assert sent == []


@pytest.mark.clause("EVT-136")
def test_the_kind_chooses_the_compensator():
    """EVENT goes to domain events, STATE_EVENT to state events, another kind is an illegal argument."""
    calls = []

    class Spy:
        def __init__(self, name):
            self.name = name

        async def compensate(self, aggregate_id, *, head_version, tail_version, target):
            calls.append((self.name, head_version, tail_version))
            return 7

    bench = Bench()
    supporter = CompensateSupporter(Spy("domain"), Spy("state"), lambda named: True)

    def target_of(kind):
        return CompensationTarget("f-1", FunctionInfo(kind, "shop", "Pair", "first"))

    event, state = target_of(FunctionKind.EVENT), target_of(FunctionKind.STATE_EVENT)
    assert bench.run(supporter.compensate(ORDER, version=3, target=event)) == 7
    assert bench.run(supporter.compensate(ORDER, head_version=2, tail_version=5, target=state)) == 7
    assert calls == [("domain", 3, 3), ("state", 2, 5)]
    for kind in (FunctionKind.COMMAND, FunctionKind.SOURCING, FunctionKind.ERROR):
        with pytest.raises(IllegalArgumentError, match=f"a {kind.value} function cannot be compensated"):
            bench.run(supporter.compensate(ORDER, version=3, target=target_of(kind)))
    for versions in ({}, {"tail_version": 3}):
        with pytest.raises(IllegalArgumentError, match="name the version"):
            bench.run(supporter.compensate(ORDER, target=event, **versions))


@pytest.mark.clause("EVT-089")
def test_which_aggregates_are_local():
    """Those whose type the world holds."""
    supporter = supporter_of(Bench())

    assert supporter.is_local(ORDER.named_aggregate)
    assert not supporter.is_local(AggregateRef("elsewhere", "thing", "t-1").named_aggregate)


def supporter_of(bench: Bench, store: Any = None) -> CompensateSupporter:
    """A supporter over a bench's buses."""
    runtime = bench.runtime
    store = store or runtime.event_store
    return CompensateSupporter(
        DomainEventCompensator(store, runtime.domain_event_bus.send),
        StateEventCompensator(store, runtime.catalog.state_type, runtime.state_event_bus.send),
        lambda named: named in runtime.catalog.aggregates,
    )


@pytest.mark.clause("EVT-137", "DOC-016")
def test_in_memory_every_function_runs_again():
    """The mark is on the stream alone, so in memory all functions run, as for a new message."""
    bench, journal = bench_with_history()

    bench.run(supporter_of(bench).compensate(ORDER, version=1, target=TARGET))

    assert sorted(journal) == ["first ink None", "first pen None", "second ink", "second pen"]


class JsonStore:
    """A store whose streams went through JSON, as those of databases do."""

    def __init__(self, store: Any) -> None:
        self._store = store

    async def load(self, *args: Any) -> list[Any]:
        """Streams that share one header with their events."""
        streams = await self._store.load(*args)
        return [read_event_stream(write_event_stream(stream), JsonTypes()) for stream in streams]


@pytest.mark.clause("EVT-137", "EVT-138")
def test_after_json_only_the_target_runs_again():
    """Through JSON the events share the stream's header: that function alone runs again, on each of its events."""
    bench, journal = bench_with_history()

    bench.run(supporter_of(bench, JsonStore(bench.runtime.event_store)).compensate(ORDER, version=1, target=TARGET))

    assert journal == ["first pen f-1", "first ink f-1"]


@pytest.mark.clause("EVT-135", "EVT-137", "SNP-019")
def test_state_events_for_the_snapshot_function():
    """The snapshot branch looks at the whole message: one that is aimed at another function it skips."""
    bench, journal = bench_with_history()
    bench.send(Ship())
    store = bench.runtime.snapshot_store
    saved = []
    strategy = bench.runtime.snapshot_strategy
    bench.runtime.snapshot_strategy = SimpleNamespace(
        should_save=strategy.should_save,
        save_now=lambda event: saved.append(event.version) or strategy.save_now(event),
    )
    journal.clear()

    other = CompensationTarget("f-1", FunctionInfo(FunctionKind.STATE_EVENT, "shop", "Pair", "state"))
    bench.run(supporter_of(bench).compensate(ORDER, version=1, target=other))
    assert (saved, journal) == ([], ["state v1", "state v1"])

    bench.run(supporter_of(bench).compensate(ORDER, version=3, target=CompensationTarget("f-2", SNAPSHOT_FUNCTION)))
    assert saved == [3]
    assert store.load_now(ORDER).version == 3
