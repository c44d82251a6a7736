"""Perturbed runs that are made in other processes, or in parts: to the same file as in one, in the same order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.exploration.spread import DOMAIN
from tests.plugin.test_entry import run_pytest

#: They start many processes, or sweep a great deal.
pytestmark = pytest.mark.long

#: Something that nobody notices, an item that changes nothing, an expectation that nothing makes fail; a patch.
SUITE = """
import desk
from desk import Note, Noted, Pad
from pydantic import BaseModel
from wowspec import allow_create, given, on_command, aggregate_root, spec


@allow_create
class Open(BaseModel):
    id: str = "b-1"
    title: str = "Emma"
    pages: int = 3


class Opened(BaseModel):
    title: str
    pages: int


@aggregate_root(context="desk")
class Book:
    def __init__(self, id: str) -> None:
        self.id = id

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened(title=command.title, pages=command.pages)


def test_a_tally():
    spec().using(desk.desk).when(Note()).expect_view("notes", 1).expect_succeeded()


def test_branches():
    opened = given().when(Open()).expect_event(Opened, title="Emma")
    opened.when(Open(title="Persuasion")).expect_event(Opened, title="Persuasion")


def test_patched(monkeypatch):
    monkeypatch.setattr(desk.Pad, "word", "patched")
    given(Noted(text="a"), Noted(text="b")).when(Note(text="c")).expect_events(Noted(text="patched"))
"""
#: Says who called the projection; a process of a pool has a parent.
COUNTS = """import multiprocessing
    with open("elsewhere" if multiprocessing.parent_process() else "here", "a") as file:
        file.write("x")"""
POOL = "--wowspec-executor=processes:2"
LINT = "--wowspec-lint"


def write(folder: Path, ends: str = "pass") -> Path:
    """The suite in a folder; `ends` is what happens when the projection is called, as a function's body."""
    (folder / "desk.py").write_text(DOMAIN.replace("    pass\n\n\ndesk", f"    {ends}\n\n\ndesk"), encoding="utf-8")
    (folder / "test_desk.py").write_text(SUITE, encoding="utf-8")
    return folder


def perturbed(folder: Path, *arguments: str) -> tuple[Any, str]:
    """The finished process, and the whole file of results."""
    found = folder / "strength.json"
    finished = run_pytest(folder, "--wowspec-strength-json=strength.json", *arguments)
    return finished, found.read_text(encoding="utf-8") if found.exists() else finished.stdout + finished.stderr


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    """The file of one process."""
    return perturbed(write(tmp_path_factory.mktemp("serial")))[1]


def test_a_pool_of_processes_comes_to_the_same(tmp_path):
    """Byte for byte, what specs could do without included; the test's process makes the runs as they are alone."""
    folder = write(tmp_path, COUNTS)
    _, serial = perturbed(folder, LINT)
    calls = len((folder / "here").read_text())
    (folder / "here").unlink()

    finished, found = perturbed(folder, LINT, POOL)

    assert found == serial
    assert "in other processes" not in finished.stdout
    whole = json.loads(found)
    assert 0 < whole["noticed"] < whole["counted"]
    assert whole["idle_givens"]
    assert whole["idle_expectations"]
    # The test's own run, and those that the perturbations and the given items are told by.
    assert len((folder / "here").read_text()) == 3 < calls
    assert len((folder / "elsewhere").read_text()) >= calls - 3


def test_parts_are_the_whole(tmp_path, serial):
    """Each perturbation is in exactly one of them, with all the specs that reach it; parts go with an executor."""
    folder, whole = write(tmp_path), json.loads(serial)

    runs = [perturbed(folder, f"--wowspec-shard={part}/2", *more) for part, more in ((1, [POOL]), (2, []))]

    assert "This is part 1 of 2 of the perturbations." in runs[0][0].stdout
    parts = [json.loads(text) for _, text in runs]
    assert all(part["counted"] for part in parts)
    order = [each["name"] for each in whole["perturbations"]]
    found = [each for part in parts for each in part["perturbations"]]
    assert sorted(found, key=lambda each: order.index(each["name"])) == whole["perturbations"]
    for key in ("counted", "noticed"):
        assert sum(part[key] for part in parts) == whole[key]


def test_a_worker_that_dies_loses_no_perturbation(tmp_path, serial):
    """What it had to do is done again, by another one."""
    died = tmp_path / "died"
    ends = f"import os, pathlib; died = pathlib.Path({str(died)!r}); seen and not died.exists()"

    finished, found = perturbed(write(tmp_path, f"{ends} and (died.touch(), os._exit(3))"), POOL)

    assert died.exists()
    assert found == serial
    assert "a worker was lost (BrokenProcessPool); what it did is done again" in finished.stdout


def test_a_perturbation_that_ends_each_process_is_noticed(tmp_path, serial):
    """It is told by name, and the rest comes to what it comes to without it."""
    finished, found = perturbed(write(tmp_path, "import os; seen and os._exit(3)"), POOL)

    assert finished.returncode == 0
    told = "a process ended each time that it did Note/event[0] doubled"
    assert told in finished.stdout
    rest = {each["name"]: each for each in json.loads(found)["perturbations"]}
    doubled = rest.pop("Pad.note → Noted doubled")["specs"]
    assert [spec["noticed"] for spec in doubled] == [["it ends the process in which it is run"]]
    assert rest == {each["name"]: each for each in json.loads(serial)["perturbations"] if each["name"] in rest}
    assert len(rest) == json.loads(serial)["counted"] - 1


@pytest.mark.parametrize(
    ("option", "instead"),
    [
        (LINT, "--wowspec-lint in a job of its own"),
        ("--wowspec-strength-fail-under=90", "--wowspec-strength-json in each part"),
    ],
)
def test_what_a_part_cannot_tell_is_refused(tmp_path, option, instead):
    """As a usage error, before any test runs."""
    finished = run_pytest(tmp_path, "--wowspec-shard=1/2", option)

    assert finished.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"{option.partition('=')[0]} with --wowspec-shard=1/2" in finished.stderr
    assert instead in finished.stderr
