"""What the specs share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from wowspec import Spec, given

from .domain import CopyLent, CopyRegistered, Joined

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
DUE = START + timedelta(days=28)

EMMA = CopyRegistered(isbn="9780141439587", title="Emma")
LENT = CopyLent(member_id="m-1", due=DUE)
ANN = Joined("Ann")


class FixedFees:
    """Ten cents a day; ten times its title's length for a lost book."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def overdue(self, days: int) -> int:
        self.asked.append(days)
        return 10 * days

    def replacement(self, title: str) -> int:
        return 10 * len(title)


class SlowFees(FixedFees):
    def __init__(self, timeouts: int) -> None:
        super().__init__()
        self.timeouts = timeouts

    def overdue(self, days: int) -> int:
        if self.timeouts:
            self.timeouts -= 1
            raise TimeoutError("no answer from the fee service")
        return super().overdue(days)


def library(*history: Any) -> Spec[Any]:
    return given(*history).inject_factory(fees=FixedFees)
