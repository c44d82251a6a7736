"""The golden runner itself: what it counts, what it names, and when it fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from types import ModuleType

import pytest

from tests.golden import cases
from tests.golden.cases import Case
from tests.golden.eligibility import is_not_yet
from tests.golden.runner import first_difference_of

own_data = pytest.mark.skipif(cases.OVERRIDE in os.environ, reason="speaks of the recordings in the repository")


@own_data
@pytest.mark.parametrize(("family", "now", "later"), [("parts", 1059, 0), ("wait", 809, 367), ("pipeline", 814, 1310)])
def test_how_many_cases_must_pass(monkeypatch, family, now, later):
    """The rule of what is not yet modelled divides the recordings as agreed."""
    monkeypatch.delenv(cases.RUN_ALL, raising=False)

    assert len(cases.to_run(family)) == now
    assert cases.not_yet_count(family) == later


@own_data
def test_all_cases_can_be_asked_for(monkeypatch):
    """`WOWSPEC_GOLDEN_ALL` runs the cases that are not yet due."""
    monkeypatch.setenv(cases.RUN_ALL, "1")

    assert len(cases.to_run("wait")) == 1176


@pytest.mark.parametrize(
    ("change", "not_yet"),
    [
        ({}, False),
        ({"when": [{}]}, False),
        ({"when": [{"wait": None}]}, False),
        ({"when": [{"wait": {"stage": "SNAPSHOT"}}]}, False),
        ({"when": [{"wait": {"stage": "PROCESSED"}}, {"wait": {"stage": "PROJECTED"}}]}, True),
        ({"when": [{"wait": {"chain": {"tail": {"stage": "PROCESSED"}}}}]}, True),
        ({"scenario": "transfer-to-self"}, True),
        ({"scenario": "three-in-a-row"}, True),
        ({"scenario": "broadcast-none"}, False),
        ({"faults": [{"point": "event.deliver:AccountView.onEvent"}]}, True),
        ({"faults": [{"point": "wait.notify:PROJECTED"}]}, True),
        ({"faults": [{"point": "wait.notify:SNAPSHOT"}, {"point": "event_store.append"}]}, False),
    ],
    ids=json.dumps,
)
def test_pipeline_rule(change, not_yet):
    """Saga commands, faults on downstream work and waits for it are not yet; all else is due."""
    case = {"scenario": "deposit", "faults": [], "when": [{"wait": {"stage": "SENT"}}], **change}

    assert is_not_yet("pipeline", case) is not_yet


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (lambda _case: None, None),
        (lambda _case: "version: expected 1, got 2", "version: expected 1, got 2"),
        (lambda case: case["missing"], "the driver raised KeyError: 'missing' (at test_runner.py:"),
    ],
    ids=["passes", "differs", "raises"],
)
def test_a_driver_decides(monkeypatch, check, text):
    """The driver's text is the failure, and so is an error of its own."""
    module = ModuleType("tests.golden.drive_made_up")
    module.check = check
    monkeypatch.setitem(sys.modules, module.__name__, module)

    found = first_difference_of(Case("made_up/1", module.__name__, {"id": "made_up/1"}))

    assert found == text if text is None else found.startswith(text)


def run_golden(folder, *arguments):
    """Run the golden tests over the recordings in `folder` in a process of its own."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", cases.OVERRIDE))
    }
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, *sorted(MODULES)],
        env={**environment, cases.OVERRIDE: str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


MODULES = {f"tests/golden/test_{family}.py" for family in cases.FAMILIES}


@pytest.mark.parametrize("processes", [(), ("-n", "2")], ids=["one process", "two processes"])
def test_closing_lines(tmp_path, processes):
    """Each family has its line, a failed case is named with its reason, and the run fails."""
    if processes:
        pytest.importorskip("xdist")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "unheard_of.jsonl").write_text('{"id": "unheard_of/1", "input": {}, "expect": {}}\n')
    (tmp_path / "wait").mkdir()
    (tmp_path / "wait" / "cases.jsonl").write_text('{"id": "chained", "input": {"kind": "chain"}, "expect": {}}\n')

    finished = run_golden(tmp_path, *processes)

    assert finished.returncode == 1, finished.stdout + finished.stderr
    closing = finished.stdout.splitlines()[-5:-1]
    assert closing == [
        "unheard_of/1: no driver: there is no module tests.golden.drive_unheard_of with check(case)",
        "golden parts: 0 passed, 1 failed, 0 not yet",
        "golden wait: 0 passed, 0 failed, 1 not yet",
        "golden pipeline: 0 passed, 0 failed, 0 not yet",
    ]


def test_a_folder_without_cases_is_an_error(tmp_path):
    """A mistyped folder can't look like a pass."""
    finished = run_golden(tmp_path)

    assert finished.returncode != 0
    assert "no .jsonl file in its folders parts, wait, pipeline" in finished.stdout
