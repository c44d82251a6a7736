"""The command dispatcher: what it takes, what it drops, and who waits for whom."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from tests.runtime.pipeline import Pipeline
from wowspec import Clock, aggregate_root, create_aggregate, faults, on_command, void_command
from wowspec.errors import IllegalStateError, InjectedFault
from wowspec.messages.stages import CommandStage
from wowspec.messages.wait_plans import sent
from wowspec.modeling.aggregates import aggregate_metadata
from wowspec.modeling.identity import AggregateRef
from wowspec.modeling.ordering import ORDER_FIRST, Order
from wowspec.runtime.branch import branch
from wowspec.runtime.catalog import catalog_of
from wowspec.runtime.chain import NamedFilter
from wowspec.runtime.command_filters import PROCESSED_NOTIFIER
from wowspec.runtime.dispatcher import PARALLELISM, AggregateCommandDispatcher
from wowspec.runtime.receivers import Delivery, LocalDeliveryReceipt
from wowspec.runtime.serial import SerialGroups
from wowspec.runtime.system import Runtime
from wowspec.world.world import World

SECOND = 10**9


@create_aggregate
class Open(BaseModel):
    """Creates a queue, and takes its time."""

    id: str = "a-1"
    seconds: int = 0


class Serve(BaseModel):
    """Serves the next, and takes its time."""

    id: str = "a-1"
    seconds: int = 1


@void_command
class Glance(BaseModel):
    """Reaches no aggregate."""

    id: str = "a-1"


class Opened(BaseModel):
    """It is there."""


class Served(BaseModel):
    """One was served."""


@create_aggregate
class Light(BaseModel):
    """Creates a lamp."""

    id: str = "a-1"


class Lit(BaseModel):
    """It burns."""


#: Begin and end of each command, with the second.
log: list[Any] = []


@pytest.fixture(autouse=True)
def _fresh():
    log.clear()


@aggregate_root(context="post", commands=[Glance])
class Counter:
    """Serves one after another."""

    def __init__(self, id: str) -> None:
        self.id = id

    @on_command
    async def open(self, command: Open, clock: Clock) -> Opened:
        log.append(f"{self.id} begins")
        await clock.sleep(seconds=command.seconds)
        log.append(f"{self.id} ends")
        return Opened()

    @on_command
    async def serve(self, command: Serve, clock: Clock) -> Served:
        log.append(f"{self.id} begins to serve")
        await clock.sleep(seconds=command.seconds)
        log.append(f"{self.id} ends to serve")
        return Served()


@aggregate_root(context="post")
class Lamp:
    """Another aggregate."""

    def __init__(self, id: str) -> None:
        self.id = id

    def on_command(self, command: Light) -> Lit:
        return Lit()


def colliding():
    """Two ids of one scheduling group."""
    groups: dict[int, str] = {}
    for number in range(10_000):
        ref = AggregateRef("post", "counter", f"q-{number}")
        other = groups.setdefault(ref.mod(PARALLELISM), ref.id)
        if other != ref.id:
            return other, ref.id
    raise AssertionError("no two ids collide")


# --- subscriptions ---


@pytest.mark.clause("CMD-157")
def test_one_child_a_named_aggregate():
    """Each aggregate type has a subscriber of its own."""
    pipeline = Pipeline(Counter, Lamp)
    bus = pipeline.runtime.command_bus

    for root in (Counter, Lamp):
        assert bus.subscriber_count(aggregate_metadata(root).named) == 1
    assert pipeline.send(Light()).code == "Ok"


@pytest.mark.clause("CMD-160")
def test_metadata_on_the_exchange():
    """The child's aggregate type stands there before the chain begins."""
    seen = []

    class First:
        async def filter(self, exchange, next):
            seen.append(exchange.aggregate_metadata)
            await next(exchange)

    pipeline = Pipeline(Counter, filters=(NamedFilter("first", Order(before=(PROCESSED_NOTIFIER,)), First()),))
    pipeline.send(Open())

    assert seen == [aggregate_metadata(Counter)]


@pytest.mark.clause("CMD-161")
def test_an_aggregate_without_a_type():
    """Nothing can be dispatched for it: its commands wait on the bus for ever, its state cannot be loaded."""
    runtime = Runtime(World())

    with pytest.raises(IllegalStateError, match="no aggregate type"):
        runtime.repository.load(AggregateRef("post", "unknown", "x-1"))


# --- void commands ---


