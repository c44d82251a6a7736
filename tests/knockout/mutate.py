"""Load one module of the package without one row of one of its tables.

The row is dropped from the module's syntax tree before it runs, so that whatever the module derives from the table
(an index by name, say) lacks the row as well. The package knows nothing of it.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final

#: `module:NAME#row`, such as `error_policy:CODE_TABLE#2`.
VARIABLE: Final = "WOWSPEC_KNOCKOUT"

_Literal = ast.Tuple | ast.List | ast.Set | ast.Dict


def source_of(place: str) -> Path:
    """The file of the module that `module:NAME` speaks of."""
    module = place.partition(":")[0]
    return Path(__file__).parents[2].joinpath("wowspec", *module.split(".")).with_suffix(".py")


def literal(tree: ast.Module, name: str) -> _Literal:
    """The written-out table that is assigned to `NAME` or `Class.NAME`."""
    *scopes, last = name.split(".")
    body: list[ast.stmt] = tree.body
    for scope in scopes:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == scope)
    for node in body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(target, ast.Name) and target.id == last for target in targets):
            for inner in ast.walk(node.value):
                if isinstance(inner, _Literal):
                    return inner
    raise LookupError(f"no table {name} is written out there")


def rows(place: str) -> list[str]:
    """The text of each row of a table."""
    table = literal(ast.parse(source_of(place).read_text(encoding="utf-8")), place.partition(":")[2])
    if isinstance(table, ast.Dict):
        pairs = zip(table.keys, table.values, strict=True)
        return [f"{'**' if key is None else ast.unparse(key) + ': '}{ast.unparse(value)}" for key, value in pairs]
    return [ast.unparse(element) for element in table.elts]


def without_row(source: str, name: str, row: int, filename: str) -> CodeType:
    """The code of a module whose table lacks one row."""
    tree = ast.parse(source, filename=filename)
    table = literal(tree, name)
    if isinstance(table, ast.Dict):
        del table.keys[row]
        del table.values[row]
    else:
        del table.elts[row]
        if isinstance(table, ast.Set) and not table.elts:
            table.elts.append(ast.Starred(ast.Tuple([], ast.Load()), ast.Load()))
    return compile(ast.fix_missing_locations(tree), filename, "exec")


class _Loader(SourceLoader):
    def __init__(self, path: str, name: str, row: int) -> None:
        self.path = path
        self.table = name
        self.row = row

    def get_filename(self, fullname: str) -> str:
        return self.path

    def get_data(self, path: str) -> bytes:
        return Path(path).read_bytes()

    def get_code(self, fullname: str) -> CodeType:
        return without_row(Path(self.path).read_text(encoding="utf-8"), self.table, self.row, self.path)


class _Finder(MetaPathFinder):
    def __init__(self, module: str, name: str, row: int) -> None:
        self.module = module
        self.table = name
        self.row = row

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.module:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = _Loader(spec.origin, self.table, self.row)
        return spec


def install() -> None:
    """Drop the row that the environment names, if it names one; before any test imports the package."""
    wanted = os.environ.get(VARIABLE)
    if not wanted:
        return
    place, _, row = wanted.rpartition("#")
    module, _, name = place.partition(":")
    full = f"wowspec.{module}"
    if full in sys.modules:
        raise RuntimeError(f"{full} was imported before its row could be dropped")
    sys.meta_path.insert(0, _Finder(full, name, int(row)))
