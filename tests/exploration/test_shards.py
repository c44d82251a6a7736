"""A sweep in parts, and one spread over the processes of pytest-xdist: together the whole, and no plan twice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.exploration.spread import swept, write_suite
from tests.plugin.test_entry import run_pytest
from wowspec.exploration.enumeration import Bounds, Step, explore
from wowspec.faults.plans import Plan

#: They start many processes, or sweep a great deal.
pytestmark = pytest.mark.long

PARTS = 3
DEEP = ("--wowspec-depth=2", "--wowspec-kinds=timeout")
EXAMPLE = """
import desk
from desk import Note, Pad
from wowspec import explore_faults


@explore_faults.example("Note/event_store.append@1=timeout")
@explore_faults(Pad, depth=2, kinds=["timeout", "ack_lost"])
def test_pinned(spec):
    spec.when(Note()).expect_version(1)
"""


@pytest.fixture(params=[(), DEEP], ids=["depth 1", "depth 2"], scope="module")
def deep(request):
    """How deep."""
    return request.param


@pytest.fixture(scope="module")
def alone(tmp_path_factory, deep):
    """The sweep of one process: how it finished, and its file."""
    return swept(write(tmp_path_factory.mktemp("whole")), *deep)


def write(folder: Path) -> Path:
    """The suite, with an example that is run in any case."""
    write_suite(folder)
    (folder / "test_pinned.py").write_text(EXAMPLE)
    return folder


def outcomes(found: bytes) -> dict[tuple[str, int], Counter[str]]:
    """How many plans of each spec came out how, struck where, and broke what."""
    counted: dict[tuple[str, int], Counter[str]] = {}
    for result in json.loads(found)["results"]:
        counts = counted.setdefault((result["test"], result["spec"]), Counter())
        counts["plans"] += result["plans"]
        counts["joined"] += result["joined"]
        counts.update(result["outcomes"])
        for cell in result["cells"]:
            counts.update({f"{cell['point']}={cell['kind']} {name}": count for name, count in cell["outcomes"].items()})
        counts.update(finding["plan"] for finding in result["findings"])
    return counted


def summed(parts: list[bytes]) -> dict[tuple[str, int], Counter[str]]:
    """The same of all parts together."""
    total: dict[tuple[str, int], Counter[str]] = {}
    for part in parts:
        for spec, counts in outcomes(part).items():
            total.setdefault(spec, Counter()).update(counts)
    return total


def test_parts_are_the_whole(tmp_path, deep, alone):
    """Each plan, each finding, each example is in exactly one of them; in functions that are called again, too."""
    folder, whole = write(tmp_path), alone[1]

    parts = [swept(folder, *deep, f"--wowspec-shard={part}/{PARTS}")[1] for part in range(1, PARTS + 1)]

    assert all(counts["plans"] > PARTS for counts in outcomes(whole).values())
    assert summed(parts) == outcomes(whole)
    findings = [plan for part in parts for plan in _findings(part)]
    assert sorted(findings) == sorted(_findings(whole))


def _findings(found: bytes) -> list[tuple[str, int, str]]:
    return [
        (result["test"], result["spec"], finding["plan"])
        for result in json.loads(found)["results"]
        for finding in result["findings"]
    ]


def _plan(*names: str) -> Plan:
    return Plan.parse("; ".join(f"{name}/event_store.append@1=fail" for name in names))


def _run(plans: Any, deeper: bool) -> Any:
    """A system of five points: B breaks; C and D come to the same world; each extends by every later point."""
    for plan in plans:
        names = [fault.address.chain for fault in plan]
        if names == ["B"]:
            yield Step(str(plan))
            continue
        following = [plan.with_(_plan(name).faults[0]) for name in "ABCDE" if name not in names] if deeper else []
        yield Step(str(plan), deeper, "".join(names).replace("D", "C"), following)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_parts_of_an_enumeration_are_its_whole(depth, parts):
    """Whatever breaks, joins, or could be reached by two ways, in parts that know nothing of each other."""
    singles = [_plan(name) for name in "ABCDE"]
    whole = explore(singles, Bounds(depth), _run)

    found = [explore(singles, Bounds(depth), _run, lambda place, i=i: place % parts == i) for i in range(parts)]

    assert sorted(plan for part in found for plan in part.results) == sorted(whole.results)
    assert len(set(whole.results)) == len(whole.results)
    assert sum(part.joined for part in found) == whole.joined


@pytest.mark.parametrize("most", range(1, 18))
def test_a_bound_cuts_off_the_rest_and_counts_it(most):
    """The first plans of the whole are run, and no others; what is left at that depth is counted."""
    singles = [_plan(name) for name in "ABCDE"]
    whole = explore(singles, Bounds(2), _run)

    cut = explore(singles, Bounds(2, max_runs=most), _run)

    assert cut.results == whole.results[:most]
    left = (5 if most < 5 else len(whole.results)) - most
    assert sum(cut.left.values()) == max(0, left)


def test_a_bound_counts_the_plans_of_its_part_alone():
    """Those that are run only to know what follows count for nothing."""
    singles = [_plan(name) for name in "ABCDE"]

    cut = explore(singles, Bounds(2, max_runs=2), _run, lambda place: place % 2 == 1)

    assert cut.results == [str(_plan("B")), str(_plan("D"))]
    assert list(cut.left) == ["max_runs=2, at 2 faults a plan"]


def test_a_spread_sweep_comes_to_the_same(tmp_path, deep, alone):
    """The file of results, the baseline, the exit code and the summary are those of one process."""
    pytest.importorskip("xdist", reason="tests are spread over processes by pytest-xdist")
    finished, found = alone

    spread, other = swept(write(tmp_path), *deep, "-n", "2")

    assert other == found
    assert spread.returncode == finished.returncode
    assert _section(spread.stdout) == _section(finished.stdout)


def _section(out: str) -> str:
    return out[out.index("wowspec: failure orderings") :].partition("short test summary")[0].strip(" =\n")


def test_baselines_plans_and_coverage_when_spread(tmp_path):
    """Declaring, what is declared, replay and the least coverage work with two processes as with one."""
    pytest.importorskip("xdist", reason="tests are spread over processes by pytest-xdist")
    folder = write_suite(tmp_path)
    written = []
    for more in ([], ["-n", "2"]):
        run_pytest(folder, "--wowspec-faults=sweep", "--wowspec-write-baseline=known.txt", *more)
        written.append((folder / "known.txt").read_text(encoding="utf-8"))
    assert written[0] == written[1]
    assert "test_desk.py::test_a_tally | " in written[0]

    sweep = ("--wowspec-faults=sweep", "--wowspec-baseline=known.txt", "-n", "2")
    declared = run_pytest(folder, *sweep, "--wowspec-fault-cov-fail-under=10")
    assert declared.returncode == 0, declared.stdout
    covered = run_pytest(folder, *sweep, "--wowspec-fault-cov-fail-under=100", "test_desk.py::test_a_tally")
    assert covered.returncode == 1, covered.stdout
    assert "is below --wowspec-fault-cov-fail-under=100" in covered.stdout
    plan = "Note>Noted>Tally/projection.write:Tally@1=ack_lost"
    replayed = run_pytest(folder, "test_desk.py::test_a_tally", "--wowspec-plan", plan, "-n", "2")
    assert replayed.returncode == 1
    assert f"plan   {plan}" in replayed.stdout
