"""`docs/failures-beside-others.md` is what is printed, and what it claims of this kit is so."""

from __future__ import annotations

import difflib
import re

import pytest

from .comparison import HAS_PROTEAN, PAGE, TABLE, all_texts, page, versions
from .test_gallery import REMEDIES

#: They start many processes, or sweep a great deal.
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def told():
    """What pytest says of each mistake, by kit."""
    return all_texts()


def test_the_page_is_current(told):
    """Printed anew it is the same, as far as the same versions are there."""
    kept = PAGE.read_text(encoding="utf-8")
    if f"with {versions()}\n" not in kept:
        pytest.skip(f"the page was made with other versions than {versions()}: python -m tests.failures --write")
    made = page(told, versions()).splitlines()

    assert list(difflib.unified_diff(kept.splitlines(), made, "kept", "printed", lineterm="", n=1)) == []


@pytest.mark.parametrize("name", TABLE)
def test_this_kit_names_cause_place_and_remedy(name, told):
    """Each of its texts fails the test, leads to a line, and says what to write."""
    text = told["kit"][name]

    assert TABLE[name][1] == "cpr"
    assert re.search(r"^E  .*SpecFailure: \S", text, re.MULTILINE)
    assert re.search(r"\w+\.py:\d+", text)
    assert any(mark in text for mark in REMEDIES)


@pytest.mark.parametrize("kit", ["plain", pytest.param("protean_kit", id="protean")])
def test_what_passes_elsewhere_passes(kit, told):
    """The table says so of just those mistakes that are not noticed."""
    column = 2 if kit == "plain" else 3

    for name, row in TABLE.items():
        assert (told[kit][name] == "1 passed\n") is (row[column] == "passes"), name


@pytest.mark.skipif(not HAS_PROTEAN, reason="the extra `peers` brings Protean")
def test_protean_says_what_the_table_says(told):
    """An error is in its text where the table says that the cause is, and nowhere else."""
    for name, row in TABLE.items():
        assert ("is too little" in told["protean_kit"][name]) is (name == "another_error"), (name, row)
