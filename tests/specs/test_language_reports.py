"""What pytest shows of specs that fail: whole outputs, pinned; run with `WOWSPEC_UPDATE_TEXTS=1` to write them anew."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugin.test_entry import INSTALLED

SOURCES = Path(__file__).parent / "reports"
TEXTS = Path(__file__).parent / "texts" / "reports"
SPECS = re.findall(r"^def (test_\w+)", (SOURCES / "specs.py").read_text(encoding="utf-8"), re.MULTILINE)
FAILING = [name for name in SPECS if name != "test_that_passes"]


def run_specs(folder, *arguments, ci=False):
    """The output of a run of the failing specs."""
    for name, target in (("domain.py", "domain.py"), ("specs.py", "test_specs.py")):
        shutil.copy(SOURCES / name, folder / target)
    (folder / "pytest.ini").write_text("[pytest]\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    environment["PYTHONPATH"] = os.pathsep.join([os.getcwd(), environment.get("PYTHONPATH", "")])  # noqa: PTH109
    environment["COLUMNS"] = "120"
    environment.pop("CI", None)
    if ci:
        environment["CI"] = "1"
    plugin = [] if INSTALLED else ["-p", "wowspec.plugin"]
    others = ["-pno:asyncio", "-pno:anyio", "-pno:xdist", "-pno:randomly"]
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *plugin, *others, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return finished.stdout + finished.stderr


def sections(output):
    """The failure of each test, by its name."""
    shown = re.sub(r"^=+ short test summary info =+\n(.|\n)*", "", output, flags=re.MULTILINE)
    parts = re.split(r"^_{3,} (test_\w+) _{3,}\n", shown, flags=re.MULTILINE)
    return {
        name: "\n".join(line.rstrip() for line in text.rstrip().splitlines()) + "\n"
        for name, text in zip(parts[1::2], parts[2::2], strict=True)
    }


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The failures of a plain run."""
    return sections(run_specs(tmp_path_factory.mktemp("plain"), "-q"))


@pytest.mark.parametrize("name", FAILING)
def test_whole_output(name, plain):
    """It reads as it was reviewed."""
    text = plain[name]
    path = TEXTS / f"{name.removeprefix('test_')}.txt"
    if os.environ.get("WOWSPEC_UPDATE_TEXTS"):
        TEXTS.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    assert path.read_text(encoding="utf-8") == text


def test_every_text_has_its_spec():
    """No text stays behind when its spec is gone."""
    assert {f"test_{path.stem}" for path in TEXTS.glob("*.txt")} == set(FAILING)


@pytest.mark.parametrize("name", FAILING)
def test_no_frame_of_the_kit_is_shown(name, plain):
    """And a line of the author's is marked."""
    text = plain[name]
    assert "wowspec/" not in text
    assert "hidden" not in text
    assert "pluggy" not in text
    assert re.search(r"^>  ", text, re.MULTILINE)


@pytest.mark.long
def test_a_verbose_run_and_one_of_ci_show_the_same(tmp_path, plain):
    """Neither more frames nor a text cut short."""
    verbose, on_ci = tmp_path / "verbose", tmp_path / "ci"
    verbose.mkdir()
    on_ci.mkdir()
    assert sections(run_specs(verbose, "-v")) == plain
    output = run_specs(on_ci, "-q", ci=True)
    assert sections(output) == plain
    # On CI the closing lines hold the whole texts, too.
    assert "events[0].amount: 3 ≠ 2" in output.partition("short test summary info")[2]


def test_events_that_no_aggregate_sources_are_listed(tmp_path):
    """With `-vv`, each with its aggregate and the test; not without."""
    output = run_specs(tmp_path, "-vv", "-k", "passes")
    assert "wowspec: events that no aggregate sources" in output
    assert "OrderRemarked, given to Order, in test_specs.py::test_that_passes\n" in output

    assert "no aggregate sources" not in run_specs(tmp_path, "-v", "-k", "passes")
