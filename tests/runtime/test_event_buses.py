"""The buses of domain events and state events in memory: multicast, warm-up buffer, frozen headers."""

from __future__ import annotations

import pytest

from tests.runtime.downstream.shop import ORDER, Placed, state_event_of, stream_of
from wowspec.errors import IllegalArgumentError, UnsupportedOperationError
from wowspec.modeling.identity import TOPIC_OF_KIND, AggregateRef, FunctionKind, TopicKind
from wowspec.runtime.buses import (
    DEFAULT_GROUP,
    WARM_UP_BUFFER,
    InMemoryCommandBus,
    NoOpEventBus,
    domain_event_bus,
    state_event_bus,
)

NAMED = ORDER.named_aggregate


@pytest.mark.clause("EVT-075")
def test_topic_kinds():
    """Each bus carries one kind of topic, and each kind of function takes from one."""
    assert InMemoryCommandBus.topic_kind is TopicKind.COMMAND
    assert domain_event_bus().topic_kind is TopicKind.EVENT_STREAM
    assert state_event_bus().topic_kind is TopicKind.STATE_EVENT
    assert TOPIC_OF_KIND == {
        FunctionKind.COMMAND: TopicKind.COMMAND,
        FunctionKind.SOURCING: TopicKind.EVENT_STREAM,
        FunctionKind.EVENT: TopicKind.EVENT_STREAM,
        FunctionKind.STATE_EVENT: TopicKind.STATE_EVENT,
        FunctionKind.ERROR: TopicKind.UNDEFINED,
    }


@pytest.mark.clause("EVT-076")
@pytest.mark.parametrize("group", ["", "  "])
def test_a_group_has_a_name(group):
    """A blank group is an illegal argument; the default one is called so."""
    assert DEFAULT_GROUP == "default"
    with pytest.raises(IllegalArgumentError, match="group of a subscription must not be blank"):
        domain_event_bus().receive(NAMED, print, group=group)


@pytest.mark.clause("EVT-074", "EVT-077")
def test_sending_freezes_the_header_of_the_message():
    """The stream's header is read-only afterwards, with and without a listener; the headers of its events are not."""
    for listeners in (0, 1):
        bus, stream = domain_event_bus(), stream_of(Placed())
        for _ in range(listeners):
            bus.receive(NAMED, lambda message: None)

        bus.send_now(stream)

        assert stream.header.is_read_only
        with pytest.raises(UnsupportedOperationError):
            stream.header["late"] = "x"
        stream.events[0].header["late"] = "x"
        assert stream.events[0].body == Placed()


@pytest.mark.clause("EVT-078", "EVT-079")
def test_every_subscriber_gets_the_very_message():
    """Two subscribers, of one group too, both get the object that was sent."""
    bus, stream, got = domain_event_bus(), stream_of(Placed()), []
    bus.receive(NAMED, lambda message: got.append(("first", message)), group="one")
    bus.receive(NAMED, lambda message: got.append(("second", message)), group="one")

    bus.send_now(stream)

    assert [name for name, _ in got] == ["first", "second"]
    assert all(message is stream for _, message in got)


@pytest.mark.clause("EVT-079")
def test_channels_are_of_aggregate_types():
    """A subscriber hears of its own type of aggregate only, whatever the instance."""
    bus, got = state_event_bus(), []
    bus.receive(NAMED, got.append)
    other = AggregateRef("shop", "ledger", "o-1")

    bus.send_now(state_event_of(Placed()))
    bus.send_now(state_event_of(Placed(), version=2))
    stream = stream_of(Placed(), ref=other)
    domain_event_bus().send_now(stream)

    assert [message.version for message in got] == [1, 2]
    assert bus.subscriber_count(other.named_aggregate) == 0


@pytest.mark.clause("EVT-080")
def test_the_first_subscriber_gets_what_was_kept():
    """What was sent before anyone listened is kept, up to 256 messages, for the first subscriber alone."""
    bus, first, second = domain_event_bus(), [], []
    for version in range(1, WARM_UP_BUFFER + 3):
        bus.send_now(stream_of(Placed(), version=version))

    bus.receive(NAMED, first.append)
    bus.receive(NAMED, second.append)

    assert WARM_UP_BUFFER == 256
    assert [stream.version for stream in first] == list(range(1, 257))
    assert second == []


@pytest.mark.clause("EVT-081", "TCK-010")
def test_order_is_kept():
    """Each subscriber gets the messages in the order in which they were sent."""
    bus, got = domain_event_bus(), []
    bus.receive(NAMED, got.append)

    for version in (1, 2, 3):
        bus.send_now(stream_of(Placed(), version=version))

    assert [stream.version for stream in got] == [1, 2, 3]


@pytest.mark.clause("EVT-082", "TCK-010")
def test_subscriber_count():
    """Live subscriptions are counted, by aggregate type."""
    bus = domain_event_bus()
    assert bus.subscriber_count(NAMED) == 0

    end = bus.receive(NAMED, print)
    bus.receive(NAMED, print)
    assert bus.subscriber_count(NAMED) == 2
    end()
    assert bus.subscriber_count(NAMED) == 1
    bus.close()
    assert bus.subscriber_count(NAMED) == 0


@pytest.mark.clause("EVT-083")
def test_a_closed_bus_can_be_used_again():
    """Closing ends every subscription and forgets what was kept; a later one is fresh."""
    bus, before, after = domain_event_bus(), [], []
    bus.receive(NAMED, before.append)
    bus.close()
    bus.send_now(stream_of(Placed(), version=7))
    bus.close()

    bus.receive(NAMED, after.append)
    bus.send_now(stream_of(Placed(), version=8))

    assert before == []
    assert [stream.version for stream in after] == [8]


@pytest.mark.clause("EVT-084")
def test_the_bus_that_does_nothing():
    """It accepts messages, gives none, and is of domain events."""
    bus, got = NoOpEventBus(), []
    bus.receive(NAMED, got.append)

    bus.send_now(stream_of(Placed()))
    coro = bus.send(stream_of(Placed()))
    with pytest.raises(StopIteration):
        coro.send(None)
    bus.close()

    assert got == []
    assert bus.subscriber_count(NAMED) == 0
    assert bus.topic_kind is TopicKind.EVENT_STREAM
