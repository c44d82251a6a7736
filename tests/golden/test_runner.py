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
from tests.golden.runner import first_difference_of

own_data = pytest.mark.skipif(cases.OVERRIDE in os.environ, reason="speaks of the recordings in the repository")


@own_data
@pytest.mark.parametrize(("family", "count"), [("parts", 1059), ("wait", 1176), ("pipeline", 2124)])
def test_every_recorded_case_is_there(family, count):
    """No recording was lost on its way into the repository."""
    assert len(cases.load(family)) == count


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


@pytest.mark.parametrize(
    "processes", [(), pytest.param(("-n", "2"), marks=pytest.mark.long)], ids=["one process", "two processes"]
)
def test_closing_lines(tmp_path, processes):
    """Each family has its line, a failed case is named with its reason, and the run fails."""
    if processes:
        pytest.importorskip("xdist", reason="pytest-xdist, of the extra `test`, spreads tests over processes")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "unheard_of.jsonl").write_text('{"id": "unheard_of/1", "input": {}, "expect": {}}\n')
    (tmp_path / "wait").mkdir()
    recorded = cases.read(cases.OWN_DATA, "wait")[0].data
    (tmp_path / "wait" / "cases.jsonl").write_text(json.dumps(recorded) + "\n")

    finished = run_golden(tmp_path, *processes)

    assert finished.returncode == 1, finished.stdout + finished.stderr
    closing = finished.stdout.splitlines()[-5:-1]
    assert closing == [
        "unheard_of/1: no driver: there is no module tests.golden.drive_unheard_of with check(case)",
        "golden parts: 0 passed, 1 failed, 0 not yet",
        "golden wait: 1 passed, 0 failed, 0 not yet",
        "golden pipeline: 0 passed, 0 failed, 0 not yet",
    ]


def test_a_folder_without_cases_is_an_error(tmp_path):
    """A mistyped folder can't look like a pass."""
    finished = run_golden(tmp_path)

    assert finished.returncode != 0
    assert "no .jsonl file in its folders parts, wait, pipeline" in finished.stdout
