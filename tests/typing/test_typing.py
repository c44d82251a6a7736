"""Type checkers know the state of a spec: `assert_type` in `specs.py`, and slips that must be found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*arguments, env=None):
    """What a checker says of the checks."""
    finished = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=300
    )
    return finished.returncode, finished.stdout + finished.stderr


def test_mypy():
    """Strictly; a slip that it no longer finds leaves an unused `type: ignore`, which fails."""
    pytest.importorskip("mypy", reason="the checks need mypy, of the optional group `lint`")

    code, said = run("mypy", "--strict", "--config-file=", "--follow-imports=silent", "tests/typing/specs.py")

    assert code == 0, said


def test_pyright():
    """The same checks."""
    pytest.importorskip("pyright", reason="the checks need pyright, of the optional group `lint`")

    code, said = run("pyright", "tests/typing/specs.py")

    assert code == 0, said


@pytest.mark.long
def test_every_public_type_is_known():
    """What a type checker sees of the installed package is said, not inferred: 100 % by `pyright --verifytypes`."""
    pytest.importorskip("pyright", reason="the checks need pyright, of the optional group `lint`")
    # pyright asks the first `python` of the path where packages are installed.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

    code, said = run("pyright", "--verifytypes", "wowspec", "--ignoreexternal", env={**os.environ, "PATH": path})

    assert code == 0, said
    assert "Type completeness score: 100%" in said
