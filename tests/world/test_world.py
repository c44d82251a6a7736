"""A world's `at`: what each kind of fault does to an effect, and the one trace row of each visit."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from wowspec.errors import EventVersionConflictError, InjectedFault, InjectedTimeout, ModelError, NotFoundError
from wowspec.world.points import FaultKind, Room
from wowspec.world.trace import Lane
from wowspec.world.world import World

LANE = Lane(Room.COMMAND, "a-1")


@dataclass
class Strike:
    """An armed fault."""

    kind: FaultKind
    payload: object = None


@dataclass
class OneStrike:
    """Strikes at the first visit alone."""

    strike: Strike | None
    visits: list = field(default_factory=list)

    def visit(self, row):
        """Count the visit; strike at the first."""
        self.visits.append(row)
        return self.strike if len(self.visits) == 1 else None


def pass_point(world, effect, **options):
    """Pass one point in a task of its own; the task."""
    passing = world.at("event_store.append", LANE, "subject", "v1", effect, **options)
    task = world.scheduler.spawn(passing, "pass")
    world.scheduler.run()
    return task


def struck(kind, effect=lambda: "done", **options):
    """A world in which a fault of this kind strikes, and the task that passed the point."""
    world = World()
    world.injector = OneStrike(Strike(kind, options.pop("payload", None)))
    return world, pass_point(world, effect, **options)


@pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])
def test_undisturbed_effect(coroutine):
    """Without faults the effect happens once, its value is returned, and the row says ok."""
    world, happened = World(), []

    def plain():
        happened.append(1)
        return "value"

    async def asynchronous():
        return plain()

    task = pass_point(world, asynchronous if coroutine else plain)

    assert task.result() == "value"
    assert happened == [1]
    (row,) = world.trace
    assert (row.point, row.key, row.subject, row.detail, row.outcome, row.error) == (
        "event_store.append",
        "a-1",
        "subject",
        "v1",
        "ok",
        None,
    )
    assert row.nanos == world.clock.nanos


def test_effect_that_fails_itself():
    """An error of the effect is raised and recorded by its class."""
    world = World()

    def effect():
        raise NotFoundError("gone")

    task = pass_point(world, effect)

    assert isinstance(task.error, NotFoundError)
    assert world.trace.rows[0].outcome == "error:NotFoundError"
    assert world.trace.rows[0].error is task.error


@pytest.mark.parametrize(
    ("kind", "error", "happens"),
    [
        (FaultKind.FAIL, InjectedFault, False),
        (FaultKind.TIMEOUT, InjectedTimeout, False),
        (FaultKind.ACK_LOST, InjectedTimeout, True),
        (FaultKind.ACK_LOST_PERMANENT, InjectedFault, True),
    ],
)
def test_kinds_before_and_after_the_effect(kind, error, happens):
    """Failures and time-outs come before the effect, lost replies after it."""
    happened = []

    world, task = struck(kind, lambda: happened.append(1))

    assert type(task.error) is error
    assert bool(happened) is happens
    assert world.trace.rows[0].outcome == kind.value
    assert world.trace.rows[0].error is task.error


@pytest.mark.parametrize("kind", [FaultKind.ACK_LOST, FaultKind.ACK_LOST_PERMANENT])
def test_lost_reply_of_a_failing_effect(kind):
    """Where the effect itself fails, its own error is raised and recorded."""

    def effect():
        raise NotFoundError("gone")

    world, task = struck(kind, effect)

    assert isinstance(task.error, NotFoundError)
    assert world.trace.rows[0].outcome == "error:NotFoundError"


def test_hang():
    """A hung call never returns, and its effect never happens."""
    happened = []

    world, task = struck(FaultKind.HANG, lambda: happened.append(1))

    assert not task.done
    assert happened == []
    assert world.trace.rows[0].outcome == "hang"
    task.cancel()
    world.scheduler.run()


def test_conflict():
    """A conflict raises the error that the point makes, without the effect."""
    stream = type("Stream", (), {"version": 2, "aggregate_id": "a-1"})()
    error = EventVersionConflictError(stream)

    _, task = struck(FaultKind.CONFLICT, lambda: pytest.fail("it happened"), conflict=lambda: error)

    assert task.error is error


@pytest.mark.parametrize("loses", [False, True], ids=["rival wins", "rival loses too"])
def test_rival_goes_first(loses):
    """A rival gets the fault's payload and goes first; then the call goes on, whether the rival succeeded or not."""
    order = []

    def rival(payload):
        order.append(payload)
        if loses:
            raise NotFoundError("no room for a rival")

    world, task = struck(FaultKind.RIVAL, lambda: order.append("call"), rival=rival, payload="rival's events")

    assert order == ["rival's events", "call"]
    assert task.error is None
    assert world.trace.rows[0].outcome == "rival:ok"


