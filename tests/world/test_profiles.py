"""The table of profiles: what can go wrong where."""

from __future__ import annotations

import pytest

from wowspec import SpecError
from wowspec.world.points import POINTS, USER_POINT, FaultKind, Port
from wowspec.world.profiles import IN_MEMORY, PROFILES, allowing, legal_kinds, port_profile

BEFORE = {FaultKind.FAIL, FaultKind.TIMEOUT, FaultKind.HANG}
CALLS = BEFORE | {FaultKind.ACK_LOST, FaultKind.ACK_LOST_PERMANENT}
CRASHES = {FaultKind.CRASH_BEFORE, FaultKind.CRASH_AFTER}


def test_in_memory_as_the_golden_cases_have_it():
    """In memory nothing is late, lost, doubled, unreadable or dead."""
    assert {row.name: set(legal_kinds(row.name)) for row in POINTS} == {
        "request_id.check": CALLS,
        "command.validate": set(),
        "command_bus.send": CALLS,
        "snapshot.load": CALLS,
        "event_store.load": CALLS,
        "service": CALLS,
        "event_store.append": CALLS | {FaultKind.CONFLICT, FaultKind.RIVAL},
        "command.acknowledge": CALLS,
        "domain_event_bus.send": CALLS,
        "state_event_bus.send": CALLS,
        "snapshot.save": CALLS,
        "event.deliver": BEFORE,
        "projection.write": CALLS - {FaultKind.HANG},
        "wait.notify": CALLS,
    }
    assert not IN_MEMORY.crashes


def added(profile):
    """What a profile allows beyond the one in memory, crashes apart, by point."""
    found = {row.name: legal_kinds(row.name, profile) - legal_kinds(row.name) - CRASHES for row in POINTS}
    return {name: set(kinds) for name, kinds in found.items() if kinds}


LATE = {FaultKind.DUPLICATE, FaultKind.DELAY}
SENDS = ("command_bus.send", "domain_event_bus.send", "state_event_bus.send")


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        (
            "kafka",
            {**dict.fromkeys(SENDS, LATE), "event.deliver": LATE, "wait.notify": {FaultKind.DELAY, FaultKind.DROP}},
        ),
        ("mongo", {"snapshot.load": {FaultKind.CORRUPT}, "event_store.load": {FaultKind.CORRUPT}}),
        (
            "redis",
            {
                **dict.fromkeys(SENDS, LATE | {FaultKind.REORDER}),
                "snapshot.load": {FaultKind.CORRUPT},
                "event_store.load": {FaultKind.CORRUPT},
                "event.deliver": LATE,
                "wait.notify": {FaultKind.DELAY, FaultKind.DROP},
            },
        ),
    ],
)
def test_what_the_others_allow(profile, expected):
    """Buses that deliver at least once double and delay, one of them reorders; documents may be unreadable."""
    assert added(profile) == expected
    for row in POINTS:
        assert (legal_kinds(row.name, profile) >= CRASHES) is bool(row.kinds)


def test_every_kind_is_legal_somewhere_or_a_users_own():
    """No accepted message is dropped by a profile of the kit's; every other possible kind is legal in one of them."""
    never = {
        (row.name, kind.value) for row in (*POINTS, USER_POINT) if row.name != USER_POINT.name
        for kind in row.kinds if not allowing(row.name, kind)
    }  # fmt: skip

    assert never == {(name, "drop") for name in SENDS}


def test_what_is_left_after_a_crash():
    """Where unacknowledged messages come back, the stores are still there, too."""
    assert {row.name: (row.redelivers, row.ordered, row.durable, row.crashes) for row in PROFILES} == {
        "in_memory": (False, True, False, False),
        "kafka": (True, True, True, True),
        "mongo": (False, True, True, True),
        "redis": (True, False, True, True),
    }


def test_points_of_a_users_own():
    """What a user's code passes is as legal as the call of a service."""
    for row in PROFILES:
        assert legal_kinds("payment.charge", row) == legal_kinds("service:payment.charge", row)
    assert legal_kinds("nosuch") == frozenset()


def test_without_kinds():
    """A profile without kinds has them at no port."""
    ours = port_profile("kafka").with_kinds(without={FaultKind.HANG})

    assert all(FaultKind.HANG not in ours.kinds_of(port) for port in Port)
    assert legal_kinds("command_bus.send", ours) == legal_kinds("command_bus.send", "kafka") - {FaultKind.HANG}


def test_an_unknown_profile():
    """Names of profiles are those of the table."""
    with pytest.raises(SpecError, match="unknown profile 'kafak'"):
        legal_kinds("command_bus.send", "kafak")
