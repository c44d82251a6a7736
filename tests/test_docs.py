"""The code in the pages of `docs/` does what they say.

Above each fenced block a comment, which readers of the rendered page don't see, says what becomes of it:

* `<!-- test: NAME.py -->`: goes into the file NAME.py of its page (blocks of one name in their order), which must pass.
* `<!-- fails: NAME.py -->`: goes into NAME.py, of which a test must fail.
* `<!-- output: ARGUMENTS -->`: it stands, as it is, in what pytest prints when it is called so over the page's files.
* `<!-- not run: WHY -->`: nobody runs it, and this is why. Python of ours always runs.

Pages that are made by a program of this repository say so, and are compared with what it makes; marks of other names
belong to the tests of one page.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parent.parent
DOCS: Final = ROOT / "docs"

#: Pages that a program writes, and a test of its own compares: named by what they say of themselves.
_MADE: Final = re.compile(r"(?i)\b(?:made|written) by\s+`python -m tests\.(?!ledger)[\w.]+ --write`")
_BLOCK: Final = re.compile(
    r"(?m)^(?:<!-- (?P<mark>[\w ]+)(?:: (?P<said>[^\n]*?))? -->\n)?```(?P<kind>\w*)\n(?P<body>.*?)^```", re.DOTALL
)
#: What is checked by the test of one page: mark → that test.
_ELSEWHERE: Final = {
    "mermaid": "tests/reporting/test_schema.py",
    "scenarios": "tests/reporting/test_scenarios.py",
    "json": "tests/exploration/test_pages.py",
    "workflow": "tests/docs/test_workflow.py",
}
#: The pages whose outputs are compared there, too.
_OUTPUTS_ELSEWHERE: Final = {"failure-orderings", "failure-orderings-reference"}


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block of a page."""

    page: str
    mark: str
    said: str
    kind: str
    body: str


def blocks_of(path):
    """Every fenced block of a page with the comment above it."""
    found = _BLOCK.finditer(path.read_text(encoding="utf-8"))
    page = path.relative_to(DOCS).with_suffix("").as_posix().replace("/", "-")
    return [Block(page, each["mark"] or "", each["said"] or "", each["kind"], each["body"]) for each in found]


def is_made(path):
    """Whether a program makes the page."""
    return _MADE.search(path.read_text(encoding="utf-8")) is not None


PAGES: Final = sorted(path for path in DOCS.rglob("*.md") if not is_made(path))
BLOCKS: Final = [block for path in PAGES for block in blocks_of(path)]
#: Pages with settings for all of their tests run in a process of their own.
ALONE: Final = sorted({block.page for block in BLOCKS if block.said == "conftest.py"})


def files_of(page, marks=("test", "fails")):
    """The files of a page: name → text."""
    files = {}
    for block in BLOCKS:
        if block.page == page and block.kind == "python" and block.mark in marks:
            files.setdefault(block.said, []).append(block.body)
    return {name: "\n\n".join(bodies) for name, bodies in files.items()}


def write(folder, page):
    """Put a page's files into a folder of their own."""
    made = folder / page
    made.mkdir()
    for name, text in files_of(page).items():
        (made / name).write_text(text, encoding="utf-8")
    return made


def run(folder, *arguments, **environment):
    """Run pytest over files that were written from pages."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(folder), *arguments],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(ROOT), "COLUMNS": "80", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def failing(page):
    """The names of a page's files of which a test must fail."""
    return {block.said for block in BLOCKS if block.page == page and block.mark == "fails"}


def test_every_block_says_what_becomes_of_it():
    """Python is run; whatever is not run says why."""
    known = {"test", "fails", "output", "not run", *_ELSEWHERE}
    unmarked = [
        f"{block.page}: {block.mark or 'no mark'}: {block.body.splitlines()[0]}"
        for block in BLOCKS
        if block.mark not in known
        or (block.kind == "python" and block.mark not in {"test", "fails"})
        or (block.mark == "not run" and not block.said)
    ]

    assert unmarked == []


def test_files_of_pages_have_names_of_their_own():
    """All pages are run in one process, where a module's name is its own."""
    homes = {}
    for block in BLOCKS:
        if block.mark in {"test", "fails"} and block.page not in ALONE:
            homes.setdefault(block.said, set()).add(block.page)

    assert {name: pages for name, pages in homes.items() if len(pages) > 1} == {}


def test_the_code_of_the_pages_passes(tmp_path):
    """Each file that is not said to fail passes."""
    pages = sorted({block.page for block in BLOCKS if block.mark == "test"} - set(ALONE))
    ignored = []
    for page in pages:
        made = write(tmp_path, page)
        ignored += [f"--ignore={made / name}" for name in failing(page)]

    finished = run(tmp_path, "-q", *ignored, *pages)

    assert finished.returncode == 0, finished.stdout + finished.stderr


@pytest.mark.parametrize("page", ALONE)
def test_the_code_of_a_page_with_settings_passes(tmp_path, page):
    """Pages with a `conftest.py` pass, too, as on a CI server."""
    finished = run(write(tmp_path, page), "-q", CI="true")

    assert finished.returncode == 0, finished.stdout + finished.stderr


@pytest.mark.parametrize(
    "page", sorted({block.page for block in BLOCKS if block.mark in {"output", "fails"}} - _OUTPUTS_ELSEWHERE)
)
def test_what_a_page_shows_is_printed(tmp_path, page):
    """Outputs are what pytest prints, and what is said to fail fails."""
    folder = write(tmp_path, page)
    shown = {}
    for block in BLOCKS:
        if block.page == page and block.mark in {"output", "fails"}:
            shown.setdefault(block.said, []).append(block)

    for arguments, blocks in shown.items():
        finished = run(folder, *shlex.split(arguments))

        printed = "\n".join(line.rstrip() for line in finished.stdout.splitlines()) + "\n"
        assert finished.returncode == (1 if failing(page) & set(shlex.split(arguments)) else 0), finished.stdout
        for block in blocks:
            expected = "\n".join(line.rstrip() for line in block.body.splitlines()) + "\n"
            assert block.mark == "fails" or expected in printed, printed


def test_there_are_pages():
    """The pages that the README and the map of the house speak of are found."""
    assert {"choosing-a-stage", "sagas-and-projections", "unknown-outcomes"} <= {block.page for block in BLOCKS}
