"""The public names of the package, and what importing it costs."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import wowspec


@pytest.mark.parametrize("name", sorted(wowspec._EXPORTS))
def test_exported_name_resolves(name):
    """Every exported name is what its module defines under that name, and is listed by `dir`."""
    module = import_module(wowspec._EXPORTS[name], "wowspec")

    assert getattr(wowspec, name) is getattr(module, name)
    assert name in dir(wowspec)


def test_type_checkers_see_the_same_names():
    """The imports under `TYPE_CHECKING` and the lazy table name the same things from the same modules."""
    tree = ast.parse(Path(wowspec.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: "." * statement.level + (statement.module or "")
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }

    assert seen == {"faults": ".", **wowspec._EXPORTS}


def test_faults_are_an_attribute_of_the_package():
    """`import wowspec as ws` is enough for `ws.faults`."""
    code = "import wowspec as ws; print(ws.faults.event_store.append.fails())"

    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert finished.stdout.strip() == "event_store.append@1=fail", finished.stderr


def test_no_name_is_exported_twice():
    """Each name has one home."""
    names = [name for group in wowspec._MODULES.values() for name in group]

    assert len(names) == len(set(names))


def test_unknown_name_is_an_attribute_error():
    """A name that is not exported fails as for any module."""
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        wowspec.no_such_name  # noqa: B018


def test_import_is_light():
    """`import wowspec` imports no other module of the package, and neither Hypothesis nor pydantic."""
    code = (
        "import json, sys; before = set(sys.modules); import wowspec; dir(wowspec);"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = json.loads(finished.stdout)

    assert [name for name in loaded if name.split(".")[0] in {"wowspec", "hypothesis", "pydantic"}] == ["wowspec"]


def test_star_import():
    """`from wowspec import *` gives every public name, and `faults`, in a fresh interpreter."""
    code = "import json\nfrom wowspec import *\nprint(json.dumps([name for name in dir() if name[0] != '_']))"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert set(json.loads(finished.stdout)) == {"json", "faults", *wowspec._EXPORTS}
