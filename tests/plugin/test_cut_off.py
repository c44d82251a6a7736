"""What the bounds of a search left out is told at the end of a run, although every test passed."""

from __future__ import annotations

from tests.plugin.test_entry import run_pytest

SUITE = """
from pydantic import BaseModel
from wowspec import aggregate_root, allow_create, on_command, spec


@allow_create
class Note(BaseModel):
    id: str = "n-1"
    text: str


class Noted(BaseModel):
    text: str


class PadState(BaseModel):
    id: str


@aggregate_root(context="desk")
class Pad:
    def __init__(self, state: PadState) -> None:
        self.state = state

    @on_command
    def note(self, command: Note) -> Noted:
        return Noted(text=command.text)


def test_bounded():
    spec(Pad).when_concurrently(Note(text="a"), Note(text="b"), max_schedules=2).expect_succeeded()


def test_complete():
    spec(Pad).when_concurrently(Note(text="a"), Note(text="b")).expect_succeeded().expect_complete()


def test_replayed():
    spec(Pad).when_concurrently(Note(text="a"), Note(text="b"), schedule="0").expect_succeeded()
"""


def test_what_bounds_left_out_is_told_once_for_each_search(tmp_path):
    """Place, bound and count of the one search that was cut off; complete searches and replays are not spoken of."""
    (tmp_path / "test_pad.py").write_text(SUITE)

    finished = run_pytest(tmp_path)

    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "wowspec: orders of commands that bounds left out" in finished.stdout
    told = [line for line in finished.stdout.splitlines() if "max_schedules=2" in line]
    assert len(told) == 1
    assert told[0].startswith("test_pad.py:")
    assert "2 schedules, up to max_schedules=2; " in told[0]
