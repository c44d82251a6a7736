"""The README's promises: two commands of one line each, and code blocks that do what it says, run against the wheel.

Each Python block says above itself what it is, in a comment that readers of the rendered page don't see:

* `<!-- test: NAME.py -->`: goes into the file NAME.py (blocks of one name in their order), which must pass.
* `<!-- fails: NAME.py -->`: goes into NAME.py, of which a test must fail.
* `<!-- output: NAME.py -->`, above a text block: its lines must occur in this order in what pytest prints for NAME.py;
  a line that ends in `…` need only begin so, and a line `…` stands for any lines.
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
        env={**environment, "PYTHONPATH": str(wheel)},
        capture_output=True,
        text=True,
        check=False,
    )


def missing_line(expected, printed):
    """The first line of `expected` that does not occur in `printed` after those before it; None if all do."""
    rest = iter(line.rstrip() for line in printed.splitlines())
    for line in expected.splitlines():
        wanted = line.rstrip()
        if wanted in {"", "…"}:
            continue
        begins = wanted.endswith("…")
        text = wanted.removesuffix("…").rstrip()
        if not any(have.startswith(text) if begins else have == text for have in rest):
            return wanted
    return None


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
            assert missing_line(block.body, finished.stdout) is None, finished.stdout


@pytest.mark.parametrize(
    ("expected", "missing"),
    [
        ("one\ntwo", None),
        ("one\n…\nthree", None),
        ("on…\nthree", None),
        ("two\none", "one"),
        ("on", "on"),
    ],
)
def test_missing_line(expected, missing):
    """Shown lines must occur whole and in order, but for what `…` leaves open."""
    assert missing_line(expected, "one\n\ntwo  \nthree\n") == missing
