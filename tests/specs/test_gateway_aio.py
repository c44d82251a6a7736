"""The gateway's asynchronous form: one pipeline under asyncio, trio and anyio, and several calls at once."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import anyio
import pytest
import trio

from wowspec import (
    CommandResultError,
    CommandStage,
    DeadlineExceeded,
    DomainEvent,
    Gateway,
    SpecError,
    faults,
    processed,
    projected,
    projection,
    snapshot,
)
from wowspec.world.foreign import ForeignAwaitError

from .gateway_domain import CreateOrder, Fetch, Fetched, Order, PayOrder, Source, shop


@pytest.fixture
def gateway():
    """A gateway over a fresh world, whose deadlines would be noticed."""
    made = Gateway()
    made.world.using(shop)
    yield made
    made._held.abandon()


def waiting(gateway):
    """The wait ids that are registered."""
    return gateway._held.session.runtime.coordinator.waiting


def source(gateway, get):
    """Let `Fetch` run a function."""

    class Given(Source):
        async def get(self, id):
            return await get(id)

    gateway.world.provide(Given())


async def nap(seconds=0.001):
    """Real waiting, of whichever loop runs."""
    await anyio.sleep(seconds)


# --- each loop --------------------------------------------------------------------------------------------------------


async def every_call(gateway):
    """Every call of the asynchronous form, with a handler that awaits the caller's loop."""

    async def get(id):
        await nap()
        return len(id)

    source(gateway, get)
    await gateway.aio.send(CreateOrder(id="o-1"))
    results = [
        await gateway.aio.send_and_wait(PayOrder(id="o-1")),
        await gateway.aio.send_and_wait_for_sent(PayOrder(id="o-1")),
        await gateway.aio.send_and_wait_for_processed(PayOrder(id="o-1")),
        await gateway.aio.send_and_wait_for_snapshot(Fetch(id="o-1")),
    ]
    stream = gateway.aio.send_and_wait_stream(Fetch(id="o-22"), wait_for=snapshot())
    return [result.stage.name for result in [*results, *[result async for result in stream]]]


STAGES = ["PROCESSED", "SENT", "PROCESSED", "SNAPSHOT", "SENT", "PROCESSED", "SNAPSHOT"]


@pytest.mark.asyncio
async def test_every_call_under_pytest_asyncio(gateway):
    """A test of pytest-asyncio awaits each call, a handler's real waiting included; no virtual time passes."""
    before = gateway.world.now()

    assert await every_call(gateway) == STAGES
    assert gateway.world.state(Order, "o-22").fetched == [4]
    assert gateway.world.now() == before
    assert waiting(gateway) == ()


@pytest.mark.anyio
async def test_every_call_under_anyio(gateway):
    """A test of anyio does, on each of its backends."""
    assert await every_call(gateway) == STAGES


def test_every_call_under_trio(gateway):
    """So does a program of trio's."""
    assert trio.run(every_call, gateway) == STAGES


def test_no_loop_at_all(gateway):
    """Where no handler awaits anything real, a call ends in its first step, so it needs no loop."""
    call = gateway.aio.send_and_wait(CreateOrder(id="o-1"))

    with pytest.raises(StopIteration) as stop:
        call.send(None)

    assert stop.value.value.succeeded


@pytest.mark.asyncio
async def test_errors_are_those_of_the_synchronous_form(gateway):
    """A failed command, a deadline and an author's error are raised alike."""
    with pytest.raises(CommandResultError) as failed:
        await gateway.aio.send_and_wait(PayOrder(id="none"))
    gateway.world.arm(faults.command_bus.send.hangs())
    with pytest.raises(DeadlineExceeded):
        await gateway.aio.send_and_wait(CreateOrder(id="o-1"), wait_for=processed().with_timeout(seconds=5))

    assert failed.value.result.error_code == "NotFound"
    with pytest.raises(SpecError, match="unknown option"):
        await gateway.aio.send(CreateOrder(id="o-1"), colour="red")


# --- handlers that wait for real things -------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_the_synchronous_form_refuses_real_waiting_inside_a_loop(gateway):
    """Inside a running loop, too, the synchronous form names the handler that awaited it."""

    async def get(id):
        await asyncio.sleep(0.001)
        return 1

    source(gateway, get)

    with pytest.raises(ForeignAwaitError, match=r"Order\.fetch: the code awaited .*\n.*\n.*gateway\.aio"):
        gateway.send_and_wait(Fetch(id="f-1"))


