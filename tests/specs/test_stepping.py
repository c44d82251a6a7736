"""Calls that are started, and a world that is moved from point to point, to an instant, or to rest."""

from __future__ import annotations

from datetime import timedelta

import pytest

import wowspec as ws
from wowspec import (
    CommandResultError,
    CommandStage,
    DeadlineExceeded,
    Gateway,
    SpecError,
    SpecFailure,
    faults,
    on,
    processed,
    projected,
    snapshot,
)

from .gateway_domain import (
    CreateOrder,
    Fetch,
    Note,
    Noted,
    Order,
    OrderCreated,
    OrderPaid,
    PayOrder,
    Raise,
    Source,
    ViewOrder,
    shop,
)


@pytest.fixture
def gateway():
    """A gateway over a fresh world, as the plugin's fixture gives one, but judged by nobody."""
    made = Gateway()
    made.world.using(Order)
    return made


def points(rows):
    """The points of rows, in their order."""
    return [row.point for row in rows]


def stepped(gateway):
    """The points of each step until the world rests."""
    steps = []
    while (rows := gateway.world.step()) is not None:
        steps.append(points(rows))
    return steps


# --- starting ---------------------------------------------------------------------------------------------------------


def test_a_started_call_goes_on_when_the_world_is_moved(gateway):
    """Nothing happens before; afterwards the call has what `send_and_wait` would have returned."""
    call = gateway.start(CreateOrder(id="o-1"), wait_for=snapshot())

    assert not call.done
    assert call.error is None
    assert gateway.world.trace == []
    gateway.world.run()
    assert call.done
    assert call.result().stage is CommandStage.SNAPSHOT
    assert not gateway.world.pending


def test_any_other_call_moves_it_too(gateway):
    """What was started goes first, and the world is at rest after the other call."""
    call = gateway.start(CreateOrder(id="o-1"))

    assert gateway.send_and_wait(PayOrder(id="o-1")).aggregate_version == 2
    assert call.result().aggregate_version == 1


def test_what_a_started_call_raises(gateway):
    """It raises where its result is asked for, and moving the world raises nothing of it."""
    refused = gateway.start(PayOrder(id="none"))
    gateway.world.run()

    assert type(refused.error) is CommandResultError
    with pytest.raises(CommandResultError) as raised:
        refused.result()
    assert raised.value.result.error_code == "NotFound"


def test_a_started_void_command(gateway):
    """A void command is sent and dropped; there is no result to wait for."""
    call = gateway.start(ViewOrder(id="o-1"))
    gateway.world.run()

    assert call.done
    assert call.result() is None
    assert points(gateway.world.trace) == [
        "request_id.check", "command.validate", "command_bus.send", "command.acknowledge",
    ]  # fmt: skip


def test_no_result_before_the_end(gateway):
    """A call that has not ended says how it would, or that it never will."""
    call = gateway.start(CreateOrder(id="o-1"))
    with pytest.raises(SpecError, match=r'gateway\.start\(CreateOrder\(id="o-1"\)\) has no result yet') as early:
        call.result()
    gateway.world.run()
    gateway.world.arm(faults.command_bus.send.hangs())
    hung = gateway.start(ViewOrder(id="o-1"))
    gateway.world.run()

    assert early.value.instead == "gateway.world.run() before it"
    with pytest.raises(SpecError, match="hangs, for good"):
        hung.result()


# --- steps ------------------------------------------------------------------------------------------------------------


def test_each_step_passes_the_next_point(gateway):
    """A step adds a row, and then the world stands: what the effect did is there, what follows is not."""
    gateway.world.given(on(Order, "o-1", OrderCreated()))
    gateway.start(PayOrder(id="o-1"))

    assert stepped(gateway) == [
        ["request_id.check"],
        ["command.validate"],
        ["command_bus.send"],
        ["snapshot.load"],
        ["event_store.load"],
        ["event_store.append"],
        ["command.acknowledge"],
        ["domain_event_bus.send"],
        ["state_event_bus.send"],
        ["wait.notify:PROCESSED"],
        ["snapshot.save"],
    ]
    assert gateway.world.step() is None


