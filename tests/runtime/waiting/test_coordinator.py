"""The coordinator of wait handles (section T)."""

from __future__ import annotations

import pytest

from tests.runtime.waiting.builders import MAIN, PROCESSED, SENT, SNAPSHOT, plan_of, signal
from wowspec.errors import IllegalArgumentError
from wowspec.messages.wait_plans import processed, snapshot
from wowspec.runtime.waiting.coordinator import WaitCoordinator
from wowspec.world.world import World

PLAN = plan_of(processed())


@pytest.mark.clause("CMD-397")
def test_one_handle_for_each_id():
    """A second registration of either kind is refused, and the first stays."""
    coordinator = WaitCoordinator()
    coordinator.open_last(PLAN)
    for register in (coordinator.open_last, coordinator.open_stream):
        with pytest.raises(IllegalArgumentError, match="already registered for wait id 'cmd-main'"):
            register(PLAN)
    assert coordinator.signal(signal(PROCESSED)) is True


@pytest.mark.clause("CMD-398")
def test_signals_find_their_handle_by_wait_id():
    """Two waits do not disturb each other, and nobody answers for an unknown id."""
    coordinator = WaitCoordinator()
    coordinator.open_last(PLAN)
    coordinator.open_last(snapshot().plan("other"))
    assert coordinator.signal(signal(PROCESSED, wait="nobody")) is False
    assert coordinator.signal(signal(PROCESSED, of="other", wait="other")) is True
    assert coordinator.waiting == (MAIN, "other")
    assert coordinator.signal(signal(PROCESSED)) is True
    assert coordinator.waiting == ("other",)


@pytest.mark.clause("CMD-399")
def test_an_ignored_signal_leaves_the_handle():
    """It answers false, and the wait goes on."""
    coordinator = WaitCoordinator()
    coordinator.open_last(PLAN)
    assert coordinator.signal(signal(SNAPSHOT)) is False
    assert MAIN in coordinator


@pytest.mark.clause("CMD-400", "CMD-401")
@pytest.mark.parametrize("end", ["final", "error", "cancel"])
@pytest.mark.parametrize("kind", ["open_last", "open_stream"])
def test_a_handle_that_ends_is_forgotten(kind, end):
    """The id is free at once, and only that very handle was removed."""
    coordinator = WaitCoordinator()
    old = getattr(coordinator, kind)(PLAN)
    assert MAIN in coordinator
    {"final": lambda: old.next(signal(PROCESSED)), "error": lambda: old.error(ValueError()), "cancel": old.cancel}[
        end
    ]()
    assert MAIN not in coordinator
    new = coordinator.open_last(PLAN)
    old.cancel()
    assert MAIN in coordinator
    assert new.next(signal(SENT)) is True


@pytest.mark.clause("CMD-414")
def test_the_link_size_matters_to_streams_alone():
    """The error comes from opening a stream handle, not from making the coordinator or a last handle."""
    coordinator = WaitCoordinator(stream_queue_link_size=0)
    coordinator.open_last(PLAN).cancel()
    with pytest.raises(IllegalArgumentError):
        coordinator.open_stream(PLAN)
    assert MAIN not in coordinator


@pytest.mark.clause("CMD-416")
def test_handles_have_no_timeout():
    """However long it takes, a handle waits; deadlines are the gateway's."""
    world, coordinator = World(), WaitCoordinator()
    coordinator.open_last(PLAN.with_timeout(milliseconds=1))
    world.scheduler.run(until=world.clock.nanos + 3_600 * 10**9)
    assert coordinator.signal(signal(PROCESSED)) is True


@pytest.mark.clause("CMD-435")
def test_late_signals_are_dropped():
    """After the end nobody is there."""
    coordinator = WaitCoordinator()
    coordinator.open_last(PLAN)
    assert [coordinator.signal(signal(PROCESSED)) for _ in range(2)] == [True, False]