@pytest.mark.anyio
async def test_a_handlers_own_time_limit(gateway):
    """A time limit that a handler sets around real waiting is the handler's, and cancels nobody else."""

    async def get(id):
        with anyio.move_on_after(0.001):
            await anyio.sleep(3600)
        return 7

    source(gateway, get)

    assert (await gateway.aio.send_and_wait(Fetch(id="f-1"))).succeeded
    assert gateway.world.state(Order, "f-1").fetched == [7]


@pytest.mark.asyncio
async def test_a_handlers_own_time_limit_around_asyncio(gateway):
    """The same with `asyncio.timeout`, whose error the handler sees."""

    async def get(id):
        try:
            async with asyncio.timeout(0.001):
                await asyncio.Event().wait()
        except TimeoutError:
            return 8
        return 0

    source(gateway, get)

    assert (await gateway.aio.send_and_wait(Fetch(id="f-1"))).succeeded
    assert gateway.world.state(Order, "f-1").fetched == [8]


@pytest.mark.asyncio
async def test_a_test_that_fails_inside_a_handler(gateway):
    """`pytest.fail` inside a handler ends the test, and no command reports it as its own failure."""

    async def get(id):
        pytest.fail("seen")

    source(gateway, get)

    with pytest.raises(pytest.fail.Exception, match="seen"):
        await gateway.aio.send_and_wait(Fetch(id="f-1"))


# --- several calls at once --------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_calls_at_once_meet(gateway):
    """While one handler awaits the loop, another call's handler runs: here each waits for the other."""
    arrived = {"a": anyio.Event(), "b": anyio.Event()}

    async def get(id):
        arrived[id].set()
        await arrived["b" if id == "a" else "a"].wait()
        return 1

    source(gateway, get)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(gateway.aio.send_and_wait, Fetch(id="a"))
            group.start_soon(gateway.aio.send_and_wait, Fetch(id="b"))

    assert [gateway.world.aggregate(Order, id).version for id in "ab"] == [1, 1]
    assert waiting(gateway) == ()


@pytest.mark.asyncio
async def test_calls_at_once_on_one_aggregate(gateway):
    """Commands of one aggregate are still processed one at a time, in the order in which they were sent."""
    running, log = 0, []

    async def get(id):
        nonlocal running
        running += 1
        assert running == 1
        await nap()
        running -= 1
        log.append(len(log))
        return log[-1]

    source(gateway, get)

    results = await asyncio.gather(*(gateway.aio.send_and_wait(Fetch(id="one")) for _ in range(5)))

    assert [result.aggregate_version for result in results] == [1, 2, 3, 4, 5]
    assert gateway.world.state(Order, "one").fetched == [0, 1, 2, 3, 4]


@pytest.mark.anyio
async def test_virtual_time_stands_still_while_somebody_really_waits(gateway):
    """A call that has nothing but virtual time to wait for does not spend another one's deadline."""
    clock = gateway._held.session.world.scheduler
    started = gateway.world.now()
    moments = {}
    arrived = anyio.Event()

    async def get(id):
        if id == "real":
            arrived.set()
            await nap(0.02)
        else:
            await clock.sleep(3600 * 10**9)
        moments[id] = (gateway.world.now() - started).total_seconds()
        return 1

    source(gateway, get)

    async def slow():
        with pytest.raises(DeadlineExceeded):
            await gateway.aio.send_and_wait(Fetch(id="virtual"))

    async with anyio.create_task_group() as group:
        group.start_soon(gateway.aio.send_and_wait, Fetch(id="real"))
        await arrived.wait()
        group.start_soon(slow)

    assert moments == {"real": 0, "virtual": 3600}


@pytest.mark.asyncio
async def test_a_call_that_is_done_leaves_the_rest_to_the_others(gateway):
    """A call does not wait for another one's handler once it has its own result."""
    gate = asyncio.Event()

    async def get(id):
        await gate.wait()
        return 1

    source(gateway, get)
    blocked = asyncio.create_task(gateway.aio.send_and_wait(Fetch(id="f-1")))
    await asyncio.sleep(0)

    assert (await gateway.aio.send_and_wait(CreateOrder(id="o-1"), wait_for=snapshot())).succeeded
    assert not blocked.done()
    gate.set()
    assert (await blocked).succeeded


@pytest.mark.asyncio
async def test_the_synchronous_form_waits_for_nobody(gateway):
    """While an asynchronous call is under way, the synchronous form refuses; looking at the world is all right."""
    gate = asyncio.Event()

    async def get(id):
        await gate.wait()
        return 1

    source(gateway, get)
    blocked = asyncio.create_task(gateway.aio.send_and_wait(Fetch(id="f-1")))
    await asyncio.sleep(0)

    for use in (
        lambda: gateway.send(CreateOrder(id="o-1")),
        lambda: gateway.world.advance(seconds=1),
        lambda: gateway.world.given(CreateOrder(id="o-1")),
    ):
        with pytest.raises(SpecError, match="while an asynchronous call is under way"):
            use()
    assert not gateway.world.stored(Order, "f-1")
    gate.set()
    assert (await blocked).succeeded


