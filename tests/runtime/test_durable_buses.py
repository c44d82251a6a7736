"""Buses that deliver at least once: what they keep, and give again."""

from __future__ import annotations

import pytest

from tests.runtime.test_buses import CART, ORDER, command
from wowspec.runtime.durable_buses import DurableCommandBus


class Consumer:
    """Writes down the ids of what it gets, and keeps the deliveries."""

    def __init__(self):
        self.ids = []
        self.deliveries = []

    def __call__(self, message, delivery):
        self.ids.append(message.id)
        self.deliveries.append(delivery)

    def acknowledge(self, place):
        """Acknowledge one delivery."""
        coro = self.deliveries[place].acknowledge()
        with pytest.raises(StopIteration):
            coro.send(None)


@pytest.fixture
def bus():
    """A bus that no one listens to."""
    return DurableCommandBus()


def test_what_is_acknowledged_does_not_come_again(bus):
    """The rest does, in order, and can be acknowledged then."""
    consumer = Consumer()
    bus.consume(ORDER, "orders", consumer)
    for text in ("c-1", "c-2", "c-3"):
        bus.send_now(command(text))
    consumer.acknowledge(1)

    assert bus.log.give_again() == 2
    assert consumer.ids == ["c-1", "c-2", "c-3", "c-1", "c-3"]
    assert [(name, message.id) for name, message in bus.log.pending()] == [("orders", "c-1"), ("orders", "c-3")]

    consumer.acknowledge(3)
    consumer.acknowledge(3)
    assert [message.id for _, message in bus.log.pending()] == ["c-3"]


def test_a_restart(bus):
    """The consumer that begins again gets first what the other one left behind."""
    first, second = Consumer(), Consumer()
    bus.consume(ORDER, "orders", first)
    bus.send_now(command("c-1"))

    bus.restart()
    assert bus.log.give_again() == 0
    bus.send_now(command("c-2"))
    bus.consume(ORDER, "orders", second)

    assert first.ids == ["c-1"]
    assert second.ids == ["c-1", "c-2"]


def test_a_consumer_that_has_gone(bus):
    """What is sent to it meanwhile is accepted, and waits; its header is frozen as ever."""
    consumer = Consumer()
    leave = bus.consume(ORDER, "orders", consumer)
    leave()
    message = command("c-1")

    bus.send_now(message)

    assert message.header.is_read_only
    assert [each.id for _, each in bus.log.pending()] == ["c-1"]
    bus.restart()
    bus.consume(ORDER, "orders", consumer)
    assert consumer.ids == ["c-1"]


def test_types_apart(bus):
    """A consumer of one type of aggregate hears nothing of another."""
    orders, carts = Consumer(), Consumer()
    bus.consume(ORDER, "orders", orders)
    bus.consume(CART, "carts", carts)
    bus.send_now(command("c-1"))

    assert (orders.ids, carts.ids) == (["c-1"], [])


def test_a_copy(bus):
    """A copy of a log keeps the same messages; each is acknowledged for itself."""
    bus.consume(ORDER, "orders", Consumer())
    bus.send_now(command("c-1"))
    other, consumer = DurableCommandBus(), Consumer()
    other.consume(ORDER, "orders", consumer)
    other.log.take_over(bus.log)
    assert consumer.ids == []

    assert other.log.give_again() == 1
    consumer.acknowledge(0)
    assert (len(other.log.pending()), len(bus.log.pending())) == (0, 1)
