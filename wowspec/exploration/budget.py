"""Real time, for one purpose: `max_seconds`, which ends an exploration that takes too long. No result depends on it."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(seconds: float) -> Callable[[], bool]:
    """Says whether so many real seconds have passed since now."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end
