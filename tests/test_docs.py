"""The code in the pages of `docs/` does what they say; blocks are marked as in the README."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parent.parent
PAGES: Final = sorted(path for path in (ROOT / "docs").glob("*.md") if "```python" in path.read_text(encoding="utf-8"))
_BLOCK: Final = re.compile(r"(?m)^(?:<!-- test: (?P<name>\S+) -->\n)?```python\n(?P<body>.*?)^```", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_of_a_page_passes(page, tmp_path):
    """Every Python block belongs to a file, and pytest passes the files."""
    files: dict[str, list[str]] = {}
    for block in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        assert block["name"], f"an unmarked block of {page.name}:\n{block['body']}"
        files.setdefault(block["name"], []).append(block["body"])
    for name, bodies in files.items():
        (tmp_path / name).write_text("\n\n".join(bodies), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}

    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_there_are_pages():
    """The pages that the README and the map of the house speak of are found."""
    assert {"choosing-a-stage", "sagas-and-projections", "unknown-outcomes"} <= {page.stem for page in PAGES}
