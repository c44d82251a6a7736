"""Virtual time in integer nanoseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from wowspec.errors import IllegalArgumentError, SpecError
from wowspec.world.clock import DEFAULT_START_NANOS, VirtualClock, datetime_nanos, duration_nanos


@pytest.mark.parametrize(
    ("parts", "nanos"),
    [
        ({"seconds": 5}, 5_000_000_000),
        ({"seconds": 0.1}, 100_000_000),
        ({"seconds": 2.0005}, 2_000_500_000),
        ({"milliseconds": 1}, 1_000_000),
        ({"nanoseconds": 1}, 1),
        ({"days": 1, "hours": 2, "minutes": 3, "seconds": 4}, ((26 * 60 + 3) * 60 + 4) * 1_000_000_000),
        ({"days": 200_000}, 200_000 * 86_400 * 1_000_000_000),
        ({}, 0),
    ],
    ids=str,
)
def test_duration_is_exact(parts, nanos):
    """A duration is a whole number of nanoseconds; fractions of a second count to the nanosecond."""
    assert duration_nanos(**parts) == nanos


def test_duration_is_not_negative():
    """Time can't be told to go backwards."""
    with pytest.raises(IllegalArgumentError, match="backwards"):
        duration_nanos(hours=1, minutes=-61)


def test_datetime_to_nanos():
    """An instant is the same whatever zone it is written in, to the microsecond."""
    instant = datetime(2024, 1, 1, 2, 0, 0, 7, tzinfo=timezone(timedelta(hours=2)))

    assert datetime_nanos(instant) == DEFAULT_START_NANOS + 7_000


def test_naive_datetime_is_refused():
    """A datetime without time zone would mean another instant elsewhere; the error shows what to write."""
    with pytest.raises(SpecError, match=r"at\(datetime\(2024, 1, 2, tzinfo=timezone.utc\)\)"):
        datetime_nanos(datetime(2024, 1, 2))  # noqa: DTZ001


def test_a_world_starts_at_one_instant():
    """Every clock starts at the same instant unless it is told otherwise."""
    assert VirtualClock().now() == datetime(2024, 1, 1, tzinfo=UTC)
    assert VirtualClock().millis == 1_704_067_200_000


def test_clock_moves_forward_only():
    """Moving back is refused and leaves the clock where it is."""
    clock = VirtualClock(100)
    clock.move_to(100)
    clock.move_to(250)

    with pytest.raises(IllegalArgumentError, match="51 ns ago"):
        clock.move_to(199)
    assert clock.nanos == 250