@pytest.mark.parametrize("fault", [None, faults.event_store.append.times_out(), faults.snapshot.save.fails()], ids=str)
def test_steps_are_the_ordinary_run(fault):
    """Whoever is stepped from point to point leaves the same trace as who runs to rest, times and faults included."""

    def world(move):
        gateway = Gateway()
        gateway.world.using(shop)
        gateway.world.given(on(Order, "o-1", OrderCreated()), on(Order, "o-2", OrderCreated()))
        if fault is not None:
            gateway.world.arm(fault)
        calls = [
            gateway.start(PayOrder(id=id), wait_for=projected("shop", processor="OrderView"))
            for id in ("o-1", "o-2", "o-1")
        ]
        move(gateway)
        results = [(call.result().aggregate_version, call.result().signal_time) for call in calls]
        return results, [(row.nanos, str(row)) for row in gateway.world.trace], gateway.world.logged

    stepped_world, ran_world = world(stepped), world(lambda gateway: gateway.world.run())

    assert stepped_world[:2] == ran_world[:2]
    assert len(stepped_world[2]) == len(ran_world[2])


def test_a_point_that_hangs_is_passed(gateway):
    """The row of a call that never returns is there, and the world goes on to the deadline of who waits for it."""
    gateway.world.arm(faults.event_store.append.hangs())
    call = gateway.start(CreateOrder(id="o-1"), wait_for=processed().with_timeout(seconds=5))

    assert gateway.world.run_until("event_store.append").outcome == "hang"
    assert gateway.world.step() is None
    assert type(call.error) is DeadlineExceeded


def test_a_step_between_services_and_points(gateway):
    """What is passed within a function's plain code gives way at the next point."""

    class Slow(Source):
        async def get(self, id):
            return 7

    gateway.world.provide(Slow(), source=Slow())
    gateway.world.arm(faults.service("source").get.fails(at=2))
    gateway.start(Fetch(id="f-1"))

    gateway.world.run_until("service:source.get")

    assert not gateway.world.stored(Order, "f-1")
    assert points(gateway.world.step()) == ["event_store.append"]
    gateway.world.disarm()


# --- until ------------------------------------------------------------------------------------------------------------


def test_until_a_point(gateway):
    """The world is left between two effects: stored, and not yet published."""
    call = gateway.start(CreateOrder(id="o-1"))

    row = gateway.world.run_until("event_store.append")

    assert (row.point, row.outcome, row.key) == ("event_store.append", "ok", "o-1")
    assert gateway.world.stored(Order, "o-1").types == (OrderCreated,)
    assert not gateway.world.published(Order, "o-1")
    assert not call.done
    gateway.world.run()
    assert gateway.world.published(Order, "o-1")


def test_history_may_be_written_meanwhile(gateway):
    """A rival that comes between loading and storing makes the command try again."""
    gateway.world.given(on(Order, "o-1", OrderCreated()))
    call = gateway.start(PayOrder(id="o-1"))

    gateway.world.run_until("event_store.load")
    gateway.world.given(on(Order, "o-1", OrderPaid()))
    gateway.world.run()

    assert call.result().aggregate_version == 3
    assert [row.outcome for row in gateway.world.trace if row.point == "event_store.append"] == [
        "error:EventVersionConflictError", "ok",
    ]  # fmt: skip


def test_until_an_event_reaches_its_function():
    """The function that an event reaches runs after it."""
    gateway = Gateway()
    gateway.world.using(shop)
    gateway.world.given(on(Order, "o-1", OrderCreated()))
    gateway.start(Raise(id="o-1"))

    gateway.world.run_until("event.deliver:OrderView.on_alarm")

    assert gateway.world.logged == []
    gateway.world.run()
    assert [type(entry.error) for entry in gateway.world.logged] == [KeyError]


@pytest.mark.parametrize("whose", ["o-2", Order, on(Order, "o-2")], ids=["id", "type", "instance"])
def test_until_somebodys_visit(gateway, whose):
    """`aggregate=` says whose visit it shall be, `times=` how many."""
    for id in ("o-1", "o-2"):
        gateway.start(CreateOrder(id=id))

    row = gateway.world.run_until("event_store.append", aggregate=whose, times=2 if whose is Order else 1)

    assert row.key == "o-2"
    assert [row.key for row in gateway.world.trace if row.point == "event_store.append"] == ["o-1", "o-2"]


