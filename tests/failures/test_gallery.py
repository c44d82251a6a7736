"""The failure gallery: `docs/failures.md` is what is printed, and every text says what to look at and what to write."""

from __future__ import annotations

import difflib
import re

import pytest

from .gallery import MISTAKES, PAGE, SECTIONS, mistakes, page, texts

#: They start many processes, or sweep a great deal.
pytestmark = pytest.mark.long

NAMES = [mistake.name for mistake in mistakes()]
#: Lines that say what to write, or which line to look at.
REMEDIES = ("instead: ", "hint: ", "if it is right: ", "if it should: ", "made by ", "pin it")


@pytest.fixture(scope="module")
def told():
    """What pytest says of each mistake."""
    return texts()


def uncareted(text: str) -> list[str]:
    """The lines that have more in them than carets."""
    return [line for line in text.splitlines() if line.strip(" ^") or "^" not in line]


def test_the_page_is_current(told):
    """The page is made of what is printed; `python -m tests.failures --write` writes it anew.

    Which lines have carets below them is told in other ways by other versions of Python.
    """
    now, kept = uncareted(page(told)), uncareted(PAGE.read_text(encoding="utf-8"))

    assert list(difflib.unified_diff(kept, now, "docs/failures.md", "printed", lineterm="", n=1)) == []


def test_every_mistake_has_its_place_once():
    """No module is left out, and none is shown twice; there are forty at least."""
    assert sorted(NAMES) == sorted(path.stem for path in MISTAKES.glob("*.py"))
    assert len(NAMES) == len(set(NAMES)) >= 40
    titles = [mistake.title for mistake in mistakes()]
    assert len(set(titles)) == len(titles)
    assert all(titles)
    assert all(SECTIONS.values())


@pytest.mark.parametrize("name", NAMES)
def test_a_text_says_what_to_do(name, told):
    """It names the mistake's line, what to write or which function to look at, and no frame of a library."""
    text = told[name]

    assert re.search(r"^E  |^ERROR: ", text, re.MULTILINE)
    assert any(mark in text for mark in REMEDIES), text
    for foreign in ("wowspec/", "site-packages", "pluggy", "_pytest", "lib/python", "__tracebackhide__"):
        assert foreign not in text
    if not text.startswith("ERROR: "):
        assert re.search(r"^>  |^test_\w+\.py:\d+: in ", text, re.MULTILINE), text


def test_texts_are_the_same_on_ci(told):
    """With `CI` set nothing is longer, shorter or cut."""
    assert texts(ci=True) == told
