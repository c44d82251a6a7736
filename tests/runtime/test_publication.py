"""Publication after a stored command: what goes on which bus, in what order, and what their failures do."""

from __future__ import annotations

import pytest

from tests.runtime.downstream import shop
from tests.runtime.downstream.shop import ORDER, Bench, Place, Ship
from wowspec.errors import ErrorCode
from wowspec.faults.values import Fault
from wowspec.messages.envelopes import DomainEventStream, StateEvent
from wowspec.messages.stages import CommandStage
from wowspec.modeling.ordering import Order
from wowspec.runtime.catalog import catalog_of
from wowspec.runtime.chain import COMMAND_DISPATCHER, NamedFilter
from wowspec.runtime.system import Runtime
from wowspec.world.points import DOMAIN_EVENT_BUS_SEND, STATE_EVENT_BUS_SEND, FaultKind
from wowspec.world.world import World


class Publishing(Bench):
    """A bench that listens to both buses."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[DomainEventStream | StateEvent] = []
        for bus in (self.runtime.domain_event_bus, self.runtime.state_event_bus):
            bus.receive(ORDER.named_aggregate, self.heard.append)

    @property
    def points(self) -> list[str]:
        """The points of the command lane, in order."""
        return [row.point for row in self.world.trace]


@pytest.mark.clause("EVT-037", "EVT-038")
def test_the_stored_stream_then_the_state_event():
    """The very stream that was stored is published, then a state event of a copy of it with the live state."""
    bench = Publishing()

    assert bench.send(Place()) == "Ok"

    stream, state_event = bench.heard
    assert stream is bench.runtime.event_store.peek(ORDER)[0]
    assert state_event.stream is not stream
    assert state_event.id == stream.id
    assert state_event.state.items == ["pen"]
    assert bench.points.index(DOMAIN_EVENT_BUS_SEND) < bench.points.index(STATE_EVENT_BUS_SEND)


@pytest.mark.clause("EVT-037", "EVT-040")
def test_a_failed_publication_of_events_stops_the_chain():
    """The events are stored, the state event is not published, and PROCESSED is a failure."""
    bench = Publishing()
    bench.runtime.arm().arm(Fault(DOMAIN_EVENT_BUS_SEND, FaultKind.FAIL))

    assert bench.send(Place()) == ErrorCode.BAD_REQUEST
    assert len(bench.stored()) == 1
    assert bench.heard == []
    assert STATE_EVENT_BUS_SEND not in bench.points
    assert bench.send(Ship()) == "Ok"


@pytest.mark.clause("EVT-038", "EVT-040")
def test_a_failed_publication_of_the_state_is_swallowed():
    """It is logged, the chain goes on, and PROCESSED is a success."""
    bench = Publishing()
    bench.runtime.arm().arm(Fault(STATE_EVENT_BUS_SEND, FaultKind.FAIL))

    assert bench.send(Place()) == "Ok"
    assert [type(message) for message in bench.heard] == [DomainEventStream]
    assert bench.logged == ["state_event_bus.send InjectedFault"]


class Between:
    """Writes into the stream's header, before or after the state event is made."""

    def __init__(self, key: str) -> None:
        self.key = key

    async def filter(self, exchange, next):
        """Write, then go on."""
        stream = exchange.event_stream
        for header in (stream.events[0].header, *(() if stream.header.is_read_only else (stream.header,))):
            header[self.key] = "x"
        await next(exchange)


@pytest.mark.clause("EVT-039")
def test_the_state_event_has_headers_of_its_own():
    """What is on the original before is on the state event too; what is written afterwards is not."""
    runtime = Runtime(World())
    heard = []
    before = Order(after=("AggregateProcessorFilter",))
    after = Order(2**31 - 1, after=("SendStateEventFilter",))
    runtime.add_filter(NamedFilter("Before", before, Between("before"), (COMMAND_DISPATCHER,)))
    runtime.add_filter(NamedFilter("After", after, Between("after"), (COMMAND_DISPATCHER,)))
    runtime.use(catalog_of([shop.Order]))
    runtime.state_event_bus.receive(ORDER.named_aggregate, heard.append)
    runtime.domain_event_bus.receive(ORDER.named_aggregate, heard.append)
    task = runtime.world.scheduler.spawn(runtime.gateway.send(runtime.message(Place())), "send")
    runtime.world.scheduler.run()

    assert task.error is None
    stream, state_event = heard
    assert "before" in stream.header
    assert "before" in state_event.header
    assert {"before", "after"} <= set(stream.events[0].header)
    assert "before" in state_event.events[0].header
    assert "after" not in state_event.events[0].header


@pytest.mark.clause("EVT-040")
def test_processed_is_signalled_after_both_publications():
    """The signal is the last thing that the command's chain does."""
    bench = Publishing()

    bench.send(Place(), CommandStage.PROCESSED)

    order = [bench.points.index(point) for point in (DOMAIN_EVENT_BUS_SEND, STATE_EVENT_BUS_SEND)]
    assert max(order) < bench.points.index("wait.notify:PROCESSED")
