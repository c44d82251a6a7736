"""Findings as a page shows them: those that say the same together, and of each group only so many in full."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from ...errors import SpecError
from ...exploration.report import mend_lines
from ...exploration.results import FindingJson, ResultJson, undeclared
from ...faults.plans import Plan
from .embedding import address
from .stories import Words, run_of
from .words import cause_of, headline, healing

#: Sorts of findings in the order of the page: what fails a test, what its author knows of, what the application heals,
#: what the runtime is known for.
SORTS: Final = ("domain", "declared", "healed", "known")
#: How many findings of a group keep their stories, and how many findings of a page.
MOST_STORIES, MOST_STORIES_IN_ALL = 3, 300
#: How many findings of a group are told in full, by sort; of so many others the test and the plan.
MOST_TOLD: Final = {"domain": 100, "declared": 30, "healed": 10, "known": 60}
MOST_OTHERS: Final = 1000
#: What findings of one group have in common: sort; way, cause, or nothing; laws; what heals them.
Key = tuple[str, str, str, str]
_NUMBER: Final = re.compile(r"#\d+")
#: What a report repeats of what the page says anyway.
_REPEATED: Final = ("wowspec: ", "  plan   ", "  class  ", "  law    ", "         ", "  replay ")


@dataclass(slots=True)
class Found:
    """A finding, where it was found, and the tests with the same steps that found it, too."""

    result: ResultJson
    finding: FindingJson
    sort: str
    also: list[str] = field(default_factory=list)


def found_in(results: Iterable[ResultJson]) -> list[Found]:
    """All findings, each once: tests with the same steps find the same."""
    known: dict[tuple[object, ...], Found] = {}
    for result in results:
        due = {id(finding) for finding, _ in undeclared(result)}
        for finding in result["findings"]:
            steps: object = result["steps"] or (result["test"], result["spec"])
            broken = tuple((item["law"], item["declared"], item["text"]) for item in finding["broken"])
            key = (steps, finding["plan"], broken)
            if key in known:
                known[key].also.append(result["test"])
            else:
                known[key] = Found(result, finding, _sort(finding, due=id(finding) in due))
    return list(known.values())


def counted(found: Iterable[Found]) -> dict[str, dict[str, int]]:
    """How many findings of which sort each test has."""
    counts: dict[str, Counter[str]] = {}
    for each in found:
        for test in dict.fromkeys([each.result["test"], *each.also]):
            counts.setdefault(test, Counter())[each.sort] += 1
    return {test: dict(count) for test, count in counts.items()}


def _sort(finding: FindingJson, *, due: bool) -> str:
    if due:
        return "domain"
    if any(item["declared"] for item in finding["broken"]):
        return "declared"
    return "known" if all(item["known"] for item in finding["broken"]) else "healed"


def cell_id(point: str, kind: str) -> str:
    """A cell of the matrix; what stands after `:` in a point doesn't tell cells apart."""
    return f"{point.partition(':')[0]}--{kind}"


def faults_of(plan: str) -> list[dict[str, Any]]:
    """The faults of a plan, each in its parts; none where it is no plan that this version can read."""
    try:
        faults = Plan.parse(plan).faults
    except SpecError:
        return []
    return [
        {
            "chain": fault.address.chain.split(">"),
            "point": fault.address.point,
            "visit": fault.address.visit,
            "kind": fault.kind.value,
            "said": str(fault).rpartition("=")[2],
            "cell": cell_id(fault.address.point, fault.kind.value),
        }
        for fault in faults
    ]


@lru_cache(maxsize=10_000)
def cells_of(plan: str) -> tuple[str, ...]:
    """The cells in which a plan strikes, each once."""
    return tuple(dict.fromkeys(fault["cell"] for fault in faults_of(plan)))


