"""A source of ids and time for tests of messages."""

from __future__ import annotations

NOW = 1_700_000_000_123


class CountingOrigin:
    """Ids `id-1`, `id-2`, …; a time that stands still until it is moved."""

    def __init__(self) -> None:
        self.count = 0
        self.now = NOW

    def next_id(self) -> str:
        """A new id."""
        self.count += 1
        return f"id-{self.count}"

    def now_millis(self) -> int:
        """The time."""
        return self.now
