"""Virtual time in integer nanoseconds; it moves only when the scheduler says so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from ..errors import IllegalArgumentError, SpecError

NANOS_PER_MILLI: Final = 1_000_000
NANOS_PER_SECOND: Final = 1_000_000_000
#: Every world starts at 2024-01-01T00:00:00Z unless it is told otherwise.
DEFAULT_START_NANOS: Final = 1_704_067_200 * NANOS_PER_SECOND
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def duration_nanos(
    *,
    days: int = 0,
    hours: int = 0,
    minutes: int = 0,
    seconds: float = 0,
    milliseconds: int = 0,
    nanoseconds: int = 0,
) -> int:
    """A duration in nanoseconds, exact: fractions of a second are read as decimal nanoseconds.

    Raises:
        IllegalArgumentError: if the sum is negative.
    """
    whole = int(seconds)
    total = ((days * 24 + hours) * 60 + minutes) * 60 + whole
    nanos = total * NANOS_PER_SECOND + milliseconds * NANOS_PER_MILLI + nanoseconds
    nanos += round((seconds - whole) * NANOS_PER_SECOND)
    if nanos < 0:
        message = f"time cannot go backwards: {nanos} ns"
        raise IllegalArgumentError(message)
    return nanos


def datetime_nanos(moment: datetime) -> int:
    """A time-zone aware datetime in epoch nanoseconds.

    Raises:
        SpecError: if it has no time zone.
    """
    if moment.tzinfo is None:
        raise SpecError(
            f"{moment!r} has no time zone",
            why="the same spec would mean another instant on another machine",
            instead=f"at(datetime({moment.year}, {moment.month}, {moment.day}, tzinfo=timezone.utc))",
        )
    delta = moment - _EPOCH
    return ((delta.days * 86400 + delta.seconds) * 1_000_000 + delta.microseconds) * 1000


class VirtualClock:
    """The world's time. `nanos` is epoch nanoseconds."""

    __slots__ = ("nanos",)

    def __init__(self, nanos: int = DEFAULT_START_NANOS) -> None:
        self.nanos: int = nanos

    @property
    def millis(self) -> int:
        """Epoch milliseconds."""
        return self.nanos // NANOS_PER_MILLI

    def now(self) -> datetime:
        """The instant as an aware UTC datetime (microsecond precision)."""
        return _EPOCH + timedelta(microseconds=self.nanos // 1000)

    def move_to(self, nanos: int) -> None:
        """Go to a later instant.

        Raises:
            IllegalArgumentError: if it is earlier than now.
        """
        if nanos < self.nanos:
            message = f"time cannot go backwards: {nanos} ns is {self.nanos - nanos} ns ago"
            raise IllegalArgumentError(message)
        self.nanos = nanos
