"""Findings as a page shows them: those that say the same together, and of each group only so many in full."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ...errors import SpecError
from ...exploration.results import FindingJson, ResultJson, undeclared
from ...faults.plans import Plan
from .embedding import address
from .stories import Words, run_of

#: Sorts of findings in the order of the page: what fails a test, what its author knows of, what the application heals,
#: what the runtime is known for.
SORTS: Final = ("domain", "declared", "healed", "known")
#: How many findings of a group keep their stories, and how many findings of a page.
MOST_STORIES, MOST_STORIES_IN_ALL = 3, 300
#: How many findings of a group are told in full, by sort; of the others the test and the plan.
MOST_TOLD: Final = {"domain": 100, "declared": 30, "healed": 10, "known": 1}
#: What findings of one group have in common: sort, way or place, laws, what heals them, what would.
Key = tuple[str, str, str, str, str]
_NUMBER: Final = re.compile(r"#\d+")
_VISIT: Final = re.compile(r"@\d+")
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


def cells_of(plan: str) -> list[str]:
    """The cells in which a plan strikes, each once."""
    return list(dict.fromkeys(fault["cell"] for fault in faults_of(plan)))


def groups_of(results: Sequence[ResultJson], tests: dict[str, int], words: Words) -> Iterator[dict[str, Any]]:
    """Findings by what they probably have in common.

    Args:
        results: of the exploration.
        tests: numbers of the tests that the page has, by their ids.
        words: takes the texts that come often.
    """
    groups: dict[Key, list[Found]] = {}
    for each in found_in(results):
        groups.setdefault(_key(each), []).append(each)
    drawn = 0
    for key, members in sorted(groups.items(), key=lambda item: _rank(item[0], len(item[1]))):
        told = members[: MOST_TOLD[key[0]]]
        findings = []
        for at, each in enumerate(told):
            draws = each.finding["story"] is not None and at < MOST_STORIES and drawn < MOST_STORIES_IN_ALL
            drawn += draws
            findings.append(_told(each, tests, words, draws=draws))
        cells = Counter(
            cell for each in members for cell in {fault["cell"] for fault in faults_of(each.finding["plan"])}
        )
        yield {
            "key": address("group", "", "\n".join(key)),
            "sort": key[0],
            "place": key[1],
            "cells": dict(cells.most_common()),
            "laws": list(dict.fromkeys(item["title"] for each in members for item in each.finding["broken"])),
            "count": len(members),
            "tests": len({each.result["test"] for each in members}),
            "findings": findings,
            "others": [
                [tests.get(each.result["test"], -1), words.at(each.result["test"]), words.at(each.finding["plan"])]
                for each in members[len(told) :]
            ],
        }


def _key(each: Found) -> Key:
    """What is due to a domain, or declared, goes by its way and the first law that breaks there: most often that is one
    defect. What the runtime is known for happens on every way: it goes by its place and all its laws.
    """
    finding = each.finding
    parts = [part.strip() for part in finding["plan"].split(";")]
    if each.sort in {"domain", "declared"}:
        ways = [_NUMBER.sub("", part.rpartition("/")[0]) for part in parts]
        return each.sort, "; ".join(ways), finding["broken"][0]["title"] if finding["broken"] else "", "", ""
    places = [_VISIT.sub("", part.rpartition("/")[2]) for part in parts]
    laws = ", ".join(item["title"] for item in finding["broken"])
    return each.sort, "; ".join(places), laws, finding["healed_by"], finding["would_heal"]


def _rank(key: Key, count: int) -> tuple[object, ...]:
    """What matters most comes first: by sort, then few faults, then what is found often."""
    return SORTS.index(key[0]), key[1].count(";"), -count, key


def _class(finding: FindingJson) -> str:
    """The recovery class, as reports say it."""
    if finding["healed_by"]:
        return f"healed by {finding['healed_by']}"
    said = [f"tried: {', '.join(finding['tried'])}"] if finding["tried"] else []
    said += [f"{finding['would_heal']} would heal it"] if finding["would_heal"] else []
    return f"never heals ({'; '.join(said)})" if said else "never heals"


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
        "broken": finding["broken"],
        "class": _class(finding),
        "profile": each.result["profile"],
        "replay": finding["replay"],
        "paste": finding["paste"],
        "report": [words.at(line) for line in finding["report"]],
        "told": [words.at(line) for line in finding["report"] if not line.startswith(_REPEATED)],
        "run": run_of(finding["story"], words) if draws and finding["story"] is not None else None,
        "also": [[tests.get(other, -1), other] for other in each.also],
    }
