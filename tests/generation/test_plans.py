"""Plans as a strategy: sparse, one fault a visit, shrinking to the fewest and simplest."""

from __future__ import annotations

import pytest
from hypothesis import find, given, settings, strategies as st

from wowspec import SpecError
from wowspec.faults.plans import Address, Plan
from wowspec.generation.plans import plans
from wowspec.world.points import FaultKind

PLACES = ["Pay/event_store.load@1", "Pay/event_store.append@1", "Pay/event_store.append@2", "Pay/command.acknowledge@1"]
QUIET = settings(database=None, derandomize=True, max_examples=300)


@settings(database=None, derandomize=True, max_examples=100)
@given(plans(PLACES, max_faults=3))
def test_a_visit_is_struck_once(plan):
    """No plan has two faults at one visit, none more than it may have; its text can be read again."""
    addresses = [fault.address for fault in plan]
    assert len(set(addresses)) == len(addresses) <= 3
    assert Plan.parse(str(plan)) == plan


def test_they_shrink_to_no_fault_at_all():
    """The simplest plan is the fault-free run."""
    assert find(plans(PLACES), lambda plan: True, settings=QUIET) == Plan()


def test_they_shrink_to_the_earliest_place_and_the_simplest_kind():
    """Of all plans of one fault the one at the first visit, of the first kind, is the simplest."""
    found = find(plans(PLACES), lambda plan: len(plan) > 0, settings=QUIET)
    assert str(found) == "Pay/event_store.load@1=fail"


def test_they_shrink_to_two_where_two_are_needed():
    """A defect that needs an append that is struck, and the acknowledgement, shrinks to just these."""

    def breaks(plan):
        points = {fault.address.point for fault in plan}
        return {"event_store.append", "command.acknowledge"} <= points

    found = find(plans(PLACES, max_faults=4), breaks, settings=QUIET)
    assert str(found) == "Pay/event_store.append@1=fail; Pay/command.acknowledge@1=fail"


def test_faults_stand_in_the_order_of_their_places():
    """A plan that was drawn the other way round is the same plan."""
    found = find(
        plans(PLACES),
        lambda plan: [fault.address.visit for fault in plan if fault.address.point == "event_store.append"] == [1, 2],
        settings=QUIET,
    )
    assert str(found) == "Pay/event_store.append@1=fail; Pay/event_store.append@2=fail"


def test_a_place_may_be_a_fault_or_an_address():
    """A fault stands for itself; an address for each kind that is legal there."""
    drawn = plans([next(iter(Plan.parse("Pay/event_store.append@1=rival"))), Address("Pay", "event_store.append", 2)])
    kinds = set()

    @settings(database=None, derandomize=True, max_examples=200)
    @given(drawn)
    def collect(plan):
        kinds.update((fault.address.visit, fault.kind) for fault in plan)

    collect()
    assert {kind for visit, kind in kinds if visit == 1} == {FaultKind.RIVAL}
    assert FaultKind.CONFLICT in {kind for visit, kind in kinds if visit == 2}


def test_the_profile_says_what_is_legal():
    """In memory no process dies; over durable stores it does."""
    died = find(
        plans(["Pay/event_store.append@1"], profile="kafka"),
        lambda plan: any(fault.kind is FaultKind.CRASH_BEFORE for fault in plan),
        settings=QUIET,
    )
    assert str(died) == "Pay/event_store.append@1=crash_before"

    @settings(database=None, derandomize=True, max_examples=100)
    @given(plans(["Pay/event_store.append@1"]))
    def in_memory(plan):
        assert not any(fault.kind is FaultKind.CRASH_BEFORE for fault in plan)

    in_memory()


@pytest.mark.parametrize("most", [-1, 1.5, "3", True])
def test_a_number_of_faults_is_a_whole_number(most):
    """What is no number of faults is refused."""
    with pytest.raises(SpecError, match="max_faults="):
        plans(PLACES, max_faults=most)


@pytest.mark.parametrize("place", [3, "event_store.append", "Pay/event_stor.append@1"])
def test_what_is_no_place_is_refused(place):
    """A place names a chain and a point that exists."""
    with pytest.raises(SpecError):
        plans([place])


def test_no_place_gives_the_fault_free_plan():
    """Where nothing can be struck, nothing is."""
    assert find(plans([]), lambda plan: True, settings=QUIET) == Plan()
    assert find(plans(PLACES, max_faults=0), lambda plan: True, settings=QUIET) == Plan()


def test_it_is_no_wider_than_its_places():
    """With one place there is one fault at most, whatever max_faults says."""

    @settings(database=None, derandomize=True, max_examples=50)
    @given(st.data())
    def check(data):
        assert len(data.draw(plans(PLACES[:1], max_faults=5))) <= 1

    check()