def test_a_point_that_is_not_passed(gateway):
    """The world came to rest first: the error names what was passed instead."""
    gateway.start(CreateOrder(id="o-1"))

    with pytest.raises(SpecFailure, match=r"came to rest, and event_store\.load was not passed") as raised:
        gateway.world.run_until("event_store.load")

    assert "event_store.append" in str(raised.value)
    assert gateway.world.stored(Order, "o-1")
    with pytest.raises(SpecFailure, match='was not passed 3 times by "o-1": 1 visits'):
        gateway.start(PayOrder(id="o-1"))
        gateway.world.run_until("event_store.append", aggregate="o-1", times=3)


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (lambda world: world.run_until("event_store.apend"), "instead: 'event_store.append'"),
        (lambda world: world.run_until(faults.event_store.append), "named by their text"),
        (lambda world: world.run_until("event.deliver"), "event.deliver:<processor>.<function>"),
        (lambda world: world.run_until("event_store.append", times=0), "times=0"),
        (lambda world: world.run_until("event_store.append", aggregate=7), "aggregate=7"),
    ],
)
def test_bad_input(gateway, use, text):
    """A point that there is not is refused, with those that may have been meant."""
    with pytest.raises(SpecError) as raised:
        use(gateway.world)
    assert text in str(raised.value)


def test_bad_calls(gateway):
    """What `send_and_wait` refuses, `start` refuses at once."""
    for use in (
        lambda: gateway.start(CreateOrder),
        lambda: gateway.start(CreateOrder(), wait_for="PROCESSED"),
        lambda: gateway.start(CreateOrder(), colour="red"),
    ):
        with pytest.raises(SpecError):
            use()
    assert gateway.world.pending == ws.Gateway().world.pending


# --- time -------------------------------------------------------------------------------------------------------------


def test_time_passes_as_far_as_one_says(gateway):
    """`advance` fires what falls due, in its order, and leaves the rest where it is."""
    gateway.world.given(on(Order, "o-1", OrderCreated()))
    gateway.world.arm(faults.event_store.append.times_out(times=4))
    call = gateway.start(PayOrder(id="o-1"), wait_for=processed().with_timeout(seconds=2))

    gateway.world.run_until("event_store.append")
    gateway.world.advance(milliseconds=0)
    [retry, deadline] = gateway.world.pending.timers
    assert (retry.kind, retry.lane, retry.after) == ("sleep", "o-1", timedelta(milliseconds=500))
    assert (deadline.kind, deadline.lane, deadline.after) == ("deadline", "gateway:o-1", timedelta(seconds=2))
    assert deadline.due == gateway.world.now() + timedelta(seconds=2)

    gateway.world.advance(seconds=1.75)
    assert [row.point for row in gateway.world.trace].count("event_store.append") == 3
    assert [str(timer) for timer in gateway.world.pending.timers] == [
        "deadline of gateway:o-1 in 0.25 s", "sleep of o-1 in 1.75 s",
    ]  # fmt: skip
    gateway.world.advance(milliseconds=250)
    assert type(call.error) is DeadlineExceeded
    assert [timer.kind for timer in gateway.world.pending.timers] == ["sleep"]
    gateway.world.run()
    assert not gateway.world.pending
    assert gateway.world.logged == [entry for entry in gateway.world.logged if entry.subject.body == PayOrder(id="o-1")]


def test_time_needs_nobodys_patience(gateway):
    """Between two steps no virtual time passes while anything is ready."""
    started = gateway.world.now()
    gateway.start(CreateOrder(id="o-1"))
    stepped(gateway)

    assert gateway.world.now() == started


# --- what is pending --------------------------------------------------------------------------------------------------


def test_who_waits_in_line(gateway):
    """Commands that their bus has accepted wait by aggregate; lanes that can go on stand in their order."""
    commands = [PayOrder(id="o-1", amount=1), PayOrder(id="o-1", amount=2), PayOrder(id="o-2", amount=3)]
    gateway.world.given(on(Order, "o-1", OrderCreated()), on(Order, "o-2", OrderCreated()))
    for command in commands:
        gateway.start(command)

    assert gateway.world.pending.ready == ("gateway:o-1", "gateway:o-1", "gateway:o-2")
    assert gateway.world.pending.commands == {}
    gateway.world.run_until("command_bus.send", times=3)
    gateway.world.run_until("snapshot.load", aggregate="o-1")

    pending = gateway.world.pending
    assert pending.ready == ("o-1", "o-2")
    assert pending.commands == {"o-1": (commands[1],), "o-2": (commands[2],)}
    assert str(pending).splitlines()[:2] == ["pending:", "  ready: o-1, o-2"]
    assert str(pending).splitlines()[3:] == [
        '  in line for o-1: PayOrder(id="o-1", amount=2)',
        '  in line for o-2: PayOrder(id="o-2", amount=3)',
    ]
    with pytest.raises(TypeError):
        pending.commands["o-3"] = ()
    gateway.world.run()
    assert gateway.world.state(Order, "o-1").paid == 3
    assert (str(gateway.world.pending), bool(gateway.world.pending)) == ("nothing is pending", False)


