"""The command `wowspec`."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from wowspec import cli
from wowspec.cli import main
from wowspec.scaffold.source import Source

ROOT = Path(__file__).parent.parent


def outside():
    """The environment of a process that knows nothing of this session, nor of a CI server's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "GITHUB_"))}
    return {**kept, "PYTHONPATH": str(ROOT)}


class Pytest:
    """A process in which pytest would run: remembers its command, and ends as it is told."""

    def __init__(self, *codes):
        self.command = None
        self._codes = list(codes)

    def __call__(self, command):
        self.command = command
        return self

    def wait(self):
        code = self._codes.pop(0)
        if isinstance(code, BaseException):
            raise code
        return code


def started(monkeypatch, *codes):
    """In place of pytest, something that ends with these codes."""
    process = Pytest(*codes)
    monkeypatch.setattr(cli.subprocess, "Popen", process)
    return process


def test_without_a_command_it_says_what_there_is(capsys):
    """A newcomer types its name."""
    assert main([]) == 0
    out = capsys.readouterr().out
    assert "docs" in out
    assert "new" in out
    assert "pytest --help" in out


@pytest.mark.parametrize("command", [["--help"], ["docs", "--help"], ["new", "--help"]])
def test_each_command_has_help(command, capsys):
    """With an example."""
    with pytest.raises(SystemExit) as caught:
        main(command)

    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert "usage: wowspec" in out
    assert len(command) == 1 or "example:" in out


def test_its_version(capsys):
    """Of the distribution."""
    with pytest.raises(SystemExit) as caught:
        main(["--version"])

    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith("wowspec ")


@pytest.mark.parametrize(
    "arguments", [["dogs"], ["new"], ["new", "a", "--dir", ".", "--into", "."], ["new", "a", "--", "-k"]]
)
def test_wrong_use_is_an_error(arguments, capsys, tmp_path, monkeypatch):
    """Told on standard error, with the code that shells use for it."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SystemExit) as caught:
        main(arguments)

    assert caught.value.code == 2
    assert "usage: wowspec" in capsys.readouterr().err


def test_new_writes_a_project_and_says_what_to_run(tmp_path, capsys):
    """From nothing to a passing spec."""
    assert main(["new", "parcel-shop", "--dir", str(tmp_path)]) == 0

    out = capsys.readouterr().out
    assert "src/parcel_shop/domain.py" in out
    assert f"cd {tmp_path / 'parcel-shop'}" in out
    assert "python -m pytest" in out
    assert (tmp_path / "parcel-shop" / "tests" / "test_table.py").is_file()


def test_new_says_how_it_is_installed_elsewhere(tmp_path, capsys, monkeypatch):
    """With where wowspec came from; a workflow cannot get it from a folder."""
    monkeypatch.setattr(cli, "source_of", lambda url: Source(command="python -m pip install /home/ann/wowspec"))

    assert main(["new", "shop", "--dir", str(tmp_path), "--github"]) == 0

    out = capsys.readouterr().out
    first, _, then = out.partition("in another environment, first:")
    assert "pip install" not in first
    assert "  python -m pip install /home/ann/wowspec\n  python -m pip install -e '.[test]'\n" in then
    assert "The workflow, as any other machine, cannot install wowspec from there" in then
    assert "--from git+URL" in then


def test_new_from_a_repository(tmp_path, capsys):
    """It is written down, and nothing is left to say."""
    url = "git+https://example.org/wowspec.git"

    assert main(["new", "shop", "--dir", str(tmp_path), "--from", url]) == 0

    assert f'"wowspec @ {url}"' in (tmp_path / "shop" / "pyproject.toml").read_text()
    assert "cannot install" not in capsys.readouterr().out


@pytest.mark.parametrize("on_path", [None, "/usr/bin/python", "own"])
def test_new_names_the_python_that_has_wowspec(tmp_path, capsys, monkeypatch, on_path):
    """Where no environment is active, `python` is another one, or none."""
    own = str(Path(sys.executable).parent / "python")
    monkeypatch.setattr(cli.shutil, "which", lambda name: own if on_path == "own" else on_path)

    assert main(["new", "shop", "--dir", str(tmp_path)]) == 0

    said = "python" if on_path == "own" else sys.executable
    assert f"\n  {said} -m pytest\n" in capsys.readouterr().out


def test_new_into_a_project_adds_one_file(tmp_path, capsys, monkeypatch):
    """From within it there is no folder to go to."""
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)

    assert main(["new", "shop", "--into", "."]) == 0

    out = capsys.readouterr().out
    assert "cd " not in out
    assert "python -m pytest tests/test_shop.py" in out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["new", "My Shop"], "wowspec new: 'My Shop' is no name for a project"),
        (["new", "shop", "--dir", "nowhere"], "there is no folder nowhere"),
        (["new", "shop", "--into", "nowhere"], "has no pyproject.toml"),
        (["new", "shop", "--into", ".", "--github"], "--into adds one spec file"),
        (["new", "shop", "--into", ".", "--from", "git+https://x.org/y"], "which --into leaves alone"),
        (["new", "shop", "--from", "y"], "--from y is no URL"),
    ],
)
def test_what_cannot_be_done_is_told(arguments, text, capsys, tmp_path, monkeypatch):
    """What, why, and what to write instead; no traceback."""
    monkeypatch.chdir(tmp_path)

    assert main(arguments) == 2

    err = capsys.readouterr().err
    assert text in err
    assert "instead:" in err


def test_docs_runs_pytest_and_passes_arguments_on(tmp_path, monkeypatch):
    """Its exit code is pytest's."""
    process = started(monkeypatch, 1)

    assert main(["docs", str(tmp_path / "a" / "b"), "--", "tests", "-k", "paid"]) == 1

    assert process.command == [
        sys.executable,
        "-m",
        "pytest",
        f"--wowspec-report=docs:{tmp_path / 'a' / 'b'}",
        "tests",
        "-k",
        "paid",
    ]
    assert (tmp_path / "a").is_dir()


