"""The page of faults says what the tables say."""

from __future__ import annotations

from .faults_page import PAGE, with_tables


def test_the_page_is_up_to_date():
    """A stale page fails: write it anew with `python -m tests.faults.faults_page`."""
    text = PAGE.read_text(encoding="utf-8")

    assert with_tables(text) == text
