"""The in-memory command bus: one channel a type, one subscriber ever, and what closing does."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from tests.runtime.pipeline import Pipeline
from wowspec import aggregate_root, create_aggregate
from wowspec.errors import CommandResultError, IllegalArgumentError, IllegalStateError, UnsupportedOperationError
from wowspec.messages.envelopes import CommandMessage
from wowspec.messages.header import Header
from wowspec.messages.stages import CommandStage
from wowspec.messages.wait_plans import wait_for_stage
from wowspec.modeling.identity import AggregateRef, NamedAggregate, TopicKind
from wowspec.runtime.buses import InMemoryCommandBus

ORDER, CART = NamedAggregate("shop", "order"), NamedAggregate("shop", "cart")


class Pay(BaseModel):
    """A command."""


def command(id_="c-1", named=ORDER, target="o-1", tenant="(0)"):
    """A command message."""
    return CommandMessage(id_, Pay(), AggregateRef(*named, target, tenant), "pay", id_, Header())


@pytest.fixture
def bus():
    """A bus that no one listens to."""
    return InMemoryCommandBus()


@pytest.mark.clause("CMD-132")
def test_topic_kind(bus):
    """It carries commands."""
    assert bus.topic_kind is TopicKind.COMMAND


@pytest.mark.clause("CMD-133")
def test_one_channel_a_named_aggregate(bus):
    """Tenant and instance play no part; another type is another channel."""
    orders: list[Any] = []
    bus.receive(ORDER, orders.append)

    first, second = command(), command("c-2", target="o-2", tenant="t-2")
    bus.send_now(first)
    bus.send_now(second)
    bus.send_now(command("c-3", named=CART))

    assert orders == [first, second]


@pytest.mark.clause("CMD-134")
def test_one_subscriber_ever(bus):
    """A second subscription is refused, also after the first has ended."""
    end = bus.receive(ORDER, lambda _: None)
    with pytest.raises(IllegalStateError, match=r"shop\.order has its one subscriber already"):
        bus.receive(ORDER, lambda _: None)

    end()

    assert bus.subscriber_count(ORDER) == 0
    with pytest.raises(IllegalStateError):
        bus.receive(ORDER, lambda _: None)


@pytest.mark.clause("CMD-142")
def test_sending_to_a_subscriber_that_has_gone(bus):
    """Nobody will ever take the command, so the send fails."""
    bus.receive(ORDER, lambda _: None)()

    with pytest.raises(IllegalStateError, match=r"subscriber of the command channel of shop\.order has gone"):
        bus.send_now(command())


@pytest.mark.clause("CMD-135", "CMD-139", "CMD-142")
def test_commands_wait_for_the_first_subscriber(bus):
    """Without bound, and in order; each is delivered once."""
    messages = [command(f"c-{n}") for n in range(1000)]
    for message in messages:
        bus.send_now(message)
    received: list[Any] = []

    bus.receive(ORDER, received.append)

    assert received == messages


@pytest.mark.clause("CMD-136")
def test_sending_freezes_the_header(bus):
    """Whether anyone listens or not, and while the bus closes; a copy can be written."""
    messages = [command(), command("c-2"), command("c-3")]
    bus.send_now(messages[0])
    bus.receive(ORDER, lambda _: None)
    bus.send_now(messages[1])
    bus.closing = True
    bus.send_now(messages[2])

    for message in messages:
        with pytest.raises(UnsupportedOperationError):
            message.header["k"] = "v"
        copied = message.header.copy()
        copied["k"] = "v"
        assert copied["k"] == "v"


@pytest.mark.clause("CMD-137")
def test_the_very_message_is_delivered(bus):
    """The receiver gets the object that was sent."""
    received: list[Any] = []
    bus.receive(ORDER, received.append)
    message = command()

    bus.send_now(message)

    assert received[0] is message


@pytest.mark.clause("CMD-140", "CMD-141")
def test_closing_from_inside_a_delivery(bus):
    """Close returns; the channel goes when the delivery has ended, until then sends are dropped, receives empty."""
    received: list[Any] = []

    def receiver(message):
        received.append(message.id)
        bus.close()
        assert bus.subscriber_count(ORDER) == 1
        bus.send_now(command("c-2"))
        bus.receive(CART, received.append)

    bus.receive(ORDER, receiver)
    bus.send_now(command())

    assert received == ["c-1"]
    assert bus.subscriber_count(ORDER) == bus.subscriber_count(CART) == 0


@pytest.mark.clause("CMD-141")
def test_a_closed_bus_can_be_used_again(bus):
    """With fresh channels: what waited is gone, and another may subscribe."""
    bus.receive(CART, lambda _: None)
    bus.send_now(command())
    bus.close()
    received: list[Any] = []

    bus.receive(ORDER, received.append)
    bus.receive(CART, received.append)
    bus.send_now(command("c-2"))

    assert [message.id for message in received] == ["c-2"]


@pytest.mark.clause("CMD-144")
def test_the_receivers_group(bus):
    """It has no effect, but must not be blank."""
    with pytest.raises(IllegalArgumentError, match="group of a subscription must not be blank"):
        bus.receive(ORDER, lambda _: None, group=" ")
    received: list[Any] = []
    bus.receive(ORDER, received.append, group="anyone")
    bus.send_now(command())

    assert len(received) == 1


@pytest.mark.clause("CMD-145")
def test_several_aggregates_in_one_receiver(bus):
    """Their channels are merged, in the order of sending."""
    received: list[Any] = []
    for named in (ORDER, CART):
        bus.receive(named, received.append)

    bus.send_now(command("c-1"))
    bus.send_now(command("c-2", named=CART))
    bus.send_now(command("c-3"))

    assert [message.id for message in received] == ["c-1", "c-2", "c-3"]


# --- through the gateway ---


@create_aggregate
class Found(BaseModel):
    """Creates a town."""

    id: str = "a-1"


class Founded(BaseModel):
    """Its event."""


@aggregate_root
class Town:
    """A town."""

    def __init__(self, id: str) -> None:
        self.id = id

    def on_command(self, command: Found) -> Founded:
        return Founded()


class LetsThrough:
    """A request-id check that knows no duplicates."""

    async def check(self, command):
        return True

    def begin(self, command):
        return True


@pytest.mark.clause("CMD-138")
def test_a_message_is_waited_for_once():
    """Its header is frozen, so the wait headers of a second waiting call cannot be written."""
    pipeline = Pipeline(Town)
    message, task = pipeline.start(Found())
    pipeline.world.scheduler.run()
    assert task.result().succeeded
    pipeline.runtime.gateway.request_ids = LetsThrough()
    plan = wait_for_stage(CommandStage.PROCESSED).plan(message.id)

    again = pipeline.world.scheduler.spawn(pipeline.runtime.gateway.send_and_wait(message, plan), "again")
    pipeline.world.scheduler.run()

    assert isinstance(again.error, CommandResultError)
    assert again.error.error_code == "BadRequest"


@pytest.mark.clause("CMD-143")
def test_acknowledging_does_nothing():
    """An in-memory acknowledgement is one row of the trace, and has no effect."""
    pipeline = Pipeline(Town)
    pipeline.send(Found())

    [row] = pipeline.rows("command.acknowledge")
    assert (row.outcome, pipeline.failures()) == ("ok", [])
