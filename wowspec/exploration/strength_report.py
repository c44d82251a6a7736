"""What the strength of a suite's specs is, from what each test found: as text, and as plain JSON.

Version 1 of the schema; `docs/strength.md` describes it. Keys are only ever added.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict

from ..specs.layout import several

SCHEMA_VERSION: Final = 1
#: How many specs that reach the same perturbation are listed by name.
_MOST_TESTS: Final = 3


class TriedJson(TypedDict):
    """One perturbation in one spec, as `strength.Tried`."""

    name: str
    kind: str
    address: str
    detail: str
    place: str
    noticed: list[str]
    instead: str


class GivenJson(TypedDict):
    """One given item, as `idle.GivenItem`."""

    key: str
    place: str
    item: str
    idle: bool


class TestJson(TypedDict):
    """What one test found; `expected`: whether a perturbation made the expectation fail, None where none could."""

    test: str
    tried: list[TriedJson]
    expected: dict[str, bool | None]
    given: list[GivenJson]
    left_out: list[str]


@dataclass(slots=True)
class Total:
    """A perturbation over all specs that reach it.

    Attributes:
        name: the same in each.
        kind: such as `event altered`.
        noticed: whether any of them noticed.
        reached: by which, each with its test.
    """

    name: str
    kind: str
    noticed: bool = False
    reached: list[tuple[str, TriedJson]] = field(default_factory=list)


def totals(results: Iterable[TestJson]) -> list[Total]:
    """Each perturbation once, in the order of the tests that reach it."""
    found: dict[str, Total] = {}
    for result in results:
        for tried in result["tried"]:
            total = found.setdefault(tried["name"], Total(tried["name"], tried["kind"]))
            total.noticed = total.noticed or bool(tried["noticed"])
            total.reached.append((result["test"], tried))
    return list(found.values())


def percent(found: Sequence[Total]) -> float | None:
    """The strength; None where nothing was perturbed."""
    return 100 * sum(total.noticed for total in found) / len(found) if found else None


def by_kind(found: Sequence[Total]) -> dict[str, tuple[int, int]]:
    """Noticed and counted, by kind, in the order of the kinds' names."""
    return {
        kind: (sum(total.noticed for total in of_kind), len(of_kind))
        for kind in sorted({total.kind for total in found})
        for of_kind in [[total for total in found if total.kind == kind]]
    }


def document(results: Sequence[TestJson]) -> dict[str, Any]:
    """The whole file."""
    found = totals(results)
    strength = percent(found)
    return {
        "schema": SCHEMA_VERSION,
        "tool": "wowspec",
        "strength": None if strength is None else round(strength, 2),
        "counted": len(found),
        "noticed": sum(total.noticed for total in found),
        "kinds": [
            {"kind": kind, "noticed": noticed, "counted": counted}
            for kind, (noticed, counted) in by_kind(found).items()
        ],
        "perturbations": [
            {
                "name": total.name,
                "kind": total.kind,
                "noticed": total.noticed,
                "specs": [{"test": test, **tried} for test, tried in total.reached],
            }
            for total in found
        ],
        "left_out": [{"test": result["test"], "why": why} for result in results for why in result["left_out"]],
        "idle_givens": [
            {"place": item["place"], "item": item["item"], "tests": tests} for item, tests in idle_givens(results)
        ],
        "idle_expectations": [{"expectation": text, "tests": tests} for text, tests in idle_expectations(results)],
    }


# --- what specs could do without --------------------------------------------------------------------------------------


def idle_givens(results: Iterable[TestJson]) -> list[tuple[GivenJson, list[str]]]:
    """Items that are idle in every spec that is given them, with its tests: the line could go."""
    found: dict[tuple[str, str], tuple[GivenJson, list[str]]] = {}
    at_work = set()
    for result in results:
        for item in result["given"]:
            # What is given by a line outside of all tests is told apart by its file alone.
            key = (item["key"], "" if item["place"] else result["test"].partition("::")[0])
            if not item["idle"]:
                at_work.add(key)
            tests = found.setdefault(key, (item, []))[1]
            if result["test"] not in tests:
                tests.append(result["test"])
    return [entry for key, entry in found.items() if key not in at_work]


def idle_expectations(results: Iterable[TestJson]) -> list[tuple[str, list[str]]]:
    """Expectations that no perturbation of their specs made fail, with their tests."""
    found: dict[str, list[str]] = {}
    at_work = set()
    for result in results:
        for text, failed in result["expected"].items():
            if failed:
                at_work.add(text)
            elif failed is not None:
                found.setdefault(text, []).append(result["test"])
    return [(text, tests) for text, tests in found.items() if text not in at_work]


# --- text -------------------------------------------------------------------------------------------------------------


def strength_lines(results: Sequence[TestJson]) -> list[str]:
    """The section of the terminal summary."""
    found = totals(results)
    strength = percent(found)
    if strength is None:
        return ["no spec did anything that could be perturbed", *_left_out(results)]
    lines = [f"  {kind:<22} {noticed:>4} of {counted}" for kind, (noticed, counted) in by_kind(found).items()]
    unseen = [total for total in found if not total.noticed]
    if unseen:
        lines += ["", f"{several(len(unseen), 'perturbation')} that no spec notices:"]
    for total in unseen:
        lines += _unseen(total)
    lines += _left_out(results)
    noticed = len(found) - len(unseen)
    return [*lines, "", f"strength of specs: {strength:.0f} % ({noticed} of {len(found)} perturbations were noticed)"]


def _unseen(total: Total) -> list[str]:
    _, first = total.reached[0]
    lines = [f"  {total.name}" + (f" ({first['detail']})" if first["detail"] else "")]
    tests = list(dict.fromkeys(f"{test} ({tried['place']})" for test, tried in total.reached))
    lines += [f"    reached by {test}" for test in tests[:_MOST_TESTS]]
    lines += [f"    and by {len(tests) - _MOST_TESTS} more"] if len(tests) > _MOST_TESTS else []
    instead = next((tried["instead"] for _, tried in total.reached if tried["instead"]), "")
    return [*lines, f"    noticed by: {instead or 'no expectation verb: look at a service, or at a log'}"]


def _left_out(results: Sequence[TestJson]) -> list[str]:
    left = [(result["test"], why) for result in results for why in result["left_out"]]
    return ["", f"{several(len(left), 'spec')} left out:", *(f"  {test}: {why}" for test, why in left)] if left else []


def lint_lines(results: Sequence[TestJson]) -> list[str]:
    """The section of what specs could do without."""
    lines = []
    givens = idle_givens(results)
    if givens:
        lines += [f"{several(len(givens), 'given item')} that change{_s(givens)} nothing:"]
        lines += [f"  {item['place']}: {item['item']}{_in(tests)}" for item, tests in givens]
    expectations = idle_expectations(results)
    if expectations:
        held = f"that hold{_s(expectations)} whatever the system does otherwise:"
        lines += [f"{several(len(expectations), 'expectation')} {held}"]
        lines += [f"  {text}{_in(tests)}" for text, tests in expectations]
    return lines or ["nothing is given in vain, and each expectation can fail"]


def _s(listed: Sequence[Any]) -> str:
    """The ending of a verb."""
    return "s" if len(listed) == 1 else ""


def _in(tests: Sequence[str]) -> str:
    more = f" and {len(tests) - 1} more" if len(tests) > 1 else ""
    return f", in {tests[0]}{more}"
