"""The check that a request id is new (section E)."""

from __future__ import annotations

import pytest

from wowspec.messages.envelopes import CommandMessage
from wowspec.messages.header import Header
from wowspec.modeling.identity import AggregateRef
from wowspec.runtime.request_ids import (
    PRODUCTION_TTL_NANOS,
    DefaultRequestIdChecker,
    ExactIdempotencyChecker,
    NoOpIdempotencyChecker,
    Prechecks,
    always_exists,
)
from wowspec.world.clock import VirtualClock
from wowspec.world.world import World


def command(id_, request_id="r-1", name="order"):
    """A command to an instance of a type of aggregate."""
    return CommandMessage("c", object(), AggregateRef("shop", name, id_), "pay", request_id, Header())


class Existing:
    """An existence look-up that remembers what it was asked."""

    def __init__(self, *known):
        self.known, self.asked = known, []

    async def __call__(self, aggregate_id, request_id):
        self.asked.append((aggregate_id.id, request_id))
        return (aggregate_id.id, request_id) in self.known


def answers(checker, *commands):
    """What the checker says, one after another."""
    world = World()
    tasks = [world.scheduler.spawn(checker.check(item), "check") for item in commands]
    world.scheduler.run()
    return [task.result() for task in tasks]


@pytest.mark.clause("CMD-089", "TCK-018")
def test_a_new_id_is_not_looked_up():
    """True of the precheck is enough."""
    exists = Existing(("o-1", "r-1"))
    checker = DefaultRequestIdChecker(Prechecks.exact(VirtualClock()), exists)
    assert answers(checker, command("o-1")) == [True]
    assert exists.asked == []


@pytest.mark.clause("CMD-090", "CMD-092", "TCK-018")
def test_a_seen_id_is_a_duplicate_only_if_it_exists():
    """Asked with aggregate id and request id."""
    exists = Existing(("o-1", "r-1"))
    checker = DefaultRequestIdChecker(Prechecks.exact(VirtualClock()), exists)
    assert answers(checker, command("o-1"), command("o-1"), command("o-2")) == [True, False, True]
    assert exists.asked == [("o-1", "r-1"), ("o-2", "r-1")]


@pytest.mark.clause("CMD-091", "TCK-018")
def test_without_a_store_every_seen_id_exists():
    """The default answers yes, even to what never was stored."""
    checker = DefaultRequestIdChecker(Prechecks.exact(VirtualClock()))
    assert answers(checker, command("o-1"), command("o-2")) == [True, False]
    world = World()
    task = world.scheduler.spawn(always_exists(AggregateRef("c", "a", "1"), "r"), "exists")
    world.scheduler.run()
    assert task.result() is True


@pytest.mark.clause("CMD-093", "TCK-018")
def test_prechecks_are_kept_by_type():
    """Two instances share one, two types do not."""
    checker = DefaultRequestIdChecker(Prechecks.exact(VirtualClock()))
    assert answers(checker, command("o-1"), command("i-1", name="item"), command("o-2")) == [True, True, False]


@pytest.mark.clause("CMD-094")
def test_an_id_is_spent_when_it_is_checked():
    """Whatever becomes of the command afterwards."""
    checker = ExactIdempotencyChecker(VirtualClock())
    assert [checker.check("r"), checker.check("r"), checker.check("other")] == [True, False, True]


@pytest.mark.clause("CMD-095", "CMD-097", "TCK-019")
def test_the_filter_is_discarded_as_a_whole():
    """When its time to live has passed since it was made, one minute in production."""
    clock = VirtualClock()
    checker = ExactIdempotencyChecker(clock, PRODUCTION_TTL_NANOS)
    start = clock.nanos
    assert checker.check("a") is True
    clock.move_to(start + 60 * 10**9 - 1)
    assert [checker.check("b"), checker.check("a")] == [True, False]
    clock.move_to(start + 60 * 10**9)
    assert [checker.check("a"), checker.check("b"), checker.check("b")] == [True, True, False]


@pytest.mark.clause("CMD-095", "TCK-019")
@pytest.mark.parametrize("ttl", [0, -1])
def test_no_time_to_live(ttl):
    """Every call gets a new filter, so nothing is ever a duplicate."""
    checker = ExactIdempotencyChecker(VirtualClock(), ttl)
    assert [checker.check("r"), checker.check("r")] == [True, True]


@pytest.mark.clause("CMD-096")
def test_no_op():
    """Always new."""
    checker = NoOpIdempotencyChecker()
    assert [checker.check("r"), checker.check("r")] == [True, True]


@pytest.mark.parametrize("spent", [False, True])
def test_a_copy_goes_its_own_way(spent):
    """It knows what was checked before, and neither learns from the other; its clock is its own."""
    clock, later = VirtualClock(), VirtualClock()
    prechecks = Prechecks.exact(clock, PRODUCTION_TTL_NANOS)
    order = AggregateRef("shop", "order", "o-1")
    if spent:
        prechecks.of(order).check("before")
    copy = prechecks.copy(later)
    prechecks.of(order).check("only here")
    assert copy.of(order).check("before") is not spent
    assert copy.of(order).check("only here") is True
    later.move_to(later.nanos + PRODUCTION_TTL_NANOS)
    assert copy.of(order).check("before") is True
    assert prechecks.of(order).check("only here") is False
    assert NoOpIdempotencyChecker().copy(later).check("r") is True
