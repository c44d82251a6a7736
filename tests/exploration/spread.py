"""A suite that is explored in several ways, which must all come to the same; its folder, written anew for each test."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from tests.plugin.test_entry import run_pytest

DOMAIN: Final = """
from pydantic import BaseModel
from wowspec import Context, DomainEvent, Views, aggregate_root, allow_create, on_command, on_event, projection


@allow_create
class Note(BaseModel):
    id: str = "n-1"
    text: str = "x"


class Noted(BaseModel):
    text: str


class PadState(BaseModel):
    id: str


@aggregate_root(context="desk")
class Pad:
    def __init__(self, state: PadState) -> None:
        self.state = state

    word = ""

    @on_command
    def note(self, command: Note) -> Noted:
        return Noted(text=self.word or command.text)


@projection(context="desk")
class Tally:
    @on_event
    def noted(self, event: DomainEvent[Noted], views: Views[int]) -> None:
        seen = views.get("notes", 0)
        ends(seen)
        views["notes"] = seen + 1


def ends(seen: int) -> None:
    pass


desk = Context("desk", Pad, Tally)
"""
#: Specs in a test, a branch, parameters, fixtures, patches, functions that are called again.
SUITE: Final = """
import desk
import pytest
from desk import Note, Noted, Pad
from wowspec import explore_faults, spec


def test_a_tally():
    spec().using(desk.desk).when(Note()).expect_view("notes", 1)


@pytest.mark.parametrize("text", ["a::b", "ü"])
def test_branches(text):
    begun = spec(Pad).given(Note())
    begun.when(Note(text=text)).expect_events(Noted(text=text))
    begun.when(Note(text="other")).expect_version(2)


class TestPatched:
    def test_patched(self, monkeypatch, tmp_path):
        monkeypatch.setattr(desk.Pad, "word", "patched" if tmp_path.is_dir() else "")
        spec(Pad).when(Note(text="patch")).expect_events(Noted(text="patched"))

    @explore_faults
    def test_a_function(self, spec, request):
        noted = []
        run = spec.using(desk.desk).when(Note(text=request.node.name)).run()
        noted.append(run.views(desk.Tally).get("notes"))
        assert noted != [2]
"""
SWEEP: Final = ("--wowspec-faults=sweep", "--wowspec-fault-json=found.json")


def write_suite(folder: Path, ends: str = "") -> Path:
    """The suite in a folder; `ends` in place of what happens when the projection is called, as a function's body."""
    text = DOMAIN if not ends else DOMAIN.replace("    pass\n\n\ndesk", f"    {ends}\n\n\ndesk")
    (folder / "desk.py").write_text(text, encoding="utf-8")
    (folder / "test_desk.py").write_text(SUITE, encoding="utf-8")
    return folder


def swept(folder: Path, *arguments: str) -> tuple[Any, bytes]:
    """Sweep the suite; the finished process and the whole file of results."""
    found = folder / "found.json"
    found.unlink(missing_ok=True)
    finished = run_pytest(folder, *SWEEP, *arguments)
    return finished, found.read_bytes() if found.exists() else b""
