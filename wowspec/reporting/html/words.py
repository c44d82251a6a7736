"""What the page says of findings: what is wrong as a title, causes of what the runtime is known for, terms."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from typing import Final, NamedTuple

from ...exploration.recoveries import RECOVERIES
from ...exploration.results import BrokenJson, FindingJson


class Cause(NamedTuple):
    """Why the runtime breaks laws: a title, names of laws of which one breaks, a sentence."""

    title: str
    laws: frozenset[str]
    why: str


#: The first row of which a law breaks tells the cause.
CAUSES: Final = (
    Cause(
        "Stored, and never published",
        frozenset({"publication"}),
        "Storing and publishing are two steps. When a command fails or hangs between them, its events are stored and "
        "nobody publishes them later: read models and sagas do not hear of them.",
    ),
    Cause(
        "Published, and not handled to the end",
        frozenset({"convergence", "saga_completeness"}),
        "An event comes to each function once. When its delivery, or the last retry of its function, fails or hangs, "
        "it does not come again: the read model stays without it, and the saga sends nothing.",
    ),
    Cause(
        "Done, and told as failed",
        frozenset({"no_lying_failure", "no_acknowledged_loss"}),
        "When an answer is lost, what was done looks like what was not done: the sender is told of a failure, and the "
        "events are stored.",
    ),
    Cause(
        "Done twice",
        frozenset({"exactly_once"}),
        "What is sent or delivered again is done again, unless somebody remembers that it was done.",
    ),
)
_OTHER_CAUSE: Final = "The same fault breaks the same law in the small domain that wowspec compares with."
#: Each recovery, as something that a person does.
RECOVERY_DOCS: Final = {recovery.name: recovery.doc for recovery in RECOVERIES}
#: Words of the page that have a meaning of their own, in the order in which one meets them.
TERMS: Final[tuple[tuple[str, str], ...]] = (
    ("point", "a place that each command or event passes, such as storing events: event_store.append"),
    ("fault", "something that goes wrong at one visit of a point: it fails, hangs, or its answer is lost"),
    ("plan", "the faults of one run, with the way to each: command › event › function / point @ which visit = kind"),
    ("law", "something that should hold whatever goes wrong, such as: each stored event is published"),
    ("finding", "a plan under which a law breaks; no plan with fewer of its faults breaks it"),
    ("read model", "the rows that a projection writes"),
    ("convergence", "the law that read models become what the stored events say, each counted once"),
    ("heals", "a recovery, such as a retry by the sender, makes the broken law hold again"),
    (
        "known to the runtime",
        "the same fault breaks the same law in a small domain without defects: your code is not the cause",
    ),
    ("declared", "a finding that a test says it expects: the test fails when it is gone"),
    ("emitted, stored, published, delivered", "how many events a command made, stored, sent out, and functions got"),
    ("departure", "the first point at which the run goes another way than the run without faults"),
    ("virtual time", "the time of the model, in which waiting costs nothing"),
)
_ROW: Final = re.compile(r"(?P<row>.+?\]) is (?P<made>.*), and the stored facts make (?P<due>.*) of it")
#: Characters of a title, of a value within it, of a text that is read as code.
_MOST_TITLE, _MOST_VALUE, _MOST_CODE = 200, 60, 5_000


def cause_of(laws: Collection[str]) -> tuple[str, str]:
    """The cause of what the runtime is known for, as a title and a sentence.

    Args:
        laws: names of the laws that break.
    """
    for cause in CAUSES:
        if not cause.laws.isdisjoint(laws):
            return cause.title, cause.why
    return "Broken by the runtime alone", _OTHER_CAUSE


def headline(finding: FindingJson) -> str:
    """What is wrong, as a title: of a row of a read model what differs, else the first sentence of the first law."""
    if not finding["broken"]:
        return ""
    return _cut(_title(finding["broken"][0]), _MOST_TITLE)


def _title(item: BrokenJson) -> str:
    first = item["text"].partition("\n")[0]
    found = _ROW.fullmatch(first) if item["law"] == "convergence" else None
    if found is None:
        return first
    row, made, due = found.groups()
    if made == "missing":
        return f"{row} is missing, should be {_cut(due)}"
    if due == "nothing":
        return f"{row} is {_cut(made)}, should not be there"
    fields = _differing(made, due)
    if not fields:
        return f"{row} is {_cut(made)}, should be {_cut(due)}"
    return f"{row}: {', '.join(f'{name} is {_cut(here)}, should be {_cut(there)}' for name, here, there in fields)}"


def _differing(made: str, due: str) -> list[tuple[str, str, str]]:
    """The fields that differ between two objects written as code; none where they are no such objects."""
    one, other = _fields(made), _fields(due)
    if one is None or other is None or one[0] != other[0]:
        return []
    names = dict.fromkeys([*one[1], *other[1]])
    pairs = [(name, one[1].get(name, "its default"), other[1].get(name, "its default")) for name in names]
    return [pair for pair in pairs if pair[1] != pair[2]]


def _fields(code: str) -> tuple[str, dict[str, str]] | None:
    """The name of a class and its arguments, of a call with keywords alone."""
    if len(code) > _MOST_CODE:
        return None
    try:
        call = ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(call, ast.Call) or call.args or not isinstance(call.func, ast.Name):
        return None
    return call.func.id, {each.arg or "": ast.unparse(each.value) for each in call.keywords}


def _cut(text: str, most: int = _MOST_VALUE) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def healing(finding: FindingJson) -> str:
    """What heals a finding, or would, or that nothing does."""
    if finding["healed_by"]:
        return f"healed by {finding['healed_by']}"
    if finding["would_heal"]:
        return f"{finding['would_heal']} would heal it"
    return "nothing that was tried heals it" if finding["tried"] else "no recovery heals it"