def test_call_that_loses_to_its_rival():
    """The error of a call that its rival defeated is recorded beside the rival."""

    def effect():
        raise NotFoundError("beaten")

    world, task = struck(FaultKind.RIVAL, effect, rival=lambda _payload: None)

    assert isinstance(task.error, NotFoundError)
    assert world.trace.rows[0].outcome == "rival:NotFoundError"


@pytest.mark.parametrize("kind", [FaultKind.CONFLICT, FaultKind.RIVAL])
def test_kind_that_a_point_does_not_know(kind):
    """A kind that the point can't act out is wowspec's own error, not a silent pass."""
    _, task = struck(kind, lambda: pytest.fail("it happened"))

    assert isinstance(task.error, ModelError)


def test_each_visit_is_counted():
    """The injector is asked at each visit, and what it does not strike passes."""
    world = World()
    world.injector = OneStrike(Strike(FaultKind.FAIL))

    first = pass_point(world, lambda: "one")
    second = pass_point(world, lambda: "two")

    assert isinstance(first.error, InjectedFault)
    assert second.result() == "two"
    assert [row.outcome for row in world.injector.visits] == ["fail", "ok"]


def test_settle_writes_what_came_of_it():
    """What is known only after the effect can be written on the row."""
    world = World()

    pass_point(world, lambda: 3, settle=lambda row, result: setattr(row, "outcome", f"violations:{result}"))

    assert world.trace.rows[0].outcome == "violations:3"


def test_ids_grow_and_come_from_virtual_time():
    """Two worlds give the same ids; each is greater, as text, than those before; time shows in them."""
    first, second = World(), World()
    ids = [first.next_id() for _ in range(100)]
    first.clock.move_to(first.clock.nanos + 1_000_000)
    ids.append(first.next_id())

    assert ids == sorted(set(ids))
    assert ids[:100] == [second.next_id() for _ in range(100)]
    assert ids[100][:8] != ids[99][:8]


def test_lanes_of_a_trace():
    """Rows of one lane stay together, lanes in the order of their first row."""
    world = World()
    for lane in (LANE, Lane(Room.GATEWAY, "a-1"), LANE):
        task = world.scheduler.spawn(world.at("event_store.append", lane, None, "", lambda: None), "pass")
        world.scheduler.run()
        task.result()

    assert {lane: len(rows) for lane, rows in world.trace.lanes().items()} == {"a-1": 2, "gateway:a-1": 1}


def test_a_failure_is_noted_where_its_point_was_passed():
    """Whatever the effect itself passed stays behind it, as it was."""
    world = World()

    def effect():
        world.enter("snapshot.load", LANE, "inner", "", lambda: None)
        raise KeyError("k")

    task = pass_point(world, effect)

    assert isinstance(task.error, KeyError)
    assert [str(row) for row in world.trace] == ["a-1 event_store.append error:KeyError v1", "a-1 snapshot.load ok"]
    assert [row.key for row in world.trace] == ["a-1", "a-1"]