def groups_of(found: Iterable[Found], tests: dict[str, int], words: Words) -> Iterator[dict[str, Any]]:
    """Findings by what they probably have in common.

    Args:
        found: all findings.
        tests: numbers of the tests that the page has, by their ids.
        words: takes the texts that come often.
    """
    groups: dict[Key, list[Found]] = {}
    for each in found:
        groups.setdefault(_key(each), []).append(each)
    drawn = 0
    for key, members in sorted(groups.items(), key=lambda item: _rank(item[0], len(item[1]))):
        told, others = _chosen(key[0], members)
        findings = []
        for at, each in enumerate(told):
            draws = each.finding["story"] is not None and at < MOST_STORIES and drawn < MOST_STORIES_IN_ALL
            drawn += draws
            findings.append(_told(each, tests, words, draws=draws))
        cells = Counter(cell for each in members for cell in cells_of(each.finding["plan"]))
        numbers = {cell: number for number, (cell, _) in enumerate(cells.most_common())}
        first = told[0].finding
        title, why = cause_of({item["law"] for item in first["broken"]}) if key[0] == "known" else (headline(first), "")
        yield {
            "key": address("group", "", "\n".join(key)),
            "sort": key[0],
            "place": key[1],
            "title": title,
            "why": why,
            "cells": dict(cells.most_common()),
            "laws": list(dict.fromkeys(item["title"] for each in members for item in each.finding["broken"])),
            "heals": Counter(healing(each.finding) for each in members).most_common(),
            "count": len(members),
            "tests": len({each.result["test"] for each in members}),
            "findings": findings,
            "others": [_other(each, numbers, tests, words) for each in others[:MOST_OTHERS]],
        }


def _chosen(sort: str, members: list[Found]) -> tuple[list[Found], list[Found]]:
    """Those that are told in full, and the others; of what the runtime is known for, one for each place."""
    most = MOST_TOLD[sort]
    if sort != "known":
        return members[:most], members[most:]
    first: dict[tuple[str, ...], Found] = {}
    for each in members:
        first.setdefault(cells_of(each.finding["plan"]), each)
    told = list(first.values())[:most]
    kept = {id(each) for each in told}
    return told, [each for each in members if id(each) not in kept]


def _other(each: Found, cells: dict[str, int], tests: dict[str, int], words: Words) -> list[Any]:
    """A finding in short: its test, by number or by id, its plan, its cells; what its replay line says besides."""
    test, plan = each.result["test"], each.finding["plan"]
    more = each.finding["replay"].partition(f"--wowspec-plan '{plan}'")[2]
    told = [tests.get(test, -1), words.at(test), words.at(plan), [cells[cell] for cell in cells_of(plan)]]
    return [*told, more] if more else told


def _key(each: Found) -> Key:
    """What is due to a domain, or declared, goes by its way and the first law that breaks there: most often that is one
    defect. What the runtime is known for happens on every way: it goes by its cause.
    """
    finding = each.finding
    if each.sort == "known":
        return each.sort, cause_of({item["law"] for item in finding["broken"]})[0], "", ""
    laws = [item["title"] for item in finding["broken"]]
    if each.sort == "healed":
        return each.sort, "", ", ".join(laws), finding["healed_by"]
    ways = [_NUMBER.sub("", part.strip().rpartition("/")[0]) for part in finding["plan"].split(";")]
    return each.sort, "; ".join(ways), laws[0] if laws else "", ""


def _rank(key: Key, count: int) -> tuple[object, ...]:
    """What matters most comes first: by sort, then few faults, then what is found often."""
    return SORTS.index(key[0]), key[1].count(";"), -count, key


def _told(each: Found, tests: dict[str, int], words: Words, *, draws: bool) -> dict[str, Any]:
    finding, test = each.finding, each.result["test"]
    name = test.rpartition("::")[2] or test
    identity = "\n".join([test, str(each.result["spec"]), each.result["profile"], finding["plan"]])
    return {
        "key": address("finding", name.partition("[")[0], identity),
        "test": tests.get(test, -1),
        "id": test,
        "name": name,
        "plan": finding["plan"],
        "faults": faults_of(finding["plan"]),
        "headline": headline(finding),
        "broken": finding["broken"],
        "heals": healing(finding),
        "recovery": finding["healed_by"] or finding["would_heal"],
        "functions": finding.get("functions", []),
        "profile": each.result["profile"],
        "replay": finding["replay"],
        "paste": finding["paste"],
        "report": [words.at(line) for line in finding["report"]],
        "mend": [words.at(line) for line in mend_lines(finding["broken"])],
        "told": [words.at(line) for line in finding["report"] if not line.startswith(_REPEATED)],
        "run": run_of(finding["story"], words) if draws and finding["story"] is not None else None,
        "also": [[tests.get(other, -1), other] for other in each.also],
    }
