"""What a finding offers to do: about the law that fails the test, not about one that the runtime is known for."""

from __future__ import annotations

import pytest

from wowspec.exploration.report import mend_lines
from wowspec.exploration.results import BrokenJson
from wowspec.exploration.run_laws import RUN_LAWS


def broken(law: str, *, known: bool = False) -> BrokenJson:
    """A law that broke."""
    return {"law": law, "title": law, "text": "", "known": known, "declared": False}


def test_the_law_that_fails_the_test_is_mended():
    """A condition that breaks beside what breaks for the witness, too: no row that remembers ids would mend it."""
    lines = mend_lines([broken("convergence", known=True), broken("eventually")])

    assert lines[0].startswith("  instead: something of the application that brings it about after this fault")
    assert lines[1:] == ["  if it is to stay so: expected=['plan → law'], or a line of the baseline"]


def test_what_is_known_alone_is_told_of():
    """A replay fails for it: the remedy is its own."""
    assert "remembers the ids of events" in mend_lines([broken("convergence", known=True)])[0]


@pytest.mark.parametrize("law", [row.name for row in RUN_LAWS])
def test_each_law_has_a_way_to_live_with_it(law):
    """Also one that nothing but a look at the domain mends."""
    assert mend_lines([broken(law)])[-1].startswith("  if it is to stay so: ")
