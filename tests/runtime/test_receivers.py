"""Receivers with a gate, receipts of local delivery, acknowledgement after success and failure."""

from __future__ import annotations

import pytest

from wowspec.errors import IllegalStateError
from wowspec.messages.exchange import ServerCommandExchange
from wowspec.runtime.receivers import (
    Delivery,
    Gate,
    LocalDeliveryReceipt,
    MessageReceiver,
    filter_or_acknowledge,
    finally_acknowledge,
)
from wowspec.world.world import World


def run(coro):
    """The finished task of a coroutine."""
    world = World()
    task = world.scheduler.spawn(coro, "test")
    world.scheduler.run()
    return task


@pytest.mark.clause("EVT-091", "CMD-155")
def test_one_subscriber():
    """A second subscriber is an illegal state, also after the gate has closed."""
    receiver = MessageReceiver()
    receiver.subscribe(print)

    with pytest.raises(IllegalStateError, match="one subscriber"):
        receiver.subscribe(print)
    receiver.close()
    with pytest.raises(IllegalStateError, match="one subscriber"):
        receiver.subscribe(print)


@pytest.mark.clause("EVT-091", "CMD-156")
def test_the_gate_opens_once_and_closes_once():
    """Opening and closing work once each; closing first makes opening a no-op."""
    receiver = MessageReceiver()
    assert receiver.gate is Gate.PREPARED
    assert (receiver.open(), receiver.open()) == (True, False)
    assert (receiver.close(), receiver.close(), receiver.open()) == (True, False, False)

    receiver = MessageReceiver()
    assert (receiver.close(), receiver.open()) == (True, False)
    assert receiver.gate is Gate.CLOSED
    assert not receiver.is_open


@pytest.mark.clause("PRJ-014", "PRJ-015")
def test_early_messages_wait_and_late_ones_are_refused():
    """What comes before the gate opens is handled then, in order; what comes after it closed is never acknowledged."""
    receiver, got, acknowledged = MessageReceiver(), [], []

    def offer(name):
        return receiver.offer(Delivery(name, lambda: acknowledged.append(name)))

    assert not offer("early")
    receiver.subscribe(lambda delivery: got.append(delivery.message))
    assert not offer("prepared")
    assert got == []
    receiver.open()
    assert offer("open")
    receiver.close()
    assert not offer("late")

    assert got == ["early", "prepared", "open"]
    assert acknowledged == []


@pytest.mark.clause("PRJ-014")
def test_a_receiver_that_opens_before_it_has_a_subscriber():
    """What came meanwhile is handled as soon as somebody subscribes."""
    receiver, got = MessageReceiver(), []
    receiver.open()
    assert not receiver.is_open

    assert not receiver.offer(Delivery("early"))
    receiver.subscribe(lambda delivery: got.append(delivery.message))

    assert got == ["early"]


@pytest.mark.clause("EVT-088", "CMD-151")
@pytest.mark.parametrize(
    ("answers", "is_confirmed"),
    [("", False), ("a", True), ("aa", True), ("r", False), ("ar", False), ("ra", False)],
)
def test_receipt(answers, is_confirmed):
    """A receipt is confirmed if somebody admitted the message and nobody refused it, in whatever order."""
    receipt = LocalDeliveryReceipt()
    for answer in answers:
        if answer == "a":
            receipt.admit()
        else:
            receipt.refuse()

    assert receipt.is_confirmed is is_confirmed


@pytest.mark.clause("CMD-151")
def test_only_an_open_receiver_admits():
    """A local-first message that meets a receiver which is not open is refused, and not kept for later."""
    receiver, got = MessageReceiver(), []
    receiver.subscribe(lambda delivery: got.append(delivery.message))
    receipts = [LocalDeliveryReceipt() for _ in range(3)]

    receiver.offer(Delivery("prepared", receipt=receipts[0]))
    receiver.open()
    receiver.offer(Delivery("open", receipt=receipts[1]))
    receiver.close()
    receiver.offer(Delivery("closed", receipt=receipts[2]))

    assert [receipt.is_confirmed for receipt in receipts] == [False, True, False]
    assert got == ["open"]


@pytest.mark.clause("EVT-100")
def test_acknowledged_after_success_and_failure():
    """Once after the work; after a failure too, before the very error goes on."""
    log = []

    async def work(error=None):
        log.append("work")
        if error is not None:
            raise error
        return 7

    delivery = Delivery("m", lambda: log.append("acknowledged"))

    assert run(finally_acknowledge(work(), delivery)).result() == 7
    assert log == ["work", "acknowledged"]

    error = KeyError("no")
    log.clear()
    assert run(finally_acknowledge(work(error), delivery)).error is error
    assert log == ["work", "acknowledged"]


@pytest.mark.clause("EVT-101")
@pytest.mark.parametrize("wanted", [True, False])
def test_filtering_acknowledges_what_it_drops(wanted):
    """An unwanted message is acknowledged and its local confirmation withdrawn; a wanted one is left alone."""
    receipt, acknowledged = LocalDeliveryReceipt(), []
    receipt.admit()
    delivery = Delivery("m", lambda: acknowledged.append("m"), receipt)

    assert run(filter_or_acknowledge(delivery, wanted=wanted)).result() is wanted
    assert acknowledged == ([] if wanted else ["m"])
    assert receipt.is_confirmed is wanted


@pytest.mark.clause("EVT-099")
def test_acknowledging_in_memory_does_nothing():
    """Without a delivery of a broker an exchange's acknowledgement just completes; with one it reaches the broker."""
    acknowledged = []

    async def tell():
        acknowledged.append("told")

    assert run(ServerCommandExchange(None).acknowledge()).error is None
    assert run(Delivery("m").acknowledge()).error is None
    assert run(ServerCommandExchange(None, delivery=Delivery("m", tell)).acknowledge()).error is None
    assert acknowledged == ["told"]
