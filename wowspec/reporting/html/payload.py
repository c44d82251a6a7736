"""What the page's scripts are given: the document with its numbers counted, findings grouped, addresses made."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any, Final

from ...exploration.coverage import LETTERS, cells_of, possible
from ...exploration.findings import RecoveryClass
from ...exploration.results import ResultJson
from ...exploration.run_laws import RUN_LAWS
from ...world.points import KINDS, POINTS
from ..document import DocumentJson, SpecJson, TestJson
from .embedding import address, readable
from .groups import SORTS, cell_id, counted, found_in, groups_of
from .stories import COLUMNS, Words, run_of, said, step_of
from .words import RECOVERY_DOCS, TERMS

#: Characters of a failure's text.
MOST_FAILURE: Final = 30_000
#: The classes, worst first, with what each means and how it is coloured.
_CLASSES: Final[dict[RecoveryClass, tuple[str, str]]] = {
    RecoveryClass.NEVER: ("a law broke, and no recovery that the application has repairs it", "bad"),
    RecoveryClass.HEALED: ("a law broke, and a recovery that the application has repairs it", "warn"),
    RecoveryClass.KNOWN: ("a law broke that breaks for any domain at this place: your code is not the cause", "known"),
    RecoveryClass.FAILED: (
        "the sender was told of the failure, or other events were stored, and no law broke",
        "plain",
    ),
    RecoveryClass.COMPENSATED: ("the runtime recorded the failed function, and ran it again later", "good"),
    RecoveryClass.REDELIVERED: ("a process died, and what it had not acknowledged came again", "good"),
    RecoveryClass.RETRIED: ("the runtime tried again, and the result was the same as without the fault", "good"),
    RecoveryClass.MASKED: ("the fault changed nothing that anybody can see", "quiet"),
}


def payload_of(document: DocumentJson) -> dict[str, Any]:
    """All that the page shows.

    Args:
        document: what the suite came to.
    """
    words = Words()
    tests = document["tests"]
    numbers = {test["id"]: number for number, test in enumerate(tests)}
    swept = _swept(document["exploration"])
    findings = found_in(document["exploration"])
    found = counted(findings)
    shown = [
        said({**_test(test, words), "swept": swept.get(test["id"]), "found": found.get(test["id"])}) for test in tests
    ]
    groups = groups_of(findings, numbers, words)
    faults = _faults(document["exploration"], document["coverage"], list(groups))
    for group in faults["groups"] if faults else ():
        for finding in group["findings"]:
            for number in {finding["test"], *(number for number, _ in finding["also"])} - {-1}:
                shown[number].setdefault("findings", []).append(finding["key"])
    return {
        "title": document["title"],
        "version": document["version"],
        "columns": COLUMNS,
        "words": words.all,
        "outcomes": dict(Counter(test["outcome"] for test in tests)),
        "specs": sum(len(test["specs"]) for test in tests),
        "others": document["other_tests"],
        "tests": shown,
        "faults": faults,
        "strength": _strength(document["strength"]),
        "unreachable": _unreachable(document["unreachable"]),
        "fidelity": fidelity(),
    }


def _test(test: TestJson, words: Words) -> dict[str, Any]:
    name = test["id"].rpartition("::")[2] or test["id"]
    return said(
        {
            **test,
            "key": address("spec", name, test["id"]),
            "name": name,
            "failure": _failure(test["failure"]),
            "specs": [_spec(spec, words) for spec in test["specs"]],
        }
    )


def _failure(text: str) -> str:
    """A failure's text, of some length at most: what explains it stands first."""
    if len(text) <= MOST_FAILURE:
        return readable(text)
    return (
        f"{readable(text[:MOST_FAILURE])}\n… {len(text) - MOST_FAILURE} more characters, in --wowspec-report=json:PATH"
    )


def _spec(spec: SpecJson, words: Words) -> dict[str, Any]:
    steps = [step_of(step, words) for step in spec["steps"]]
    return said({**spec, "steps": steps, "runs": [run_of(run, words) for run in spec["runs"]]})


def _swept(results: Sequence[ResultJson]) -> dict[str, dict[str, Any]]:
    """What came of the plans of each test: how many, in which classes; or why there are none."""
    found: dict[str, dict[str, Any]] = {}
    for result in results:
        told = found.setdefault(result["test"], {"plans": 0, "outcomes": Counter(), "why": ""})
        told["plans"] += result["plans"]
        told["outcomes"].update(result["outcomes"])
        told["why"] = told["why"] or result["not_swept"]
    return found


