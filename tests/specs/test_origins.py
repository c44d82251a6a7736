"""The expectation as it would hold, as a line to paste."""

from __future__ import annotations

import datetime as dt

from pydantic import BaseModel

from wowspec.specs.origins import if_right


class Booked(BaseModel):
    """Happens at a time."""

    start: dt.datetime


def test_times_in_utc_name_their_import():
    """Whoever wrote `timezone.utc` has no `UTC` yet: the line says where it comes from, as a comment."""
    aware, naive = dt.datetime(2026, 5, 11, tzinfo=dt.UTC), dt.datetime(2026, 5, 11)  # noqa: DTZ001 - as some have it

    assert if_right("expect_no", [aware]) == [
        "  if it is right: .expect_no(datetime(2026, 5, 11, 0, 0, tzinfo=UTC))  # from datetime import UTC"
    ]
    assert if_right("expect_event", [Booked(start=naive)]) == [
        "  if it is right: .expect_event(Booked(start=datetime(2026, 5, 11, 0, 0)))"
    ]