@pytest.mark.clause("CMD-158")
def test_void_commands_are_acknowledged_and_dropped():
    """No aggregate runs, no one is told of PROCESSED; SENT can be waited for."""
    pipeline = Pipeline(Counter)
    message = pipeline.runtime.message(Glance())
    task = pipeline.world.scheduler.spawn(
        pipeline.runtime.gateway.send_and_wait(message, sent().plan(message.id)), "glance"
    )
    pipeline.world.scheduler.run()

    assert task.result().stage is CommandStage.SENT
    assert pipeline.lane() == ["command.acknowledge"]
    assert pipeline.exchanges == {}


@pytest.mark.clause("CMD-158")
def test_a_void_command_waits_for_no_one():
    """It is dropped before the groups, while another command of its aggregate is handled."""
    pipeline = Pipeline(Counter)
    pipeline.start(Open(seconds=9))
    pipeline.world.scheduler.run(until=pipeline.world.clock.nanos)

    pipeline.world.scheduler.spawn(pipeline.runtime.gateway.send(pipeline.runtime.message(Glance())), "glance")
    pipeline.world.scheduler.run(until=pipeline.world.clock.nanos)

    assert log == ["a-1 begins"]
    assert pipeline.lane() == ["command.acknowledge"]


def test_a_void_command_whose_acknowledgement_fails():
    """Nobody waits for it: the failure is logged."""
    pipeline = Pipeline(Counter)
    pipeline.arm(faults.command.acknowledge.fails())

    pipeline.just_send(Glance())

    [(point, error)] = pipeline.failures()
    assert (point, type(error)) == ("command.acknowledge", InjectedFault)


@pytest.mark.clause("CMD-158")
def test_a_void_command_that_is_not_acknowledged_lets_none_in():
    """It is filtered before the groups, on the one way that all aggregates of the type share: seen when it ran."""
    pipeline = Pipeline(Counter)
    pipeline.arm(faults.command.acknowledge.hangs())

    pipeline.just_send(Glance())
    pipeline.just_send(Open(id="a-2"))

    assert pipeline.lane("a-1") == ["command.acknowledge"]
    assert pipeline.lane("a-2") == []
    assert pipeline.exchanges == {}


@pytest.mark.clause("CMD-158")
def test_a_copy_of_a_world_lets_none_in_either():
    """Commands that wait behind one that hangs wait in a copy of the world, too."""
    pipeline = Pipeline(Counter)
    pipeline.arm(faults.command.acknowledge.hangs())
    pipeline.just_send(Glance())

    copy = branch(pipeline.runtime)
    copy.world.scheduler.spawn(copy.gateway.send(copy.message(Open(id="a-2"))), "send")
    copy.world.scheduler.run()

    assert [str(row.lane) for row in copy.world.trace if row.point == "event_store.append"] == []


def test_what_came_with_a_void_command():
    """Commands that arrive while it is acknowledged get their turn right after."""
    pipeline = Pipeline(Counter)
    for body in (Glance(), Glance(id="a-3"), Open(id="a-2")):
        pipeline.world.scheduler.spawn(pipeline.runtime.gateway.send(pipeline.runtime.message(body)), "send")
    pipeline.world.scheduler.run()

    assert pipeline.lane("a-1") == pipeline.lane("a-3") == ["command.acknowledge"]
    assert "event_store.append" in pipeline.lane("a-2")


# --- groups ---


@pytest.mark.clause("CMD-162", "CMD-163")
def test_the_number_of_groups():
    """It is one number for every machine, so that the same ids collide everywhere."""
    assert PARALLELISM == 1024
    assert AggregateRef("post", "counter", "a-1").mod(PARALLELISM) == AggregateRef("x", "y", "a-1", "t").mod(
        PARALLELISM
    )


@pytest.mark.clause("CMD-164", "CMD-240")
def test_one_at_a_time_in_order_of_arrival():
    """The next command of an aggregate begins when the one before has ended with all that belongs to it."""
    pipeline = Pipeline(Counter)
    for body in (Open(seconds=2), Serve(), Serve()):
        pipeline.start(body)
    pipeline.world.scheduler.run()

    assert log == ["a-1 begins", "a-1 ends", *["a-1 begins to serve", "a-1 ends to serve"] * 2]
    lane = pipeline.lane()
    loads = [index for index, point in enumerate(lane) if point == "event_store.load"]
    told = [index for index, point in enumerate(lane) if point == "wait.notify:PROCESSED"]
    assert told[0] < loads[0] < told[1] < loads[1] < told[2]


