"""Deadlines of the gateway's waiting calls, and streams that end early (section F)."""

from __future__ import annotations

import pytest

from tests.runtime.gateway_setting import (
    SECOND,
    SENT,
    WAITING,
    Setting,
    check_of,
    command,
    signal,
)
from wowspec.errors import (
    DeadlineExceeded,
)
from wowspec.messages.wait_plans import (
    processed,
    projected,
    snapshot,
)


@pytest.mark.clause("CMD-119", "CMD-121")
@WAITING
@pytest.mark.parametrize("hangs", [False, True], ids=["waiting", "sending"])
def test_the_default_deadline(call, hangs):
    """30 seconds from the start, sending included; at exactly that instant it has passed. Raw."""
    setting = Setting()
    setting.bus_hangs = hangs
    task = check_of(setting, call, command())
    setting.settle(30 * SECOND - 1)
    assert task.done is False
    setting.settle(1)
    assert isinstance(task.error, DeadlineExceeded)
    assert isinstance(task.error, TimeoutError)
    assert setting.coordinator.waiting == ()
    assert len(setting.sent) == 1


@pytest.mark.clause("CMD-119")
def test_the_deadline_covers_the_checks():
    """A hanging request-id check is cut off too."""

    class Checker:
        def __init__(self):
            self.setting = None

        async def check(self, command):
            await self.setting.world.scheduler.future()

    checker = Checker()
    setting = checker.setting = Setting(request_ids=checker)
    task = setting.wait(processed().plan("c-1").with_timeout(seconds=5))
    setting.settle(5 * SECOND)
    assert isinstance(task.error, DeadlineExceeded)


@pytest.mark.clause("CMD-120")
def test_elements_do_not_extend_a_streams_deadline():
    """An element at 0.9 s, the failure at 1.0 s."""
    setting = Setting()
    task, results = setting.stream(projected("shop").plan("c-1").with_timeout(seconds=1))
    setting.settle(900_000_000)
    setting.coordinator.signal(signal())
    setting.settle(99_999_999)
    assert (len(results), task.done) == (2, False)
    setting.settle(1)
    assert (len(results), type(task.error)) == (2, DeadlineExceeded)


@pytest.mark.clause("CMD-120")
def test_a_streams_deadline_passes_while_nobody_asks():
    """The handle is released; what had come can still be taken, then the deadline is raised."""
    setting = Setting()
    stream = setting.gateway.send_and_wait_stream(command(), processed().plan("c-1"))
    first = setting.start(stream.__anext__())
    setting.settle(30 * SECOND)
    assert (first.result().stage, setting.coordinator.waiting) == (SENT, ())
    assert isinstance(setting.start(stream.__anext__()).error, DeadlineExceeded)


@pytest.mark.clause("CMD-117")
def test_closing_a_stream():
    """Releases the handle and the deadline; iterating further ends at once."""
    setting = Setting()
    stream = setting.gateway.send_and_wait_stream(command(), snapshot().plan("c-1"))
    setting.start(stream.__anext__())
    setting.start(stream.aclose())
    assert (setting.coordinator.waiting, setting.world.scheduler.pending_timers) == ((), ())

    async def rest():
        return [item async for item in stream]

    assert setting.start(rest()).result() == []


@pytest.mark.clause("CMD-121")
def test_a_deadline_undoes_nothing():
    """The signal that comes later finds nobody."""
    setting = Setting()
    setting.wait()
    setting.settle(30 * SECOND)
    assert setting.coordinator.signal(signal()) is False
    assert len(setting.sent) == 1


def test_a_call_that_ends_leaves_no_timer():
    """The deadline's timer goes with it."""
    setting = Setting()
    setting.wait()
    setting.coordinator.signal(signal())
    setting.settle()
    assert setting.world.scheduler.pending_timers == ()
