"""Load the recorded cases, from the repository or from `WOWSPEC_GOLDEN`."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

#: In the order of the closing lines.
FAMILIES: Final = ("parts", "wait", "pipeline")
OVERRIDE: Final = "WOWSPEC_GOLDEN"

OWN_DATA: Final = Path(__file__).parent / "data"
_SUFFIXES: Final = (".jsonl", ".jsonl.gz")


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded case, and the module that can drive it."""

    id: str
    driver: str
    data: dict[str, Any]


def folder() -> Path:
    """The folder whose `parts/`, `wait/` and `pipeline/` hold the cases."""
    chosen = os.environ.get(OVERRIDE)
    return Path(chosen) if chosen else OWN_DATA


def _files_in(directory: Path) -> list[Path]:
    return sorted(path for path in directory.glob("*") if path.name.endswith(_SUFFIXES)) if directory.is_dir() else []


def _lines(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        # Not `splitlines`: JSON text may hold other line separators.
        yield from (line for line in lines if line.strip())


@cache
def load(family: str) -> tuple[Case, ...]:
    """Every case of a family in the chosen folder, in the order of the files."""
    root = folder()
    if not root.is_dir():
        raise pytest.UsageError(f"{OVERRIDE}={root}: there is no such folder")
    if not any(_files_in(root / each) for each in FAMILIES):
        raise pytest.UsageError(f"{OVERRIDE}={root}: no .jsonl file in its folders {', '.join(FAMILIES)}")
    return tuple(read(root, family))


def read(root: Path, family: str) -> list[Case]:
    """Every case of a family below `root`; where an id comes again, it gets a number."""
    found: list[Case] = []
    seen: dict[str, int] = {}
    for path in _files_in(root / family):
        stem = path.name.partition(".")[0]
        driver = f"tests.golden.drive_{stem if family == 'parts' else family}"
        for line in _lines(path):
            data = json.loads(line)
            name = str(data["id"])
            seen[name] = seen.get(name, 0) + 1
            unique = name if seen[name] == 1 else f"{name}#{seen[name]}"
            found.append(Case(unique, driver, data))
    return found
