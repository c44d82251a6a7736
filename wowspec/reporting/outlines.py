"""Scenarios that differ in values alone, as one outline with a table of examples."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from .document import StepJson
from .wording import MONTHS

#: Where a sentence may be parted: what stands between two of these is a value, a label, or words.
#: Code is not parted.
_BETWEEN: Final = re.compile(r"(`[^`]*`|: |, | and (?=\()|; |[()“”])")
_NUMBER: Final = re.compile(r"-?\d[\d.,]*")
#: More different places than this are not one scenario with other values, but other scenarios.
_MOST_COLUMNS: Final = 6
#: Verbs whose sentence is one value, as long as it has no lines below it.
_WHOLE: Final = frozenset({"with_faults"})
#: What a differing value is called that no label stands before: by verb, else by keyword.
_CALLED: Final = {
    "with_faults": "what goes wrong",
    "expect_error": "reason",
    "given": "what happened",
    "when": "what is asked for",
    "then": "what comes of it",
}
#: What is longer as a label than as the head of a column.
_SHORTER: Final = {
    "the command is sent": "command",
    "this is asked for next": "command",
    "this happens": "event",
    "this happened": "event",
}


@dataclass(slots=True)
class Line:
    """A step as it is written: keyword and pieces of its sentence, and of each line below it.

    Attributes:
        step: the step of the first example.
        sentence: pieces of text, or the name of a column.
        details: likewise, line by line.
    """

    step: StepJson
    sentence: list[str | Column]
    details: list[list[str | Column]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Column:
    """A value that differs from example to example."""

    name: str
    values: tuple[str, ...]


@dataclass(slots=True)
class Outline:
    """Steps that several examples share, and the columns in which they differ."""

    lines: list[Line]
    columns: list[Column]


def shape_of(steps: Sequence[StepJson]) -> tuple[object, ...]:
    """What examples of one outline share: verbs, and how their sentences are parted."""
    return tuple(
        (
            step["keyword"],
            step["verb"],
            bool(step.get("failed")),
            *(_separators(step, text) for text in (step["sentence"], *step["details"])),
        )
        for step in steps
    )


def _separators(step: StepJson, text: str) -> tuple[str, ...]:
    return () if _is_whole(step) else tuple(_BETWEEN.findall(text))


def _is_whole(step: StepJson) -> bool:
    return step["verb"] in _WHOLE and not step["details"]


def outline(examples: Sequence[Sequence[StepJson]]) -> Outline | None:
    """The outline of examples of one shape; None if they differ too much to be read in a table."""
    columns: dict[tuple[str, tuple[str, ...]], Column] = {}
    names: dict[str, int] = {}
    lines = []
    for place, step in enumerate(examples[0]):
        others = [example[place] for example in examples]

        sentence = _pieces(step, [each["sentence"] for each in others], columns, names)
        details = [
            _pieces(step, [each["details"][row] for each in others], columns, names)
            for row in range(len(step["details"]))
        ]
        lines.append(Line(step, sentence, details))
    if len(columns) > _MOST_COLUMNS:
        return None
    return Outline(lines, list(columns.values()))


def _pieces(
    step: StepJson,
    texts: Sequence[str],
    columns: dict[tuple[str, tuple[str, ...]], Column],
    names: dict[str, int],
) -> list[str | Column]:
    """One line of all examples, piece by piece: text that they share, and columns where they differ."""
    found: list[str | Column] = []
    parted = [[text] if _is_whole(step) else _BETWEEN.split(text) for text in texts]
    for place, values in enumerate(zip(*parted, strict=True)):
        if len(set(values)) == 1:
            found.append(values[0])
            continue
        is_quoted = place > 0 and _BETWEEN.split(texts[0])[place - 1] == "“"
        shared = "" if is_quoted or _is_whole(step) else _shared_start(values)
        if shared:
            found.append(shared)
        spaced = all(value.endswith(" ") for value in values)
        bare = [value.removeprefix(shared).rstrip() for value in values]
        label = _label(parted[0], place, shared)
        ending = "" if label or is_quoted or _is_whole(step) else _shared_end(bare)
        rest = tuple(value.removesuffix(ending) for value in bare)
        label = label or _unit(rest, ending) or _CALLED.get(step["verb"]) or _CALLED.get(step["keyword"], "value")
        key = (label, rest)
        if key not in columns:
            names[label] = names.get(label, 0) + 1
            columns[key] = Column(label if names[label] == 1 else f"{label} {names[label]}", rest)
        after = f"{ending} " if spaced else ending
        found += [columns[key], after] if after else [columns[key]]
    return found


def _shared_start(values: Sequence[str]) -> str:
    """The words that all values begin with."""
    parts = [value.split(" ") for value in values]
    shared = 0
    while all(len(each) > shared + 1 for each in parts) and len({each[shared] for each in parts}) == 1:
        shared += 1
    return "".join(f"{word} " for word in parts[0][:shared])


def _shared_end(values: Sequence[str]) -> str:
    """The words that all values end with, if those are about them: what they count, or half a sentence.

    A date is not parted from its month.
    """
    parts = [value.split(" ") for value in values]
    shared = 0
    while all(len(each) > shared + 1 for each in parts) and len({each[-1 - shared] for each in parts}) == 1:
        shared += 1
    end = parts[0][len(parts[0]) - shared :]
    if end and end[0] in MONTHS:
        end = end[2:]
    is_counted = all(_NUMBER.fullmatch(value[: len(value) - len(" ".join(end)) - 1]) for value in values)
    return "".join(f" {word}" for word in end) if is_counted or len(end) > 1 else ""


def _unit(values: Sequence[str], ending: str) -> str:
    """What numbers count: the word after them."""
    word = ending.strip().partition(" ")[0]
    return word if word.isalpha() and all(map(_NUMBER.fullmatch, values)) else ""


def _label(pieces: Sequence[str], place: int, shared: str) -> str:
    """What a differing value is the value of: the words before its colon."""
    if shared:
        return ""
    before = place
    while before >= 2 and pieces[before - 1] in ("“", "”") and not pieces[before - 2]:
        before -= 2
    label = pieces[before - 2].strip() if before >= 2 and pieces[before - 1] == ": " else ""
    return "event" if label.startswith("this happens to ") else _SHORTER.get(label, label)
