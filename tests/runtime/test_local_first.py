"""Local-first buses: what goes where with which flag, what comes back, and a runtime over them."""

from __future__ import annotations

from typing import ClassVar

import pytest

from tests.runtime.downstream.shop import (
    ORDER,
    Bench,
    Order,
    Place,
    Placed,
    Ship,
    stream_of,
)
from wowspec import event_processor, void_command
from wowspec.errors import UnsupportedOperationError
from wowspec.messages.envelopes import CommandMessage
from wowspec.messages.header import Header
from wowspec.modeling.aggregates import aggregate_metadata
from wowspec.modeling.identity import AggregateRef, TopicKind
from wowspec.runtime.buses import InMemoryCommandBus, domain_event_bus
from wowspec.runtime.local_first import Broker, LocalBus, LocalFirstBus, LocalFirstCommandBus, local_first_buses
from wowspec.runtime.receivers import Delivery
from wowspec.world.world import World

NAMED = ORDER.named_aggregate
FAR = AggregateRef("elsewhere", "thing", "t-1")


class Setting:
    """A local-first bus of domain events over a broker."""

    def __init__(self, *, is_local=True):
        self.world = World()
        self.broker = Broker()
        self.bus = LocalFirstBus(
            LocalBus(domain_event_bus()),
            self.broker,
            is_local=lambda named: is_local and named == NAMED,
            log=self.world.log_failure,
            scheduler=self.world.scheduler,
        )
        self.plain = []
        self.handled = []

    def running(self, *, open_=True):
        """A running dispatcher's receiver."""
        receiver = self.bus.receiver(NAMED)
        receiver.subscribe(lambda delivery: self.handled.append(delivery.message))
        if open_:
            receiver.open()
        return receiver

    def send(self, message):
        """Send, and let everything happen."""
        task = self.world.scheduler.spawn(self.bus.send(message), "send")
        self.world.scheduler.run()
        task.result()

    @property
    def flags(self):
        """The flags of what the broker got."""
        return [message.header.get("local_first") for message in self.broker.sent]


@pytest.fixture
def setting():
    """A bus whose orders are local."""
    return Setting()


@pytest.mark.clause("EVT-085", "CMD-146", "CMD-147")
@pytest.mark.parametrize("value", ["false", "False", "FALSE"])
def test_a_message_may_refuse_to_be_local(setting, value):
    """Flagged `false`, in any case, the very message goes to the distributed bus alone, and comes back from there."""
    setting.running()
    stream = stream_of(Placed(), local_first=value)

    setting.send(stream)

    assert setting.broker.sent == [stream]
    assert setting.broker.sent[0] is stream
    assert [message.header["local_first"] for message in setting.handled] == [value]


@pytest.mark.clause("EVT-085", "EVT-089", "CMD-146", "CMD-147")
def test_an_aggregate_that_is_not_local():
    """What this process does not hold goes to the distributed bus alone, unflagged."""
    setting = Setting(is_local=False)
    setting.running()
    stream = stream_of(Placed())

    setting.send(stream)

    assert setting.broker.sent[0] is stream
    assert "local_first" not in stream.header
    assert len(setting.handled) == 1


@pytest.mark.clause("EVT-085", "EVT-087", "EVT-088", "CMD-148", "CMD-149", "CMD-152", "DOC-011")
def test_a_local_message_is_handled_once(setting):
    """A running receiver takes the local copy; the distributed one says so, and is acknowledged and dropped here."""
    setting.running()
    stream = stream_of(Placed())

    setting.send(stream)

    assert [message.header["local_first"] for message in setting.handled] == ["true"]
    assert setting.flags == ["true"]
    assert [message.id for message in setting.broker.acknowledged] == [stream.id]
    assert setting.handled[0] is not stream
    assert setting.broker.sent[0] is not stream
    assert setting.handled[0] is not setting.broker.sent[0]
    assert "local_first" not in stream.header
    assert not stream.header.is_read_only


@pytest.mark.clause("CMD-148")
def test_each_sending_makes_fresh_copies(setting):
    """The same message can be sent twice; each time other copies are made."""
    setting.running()
    stream = stream_of(Placed())

    setting.send(stream)
    setting.send(stream)

    assert len({id(message) for message in (*setting.handled, *setting.broker.sent)}) == 4


