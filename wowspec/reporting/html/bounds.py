"""Keeps a page of many failures small: each text keeps the same room, and says what of it was cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ..document import DocumentJson

#: Characters of the failures of a page together; and of each one at least, however many there are.
MOST_FAILURES: Final = 2_000_000
LEAST_FAILURE: Final = 400


def bounded(document: DocumentJson) -> DocumentJson:
    """The document, its failures cut where they are too much for a page together; the long ones first.

    Args:
        document: what the suite came to.
    """
    texts = [test["failure"] for test in document["tests"]]
    room = share(map(len, texts), MOST_FAILURES)
    if all(len(text) <= room for text in texts):
        return document
    told = document.copy()
    told["tests"] = [{**test, "failure": _cut(test["failure"], room)} for test in document["tests"]]
    return told


def share(lengths: Iterable[int], most: int) -> int:
    """How much of each there is room for, where all get as much as any, and together no more than so many."""
    ordered: Sequence[int] = sorted(lengths)
    left = most
    for place, length in enumerate(ordered):
        fair = left // (len(ordered) - place)
        if length > fair:
            return max(fair, LEAST_FAILURE)
        left -= length
    return ordered[-1] if ordered else most


def _cut(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    return f"{text[:room]}\n… {len(text) - room:,} more characters, in --wowspec-report=json:PATH"
