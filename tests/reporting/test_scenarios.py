"""Scenarios that the documentation shows are those that are written."""

from __future__ import annotations

import re

import pytest

from tests.test_docs import DOCS, blocks_of

from .scenarios import stale
from .sessions import run_session

PAGE = DOCS / "living-documentation.md"
SHOWN = [block for block in blocks_of(PAGE) if block.mark == "scenarios"]


def without_anchors(text):
    """A page as it is shown in the documentation: without anchors, ids of tests and our own mark."""
    kept = [line for line in text.splitlines() if not line.startswith(("<a id=", "<sub>", "<!--"))]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def test_scenarios_are_those_of_the_examples():
    """Written anew after a change: `python -m tests.reporting.scenarios --write`."""
    assert stale() == []


@pytest.mark.parametrize("block", SHOWN, ids=lambda block: block.said)
def test_scenarios_of_the_page_are_written(block, tmp_path):
    """From the specs that the page shows above them."""
    (suite,) = [each.body for each in blocks_of(PAGE) if each.kind == "python" and each.said == block.said]

    session = run_session(tmp_path, "--wowspec-report=docs:pages", suite=suite)

    assert session.code == 0, session.output
    (page,) = [path for path in (tmp_path / "pages").iterdir() if path.name != "index.md"]
    shown = without_anchors(page.read_text(encoding="utf-8"))
    parts = [part.strip() for part in re.split(r"(?m)^(?=### )", block.body)]
    assert [part for part in parts if part and part not in shown] == []
    assert block.said != "test_tickets.py" or shown == block.body.strip()


def test_the_page_shows_scenarios():
    """And the file that it names is the one that is written."""
    assert [block.said for block in SHOWN] == ["test_tickets.py", "test_phrases.py"]
    assert "`theatre-show.md`" in PAGE.read_text(encoding="utf-8")
