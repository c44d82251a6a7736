"""The store that takes its time: on the virtual clock, with the errors of any other."""

from __future__ import annotations

import pytest

from tests.runtime.downstream.shop import ORDER, Placed, stream_of
from wowspec.errors import EventVersionConflictError, IllegalArgumentError
from wowspec.runtime.delayed_store import DelayedEventStore
from wowspec.world.world import World


class Setting:
    """A slow store in a world."""

    def __init__(self, **options):
        self.world = World()
        self.store = DelayedEventStore(self.world.scheduler, **options)

    def timed(self, coro):
        """What a coroutine gave, and after how many milliseconds."""
        start = self.world.now_millis()
        task = self.world.scheduler.spawn(coro, "call")
        self.world.scheduler.run()
        return task.result(), self.world.now_millis() - start


@pytest.mark.clause("EVT-031")
def test_each_operation_takes_five_milliseconds():
    """Unless told otherwise; single and the request id check load first, and take as long as a load."""
    setting = Setting()
    store, stream = setting.store, stream_of(Placed())

    assert setting.timed(store.append(stream)) == (None, 5)
    loaded, taken = setting.timed(store.load(ORDER))
    assert ([item.id for item in loaded], taken) == ([stream.id], 5)
    assert loaded[0] is not stream
    assert setting.timed(store.load_by_event_time(ORDER, 2_000, 3_000)) == ([], 5)
    assert setting.timed(store.last(ORDER))[1] == 5
    assert setting.timed(store.single(ORDER, 2)) == (None, 5)
    assert setting.timed(store.scan_aggregate_id(ORDER.named_aggregate)) == ([ORDER], 5)
    assert setting.timed(store.exists_request_id(ORDER, "r-1")) == (True, 5)
    assert setting.timed(store.exists_request_id(ORDER, "r-2")) == (False, 5)


@pytest.mark.clause("EVT-031")
def test_another_delay():
    """The delay is what it is told, in nanoseconds."""
    setting = Setting(delay=7_000_000)

    assert setting.timed(setting.store.last(ORDER)) == (None, 7)


@pytest.mark.clause("EVT-031", "EVT-018")
def test_its_errors():
    """Illegal ranges are refused by the call; a conflict comes after the delay."""
    setting = Setting()
    setting.timed(setting.store.append(stream_of(Placed(), version=2)))

    with pytest.raises(IllegalArgumentError):
        setting.store.load(ORDER, 5, 4)
    with pytest.raises(IllegalArgumentError):
        setting.store.load_by_event_time(ORDER, 5, 4)
    with pytest.raises(IllegalArgumentError):
        setting.store.scan_aggregate_id(ORDER.named_aggregate, limit=-1)
    with pytest.raises(EventVersionConflictError):
        setting.timed(setting.store.append(stream_of(Placed(), version=2)))
