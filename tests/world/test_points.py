"""The table of points and the table of kinds."""

from __future__ import annotations

import pytest

from wowspec.world.points import KINDS, POINTS, USER_POINT, FaultKind, is_user_point, point_row


def test_every_kind_has_a_row_in_order():
    """Each kind has one row, in the order in which shrinking prefers them."""
    assert [row.kind for row in KINDS] == list(FaultKind)


def test_points_in_pipeline_order():
    """The points of a command are in the order in which a succeeding command passes them."""
    assert [row.name for row in POINTS] == [
        "request_id.check",
        "command.validate",
        "command_bus.send",
        "snapshot.load",
        "event_store.load",
        "service",
        "event_store.append",
        "command.acknowledge",
        "domain_event_bus.send",
        "state_event_bus.send",
        "snapshot.save",
        "event.deliver",
        "projection.write",
        "wait.notify",
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("event_store.append", "event_store.append"),
        ("wait.notify:PROCESSED", "wait.notify"),
        ("event.deliver:OrderView.onEvent", "event.deliver"),
        ("nosuch", None),
        ("event_store.apend", None),
        ("payment.charge:o-1", None),
    ],
)
def test_row_of_a_points_text(text, name):
    """A point's text names its row, with or without a part; an unknown one names none."""
    row = point_row(text)

    assert (row.name if row else None) == name


def test_possible_kinds():
    """Conflicts and rivals are the event store's alone, validation is never faulted, loads may be unreadable."""
    of = {row.name: row.kinds for row in POINTS}

    assert [name for name, kinds in of.items() if FaultKind.RIVAL in kinds or FaultKind.CONFLICT in kinds] == [
        "event_store.append"
    ]
    assert of["command.validate"] == frozenset()
    assert [name for name, kinds in of.items() if FaultKind.CORRUPT in kinds] == ["snapshot.load", "event_store.load"]
    assert [name for name, kinds in of.items() if FaultKind.HANG not in kinds] == [
        "command.validate",
        "projection.write",
    ]
    assert [name for name, kinds in of.items() if FaultKind.DROP in kinds] == [
        "command_bus.send",
        "domain_event_bus.send",
        "state_event_bus.send",
        "wait.notify",
    ]


def test_points_of_the_users_own():
    """Words with dots between are a point of the user's own, unless they are close to one of the table."""
    assert point_row("payment.charge") is USER_POINT
    assert point_row("shop.payment.charge") is USER_POINT
    assert not is_user_point("event_store.apend")
    assert not is_user_point("event_store.append")
    assert not is_user_point("charge")


def test_points_with_a_part_say_which():
    """Just the points that exist in many have a part."""
    assert {row.name: row.part for row in POINTS if row.part} == {
        "service": "<service>.<method>",
        "event.deliver": "<processor>.<function>",
        "projection.write": "<projection>",
        "wait.notify": "<STAGE>",
    }
