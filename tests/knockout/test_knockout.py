"""The knock-out harness: it finds tables, drops rows, and what is derived from a table lacks the row too."""

from __future__ import annotations

import ast
import os
import subprocess
import sys

import pytest

from tests.knockout.__main__ import verdict
from tests.knockout.mutate import VARIABLE, literal, rows, source_of, without_row
from tests.knockout.tables import TABLES, Table

SOURCE = """
A: Final = (("x", 1), ("y", 2))
BY_NAME = dict(A)
B = frozenset({1})
C = {"k": 1, "l": 2}
class D:
    ROWS = [1, 2, 3]
"""


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.place)
def test_registered_table_is_there(table):
    """Each registered table is written out where it says, has rows, and its exemptions are rows of it."""
    found = rows(table.place)

    assert found
    assert {text for text, _ in table.exempt} <= set(found)


def test_no_table_is_registered_twice():
    """Each table has one line."""
    places = [table.place for table in TABLES]

    assert len(places) == len(set(places))


@pytest.mark.parametrize(
    ("name", "row", "left"),
    [("A", 0, (("y", 2),)), ("B", 0, frozenset()), ("C", 1, {"k": 1}), ("D.ROWS", 1, [1, 3])],
)
def test_a_row_is_dropped(name, row, left):
    """A row of a tuple, a set, a dict or a list in a class is gone when the module runs."""
    namespace = {"Final": None}
    exec(without_row(SOURCE, name, row, "made_up.py"), namespace)

    first, *rest = name.split(".")
    value = namespace[first]
    for part in rest:
        value = getattr(value, part)

    assert value == left


def test_what_is_derived_lacks_the_row_too():
    """An index that the module builds from its table is built from what is left."""
    namespace = {"Final": None}
    exec(without_row(SOURCE, "A", 1, "made_up.py"), namespace)

    assert namespace["BY_NAME"] == {"x": 1}


def test_an_unknown_table_is_an_error():
    """A mistyped table can't look like a pinned one."""
    with pytest.raises(LookupError, match="no table NO_SUCH"):
        literal(ast.parse(SOURCE), "NO_SUCH")


def test_the_environment_drops_a_row_of_the_package(tmp_path):
    """In a run that is told to, the package has one row less."""
    code = (
        "from tests.knockout.mutate import install; install();"
        "from wowspec.error_policy import CODE_TABLE; print(len(CODE_TABLE))"
    )
    whole = len(rows("error_policy:CODE_TABLE"))

    finished = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, VARIABLE: "error_policy:CODE_TABLE#0", "PYTHONPATH": str(source_of("x").parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )

    assert int(finished.stdout) == whole - 1


@pytest.mark.parametrize(
    ("tests", "exempt", "good", "line"),
    [
        ("tests/test_error_policy.py", (), True, "noticed   error_policy:CODE_TABLE#2"),
        ("tests/runtime/test_event_store.py", (), False, "UNNOTICED error_policy:CODE_TABLE#2"),
        ("tests/runtime/test_event_store.py", (("TimeoutError", "why"),), True, "exempt    error_policy:CODE_TABLE#2"),
    ],
    ids=["a test fails", "no test fails", "exempt"],
)
def test_verdict(tests, exempt, good, line):
    """A lost row is noticed if a marked test fails without it; an exemption must say why."""
    table = Table("error_policy:CODE_TABLE", (tests,), exempt)
    text = "TimeoutError" if exempt else rows(table.place)[2]

    assert verdict(table, 2, text)[0] is good
    assert verdict(table, 2, text)[1].startswith(line)
