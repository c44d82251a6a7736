"""Bounds that are no bounds, and baselines that were written under another profile."""

from __future__ import annotations

import pytest

from wowspec import SpecError
from wowspec.exploration.baseline import read_baseline, told_of_profile, write_baseline
from wowspec.exploration.settings import percentage


def test_a_baseline_of_another_profile_is_told_of(tmp_path):
    """It says under which profile it was written; one that says nothing, or this run's own, is no news."""
    path = tmp_path / "known.txt"
    write_baseline(path, [], "kafka")
    told = told_of_profile(path, None)

    assert "known.txt was written under the profile kafka, and this run is under the specs' own profiles" in told
    assert "is under the profile redis" in told_of_profile(path, "redis")
    assert told_of_profile(path, "kafka") == ""
    assert told_of_profile(None, "kafka") == ""
    write_baseline(path, [])
    assert told_of_profile(path, None) == ""
    assert "under the specs' own profiles, and this run is under the profile kafka" in told_of_profile(path, "kafka")
    path.write_text("# by hand\n")
    assert told_of_profile(path, "kafka") == ""
    assert read_baseline(path) == {}


@pytest.mark.parametrize("value", [-1, 100.5, float("nan"), float("inf")])
def test_a_percentage_that_is_none(value):
    """Nothing would be below it, or everything."""
    with pytest.raises(SpecError, match="it is a percentage"):
        percentage("--wowspec-strength-fail-under", value)
    assert percentage("--wowspec-strength-fail-under", 80) == 80
    assert percentage("--wowspec-strength-fail-under", None) is None
