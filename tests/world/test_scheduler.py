"""The scheduler: tasks in their order, virtual time, futures, cancellation, foreign awaitables."""

from __future__ import annotations

import asyncio

import pytest

from wowspec.errors import ModelError
from wowspec.world.clock import VirtualClock
from wowspec.world.foreign import ForeignAwaitError
from wowspec.world.scheduler import Cancelled, Scheduler


@pytest.fixture
def scheduler():
    """A scheduler at instant 0."""
    return Scheduler(VirtualClock(0))


class Foreign:
    """Something that only an event loop could serve."""

    def __await__(self):
        return (yield self)


def test_tasks_run_first_in_first_out(scheduler):
    """Ready tasks are stepped in the order in which they became ready."""
    seen = []

    async def work(name):
        seen.append(f"{name}1")
        await scheduler.sleep(0)
        seen.append(f"{name}2")

    for name in "abc":
        scheduler.spawn(work(name), name)
    scheduler.run()

    assert seen == ["a1", "b1", "c1", "a2", "b2", "c2"]


def test_sleep_costs_virtual_time_alone(scheduler):
    """Sleepers wake in order of their instants, and the clock ends at the last."""
    seen = []

    async def sleeper(nanos):
        await scheduler.sleep(nanos)
        seen.append((nanos, scheduler.clock.nanos))

    for nanos in (10**18, 5, 7):
        scheduler.spawn(sleeper(nanos), str(nanos))
    scheduler.run()

    assert seen == [(5, 5), (7, 7), (10**18, 10**18)]


def test_run_until(scheduler):
    """Until an instant: later timers stay, the clock ends there, and a further run goes on."""
    fired = []
    for nanos in (10, 20, 30):
        scheduler.call_at(nanos, lambda nanos=nanos: fired.append(nanos))

    scheduler.run(until=20)

    assert fired == [10, 20]
    assert scheduler.clock.nanos == 20
    assert scheduler.pending_timers == (30,)
    assert not scheduler.is_idle
    scheduler.run(until=25)
    assert (fired, scheduler.clock.nanos) == ([10, 20], 25)
    scheduler.run()
    assert (fired, scheduler.clock.nanos) == ([10, 20, 30], 30)
    assert scheduler.is_idle


def test_a_timer_of_the_past_does_not_turn_time_back(scheduler):
    """A timer for an instant that has passed fires at once, and the clock stays."""
    scheduler.clock.move_to(100)
    fired = []
    scheduler.call_at(50, lambda: fired.append(scheduler.clock.nanos))

    scheduler.run()

    assert fired == [100]


def test_cancelled_timer_never_fires(scheduler):
    """A cancelled timer neither fires nor moves the clock."""
    timer = scheduler.call_at(10, lambda: pytest.fail("it fired"))
    timer.cancel()

    scheduler.run()

    assert scheduler.clock.nanos == 0
    assert scheduler.is_idle


def test_task_awaits_future_and_task(scheduler):
    """A task gets the value of a future, another task the value of that task."""
    future = scheduler.future()

    async def inner():
        return await future + 1

    async def outer(task):
        return await task + 1

    first = scheduler.spawn(inner(), "inner")
    second = scheduler.spawn(outer(first), "outer")
    scheduler.run()
    assert not second.done

    assert future.set_result(1)
    scheduler.run()

    assert (first.result(), second.result()) == (2, 3)


def test_errors_travel(scheduler):
    """An error of a task is raised where it is awaited, and kept as its outcome."""

    async def fails():
        raise KeyError("x")

    async def catches(task):
        try:
            await task
        except KeyError as error:
            return f"caught {error}"

    failing = scheduler.spawn(fails(), "fails")
    catching = scheduler.spawn(catches(failing), "catches")
    scheduler.run()

    assert catching.result() == "caught 'x'"
    with pytest.raises(KeyError):
        failing.result()


def test_a_future_completes_once(scheduler):
    """The first completion wins; callbacks run once, those added later at once."""
    future, called = scheduler.future(), []
    future.on_done(lambda: called.append("before"))

    assert future.set_result(1)
    assert not future.set_result(2)
    assert not future.set_error(ValueError())
    future.on_done(lambda: called.append("after"))
    assert future.result() == 1
    assert called == ["before", "after"]


def test_pending_future_has_no_result(scheduler):
    """Asking a pending future for its value is wowspec's own error."""
    with pytest.raises(ModelError):
        scheduler.future().result()


def test_hung_task_stays(scheduler):
    """A task whose future nobody completes just stays; the scheduler is idle."""

    async def waits():
        await scheduler.future()

    task = scheduler.spawn(waits(), "hung")
    scheduler.run()

    assert not task.done
    assert scheduler.is_idle
    task.cancel()
    scheduler.run()


@pytest.mark.parametrize("waits_for", ["future", "sleep"])
def test_cancel_where_it_waits(scheduler, waits_for):
    """Cancellation is thrown in where the task waits; `except Exception` can't swallow it, `finally` runs."""
    seen = []

    async def work():
        try:
            await (scheduler.future() if waits_for == "future" else scheduler.sleep(1000))
        except Exception:
            seen.append("swallowed")
        finally:
            seen.append("finally")

    task = scheduler.spawn(work(), "work")
    scheduler.run(until=1)
    task.cancel()
    task.cancel()
    scheduler.run()

    assert seen == ["finally"]
    assert isinstance(task.error, Cancelled)
    assert scheduler.clock.nanos == 1


def test_cancel_before_the_first_step_and_after_the_last(scheduler):
    """A task that never ran ends cancelled; a finished one is left alone."""
    seen = []

    async def work():
        seen.append("ran")

    early = scheduler.spawn(work(), "early")
    early.cancel()
    scheduler.run()
    late = scheduler.spawn(work(), "late")
    scheduler.run()
    late.cancel()
    scheduler.run()

    assert seen == ["ran"]
    assert isinstance(early.error, Cancelled)
    assert late.error is None


def test_start_steps_at_once(scheduler):
    """A started task runs up to its first wait before its starter goes on."""
    seen = []

    async def child():
        seen.append("child 1")
        await scheduler.sleep(1)
        seen.append("child 2")

    async def parent():
        scheduler.start(child(), "child")
        seen.append("parent")

    scheduler.spawn(parent(), "parent")
    scheduler.run()

    assert seen == ["child 1", "parent", "child 2"]


def test_foreign_await_is_an_error_at_the_await(scheduler):
    """In the synchronous form the error is thrown in where the code awaited; it may handle it."""

    async def work():
        try:
            await Foreign()
        except ForeignAwaitError as error:
            return str(error)

    task = scheduler.spawn(work(), "work")
    scheduler.run()

    assert "needs a real event loop" in task.result()
    assert "clock: Clock" in task.result()


def test_foreign_await_is_served_by_the_callers_loop(scheduler):
    """In the asynchronous form the caller's loop serves it, and virtual tasks go on around it."""

    class Drive:
        def __await__(self):
            return scheduler.drive()

    async def work():
        await asyncio.sleep(0)
        await scheduler.sleep(10**15)
        loop = asyncio.get_running_loop()
        real = loop.create_future()
        loop.call_soon(real.set_result, "real")
        return await real

    async def main():
        task = scheduler.spawn(work(), "work")
        await Drive()
        return task.result()

    assert asyncio.run(main()) == "real"
    assert scheduler.clock.nanos == 10**15
