"""The clock that a handler may ask for."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from .clock import VirtualClock, duration_nanos
from .scheduler import Scheduler


class Clock:
    """Virtual time for handlers: `clock: Clock` as a parameter gives it."""

    __slots__ = ("_clock", "_scheduler")

    def __init__(self, clock: VirtualClock, scheduler: Scheduler) -> None:
        self._clock = clock
        self._scheduler = scheduler

    def now(self) -> datetime:
        """The instant in the world, an aware UTC datetime."""
        return self._clock.now()

    def now_millis(self) -> int:
        """The instant in epoch milliseconds."""
        return self._clock.millis

    async def sleep(self, seconds: float = 0, **duration: Any) -> None:
        """Wait on the virtual clock; no real time passes.

        Args:
            seconds: how long.
            duration: `days=`, `hours=`, `minutes=`, `milliseconds=`, `nanoseconds=`, added to it.
        """
        await self._scheduler.sleep(duration_nanos(seconds=seconds, **duration))
