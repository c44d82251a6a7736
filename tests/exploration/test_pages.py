"""docs/failure-orderings.md and its reference say what the kit says: its tables, its reports, its JSON, its options."""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import subprocess
import sys
from typing import Final

import pytest

from wowspec import explore_faults
from wowspec.exploration import results

from .pages import DOCS, PAGE, REFERENCE, TABLES, with_tables

#: The reference shows outputs for the files of the page.
TEXT: Final = PAGE.read_text(encoding="utf-8") + REFERENCE.read_text(encoding="utf-8")
_FILE: Final = re.compile(r"(?m)^<!-- test: (?P<name>\S+) -->\n```python\n(?P<body>.*?)^```", re.DOTALL)
_SAID: Final = re.compile(
    r"(?m)^<!-- (?P<mark>output|json): (?P<arguments>[^\n]+) -->\n```\w+\n(?P<body>.*?)^```", re.DOTALL
)
_KEYS: Final = re.compile(r"(?m)^<!-- keys: (?P<name>\w+) -->\n(?P<rows>(?:\|.*\n)+)")


def first_cells(rows: str) -> set[str]:
    """The names in the first column of a table."""
    return {name for line in rows.splitlines()[2:] for name in re.findall(r"`(\w+)=?", line.split("|")[1])}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the page makes up."""
    made = tmp_path_factory.mktemp("page")
    for block in _FILE.finditer(TEXT):
        (made / block["name"]).write_text(block["body"], encoding="utf-8")
    return made


def run(folder, *arguments):
    """What pytest prints."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "GITHUB_"))}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(folder), *arguments]
    finished = subprocess.run(
        command,
        cwd=folder,
        env={**environment, "PYTHONPATH": str(DOCS.parent), "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )
    return "\n".join(line.rstrip() for line in finished.stdout.splitlines()) + "\n" + finished.stderr


def test_tables_are_up_to_date():
    """A stale page fails: write it anew with `python -m tests.exploration.pages`."""
    text = REFERENCE.read_text(encoding="utf-8")

    assert with_tables(text, TABLES) == text


@pytest.mark.parametrize(
    ("arguments", "body"),
    [(block["arguments"], block["body"]) for block in _SAID.finditer(TEXT) if block["mark"] == "output"],
    ids=range(sum(block["mark"] == "output" for block in _SAID.finditer(TEXT))),
)
def test_what_the_page_shows_is_printed(folder, arguments, body):
    """Reports and summaries are what the kit prints for the page's own files."""
    printed = run(folder, *shlex.split(arguments))

    assert body.strip()
    assert body in printed, printed


def test_the_json_of_the_page_is_what_is_written(folder):
    """Value by value."""
    (block,) = [block for block in _SAID.finditer(TEXT) if block["mark"] == "json"]
    printed = run(folder, *shlex.split(block["arguments"]), "--wowspec-fault-json=faults.json")

    assert json.loads(block["body"]) == json.loads((folder / "faults.json").read_text(encoding="utf-8")), printed


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, kind in vars(results).items()
        if name.endswith("Json") and inspect.isclass(kind) and kind.__module__ == results.__name__
    ],
)
def test_every_key_is_explained(name):
    """The tables of keys are the typed dictionaries."""
    tables = {found["name"]: found["rows"] for found in _KEYS.finditer(TEXT)}

    assert first_cells(tables[name]) == set(getattr(results, name).__annotations__)


def test_every_option_of_the_decorator_has_a_row():
    """The table is the decorator's signature."""
    parameters = inspect.signature(type(explore_faults).__call__).parameters
    said = TEXT.partition("## Options of `@explore_faults`")[2].partition("| option |")[2].partition("\n\n")[0]

    assert first_cells(f"\n{said}") == {name for name, each in parameters.items() if each.kind is each.KEYWORD_ONLY}
