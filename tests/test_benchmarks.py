"""The benchmarks' arithmetic; nothing here measures time."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from benchmarks import measure
from benchmarks.rows import Row, at_least, at_most, beside, table


@pytest.mark.parametrize(
    ("row", "holds"),
    [
        (at_most("x", 0.3, "×", 0.3), True),
        (at_most("x", 0.3001, "×", 0.3), False),
        (at_least("x", 2.5, "× faster", 2.5), True),
        (at_least("x", 2.49, "× faster", 2.5), False),
        (beside("x", 1, "µs"), None),
    ],
    ids=["at the limit", "over it", "at the least", "under it", "no limit"],
)
def test_a_row_holds_at_its_limit(row, holds):
    """A limit itself is allowed; it is judged by the exact value, not by the printed one."""
    assert row.holds is holds
    assert list(asdict(row)) == ["name", "measured", "unit", "wanted", "holds"]


def test_table():
    """The table shows value, limit and verdict of each row, and why one was skipped."""
    rows = [
        at_most("spec", 0.5, "×", 0.3),
        beside("step", 91.234, "µs"),
        Row("peer", None, "skipped: no peer", ">= 2", None),
    ]

    assert table(rows).splitlines()[2:] == [
        "| spec | 0.5 × | <= 0.3 | **no** |",
        "| step | 91.2 µs |  |  |",
        "| peer | skipped: no peer | >= 2 |  |",
    ]


def test_repetitions_are_interleaved(monkeypatch):
    """Each round runs every subject once; the first round is not counted; the median is told."""
    # Beside thousands of tests that were collected, it takes seconds.
    monkeypatch.setattr(measure.gc, "collect", lambda: None)
    calls = []
    times = {"a": [9.0, 1.0, 2.0, 50.0], "b": [9.0, 3.0, 3.0, 3.0]}

    def subject(name):
        def run():
            calls.append(name)
            return times[name].pop(0)

        return run

    assert measure.interleave({"a": subject("a"), "b": subject("b")}, rounds=3) == {"a": 2.0, "b": 3.0}
    assert calls == ["a", "b"] * 4
