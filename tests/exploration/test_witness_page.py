"""docs/what-the-sweep-finds.md holds the witness's tables, and explains every declared finding of the examples."""

from __future__ import annotations

import re
from typing import Final

import pytest

from wowspec.exploration.run_laws import RUN_LAW_BY_NAME
from wowspec.specs.parts import PROFILES

from .pages import with_tables
from .witness_page import BASE, PAGE, TABLES, declared, no_longer

#: They start many processes, or sweep a great deal.
pytestmark = pytest.mark.long

TEXT: Final = PAGE.read_text(encoding="utf-8")
_HEADING: Final = re.compile(r"(?m)^### `(?P<file>[\w/.]+)`: (?P<laws>[\w, ]+)$")


@pytest.mark.parametrize("profile", PROFILES)
def test_the_table_of_the_witness_is_up_to_date(profile):
    """A stale page fails: `python -m tests.exploration.witness_page --write`."""
    name = f"witness {profile}"
    assert with_tables(TEXT, {name: TABLES[name]}) == TEXT


@pytest.mark.parametrize("profile", [name for name in PROFILES if name != BASE])
def test_nothing_that_breaks_in_memory_holds_elsewhere(profile):
    """The page shows of the other profiles only what they add or heal otherwise: it would hide what they lack."""
    assert no_longer(profile) == []


def test_each_declared_finding_of_the_examples_is_explained():
    """By its test file and its laws, under a heading; and nothing is explained that is not there."""
    names = {law.title: law.name for law in RUN_LAW_BY_NAME.values()}
    explained = {
        (heading["file"], names[law.strip()])
        for heading in _HEADING.finditer(TEXT)
        for law in heading["laws"].split(",")
    }

    assert explained == declared()