@pytest.mark.parametrize("said", [[], [""]])
def test_docs_has_a_folder_of_its_own(tmp_path, monkeypatch, said):
    """Where nobody says one, or a variable of a shell that is empty: pages are not strewn about the project."""
    monkeypatch.chdir(tmp_path)
    process = started(monkeypatch, 0)

    assert main(["docs", *said]) == 0

    assert process.command[-1] == f"--wowspec-report=docs:{Path('docs', 'scenarios')}"


def test_docs_waits_for_a_pytest_that_was_interrupted(tmp_path, monkeypatch):
    """It still writes what it has."""
    started(monkeypatch, KeyboardInterrupt(), 2)

    assert main(["docs", str(tmp_path)]) == 2


def test_docs_that_was_killed_ends_as_shells_tell_it(tmp_path, monkeypatch):
    """By the number of the signal."""
    started(monkeypatch, -9)

    assert main(["docs", str(tmp_path)]) == 137


def test_docs_that_cannot_be_written(tmp_path, capsys):
    """A file where a folder would be."""
    (tmp_path / "file").write_text("x")

    assert main(["docs", str(tmp_path / "file" / "docs")]) == 2
    assert "wowspec docs:" in capsys.readouterr().err


def test_it_is_installed_as_a_command():
    """By the name that the documentation uses."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]

    assert scripts == {"wowspec": "wowspec.cli:main"}


def test_python_dash_m():
    """Where the command is on no path."""
    finished = subprocess.run(
        [sys.executable, "-m", "wowspec", "--version"],
        env=outside(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert (finished.returncode, finished.stdout[:8]) == (0, "wowspec ")


@pytest.mark.long
@pytest.mark.parametrize("more", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_docs_are_written_also_where_specs_fail(tmp_path, more):
    """With the same pages, in however many processes."""
    main(["new", "parcel-shop", "--dir", str(tmp_path)])
    project = tmp_path / "parcel-shop"
    spec = project / "tests" / "test_table.py"
    spec.write_text(spec.read_text().replace('.expect_state(guest="Bob")', '.expect_state(guest="Eve")'))

    finished = subprocess.run(
        [sys.executable, "-m", "wowspec", "docs", "pages/scenarios", "--", "-p", "no:asyncio", *more],
        cwd=project,
        env=outside(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert finished.returncode == 1, finished.stdout + finished.stderr
    page = (project / "pages" / "scenarios" / "parcel-shop-table.md").read_text()
    assert "7 scenarios; **1 of them does not hold.**" in page
    assert "- **Then** the table has guest: Eve **← this does not hold**" in page
    assert "> **This does not hold**" in page
