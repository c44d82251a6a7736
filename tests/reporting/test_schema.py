"""docs/report.schema.json is the document's schema, and docs/reports.md says what there is."""

from __future__ import annotations

import json
import re
from copy import deepcopy

import pytest

from wowspec.exploration.stories import MOST_ALIKE, MOST_STORIES
from wowspec.reporting import collecting
from wowspec.specs import run_json

from .schema import PAGE, SCHEMA, attributes, main, problems, schema, text
from .sessions import document_of, run_session

TEXT = PAGE.read_text(encoding="utf-8")
WHOLE = json.loads(SCHEMA.read_text(encoding="utf-8"))
_SPEC = re.compile(r"(?m)^<!-- test: test_drawn.py -->\n```python\n(?P<body>.*?)^```", re.DOTALL)
_DRAWN = re.compile(r"(?m)^<!-- mermaid: test_drawn.py -->\n```mermaid\n(?P<body>.*?)^```", re.DOTALL)


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    """A document of which each part has something."""
    options = [
        "--wowspec-faults=sweep",
        "--wowspec-points=projection.write",
        "--wowspec-strength",
        "--wowspec-unreachable=9",
    ]
    return document_of(tmp_path_factory.mktemp("suite"), *options)


def test_the_schema_is_up_to_date():
    """`python -m tests.reporting.schema --write` writes it and the tables of the page anew."""
    assert SCHEMA.read_text(encoding="utf-8") == text()
    assert main([]) == 0


def test_every_key_says_what_it_is():
    """Keys of reports are explained where they are declared, of findings in docs/failure-orderings-reference.md."""
    told = schema()["$defs"]
    silent = [
        f"{name}.{key}"
        for name, rule in told.items()
        if name not in {"BrokenJson", "CellJson", "FindingJson", "ResultJson"}
        for key, each in rule["properties"].items()
        if not each.get("description")
    ]

    assert silent == []
    assert all(rule["description"] for rule in told.values())


def test_descriptions_of_several_lines_are_one():
    """As a docstring is wrapped says nothing."""

    class Wrapped:
        """Something.

        Attributes:
            one: begins
                and ends.
            two: is short.
        """

    assert attributes(Wrapped) == {"one": "begins and ends.", "two": "is short."}


def test_the_document_is_valid(document):
    """With all that can be in it."""
    assert document["strength"]
    assert document["unreachable"]
    assert any(finding["story"] for result in document["exploration"] for finding in result["findings"])
    assert list(problems(document, WHOLE, WHOLE)) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda document: document.update(schema=2), "$: 2 is not 1"),
        (lambda document: document.update(coverage="much"), "$.coverage: str is no number"),
        (lambda document: document["tests"][0].pop("line"), "$.tests[0]: no line"),
        (lambda document: document["tests"][0].update(line=True), "$.tests[0].line: bool is no integer"),
        (lambda document: document["exploration"][0]["left"].update(x="y"), "[0].left.x: str is no integer"),
    ],
)  # fmt: skip
def test_what_is_not_valid_is_seen(document, change, said):
    """The check itself can fail: types, constants, missing keys."""
    changed = deepcopy(document)
    change(changed)

    assert said.removeprefix("$: ") in "\n".join(problems(changed, WHOLE, WHOLE))


def test_keys_that_are_added_are_valid(document):
    """A reader of version 1 reads what a later wowspec writes in it."""
    assert list(problems({**document, "added": 1}, WHOLE, WHOLE)) == []


def test_the_diagram_of_the_page_is_what_is_written(tmp_path):
    """Line by line."""
    spec, drawn = _SPEC.search(TEXT), _DRAWN.search(TEXT)
    session = run_session(tmp_path, "--wowspec-report=mermaid:stories", suite=spec["body"])
    [path] = (tmp_path / "stories").glob("*.mmd")

    assert session.code == 0
    assert path.read_text(encoding="utf-8") == drawn["body"]


def test_the_bounds_of_the_page_are_those_that_hold():
    """The table of what is kept."""
    rows = dict(re.findall(r"(?m)^\| ([a-z][^|`]*?) \| ([^|]*) \|$", TEXT))

    assert rows["specs of a test"] == f"the first {collecting.MOST_SPECS}"
    assert rows["runs of a spec"].startswith(f"the last {collecting.MOST_RUNS}; ")
    assert f"the first {collecting.MOST_OUTCOMES} outcomes" in rows["runs of a spec"]
    assert rows["rows of a run"].startswith(f"{run_json.MOST_ROWS}: ")
    assert rows["events of a run, and commands of sagas"] == f"the first {run_json.MOST_ITEMS} of each"
    assert rows["stories of findings"].startswith(f"{MOST_STORIES} a spec, {MOST_ALIKE} that break the same laws; ")
