"""`docs/scenarios`: the examples' specs as people read them; `python -m tests.reporting.scenarios --write`."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Final

import pytest

from wowspec.reporting.document import DocumentJson
from wowspec.reporting.living import pages, write_docs

ROOT: Final = Path(__file__).parent.parent.parent
SCENARIOS: Final = ROOT / "docs" / "scenarios"
#: What Hypothesis draws is another value with another release of it.
_OPTIONS: Final = (
    "-q",
    "-m",
    "not hypothesis and not long",
    "--import-mode=importlib",
    "--rootdir",
    str(ROOT),
    "-W",
    "ignore",
    *(f"-pno:{name}" for name in ("asyncio", "xdist", "cacheprovider", "faulthandler", "randomly", "terminalreporter")),
)


def document() -> DocumentJson:
    """The document of the examples, run within this process.

    Raises:
        RuntimeError: if one of them fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        path, settings = Path(folder, "report.json"), Path(folder, "pytest.ini")
        settings.write_text("[pytest]\n", encoding="utf-8")
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.chdir(ROOT):
            code = pytest.main([*_OPTIONS, "-c", str(settings), f"--wowspec-report=json:{path}", "examples"])
        if code:
            raise RuntimeError(f"the examples ended with {code!r}\n{said.getvalue()}")
        made: DocumentJson = json.loads(path.read_text(encoding="utf-8"))
    # Not the name of whatever folder the repository lies in.
    return {**made, "title": "Examples"}


def stale() -> list[str]:
    """Pages that are not as they would be written."""
    wanted = pages(document())
    there = {path.name: path.read_text(encoding="utf-8") for path in SCENARIOS.glob("*.md")}
    return sorted(name for name in {*wanted, *there} if wanted.get(name) != there.get(name))


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("python -m tests.reporting.scenarios --write")
    write_docs(document(), SCENARIOS)
