"""The numbers in `docs/how-faithful.md` are those of the recordings and of the ledger."""

from __future__ import annotations

import gzip
import re

from tests.test_docs import DOCS, ROOT

PAGE = (DOCS / "how-faithful.md").read_text(encoding="utf-8")


def test_numbers_of_clauses():
    """As many clauses, pinned, open and left out as the ledger counts."""
    ledger = (DOCS / "fidelity.md").read_text(encoding="utf-8")
    total = re.search(r"^\| \*\*all\*\* \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", ledger, re.MULTILINE)
    assert total is not None
    everything, pinned, still_open, left_out = total.groups()

    assert f"{everything} numbered clauses" in PAGE
    assert f"{pinned} pinned, {'none' if still_open == '0' else still_open} open, {left_out} left out" in PAGE


def test_number_of_recordings():
    """As many as there are lines in the compressed files."""
    count = 0
    for path in (ROOT / "tests" / "golden" / "data").glob("*/*.jsonl.gz"):
        with gzip.open(path) as lines:
            count += sum(1 for _ in lines)

    assert f"{count:,} times" in PAGE
