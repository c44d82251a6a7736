"""Driving a world from its callers' event loop: who steps what, when time moves, what cancelling leaves behind."""

from __future__ import annotations

import asyncio

import pytest

from wowspec.errors import SpecError
from wowspec.world.clock import VirtualClock
from wowspec.world.driving import Drive, cancel
from wowspec.world.scheduler import Scheduler


@pytest.fixture
def scheduler():
    """A scheduler at instant 0."""
    return Scheduler(VirtualClock(0))


class Abroad:
    """Something that only an event loop could serve."""

    def __await__(self):
        return (yield self)


def test_drive_brings_the_world_to_rest(scheduler):
    """Tasks and timers go on until nothing can move; the drive takes no seat before it is awaited, and leaves none."""
    seen = []

    async def work(name, nanos):
        await scheduler.sleep(nanos)
        seen.append(name)

    async def main():
        own = scheduler.spawn(work("own", 5), "own")
        other = scheduler.spawn(work("other", 9), "other")
        drive = Drive(scheduler, own)
        assert scheduler.seats == []
        await drive
        assert own.done
        assert other.done

    asyncio.run(main())

    assert seen == ["own", "other"]
    assert scheduler.clock.nanos == 9
    assert scheduler.seats == []


def test_enough(scheduler):
    """A drive that has enough comes back at once, and leaves the rest to whoever drives next."""
    seen = []

    async def work():
        for number in range(3):
            seen.append(number)
            await scheduler.sleep(1)

    async def main():
        task = scheduler.spawn(work(), "work")
        await Drive(scheduler, task, lambda: len(seen) == 2)
        assert seen == [0, 1]
        await Drive(scheduler, task)

    asyncio.run(main())

    assert seen == [0, 1, 2]


def test_a_task_stays_with_its_drive(scheduler):
    """What a task starts, and what awaited the loop, is stepped in the loop task of its own call alone."""
    places = {}

    async def leaf(name):
        await asyncio.sleep(0)
        await scheduler.sleep(1)
        places.setdefault(name, set()).add(asyncio.current_task().get_name())

    async def root(name):
        places.setdefault(name, set()).add(asyncio.current_task().get_name())
        started = scheduler.spawn(leaf(name), name)
        await asyncio.sleep(0)
        await started

    async def call(name):
        await Drive(scheduler, scheduler.spawn(root(name), name))

    async def main():
        await asyncio.gather(*(asyncio.create_task(call(name), name=name) for name in "abc"))

    asyncio.run(main())

    assert places == {"a": {"a"}, "b": {"b"}, "c": {"c"}}


def test_a_task_whose_drive_is_gone_is_anybodys(scheduler):
    """What a cancelled caller leaves ready is stepped by the next drive."""
    seen = []

    async def child():
        seen.append("child")

    async def parent():
        _ = scheduler.spawn(child(), "child")
        await asyncio.Event().wait()

    async def main():
        call = asyncio.create_task(_driven(scheduler, parent()))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert seen == []
        await _driven(scheduler, child())

    asyncio.run(main())

    assert seen == ["child", "child"]


async def _driven(scheduler, work):
    await Drive(scheduler, scheduler.spawn(work, "work"))


def test_a_drive_waits_for_one_that_is_abroad(scheduler):
    """A drive whose task waits for another call's does not move time meanwhile, and goes on when that one is back."""
    gate = scheduler.future()

    async def opener():
        await asyncio.sleep(0.001)
        assert scheduler.clock.nanos == 0
        gate.set_result("open")

    async def waiter():
        answer = await gate
        await scheduler.sleep(7)
        return answer

    async def main():
        timer = scheduler.call_at(5, lambda: None)
        first = asyncio.create_task(_driven(scheduler, opener()))
        await asyncio.sleep(0)
        task = scheduler.spawn(waiter(), "waiter")
        await Drive(scheduler, task)
        await first
        assert timer is not None
        return task.result()

    assert asyncio.run(main()) == "open"
    assert scheduler.clock.nanos == 7


def test_answers_and_errors_of_the_loop_reach_the_task(scheduler):
    """What the loop sends is the value of the await; what it throws is raised there, and may be handled."""

    async def work():
        answer = await Abroad()
        try:
            await Abroad()
        except GeneratorExit:
            raise
        except BaseException as error:
            return answer, str(error)

    task = scheduler.spawn(work(), "work")
    loop = Drive(scheduler, task).__await__()
    next(loop)
    loop.send("answer")
    with pytest.raises(StopIteration):
        loop.throw(KeyboardInterrupt("stop"))

    assert task.result() == ("answer", "stop")


def test_cancel(scheduler):
    """A cancelled task cleans up at once; a finished one is left alone; one that awaits the loop then is refused."""
    seen = []

    async def waits():
        try:
            await scheduler.future()
        finally:
            seen.append("clean")

    async def awaits():
        try:
            await scheduler.future()
        finally:
            await Abroad()

    task = scheduler.spawn(waits(), "waits")
    scheduler.run()
    cancel(task)
    cancel(task)
    assert seen == ["clean"]
    assert task.done
    assert not scheduler.has_ready

    fresh = scheduler.spawn(waits(), "fresh")
    cancel(fresh)
    assert fresh.done
    assert seen == ["clean"]

    task = scheduler.spawn(awaits(), "awaits")
    scheduler.run()
    with pytest.raises(SpecError, match="while it was cleaning up"):
        cancel(task)


def test_abandon(scheduler):
    """A world that nobody drives any more leaves no coroutine unawaited."""

    async def work():
        raise AssertionError("it must not run")

    _ = scheduler.spawn(work(), "work")
    scheduler.abandon()

    assert scheduler.is_idle
    scheduler.run()
