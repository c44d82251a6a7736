"""Makes a project, or adds an example to one, from the templates beside this module."""

from __future__ import annotations

import keyword
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Final

from ..errors import SpecError
from .source import Source

_NAME: Final = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
#: Packages that the project would hide from itself.
_TAKEN: Final = frozenset({"hypothesis", "pydantic", "pytest", "src", "test", "tests", "wowspec"})
_PYPROJECT: Final = "pyproject.toml"
#: Written file → the templates that it is made of; `$package` is the package's name.
_Files = tuple[tuple[str, tuple[str, ...]], ...]
_PROJECT: Final[_Files] = (
    (_PYPROJECT, ("pyproject.toml",)),
    ("README.md", ("README_head.md", "install_index.md", "README_body.md")),
    (".gitignore", ("gitignore",)),
    ("src/$package/__init__.py", ("package_init.py",)),
    ("src/$package/domain.py", ("domain_head.py", "domain_body.py")),
    ("tests/test_table.py", ("spec_head.py", "spec_body.py")),
)
_WORKFLOW: Final[_Files] = ((".github/workflows/specs.yml", ("specs.yml",)),)
#: How it is installed, where a machine has wowspec from a folder of its own.
_LOCAL: Final = {"install_index.md": "install_local.md"}
#: The one file that is added to a project: the domain and its specs.
_EXAMPLE: Final[_Files] = (
    ("tests/test_$package.py", ("into_head.py", "domain_body.py", "into_middle.py", "spec_body.py")),
)


@dataclass(frozen=True, slots=True)
class Made:
    """What was written.

    Attributes:
        folder: where.
        files: seen from there, in their order.
        commands: what to run there.
        elsewhere: what to run first in another environment; else empty.
    """

    folder: Path
    files: tuple[str, ...]
    commands: tuple[str, ...]
    elsewhere: tuple[str, ...] = ()


def new_project(name: str, parent: Path, *, github: bool = False, source: Source | None = None) -> Made:
    """Make a project in a folder of its name; nothing is left behind where that fails.

    Args:
        name: of the project: words of small letters and digits, with `-` between them.
        parent: the folder in which its own is made.
        github: whether a workflow of GitHub Actions is written, too.
        source: where the project gets wowspec from; an index, if nothing is said.

    Raises:
        SpecError: for a name that is none, or a folder that is not empty.
        OSError: if nothing can be written there.
    """
    package = package_of(name)
    wowspec = source or Source()
    folder = parent / name
    if not parent.is_dir():
        raise SpecError(
            f"there is no folder {parent}", why="the project's folder is made in it", instead="a folder that is there"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        is_project = (folder / _PYPROJECT).exists()
        raise SpecError(
            f"{folder} is {'not empty' if folder.is_dir() else 'a file'}",
            why="what is there would be lost, or mixed with what is written",
            instead=f"another name; or wowspec new {name} --into {folder}, which adds one spec file to that project"
            if is_project
            else "another name",
        )
    wanted = (*_PROJECT, *(_WORKFLOW if github else ()))
    if wowspec.command:
        wanted = tuple((path, tuple(_LOCAL.get(part, part) for part in parts)) for path, parts in wanted)
    texts = _texts(wanted, {"name": name, "package": package, "requirement": wowspec.requirement})
    # Beside its place, so that it appears there as a whole.
    made = parent / f".{name}.being-made"
    try:
        made.mkdir()
    except FileExistsError:
        raise SpecError(
            f"{made} is there already",
            why="another wowspec new is making this project, or was killed while it did",
            instead="remove that folder, if nobody is",
        ) from None
    try:
        _write_all(made, texts)
        if folder.exists():
            folder.rmdir()
        made.rename(folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return Made(
        folder,
        tuple(texts),
        ("python -m pytest", "python -m pytest --wowspec-faults=sweep"),
        (*([wowspec.command] if wowspec.command else ()), "python -m pip install -e '.[test]'"),
    )


def add_example(name: str, folder: Path) -> Made:
    """Add one file to a project: a domain of one aggregate and its specs. Nothing that is there is touched.

    Args:
        name: gives the file its name, and the domain its bounded context.
        folder: the project's; it has a `pyproject.toml`.

    Raises:
        SpecError: for a name that is none, a folder that is no project, or a file that is there already.
        OSError: if nothing can be written there.
    """
    package = package_of(name)
    if not (folder / _PYPROJECT).is_file():
        raise SpecError(
            f"{folder} has no {_PYPROJECT}",
            why="--into adds to a project that is there",
            instead=f"wowspec new {name}, which makes one",
        )
    texts = _texts(_EXAMPLE, {"package": package})
    for path in texts:
        if (folder / path).exists():
            raise SpecError(f"{folder / path} is there already", why="it would be written over", instead="another name")
    _write_all(folder, texts)
    return Made(folder, tuple(texts), tuple(f"python -m pytest {path}" for path in texts))


def package_of(name: str) -> str:
    """The package of a project: `parcel-shop` has `parcel_shop`.

    Raises:
        SpecError: for a name of which none can be made.
    """
    package = name.replace("-", "_")
    if _NAME.fullmatch(name) is None:
        wanted = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        raise SpecError(
            f"{name!r} is no name for a project",
            why="it names a folder, a distribution and a package: words of a-z and 0-9 with - between them",
            instead=f"wowspec new {wanted if _NAME.fullmatch(wanted) else 'parcel-shop'}",
        )
    if keyword.iskeyword(package) or package in _TAKEN or package in sys.stdlib_module_names:
        raise SpecError(
            f"{name!r} is taken",
            why=f"`import {package}` means something else",
            instead=f"wowspec new {name}-shop",
        )
    return package


def _texts(wanted: Iterable[tuple[str, tuple[str, ...]]], values: Mapping[str, str]) -> dict[str, str]:
    """Each file's path and text."""
    templates = files("wowspec.scaffold") / "templates"
    return {
        Template(path).substitute(values): "".join(
            Template((templates / f"{part}.tmpl").read_text(encoding="utf-8")).substitute(values) for part in parts
        )
        for path, parts in wanted
    }


def _write_all(folder: Path, texts: dict[str, str]) -> None:
    for path, text in texts.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")
