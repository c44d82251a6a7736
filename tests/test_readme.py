"""The README's promises: two commands of one line each, and code blocks that do what it says, run against the wheel.

Each Python block says above itself what it is, in a comment that readers of the rendered page don't see:

* `<!-- test: NAME.py -->`: goes into the file NAME.py (blocks of one name in their order), which must pass.
* `<!-- fails: NAME.py -->`: goes into NAME.py, of which a test must fail.
* `<!-- output: NAME.py -->`, above a text block: it must occur as it stands in what pytest prints for NAME.py (blanks
  at the end of a line aside, which editors take away).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from wowspec import Spec
from wowspec.plugin import _ALL_OPTIONS
from wowspec.world.points import KINDS, POINTS

ROOT: Final = Path(__file__).parent.parent
README: Final = ROOT / "README.md"

_BLOCK: Final = re.compile(
    r"(?m)^(?:<!-- (?P<mark>\w+): (?P<name>\S+) -->\n)?```(?P<kind>\w*)\n(?P<body>.*?)^```", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block of the README."""

    mark: str
    name: str
    kind: str
    body: str


@cache
def blocks() -> list[Block]:
    """Every fenced block with the comment above it."""
    found = _BLOCK.finditer(README.read_text(encoding="utf-8"))
    return [Block(block["mark"] or "", block["name"] or "", block["kind"], block["body"]) for block in found]


def files() -> dict[str, list[Block]]:
    """The Python files that the blocks make up."""
    made: dict[str, list[Block]] = {}
    for block in blocks():
        if block.kind == "python" and block.name:
            made.setdefault(block.name, []).append(block)
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The package as its wheel holds it, unpacked."""
    pytest.importorskip("hatchling", reason="hatchling builds the wheel; the extra `test` brings it")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def run_pytest(folder, wheel, *arguments):
    """Run pytest on the README's files, with the package taken from the wheel."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(folder), *arguments],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(wheel), "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )


def without_trailing_blanks(text):
    """Each line without blanks at its end."""
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


@pytest.mark.parametrize("name", ["examples", "suite"])
def test_command_is_one_line(name):
    """The README's first two commands can be pasted as one line each."""
    (block,) = [block for block in blocks() if (block.mark, block.name) == ("command", name)]

    assert len(block.body.splitlines()) == 1
    assert block.body.startswith("python3 -m venv ")


def test_every_python_block_is_run():
    """No Python block of the README is left untested."""
    unmarked = [block.body for block in blocks() if block.kind == "python" and block.mark not in {"test", "fails"}]

    assert unmarked == []


def test_the_wheel_is_whole(wheel):
    """The wheel holds the package with its type marker and entry point, and neither tests nor examples."""
    (information,) = wheel.glob("wowspec-*.dist-info")
    entry_points = (information / "entry_points.txt").read_text()

    assert {path.name for path in wheel.iterdir()} == {"wowspec", information.name}
    assert (wheel / "wowspec" / "py.typed").exists()
    assert "[pytest11]\nwowspec = wowspec.plugin" in entry_points
    assert (information / "licenses" / "LICENSE").exists()
    data = {
        path.relative_to(ROOT)
        for path in (ROOT / "wowspec").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {path for path in data if not (wheel / path).exists()} == set()


@pytest.mark.parametrize("name", sorted(files()))
def test_code_does_what_the_readme_says(wheel, tmp_path, name):
    """A file of the README passes or fails as it says, and prints what it shows."""
    parts = files()[name]
    for other, theirs in files().items():
        target = tmp_path / other
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("\n\n".join(block.body for block in theirs), encoding="utf-8")
    fails = any(block.mark == "fails" for block in parts)
    source = f"import wowspec; assert wowspec.__file__.startswith({str(wheel)!r})\n"
    (tmp_path / "conftest.py").write_text(source, encoding="utf-8")

    finished = run_pytest(tmp_path, wheel, name)

    # 5: no test was collected, as in a file that defines a domain.
    assert finished.returncode in ({1} if fails else {0, 5}), finished.stdout + finished.stderr
    for block in blocks():
        if (block.mark, block.name) == ("output", name):
            assert without_trailing_blanks(block.body) in without_trailing_blanks(finished.stdout), finished.stdout


def test_begins_with_a_failure():
    """The first thing that a reader sees is what a failing spec prints, and it is compared."""
    first = blocks()[0]

    assert first.mark == "output"
    assert any(block.mark == "fails" and block.name == first.name for block in blocks())


def test_every_verb_has_a_row():
    """Each public verb of a spec stands in a table of the README, and no other `expect_…` is mentioned as one."""
    rows = "\n".join(line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith("| `"))
    named = set(re.findall(r"[`, ](\w+)\(|`(\w+)`", rows))
    mentioned = {name for pair in named for name in pair if name}
    verbs = {name for name, value in vars_of(Spec) if callable(value) and not name.startswith("_")}

    assert sorted(verbs - mentioned) == []
    assert sorted(name for name in mentioned - verbs if name.startswith("expect_")) == []


def test_every_kind_of_fault_has_a_row():
    """The README's table of faults is the table of kinds."""
    text = README.read_text(encoding="utf-8")

    assert [row.verb for row in KINDS if f"| `{row.verb}` | {row.meaning} |\n" not in text] == []
    assert [row.name for row in POINTS if row.kinds and not row.part and f"`faults.{row.name}`" not in text] == []


def test_every_option_has_a_row():
    """Each option of the command line stands in the README's tables."""
    rows = [line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith("| `--")]

    silent = [flag for flag, _, _ in _ALL_OPTIONS if not any(f"`{flag}`" in row or f"`{flag}=" in row for row in rows)]

    assert silent == []


def vars_of(kind):
    """Everything that a class and its bases define."""
    return [item for base in kind.__mro__[:-1] for item in vars(base).items()]