@pytest.mark.clause("EVT-088", "CMD-149", "CMD-151")
@pytest.mark.parametrize("gates", [(), ("prepared",), ("closed",), ("open", "closed"), ("prepared", "open")])
def test_without_confirmation_the_distributed_copy_is_handled(gates):
    """No running receiver, or one that refuses: the distributed copy is flagged `false` and delivered as any other."""
    setting = Setting()
    receivers = [setting.running(open_=gate != "prepared") for gate in gates]
    for gate, receiver in zip(gates, receivers, strict=True):
        if gate == "closed":
            receiver.close()

    setting.send(stream_of(Placed()))

    assert setting.flags == ["false"]
    flags = [message.header["local_first"] for message in setting.handled]
    assert flags == (["true", "false"] if "open" in gates else [])
    assert setting.broker.acknowledged == []


@pytest.mark.clause("EVT-088", "CMD-151")
def test_plain_subscribers_do_not_count(setting):
    """A plain subscription gets the local copy, and the distributed one too, since nobody confirmed."""
    setting.bus.receive(NAMED, lambda message: setting.plain.append(message.header["local_first"]))

    setting.send(stream_of(Placed()))

    assert setting.plain == ["true", "false"]
    assert setting.flags == ["false"]


@pytest.mark.clause("EVT-086", "CMD-149", "CMD-150")
def test_a_failing_local_attempt_is_logged(setting):
    """The send succeeds, the distributed copy says `false`, and the error is in the log."""
    receiver = setting.bus.receiver(NAMED)
    failures = [KeyError("broken")]

    def handle(delivery):
        if failures:
            raise failures.pop()
        setting.handled.append(delivery.message)

    receiver.subscribe(handle)
    receiver.open()
    stream = stream_of(Placed())

    setting.send(stream)

    assert setting.flags == ["false"]
    assert [(row.point, row.subject, repr(row.error)) for row in setting.world.log] == [
        ("local_first.send", stream, "KeyError('broken')")
    ]
    assert [message.header["local_first"] for message in setting.handled] == ["false"]


@pytest.mark.clause("EVT-087", "CMD-152")
def test_what_others_send_is_handled(setting):
    """A distributed message is dropped only if it is flagged `true` and its aggregate is local."""
    setting.running()
    far = []
    setting.bus.receive(FAR.named_aggregate, lambda message: far.append(message.id))

    setting.broker.send_now(stream_of(Placed(), version=1))
    setting.broker.send_now(stream_of(Placed(), version=2, local_first="false"))
    setting.broker.send_now(stream_of(Placed(), version=3, local_first="TRUE"))
    setting.broker.send_now(stream_of(Placed(), ref=FAR, local_first="true"))
    setting.world.scheduler.run()

    assert [message.version for message in setting.handled] == [1, 2]
    assert [message.version for message in setting.broker.acknowledged] == [3]
    assert far == ["t-1/v1"]


@pytest.mark.clause("EVT-090", "CMD-154")
def test_closing_closes_both(setting, monkeypatch):
    """Local first, then distributed, whatever fails; the second failure is noted on the first."""
    order = []

    def fail(name):
        def close(_):
            order.append(name)
            raise ConnectionError(name)

        return close

    setting.running()
    assert not setting.broker.is_closed
    setting.bus.close()
    assert setting.broker.is_closed
    assert setting.bus.subscriber_count(NAMED) == 0
    setting.send(stream_of(Placed()))
    assert setting.handled == []
    monkeypatch.setattr(LocalBus, "close", fail("local"))
    monkeypatch.setattr(Broker, "close", fail("distributed"))
    with pytest.raises(ConnectionError, match="local") as caught:
        setting.bus.close()
    assert order == ["local", "distributed"]
    assert "distributed" in "".join(caught.value.__notes__)


@pytest.mark.clause("EVT-075")
def test_it_is_of_the_kind_of_its_local_bus(setting):
    """A local-first bus of domain events carries what a local one does."""
    assert setting.bus.topic_kind is TopicKind.EVENT_STREAM


def test_a_broker_can_be_awaited(setting):
    """Its send delivers copies to every receiver, as its immediate form does."""
    got = []
    setting.broker.receive(NAMED, lambda delivery: got.append(delivery.message))
    stream = stream_of(Placed())

    setting.world.scheduler.spawn(setting.broker.send(stream), "send")
    setting.world.scheduler.run()

    assert [message.id for message in got] == [stream.id]
    assert got[0] is not stream


@void_command
class Look:
    """A void command."""


