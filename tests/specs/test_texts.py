"""The failure texts, pinned: run with `WOWSPEC_UPDATE_TEXTS=1` to write them anew, then read what changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .situations import SITUATIONS

TEXTS = Path(__file__).parent / "texts"


@pytest.mark.parametrize("name", SITUATIONS)
def test_failure_text(name):
    """A failure reads as it was reviewed."""
    text = SITUATIONS[name]() + "\n"
    path = TEXTS / f"{name}.txt"
    if os.environ.get("WOWSPEC_UPDATE_TEXTS"):
        TEXTS.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    assert path.read_text(encoding="utf-8") == text


def test_every_text_has_its_situation():
    """No text stays behind when its situation is gone."""
    assert {path.stem for path in TEXTS.glob("*.txt")} == set(SITUATIONS)


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_reason_comes_first(name):
    """The first line is a sentence about what is wrong, and no line ends in blanks or runs on without end."""
    lines = SITUATIONS[name]().splitlines()

    assert 20 < len(lines[0]) < 300
    assert all(line == line.rstrip() and len(line) < 700 for line in lines)
