"""Where a function stands, and what is written there."""

from __future__ import annotations

import ast
import functools
import linecache

from wowspec.modeling.places import tree_of


def plain(number: int) -> int:
    """A function."""
    return number + 1


@functools.lru_cache
def wrapped(number: int) -> int:
    """Likewise, behind a wrapper."""
    return number


def test_the_tree_of_a_definition():
    """Of what stands behind a wrapper, too."""
    for function in (plain, wrapped):
        tree = tree_of(function)

        assert isinstance(tree, ast.FunctionDef)
        assert tree.name == function.__name__


def test_what_is_no_definition_has_no_tree():
    """A lambda, something built in, a class, what was never written in a file."""
    for other in (lambda: None, len, int, 7):
        assert tree_of(other) is None


def test_source_in_a_string_is_nobodys(monkeypatch):
    """Where `python -c` runs, the lines of its command may be kept under the same name: they are another's."""
    command = ("def other(): pass\n" * 3).splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, "<string>", (1, None, command, "<string>"))
    names: dict[str, object] = {}
    exec("def made(): return 1", names)

    assert tree_of(names["made"]) is None
