"""Steps, runs and their rows in few bytes: a page holds thousands of them, and their words repeat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ...specs.run_json import RunJson
from ..document import StepJson

#: The columns of a row, in order; and whether they are texts, which a page holds once each, by number.
COLUMNS: Final[tuple[tuple[str, bool], ...]] = (
    ("millis", False),
    ("subject", False),
    ("cause", False),
    ("struck", False),
    ("lane", True),
    ("role", True),
    ("point", True),
    ("detail", True),
    ("outcome", True),
    ("note", True),
)


class Words:
    """Texts that come often, each once, by number."""

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def at(self, text: str) -> int:
        """The number of a text."""
        return self._numbers.setdefault(text, len(self._numbers))

    @property
    def all(self) -> list[str]:
        """All of them by their numbers."""
        return list(self._numbers)


def said(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping without empty texts and lists: most are."""
    return {key: value for key, value in mapping.items() if value not in ("", [], None)}


def step_of(step: StepJson, words: Words) -> list[int]:
    """A step as numbers of texts: keyword, sentence, code, what is wrong with it, and each detail."""
    wrong = "failed" if step.get("failed") else ""
    return [words.at(text) for text in (step["keyword"], step["sentence"], step["code"], wrong, *step["details"])]


def run_of(run: RunJson, words: Words) -> dict[str, Any]:
    """A run, its rows as arrays of numbers."""
    told = said(run)
    told["rows"] = [[words.at(row[name]) if text else int(row[name]) for name, text in COLUMNS] for row in run["rows"]]  # type: ignore[literal-required]
    return told
