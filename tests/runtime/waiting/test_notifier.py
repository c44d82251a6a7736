"""Notifiers (section U)."""

from __future__ import annotations

import pytest

from tests.runtime.waiting.builders import OTHER_VIEW, PROCESSED, PROJECTED, SENT, SNAPSHOT, VIEW, Recorder, signal
from wowspec.errors import IllegalArgumentError
from wowspec.messages.wait_headers import ExtractedWaitPlan
from wowspec.messages.wait_plans import processed, projected
from wowspec.runtime.waiting.coordinator import WaitCoordinator
from wowspec.runtime.waiting.notifier import LocalWaitNotifier, is_local_wait_id, notify_if_wanted
from wowspec.world.points import FaultKind, Room
from wowspec.world.trace import Lane
from wowspec.world.world import World

MINE = "0Tvcokgi0007005"
FOREIGN = "0Tvcokgi0008005"
LANE = Lane(Room.COMMAND, "o-1")


class Setting:
    """A world with a coordinator, a local notifier and one open wait."""

    def __init__(self, wait_id=MINE):
        self.world = World(machine_id=7)
        self.coordinator = WaitCoordinator()
        self.notifier = LocalWaitNotifier(self.coordinator, self.world)
        self.seen = Recorder()
        self.coordinator.open_last(processed().plan(wait_id)).subscribe(self.seen)

    def notify(self, item):
        """Notify and wait for it."""
        task = self.world.scheduler.spawn(self.notifier.notify("e", item), "notify")
        self.world.scheduler.run()
        return task


class Broken:
    """A notifier whose transport fails."""

    async def notify(self, endpoint, signal):
        """Fail."""
        raise ConnectionError(endpoint)


def wanting(wait, wait_id=MINE):
    """A plan as it was read from a header."""
    return ExtractedWaitPlan("e", wait.plan(wait_id))


@pytest.mark.clause("CMD-432")
def test_whose_wait_id_it_is():
    """The four characters after the time are the machine; a blank id is nobody's."""
    assert is_local_wait_id(MINE, 7) is True
    assert is_local_wait_id(FOREIGN, 7) is False
    assert is_local_wait_id("0Tvcokgi0010005", 62) is True
    assert is_local_wait_id("", 7) is False
    assert is_local_wait_id("  ", 7) is False
    assert is_local_wait_id(World().next_id(), World().ids.machine_id) is True


@pytest.mark.clause("CMD-433")
@pytest.mark.parametrize("wait_id", ["abc", "0Tvcokgi000700!", "0Tvcokgi00070055"])
def test_malformed_wait_ids(wait_id):
    """Another length or another character is an invalid argument: raised by notify, logged by fire-and-forget."""
    setting = Setting()
    with pytest.raises(IllegalArgumentError):
        is_local_wait_id(wait_id, 7)
    assert isinstance(setting.notify(signal(PROCESSED, wait=wait_id)).error, IllegalArgumentError)
    setting.notifier.notify_and_forget("e", signal(PROCESSED, wait=wait_id))
    assert [(entry.point, type(entry.error)) for entry in setting.world.log] == [
        ("wait.notify:PROCESSED", IllegalArgumentError)
    ]


@pytest.mark.clause("CMD-429", "PRJ-013")
def test_local_signals_reach_the_coordinator():
    """Whatever the endpoint; a foreign or blank id is dropped, and both end normally."""
    setting = Setting()
    setting.coordinator.open_last(processed().plan(FOREIGN))
    foreign, blank = signal(PROCESSED, wait=FOREIGN), signal(PROCESSED, wait=" ")
    assert setting.notify(foreign).error is None
    assert setting.notify(blank).error is None
    assert setting.notifier.dropped == [foreign, blank]
    assert FOREIGN in setting.coordinator
    assert setting.notify(signal(PROCESSED, wait=MINE)).error is None
    assert setting.seen.seen == ["cmd-main/PROCESSED", "complete"]


@pytest.mark.clause("CMD-430")
def test_notify_is_lazy():
    """Never awaited, or cancelled before its first step, it signals nothing."""
    setting = Setting()
    setting.notifier.notify("e", signal(PROCESSED, wait=MINE)).close()
    setting.world.scheduler.spawn(setting.notifier.notify("e", signal(PROCESSED, wait=MINE)), "notify").cancel()
    setting.world.scheduler.run()
    assert (setting.seen.seen, setting.notifier.received) == ([], [])


@pytest.mark.clause("CMD-431")
def test_fire_and_forget_is_synchronous():
    """The signal has arrived when the call returns."""
    setting = Setting()
    setting.notifier.notify_and_forget("e", signal(PROCESSED, wait=MINE))
    assert setting.seen.seen == ["cmd-main/PROCESSED", "complete"]


@pytest.mark.clause("CMD-427", "PRJ-006")
def test_only_what_the_target_accepts_is_sent():
    """Stage and selector are asked once more before anything is transmitted."""
    setting = Setting()
    plan = wanting(projected("shop", "OrderView"))
    for item in (
        signal(SENT, wait=MINE),
        signal(SNAPSHOT, wait=MINE),
        signal(PROJECTED, wait=MINE, function=OTHER_VIEW),
        signal(PROJECTED, wait=MINE, function=VIEW, id="sent on"),
    ):
        notify_if_wanted(setting.world, setting.notifier, plan, item, LANE, object())
    assert [item.id for _, item in setting.notifier.received] == ["cmd-main/SENT", "sent on"]
    assert [str(row) for row in setting.world.trace] == [
        "o-1 wait.notify:SENT ok succeeded",
        "o-1 wait.notify:PROJECTED ok succeeded",
    ]


@pytest.mark.clause("CMD-428", "PRJ-012")
def test_a_failing_notifier_is_logged():
    """Nothing reaches the pipeline."""
    world, item = World(), signal(PROCESSED, error="X")
    notify_if_wanted(world, Broken(), wanting(processed()), item, LANE, object())
    (entry,) = world.log
    assert (entry.point, entry.subject, type(entry.error)) == ("wait.notify:PROCESSED", item, ConnectionError)
    (row,) = world.trace
    assert (row.outcome, row.detail) == ("error:ConnectionError", "X")


@pytest.mark.clause("CMD-428", "PRJ-012")
def test_a_hanging_notifier_holds_nobody_up():
    """The call returns although the notification never ends."""

    class Strike:
        kind, payload = FaultKind.HANG, None

    class Injector:
        def visit(self, row):
            return Strike()

    setting = Setting()
    setting.world.injector = Injector()
    notify_if_wanted(
        setting.world, setting.notifier, wanting(processed()), signal(PROCESSED, wait=MINE), LANE, object()
    )
    setting.world.scheduler.run()
    assert (setting.notifier.received, setting.world.log) == ([], [])
    assert [row.outcome for row in setting.world.trace] == ["hang"]