def test_a_command_behind_one_that_hangs(gateway):
    """It is in line for ever, which is to be seen when the world is at rest."""
    gateway.world.arm(faults.event_store.append.hangs())
    first, second = gateway.start(CreateOrder(id="o-1")), gateway.start(PayOrder(id="o-1"))
    gateway.world.run()

    assert [type(call.error) for call in (first, second)] == [DeadlineExceeded, DeadlineExceeded]
    pending = gateway.world.pending
    assert (pending.ready, pending.timers, pending.commands) == ((), (), {"o-1": (PayOrder(id="o-1"),)})
    assert pending


def test_what_is_downstream():
    """Events on their way to functions, and snapshots, are lanes of their own."""
    gateway = Gateway()
    gateway.world.using(shop)
    gateway.start(CreateOrder(id="o-1"))

    gateway.world.run_until("state_event_bus.send")

    assert gateway.world.pending.ready == ("o-1", "projection events@o-1", "snapshot@o-1")
    gateway.world.run()


# --- what a test is judged by -----------------------------------------------------------------------------------------


def test_laws_are_checked_when_the_world_has_come_to_rest(gateway):
    """A law that is broken half-way is told when the world rests, by whichever move brought it there."""
    gateway.world.using(Note)
    gateway.start(Noted(id="n-1", text="a"))

    gateway.world.run_until("event_store.append")
    with pytest.raises(SpecFailure, match="without_law"):
        stepped(gateway)


def test_an_author_error_is_raised_by_the_move(gateway):
    """A service that nothing supplies is said when the handler asks for it."""
    gateway.start(Fetch(id="f-1"))

    with pytest.raises(SpecError, match=r"'source' of .*Order\.fetch"):
        stepped(gateway)


def test_real_waiting_is_refused(gateway):
    """A step that awaits an event loop says so, as a run does."""

    class Real(Source):
        async def get(self, id):
            import asyncio

            await asyncio.sleep(0.001)

    gateway.world.provide(Real())
    gateway.start(Fetch(id="f-1"))

    with pytest.raises(SpecError, match="event loop"):
        stepped(gateway)


def test_a_call_that_was_never_begun(gateway):
    """A test that ends without moving the world has tested nothing."""
    gateway.start(CreateOrder(id="o-1"))

    with pytest.raises(SpecFailure, match=r'gateway\.start\(CreateOrder\(id="o-1"\)\) at .*:\d+ was never begun'):
        gateway._held.settle()
    gateway._held.settle()


def test_a_failure_that_nobody_looked_at(gateway):
    """A started call that failed is told when the test ends, unless it was looked at."""
    gateway.start(PayOrder(id="none"))
    seen = gateway.start(PayOrder(id="none"))
    asked_early = gateway.start(PayOrder(id="none"))
    assert asked_early.error is None
    gateway.world.run()

    assert seen.error is not None
    with pytest.raises(SpecFailure, match="failed with CommandResultError, and nobody looked") as raised:
        gateway._held.settle()
    assert "NotFoundError" in str(raised.value)
    with pytest.raises(SpecFailure, match="nobody looked"):
        gateway._held.settle()
    gateway._held.settle()


def test_a_world_may_be_left_in_the_middle(gateway):
    """A test that has seen what it wanted may end there."""
    gateway.start(CreateOrder(id="o-1"))
    gateway.world.run_until("event_store.append")

    gateway._held.abandon()
    gateway._held.settle()


@pytest.mark.asyncio
async def test_asynchronous_calls_move_it_too(gateway):
    """What was started goes on in the caller's event loop."""
    call = gateway.start(CreateOrder(id="o-1"))
    gateway.world.run_until("event_store.append")

    assert (await gateway.aio.send_and_wait(PayOrder(id="o-1"))).aggregate_version == 2
    assert call.result().aggregate_version == 1