@pytest.mark.clause("CMD-164")
def test_groups_go_on_beside_each_other():
    """Another aggregate, or another type, waits for no one."""
    pipeline = Pipeline(Counter, Lamp)
    pipeline.start(Open(id="a-1", seconds=3))
    pipeline.start(Open(id="a-2", seconds=1))
    lamp = pipeline.start(Light(id="a-1"))
    pipeline.world.scheduler.run(until=pipeline.world.clock.nanos + SECOND)

    assert log == ["a-1 begins", "a-2 begins", "a-2 ends"]
    assert lamp[1].result().succeeded


@pytest.mark.clause("CMD-164", "CMD-165")
@pytest.mark.parametrize("how", ["slow", "retries"])
def test_ids_that_collide_block_each_other(how):
    """While one is handled or waits out its back-off, the other does not begin."""
    first, second = colliding()
    pipeline = Pipeline(Counter)
    if how == "retries":
        pipeline.arm(faults.event_store.append.times_out(aggregate=first))
    pipeline.start(Open(id=first, seconds=0 if how == "retries" else 1))
    pipeline.start(Open(id=second))

    pipeline.world.scheduler.run(until=pipeline.world.clock.nanos + SECOND // 4)
    assert f"{second} begins" not in log
    pipeline.world.scheduler.run()

    assert log[-2:] == [f"{second} begins", f"{second} ends"]


@pytest.mark.clause("CMD-164")
def test_a_command_that_hangs_blocks_its_group():
    """Those behind it are never handled; others are."""
    pipeline = Pipeline(Counter)
    pipeline.arm(faults.event_store.append.hangs(aggregate="a-1"))
    hung = pipeline.start(Open(id="a-1"))
    behind = pipeline.start(Serve(id="a-1"))
    other = pipeline.start(Open(id="a-2"))
    pipeline.world.scheduler.run(until=pipeline.world.clock.nanos + 5 * SECOND)

    assert other[1].done
    assert (hung[1].done, behind[1].done) == (False, False)


# --- what ends a dispatcher ---


class AtOnce:
    """A filter that fails at the call, before it gives something to await."""

    def __init__(self) -> None:
        self.fails = False

    def filter(self, exchange, next):
        if self.fails and exchange.aggregate_id.id == "a-1":
            raise KeyError("at once")
        return next(exchange)


def ended():
    """A pipeline whose dispatcher was ended by a command, while another one was handled and one waited."""
    at_once = AtOnce()
    pipeline = Pipeline(
        Counter, Lamp, filters=(NamedFilter("at once", Order(ORDER_FIRST, before=(PROCESSED_NOTIFIER,)), at_once),)
    )
    running = pipeline.start(Open(id="a-2", seconds=5))
    waiting = pipeline.start(Serve(id="a-2"))
    pipeline.world.scheduler.run(until=pipeline.world.clock.nanos)
    at_once.fails = True
    fatal = pipeline.start(Open(id="a-1"))
    pipeline.world.scheduler.run(until=pipeline.world.clock.nanos + 9 * SECOND)
    return pipeline, running, waiting, fatal


@pytest.mark.clause("CMD-166", "CMD-167")
def test_an_error_that_escapes_ends_the_dispatcher():
    """It is reported; what runs is cancelled, what waits never begins; other types go on."""
    pipeline, running, waiting, fatal = ended()

    assert [(point, type(error)) for point, error in pipeline.failures()] == [("CommandDispatcher", KeyError)]
    assert log == ["a-2 begins"]
    assert not any(task.done for _, task in (running, waiting, fatal))
    pipeline.start(Light(id="a-9"))
    pipeline.world.scheduler.run(until=pipeline.world.clock.nanos)
    assert pipeline.rows("event_store.append")[-1].detail == "v1 Lit"


@pytest.mark.clause("CMD-142", "CMD-166")
def test_nobody_takes_commands_of_an_ended_dispatcher():
    """Its subscription has ended for good, so the next send fails."""
    pipeline, *_ = ended()

    outcome = pipeline.send(Open(id="a-3"))

    assert type(outcome.error) is IllegalStateError
    assert outcome.result.stage is CommandStage.SENT


# --- start and stop ---


def unstarted():
    """A dispatcher that is prepared but not started."""
    runtime = Runtime(World())
    metadata = aggregate_metadata(Counter)
    runtime.catalog.aggregates.update(catalog_of([Counter]).aggregates)
    handled: list[str] = []

    async def chain(exchange):
        handled.append(exchange.message.id)

    dispatcher = AggregateCommandDispatcher(runtime, metadata, chain)
    dispatcher.prepare()
    return runtime, dispatcher, handled


def send(runtime, *ids):
    """Send commands over the bus."""
    for id_ in ids:
        runtime.command_bus.send_now(runtime.message(Open(), id=id_))
    runtime.world.scheduler.run()


@pytest.mark.clause("CMD-169")
def test_nothing_is_taken_before_the_start():
    """A prepared child has subscribed; what came is handled when it starts, in order."""
    runtime, dispatcher, handled = unstarted()
    send(runtime, "c-1", "c-2")
    assert runtime.command_bus.subscriber_count(dispatcher.metadata.named) == 1
    assert handled == []

    dispatcher.start()
    send(runtime, "c-3")

    assert handled == ["c-1", "c-2", "c-3"]


@pytest.mark.clause("CMD-168", "CMD-169")
def test_what_was_taken_is_finished_after_the_stop():
    """Queued and running commands end as usual; what arrives later is dropped, and not acknowledged."""
    runtime, dispatcher, handled = unstarted()
    dispatcher.start()
    for id_ in ("c-1", "c-2"):
        runtime.command_bus.send_now(runtime.message(Open(), id=id_))

    dispatcher.stop()
    send(runtime, "c-3")

    assert handled == ["c-1", "c-2"]
    assert [row.point for row in runtime.world.trace] == []


def test_jobs_of_a_group_that_was_cancelled():
    """A job that is cancelled from outside is lost; those behind it are not."""
    world, done = World(), []
    groups = SerialGroups(world.scheduler, "jobs")

    async def job(name, seconds):
        await world.scheduler.sleep(seconds * SECOND)
        done.append(name)

    groups.submit(1, lambda: job("first", 5), "one")
    groups.submit(1, lambda: job("second", 1), "two")
    world.scheduler.run(until=world.clock.nanos)
    [(worker, subject, behind)] = groups.lines
    worker.cancel()
    world.scheduler.run(until=world.clock.nanos)
    [(successor, about, nobody)] = groups.lines
    world.scheduler.run()

    assert (subject, behind, about, nobody) == ("one", ["two"], "two", [])
    assert successor is not worker
    assert done == ["second"]
    assert groups.waiting == {}
    assert groups.lines == []


def test_what_a_group_is_about_follows_its_jobs():
    """Who looks at the groups is told what each running job is about, also where one worker goes on to the next."""
    world, seen = World(), []
    groups, copy = SerialGroups(world.scheduler, "jobs"), SerialGroups(world.scheduler, "jobs")

    async def job():
        seen.extend((subject, behind) for _, subject, behind in groups.lines)

    async def hang():
        await world.scheduler.forever()

    groups.submit(1, job, "one")
    groups.submit(1, job, "two")
    groups.submit(1, hang, "three")
    groups.submit(1, job, "four")
    world.scheduler.run()
    copy.copy_blocked(groups)

    assert seen == [("one", ["two", "three", "four"]), ("two", ["three", "four"])]
    assert [(worker is None, subject, behind) for worker, subject, behind in copy.lines] == [(True, "three", ["four"])]


@pytest.mark.clause("CMD-142", "CMD-166")
def test_a_branch_of_an_ended_world():
    """What has ended in a world has ended in its copies."""
    pipeline, *_ = ended()
    pipeline.world.scheduler.run()
    copied = branch(pipeline.runtime)

    message = copied.message(Open(id="a-3"))
    task = copied.world.scheduler.spawn(copied.gateway.send(message), "send")
    copied.world.scheduler.run()

    assert type(task.error) is IllegalStateError


@pytest.mark.clause("CMD-159", "CMD-168")
@pytest.mark.parametrize(
    ("body", "stopped", "kept"),
    [(Open(), False, True), (Glance(), False, False), (Open(), True, False)],
    ids=["taken", "void", "stopped"],
)
def test_a_dropped_command_takes_back_its_local_delivery(body, stopped, kept):
    """A void command, and one that comes after the stop, were not taken: the bus may hand them on elsewhere."""
    runtime, dispatcher, _ = unstarted()
    dispatcher.start()
    if stopped:
        dispatcher.stop()
    receipt = LocalDeliveryReceipt()
    receipt.admit()
    message = runtime.message(body, named_aggregate=dispatcher.metadata.named)

    dispatcher.receive(message, Delivery(message, receipt=receipt))
    runtime.world.scheduler.run()

    assert receipt.is_confirmed is kept