@pytest.mark.clause("CMD-153")
def test_a_void_command_is_never_local():
    """The command bus writes `false` into its own header, so that only the distributed bus gets it."""
    world, broker, local = World(), Broker(), []
    bus = LocalFirstCommandBus(
        LocalBus(InMemoryCommandBus()),
        broker,
        is_local=lambda named: True,
        log=world.log_failure,
        scheduler=world.scheduler,
    )
    bus.local.receive(NAMED, local.append)
    message = CommandMessage("c-1", Look(), ORDER, "look", "r-1", Header(), is_void=True)

    bus.send_now(message)

    assert message.header["local_first"] == "false"
    assert broker.sent[0] is message
    assert local == []
    with pytest.raises(UnsupportedOperationError):
        bus.send_now(CommandMessage("c-2", Look(), ORDER, "look", "r-2", Header().freeze(), is_void=True))


class Slow:
    """A distributed bus that has something to wait for."""

    def __init__(self, world):
        self.world = world
        self.sent = []

    async def send(self, message):
        await self.world.scheduler.sleep(5_000_000)
        self.sent.append((self.world.now_millis(), message.header["local_first"]))

    def receive(self, named, receiver):
        self.receiver = receiver

    def close(self): ...


@pytest.mark.clause("EVT-085")
def test_a_distributed_bus_may_take_its_time():
    """The local copy is handled at once; the send ends when the distributed bus has the other one."""
    setting = Setting()
    slow = Slow(setting.world)
    setting.bus = LocalFirstBus(
        LocalBus(domain_event_bus()),
        slow,
        is_local=lambda named: True,
        log=setting.world.log_failure,
        scheduler=setting.world.scheduler,
    )
    setting.running()
    start = setting.world.now_millis()

    setting.send(stream_of(Placed()))

    assert [message.header["local_first"] for message in setting.handled] == ["true"]
    assert slow.sent == [(start + 5, "true")]


@event_processor(context="shop")
class Listener:
    seen: ClassVar[list[str]] = []

    def on_event(self, event: Placed) -> None:
        self.seen.append(event.item)
        if event.item == "bad":
            raise KeyError(event.item)


@pytest.mark.clause("EVT-085", "EVT-087", "EVT-089", "EVT-099", "EVT-119", "CMD-148", "SNP-020")
def test_a_runtime_over_local_first_buses():
    """A runtime is given such buses: each message is handled once, here, and brokers hear that."""
    Listener.seen.clear()
    bench = Bench(Listener, buses=local_first_buses)
    runtime = bench.runtime

    assert bench.send(Place(items=("pen", "bad"))) == "Ok"

    assert Listener.seen == ["pen", "bad"]
    for bus, copies in ((runtime.command_bus, 1), (runtime.domain_event_bus, 1), (runtime.state_event_bus, 1)):
        assert [message.header["local_first"] for message in bus.distributed.sent] == ["true"]
        assert len(bus.distributed.acknowledged) == copies
    assert runtime.snapshot_store.load_now(ORDER).version == 1


@pytest.mark.clause("EVT-099", "EVT-119", "SNP-020")
def test_what_comes_from_afar_is_acknowledged_when_it_was_handled():
    """Commands, streams and state events of another process: handled, then acknowledged, failures included."""
    Listener.seen.clear()
    bench = Bench(Listener, buses=local_first_buses)
    runtime = bench.runtime
    command = runtime.message(Place(id="o-1"))
    stream = stream_of(Placed(item="bad"), Placed(item="ink"), version=5)

    runtime.command_bus.distributed.send_now(command)
    runtime.domain_event_bus.distributed.send_now(stream)
    bench.run()

    assert [message.id for message in runtime.command_bus.distributed.acknowledged] == [command.id]
    assert stream.id in [message.id for message in runtime.domain_event_bus.distributed.acknowledged]
    assert sorted(Listener.seen) == ["bad", "ink", "pen"]


@pytest.mark.clause("PRJ-015", "CMD-151")
def test_an_event_dispatcher_that_stopped_lets_go():
    """After its stop a dispatcher takes nothing and confirms nothing: the distributed copy is for others."""
    Listener.seen.clear()
    bench = Bench(Listener, buses=local_first_buses)
    runtime = bench.runtime
    (dispatcher,) = runtime._event_dispatchers.values()
    dispatcher.stop()

    bench.send(Place())

    assert Listener.seen == []
    assert [message.header["local_first"] for message in runtime.domain_event_bus.distributed.sent] == ["false"]
    assert runtime.domain_event_bus.distributed.acknowledged == []


def test_a_command_is_processed_once_over_local_first_buses():
    """Two commands of one aggregate, in order, and the state of both."""
    bench = Bench(buses=local_first_buses)

    assert [bench.send(Place()), bench.send(Ship())] == ["Ok", "Ok"]
    assert [type(event).__name__ for event in bench.stored()] == ["Placed", "Shipped"]
    assert aggregate_metadata(Order).named in bench.runtime.catalog.aggregates
    assert Delivery("m").receipt is None
