"""A failure reads the same in each style of pytest, on CI and off it, narrow, in colour, through xdist."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from .test_entry import INSTALLED

SUITE = """
import pytest
from pydantic import BaseModel

from wowspec import Views, aggregate_root, allow_create, given, on_command, on_sourcing, projection


@allow_create
class Go(BaseModel):
    id: str
    how: str


class Went(BaseModel):
    how: str


class State(BaseModel):
    id: str
    how: str = ""

    @on_sourcing
    def went(self, event: Went) -> None:
        self.how = event.how


class Silent(Exception):
    def __str__(self):
        raise RuntimeError("no")


def fail(how):
    if how == "silent":
        raise Silent
    if how == "colours":
        raise ValueError("\\x1b[31mred \\u202e \\ud800 ünï")
    if how == "group":
        raise ExceptionGroup("all", [ValueError("one of them")])
    if how == "huge":
        raise ValueError("x" * 2_000_000)


@aggregate_root(context="roads")
class Road:
    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    async def go(self, command: Go) -> Went:
        fail(command.how)
        return Went(how=command.how)


@projection(context="roads")
class Map:
    def on_event(self, event: Went, views: Views[str]) -> None:
        fail(event.how.removeprefix("late "))


@pytest.mark.parametrize("how", ["silent", "colours", "group", "huge"])
def test_a_command(how):
    given().when(Go(id="r-1", how=how)).expect_events(Went(how=how))


@pytest.mark.parametrize("how", ["silent", "colours", "group", "huge"])
def test_downstream(how):
    given().using(Road, Map).when(Go(id="r-1", how=f"late {how}")).expect_events(Went(how=f"late {how}"))


def test_an_id_of_colours():
    given().when(Go(id="\\x1b[31mr", how="\\x1b[31mred")).expect_events(Went(how="x"))


def test_ten_thousand():
    given().when(Go(id="r-1", how="\\n".join(map(str, range(10_000))))).expect_state(how="x")
"""
#: Styles that show a failure's text, with what is needed to show it all.
STYLES = {
    "quiet": (["-q"], {}),
    "the whole story": (["-vv"], {}),
    "short": (["--tb=short"], {}),
    "long": (["--tb=long"], {}),
    "line": (["--tb=line"], {}),
    "native": (["--tb=native"], {}),
    "coloured": (["--color=yes"], {}),
    "two processes": (["-n2"], {}),
    "locals": (["--showlocals"], {}),
    "on CI": ([], {"CI": "1"}),
    "narrow": ([], {"COLUMNS": "40"}),
}
#: How pytest itself colours.
_STYLE = re.compile(r"\x1b\[[\d;]*m")
_TOLD = (
    "1 event expected, none stored: Went missing",
    "Silent: <Silent, whose str raises RuntimeError>",
    "ValueError: \\x1b[31mred \\u202e \\ud800",
    "ValueError: one of them",
    "more characters …xxx",
    "the runtime logged and swallowed an error at event.handler:Map.on_event: Silent",
    "if it should: .expect_downstream_error(Map, ExceptionGroup)",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the suite."""
    made = tmp_path_factory.mktemp("styles")
    (made / "test_it.py").write_text(SUITE, encoding="utf-8")
    (made / "pytest.ini").write_text("[pytest]\n")
    return made


def _printed(folder, arguments, environment):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    kept.pop("CI", None)
    kept["PYTHONPATH"] = os.pathsep.join([os.getcwd(), kept.get("PYTHONPATH", "")])  # noqa: PTH109
    plugin = [] if INSTALLED else ["-p", "wowspec.plugin"]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *plugin, *arguments]
    return subprocess.run(command, cwd=folder, env=kept | environment, capture_output=True, check=False).stdout


@pytest.mark.long
@pytest.mark.parametrize("style", STYLES)
def test_a_style(folder, style):
    """All ten tests fail with the texts that matter, and neither our frames nor anybody's colours are printed."""
    arguments, environment = STYLES[style]
    raw = _printed(folder, arguments, environment)
    text = _STYLE.sub("", raw.decode())

    assert "10 failed" in text
    assert "INTERNALERROR" not in text
    for told in _TOLD:
        assert told in text
    for frame in ("wowspec/specs/", "wowspec/runtime/", "wowspec/world/", "pluggy/"):
        assert frame not in text
    assert b"\x1b[31mred" not in raw
    assert b"\x1b[31mr " not in raw
    assert "\u202e" not in text
    assert len(text) < 200_000


@pytest.mark.long
def test_another_encoding(folder):
    """Where a terminal cannot show a character, pytest writes its code; nothing breaks."""
    text = _printed(folder, ["--tb=short"], {"PYTHONIOENCODING": "ascii"}).decode("ascii")

    assert "10 failed" in text
    assert "Silent: <Silent, whose str raises RuntimeError>" in text


@pytest.mark.long
def test_without_the_plugin(folder):
    """What verbs find is told; what only the end of a test finds needs the plugin."""
    text = _printed(folder, ["-p", "no:wowspec", "-q"], {}).decode()

    assert "6 failed, 4 passed" in text
    assert "1 event expected, none stored: Went missing" in text
    assert "wowspec/specs/" not in text