# --- failure orderings ------------------------------------------------------------------------------------------------


def _faults(
    results: Sequence[ResultJson], coverage: float | None, groups: list[dict[str, Any]]
) -> dict[str, Any] | None:
    if not results:
        return None
    swept = [result for result in results if not result["not_swept"] and not result["same_as"]]
    outcomes: Counter[str] = Counter()
    for result in swept:
        outcomes.update(result["outcomes"])
    return {
        "swept": len(swept),
        "same": sum(1 for result in results if result["same_as"]),
        "plans": sum(result["plans"] for result in swept),
        "outcomes": dict(outcomes),
        "coverage": coverage,
        "classes": [[name.value, letter, *_CLASSES[name]] for name, letter in LETTERS],
        "laws": {law.title: law.doc for law in RUN_LAWS},
        "recoveries": RECOVERY_DOCS,
        "terms": TERMS,
        "pairs": [len(cells_of(swept).keys() & possible(swept)), len(possible(swept))],
        "matrix": _matrix(swept),
        "groups": groups,
        "counts": {sort: sum(group["count"] for group in groups if group["sort"] == sort) for sort in SORTS},
        "left": [[result["test"], count, bound] for result in results for bound, count in result["left"].items()],
        "not_swept": _by_reason((result["test"], result["not_swept"]) for result in results if result["not_swept"]),
        "told": [
            [what, result["test"], text]
            for result in results
            for what, texts in (
                ("declared, and gone", result["vanished"]),
                ("ended its process", result["killed"]),
                ("not judged", result["unjudged"]),
            )
            for text in texts
        ],
    }


def _matrix(swept: Sequence[ResultJson]) -> dict[str, Any]:
    """Points and kinds with what they mean; of each cell how many plans came out in which class."""
    cells, legal = cells_of(swept), possible(swept)
    every = {*cells, *legal}
    kinds = [[row.kind.value, row.meaning] for row in KINDS if any(kind == row.kind.value for _, kind in every)]
    points = [[row.name, row.doc] for row in POINTS if any(name == row.name for name, _ in every)]
    known = {name for name, _ in points}
    points += [[name, "a point of your own code"] for name in sorted({name for name, _ in cells} - known)]
    return {
        "points": points,
        "kinds": kinds,
        "cells": {cell_id(point, kind): cells.get((point, kind), {}) for point, kind in sorted(every)},
    }


def _by_reason(told: Iterable[tuple[str, str]]) -> list[list[Any]]:
    """Reasons with the tests that have them."""
    reasons: dict[str, list[str]] = {}
    for test, why in told:
        reasons.setdefault(why, []).append(test)
    return [[why, tests] for why, tests in reasons.items()]


# --- strength, givens, fidelity ---------------------------------------------------------------------------------------


def _strength(found: dict[str, Any] | None) -> dict[str, Any] | None:
    """The strength; of perturbations those alone that nobody noticed."""
    if found is None:
        return None
    unseen = [
        {
            "name": each["name"],
            "kind": each["kind"],
            "detail": each["specs"][0]["detail"] if each["specs"] else "",
            "reached": list(dict.fromkeys((spec["test"], spec["place"]) for spec in each["specs"])),
            "instead": next((spec["instead"] for spec in each["specs"] if spec["instead"]), ""),
        }
        for each in found["perturbations"]
        if not each["noticed"]
    ]
    return {**{key: value for key, value in found.items() if key != "perturbations"}, "unseen": unseen}


def _unreachable(found: dict[str, Any] | None) -> dict[str, Any] | None:
    """Histories that were not reached, each once, with its tests."""
    if found is None:
        return None
    unreached: dict[str, dict[str, Any]] = {}
    for test in found["tests"]:
        for each in test["unreached"]:
            key = json.dumps(each, sort_keys=True)
            unreached.setdefault(key, {**each, "tests": []})["tests"].append(test["test"])
    return {
        "limit": found["limit"],
        "judged": sum(test["judged"] for test in found["tests"]),
        "unreached": list(unreached.values()),
        "assumed": _by_reason((test["test"], why) for test in found["tests"] for why in test["assumed"]),
        "left_out": _by_reason((test["test"], why) for test in found["tests"] for why in test["left_out"]),
    }


def fidelity() -> dict[str, Any]:
    """How faithful the model is, as it was when the package was built."""
    text = (files("wowspec.reporting") / "fidelity.json").read_text(encoding="utf-8")
    ledger: dict[str, Any] = json.loads(text)
    return ledger
