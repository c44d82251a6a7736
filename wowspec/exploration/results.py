"""What exploration came to, as plain JSON: it goes from process to process, into files, and into the summary.

Version 1 of the schema; `docs/failure-orderings-reference.md` describes it. Keys are only ever added.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypedDict

from ..specs.run_json import RunJson

SCHEMA_VERSION: Final = 1


class BrokenJson(TypedDict):
    """A law that broke: its name, its title, what is wrong, and whether the runtime is known for it."""

    law: str
    title: str
    text: str
    known: bool
    declared: bool


class FindingJson(TypedDict):
    """A plan under which laws break.

    `functions`: of the author's, in which a fault struck or that were called another number of times, with their
    places. `story`: the run under the plan, where a report is asked for that draws it.
    """

    plan: str
    broken: list[BrokenJson]
    recovery: str
    healed_by: str
    tried: list[str]
    would_heal: str
    replay: str
    report: list[str]
    paste: str
    functions: list[str]
    story: RunJson | None


class PlanJson(TypedDict):
    """One plan that was run: its faults as point and kind, how it came out; `killed`: it ended its process instead."""

    plan: str
    faults: list[list[str]]
    recovery: str
    finding: FindingJson | None
    killed: bool


class CellJson(TypedDict):
    """One cell of the matrix: how the plans with this fault came out, by class."""

    point: str
    kind: str
    outcomes: dict[str, int]


class ResultJson(TypedDict):
    """One spec."""

    test: str
    spec: int
    profile: str
    plans: int
    base_points: int
    outcomes: dict[str, int]
    cells: list[CellJson]
    findings: list[FindingJson]
    left: dict[str, int]
    joined: int
    symmetric: int
    vanished: list[str]
    killed: list[str]
    unjudged: list[str]
    steps: str
    same_as: str
    not_swept: str


def empty_result(test: str, spec: int, profile: str = "in_memory", not_swept: str = "") -> ResultJson:
    """The result of a spec of which nothing was run."""
    return {
        "test": test,
        "spec": spec,
        "profile": profile,
        "plans": 0,
        "base_points": 0,
        "outcomes": {},
        "cells": [],
        "findings": [],
        "left": {},
        "joined": 0,
        "symmetric": 0,
        "vanished": [],
        "killed": [],
        "unjudged": [],
        "steps": "",
        "same_as": "",
        "not_swept": not_swept,
    }


def undeclared(result: ResultJson, *, strict: bool = False) -> list[tuple[FindingJson, list[BrokenJson]]]:
    """The findings that fail a test, each with the laws that do; what a recovery of the application heals fails none.

    Args:
        result: of one spec.
        strict: whether what the runtime is known for counts, too.
    """
    found = []
    for finding in result["findings"]:
        if finding["healed_by"]:
            continue
        broken = [item for item in finding["broken"] if not item["declared"] and (strict or not item["known"])]
        if broken:
            found.append((finding, broken))
    return found


def vanished_from_test(results: Sequence[ResultJson]) -> None:
    """A declared finding is one of a test: it is gone if none of the test's specs shows it; told with the first."""
    swept = [result for result in results if not result["not_swept"]]
    if not swept:
        return
    gone = [text for text in swept[0]["vanished"] if all(text in result["vanished"] for result in swept)]
    for result in swept:
        result["vanished"] = []
    swept[0]["vanished"] = gone


def in_order(results: Iterable[ResultJson]) -> list[ResultJson]:
    """The results by test and spec, each with the first one that has the same steps: whatever process swept which."""
    ordered = sorted(results, key=lambda result: (result["test"], result["spec"]))
    first: dict[str, str] = {}
    for result in ordered:
        if result["steps"]:
            result["same_as"] = first.get(result["steps"], "")
            first.setdefault(result["steps"], result["test"])
    return ordered


def document(results: Iterable[ResultJson]) -> dict[str, Any]:
    """The whole file."""
    return {"schema": SCHEMA_VERSION, "tool": "wowspec", "results": list(results)}
