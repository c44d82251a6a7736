"""Every single fault on a way through the pipeline."""

from __future__ import annotations

from wowspec import faults
from wowspec.faults.values import Fault
from wowspec.world.points import FaultKind, Room
from wowspec.world.profiles import legal_kinds
from wowspec.world.trace import Lane, TraceRow


def passed(*points):
    """A trace of these points."""
    return [TraceRow(0, point, Lane(Room.COMMAND, "a-1"), "a-1", None, "") for point in points]


def test_every_legal_kind_in_order():
    """A point that was passed gives one fault for each legal kind, simplest first; a rival only where one is given."""
    found = faults.along(passed("event_store.append"))

    assert [fault.kind for fault in found] == [
        kind for kind in FaultKind if kind in legal_kinds("event_store.append") and kind is not FaultKind.RIVAL
    ]
    assert {fault.point for fault in found} == {"event_store.append"}
    assert {(fault.at, fault.times) for fault in found} == {(1, 1)}


def test_a_rival_where_it_can_append():
    """A rival's events come first at the append alone."""
    rivals = [
        fault
        for fault in faults.along(passed("event_store.load", "event_store.append"), rival=("event",))
        if fault.kind is FaultKind.RIVAL
    ]

    assert rivals == [Fault("event_store.append", FaultKind.RIVAL, payload=("event",))]


def test_each_visit_is_struck_by_itself():
    """A point that was passed twice is struck at its first visit, and at its second."""
    found = faults.along(passed("snapshot.load", "event_store.load", "snapshot.load"))

    assert [fault.at for fault in found if fault.point == "snapshot.load"] == [1] * 5 + [2] * 5
    assert [fault.at for fault in found if fault.point == "event_store.load"] == [1] * 5


def test_points_that_are_only_traced():
    """Where no fault is legal, there is none."""
    assert faults.along(passed("command.validate", "nosuchpoint")) == []


def test_points_with_a_part():
    """A notification's stage belongs to its point."""
    found = faults.along(passed("wait.notify:PROCESSED"))

    assert {fault.point for fault in found} == {"wait.notify:PROCESSED"}
    assert {fault.kind for fault in found} == legal_kinds("wait.notify")


def test_a_profile_says_more():
    """Under another profile there is more that can go wrong at the same point."""
    of = {fault.kind for fault in faults.along(passed("event_store.load"), profile="mongo")}

    assert of == legal_kinds("event_store.load", "mongo")
    assert FaultKind.CORRUPT in of
