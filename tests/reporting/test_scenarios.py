"""The examples' scenarios in `docs/scenarios` are those of the examples."""

from __future__ import annotations

from .scenarios import stale


def test_scenarios_are_those_of_the_examples():
    """Written anew after a change: `python -m tests.reporting.scenarios --write`."""
    assert stale() == []