@pytest.mark.asyncio
async def test_no_use_inside_a_handler(gateway):
    """A handler that calls the gateway whose world runs it is told to let a saga do that."""

    async def get(id):
        await gateway.aio.send(CreateOrder(id="o-1"))
        return 1

    source(gateway, get)

    with pytest.raises(SpecError, match="inside a handler"):
        await gateway.aio.send_and_wait(Fetch(id="f-1"))


def test_two_calls_in_an_unknown_loop(gateway):
    """Where two calls would have to wait for each other in an unknown loop, the error says which are known."""

    class Pause:
        def __await__(self):
            yield self

    async def get(id):
        await Pause()
        return 1

    source(gateway, get)
    first = gateway.aio.send_and_wait(Fetch(id="f-1"))
    second = gateway.aio.send_and_wait(Fetch(id="f-1"))
    assert isinstance(first.send(None), Pause)

    with pytest.raises(SpecError, match="asyncio, trio or anyio"):
        second.send(None)
    # The refused call was sent all the same; it is processed on the account of the one that is left.
    assert isinstance(first.send(None), Pause)
    with pytest.raises(StopIteration) as stop:
        first.send(None)
    assert stop.value.value.succeeded
    assert gateway.world.aggregate(Order, "f-1").version == 2


@pytest.mark.anyio
async def test_a_handler_stays_in_the_loop_task_that_it_awaited_in(gateway):
    """What nobody's call started is whose who first served it: it may hold a cancel scope of that loop task open."""
    clock = gateway._held.session.world.scheduler

    async def get(id):
        if id == "b":
            await nap(0.02)
            return 2
        with anyio.CancelScope():
            await nap()
            await clock.sleep(10**9)
            await nap()
        return 1

    source(gateway, get)
    started = gateway.start(Fetch(id="a"))

    async with anyio.create_task_group() as group:
        # Its own command waits behind the one that was started, so it is still there when the other call is not.
        group.start_soon(gateway.aio.send_and_wait, Fetch(id="a"))
        group.start_soon(gateway.aio.send_and_wait, Fetch(id="b"))

    assert started.result().succeeded
    assert gateway.world.state(Order, "a").fetched == [1, 1]


@pytest.mark.anyio
async def test_a_call_is_told_before_another_one_goes_to_wait():
    """Who has a result has it at once, not when the call that brought it there comes back from its loop."""
    arrived, gate, order = anyio.Event(), anyio.Event(), []

    @projection(context="shop")
    class Slow:
        async def on_event(self, event: DomainEvent[Fetched]) -> None:
            await gate.wait()

    gateway = Gateway()
    gateway.world.using(Order, Slow)

    async def get(id):
        if not order:
            order.append("first")
            arrived.set()
            await nap(0.02)
        return 1

    async def second():
        await arrived.wait()
        assert (await gateway.aio.send_and_wait(Fetch(id="a"))).aggregate_version == 2
        order.append("second")
        gate.set()

    source(gateway, get)
    with anyio.fail_after(2):
        async with anyio.create_task_group() as group:
            group.start_soon(gateway.aio.send_and_wait, Fetch(id="a"))
            group.start_soon(second)

    assert order == ["first", "second"]
    assert not gateway.world.pending


# --- cancelling -------------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_cancelling_releases_the_wait(gateway):
    """A cancelled caller leaves no wait handle and no deadline behind, and the aggregate takes its next command."""

    async def get(id):
        await anyio.sleep(3600)
        return 1

    source(gateway, get)

    with anyio.move_on_after(0.01) as scope:
        await gateway.aio.send_and_wait(Fetch(id="f-1"))

    assert scope.cancelled_caught
    assert waiting(gateway) == ()
    assert gateway._held.session.world.scheduler.pending_timers == ()
    assert not gateway.world.stored(Order, "f-1")
    assert (await gateway.aio.send_and_wait(CreateOrder(id="f-1"))).succeeded


@pytest.mark.asyncio
async def test_cancelling_a_caller_whose_command_waits_behind_another(gateway):
    """Only its wait ends: the command was sent, and is processed when its turn comes."""
    gate = asyncio.Event()

    async def get(id):
        await gate.wait()
        return 1

    source(gateway, get)
    first = asyncio.create_task(gateway.aio.send_and_wait(Fetch(id="f-1")))
    await asyncio.sleep(0)
    second = asyncio.create_task(gateway.aio.send_and_wait(Fetch(id="f-1")))
    await asyncio.sleep(0)
    assert len(waiting(gateway)) == 2
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert len(waiting(gateway)) == 1
    gate.set()

    assert (await first).succeeded
    assert gateway.world.state(Order, "f-1").fetched == [1, 1]


