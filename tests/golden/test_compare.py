"""The comparison of recorded values."""

from __future__ import annotations

import pytest

from tests.golden.compare import first_difference, is_present


@pytest.mark.parametrize(
    ("expected", "actual", "found"),
    [
        ({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}, None),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, None),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "a[1].b: expected 2, got 3"),
        ({"a": True}, {"a": 1}, "a: expected True, got 1 (bool against int)"),
        ({"a": 1}, {"a": 1.0}, "a: expected 1, got 1.0 (int against float)"),
        ([1, 2], [2, 1], "[0]: expected 1, got 2"),
        ([1, 2], [1], "[1]: expected 2, got nothing"),
        ([1], [1, 2], "[1]: expected nothing, got 2"),
        ({"a": 1}, {}, "a: expected 1, got nothing"),
        ({}, {"a": 1}, "a: expected nothing, got 1"),
        ("x", "y", "(whole): expected 'x', got 'y'"),
    ],
    ids=str,
)
def test_first_difference(expected, actual, found):
    """Types, order and missing keys count; the path of the first difference is named."""
    assert first_difference(expected, actual) == found


def test_wildcards():
    """A wildcard text or function judges the actual value."""
    wildcards = {"<generated>": is_present}

    assert first_difference({"id": "<generated>"}, {"id": "x"}, wildcards=wildcards) is None
    assert first_difference({"id": "<generated>"}, {"id": ""}, wildcards=wildcards) is not None
    assert first_difference({"id": is_present}, {"id": None}) == "id: is_present refuses None"