@pytest.mark.asyncio
async def test_cancelling_the_caller_in_front(gateway):
    """The handler that was awaiting is cancelled with its caller; those behind it go on, for their own callers."""
    gate = asyncio.Event()

    async def get(id):
        await gate.wait()
        return 1

    source(gateway, get)
    first = asyncio.create_task(gateway.aio.send_and_wait(Fetch(id="f-1")))
    await asyncio.sleep(0)
    second = asyncio.create_task(gateway.aio.send_and_wait(Fetch(id="f-1")))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    gate.set()

    assert (await second).aggregate_version == 1
    assert gateway.world.state(Order, "f-1").fetched == [1]


# --- streams ----------------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_a_result_comes_before_what_follows_it(gateway):
    """The SENT result is there before the handler runs, so a test may open the gate at which the handler waits."""
    gate = anyio.Event()

    async def get(id):
        await gate.wait()
        return 1

    source(gateway, get)
    stages = []
    with anyio.fail_after(5):
        async for result in gateway.aio.send_and_wait_stream(Fetch(id="f-1"), wait_for=snapshot()):
            stages.append(result.stage)
            if result.stage is CommandStage.SENT:
                assert not gateway.world.stored(Order, "f-1")
                gate.set()

    assert stages == [CommandStage.SENT, CommandStage.PROCESSED, CommandStage.SNAPSHOT]
    assert waiting(gateway) == ()
    assert gateway._held.session.world.scheduler.is_idle


@pytest.mark.asyncio
async def test_nothing_is_sent_before_the_first_step(gateway):
    """A stream that nobody iterates sends nothing; one that ended stays ended."""
    stream = gateway.aio.send_and_wait_stream(CreateOrder(id="o-1"))

    assert gateway.world.trace == []
    assert [result.stage.name async for result in stream] == ["SENT", "PROCESSED"]
    assert [result async for result in stream] == []
    unused = gateway.aio.send_and_wait_stream(CreateOrder(id="o-2"))
    await unused.aclose()
    assert [result async for result in unused] == []
    assert not gateway.world.stored(Order, "o-2")


@pytest.mark.asyncio
async def test_leaving_a_stream_early(gateway):
    """`aclose` releases the wait; the command that was sent goes on."""
    async with aclosing(gateway.aio.send_and_wait_stream(CreateOrder(id="o-1"), wait_for=snapshot())) as stream:
        async for _ in stream:
            break

    assert waiting(gateway) == ()
    assert len(gateway.world.stored(Order, "o-1")) == 1


@pytest.mark.asyncio
async def test_leaving_a_stream_whose_next_result_never_comes(gateway):
    """`aclose` does not wait for a deadline that nobody waits for any more."""
    started = gateway.world.now()
    stream = gateway.aio.send_and_wait_stream(CreateOrder(id="o-1"), wait_for=projected("shop", processor="Nobody"))
    await anext(stream)
    await stream.aclose()

    assert gateway.world.now() == started
    assert not gateway.world.pending


@pytest.mark.asyncio
async def test_what_ends_a_stream(gateway):
    """A failed signal is an ordinary last item; a refusal is raised, and a deadline, after what came before it."""
    failed = [result async for result in gateway.aio.send_and_wait_stream(PayOrder(id="none"))]
    assert [(result.stage.name, result.succeeded) for result in failed] == [("SENT", True), ("PROCESSED", False)]

    with pytest.raises(CommandResultError) as refused:
        await anext(gateway.aio.send_and_wait_stream(PayOrder.model_construct(id="o-1", amount=0)))
    assert refused.value.result.error_code == "CommandValidation"

    gateway.world.arm(faults.event_store.append.hangs())
    stages = []
    with pytest.raises(DeadlineExceeded):
        async for result in gateway.aio.send_and_wait_stream(CreateOrder(id="o-1")):
            stages.append(result.stage.name)
    assert stages == ["SENT"]
    assert waiting(gateway) == ()


@pytest.mark.anyio
async def test_cancelling_the_consumer_of_a_stream(gateway):
    """A consumer that is cancelled while it waits for the next result leaves no wait handle behind."""

    async def get(id):
        await anyio.sleep(3600)
        return 1

    source(gateway, get)
    stages = []

    with anyio.move_on_after(0.01):
        async for result in gateway.aio.send_and_wait_stream(Fetch(id="f-1")):
            stages.append(result.stage.name)

    assert stages == ["SENT"]
    assert waiting(gateway) == ()
