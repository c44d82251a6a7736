"""The baseline of a suite: findings that its authors know of, one a line: `test | plan → law, law`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from ..errors import SpecError
from .results import ResultJson
from .settings import Declared

_HEAD: Final = (
    "# Findings of wowspec that are known here: test | plan → law, law.\n"
    "# A line whose finding no longer appears fails its test.\n"
)


def read_baseline(path: Path | None) -> dict[str, tuple[Declared, ...]]:
    """The declared findings, by test; nothing where no file is named.

    Raises:
        SpecError: if the file is missing, or a line cannot be read.
    """
    if path is None:
        return {}
    if not path.is_file():
        raise SpecError(
            f"there is no baseline {path}",
            why="it holds the findings that are known",
            instead=f"--wowspec-write-baseline={path.name} once",
        )
    found: dict[str, tuple[Declared, ...]] = {}
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise SpecError(
            f"the baseline {path} cannot be read: {error}",
            why="it is text in UTF-8, as --wowspec-write-baseline writes it",
            instead="the same lines in UTF-8",
        ) from None
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        test, bar, said = text.rpartition(" | ")
        if not bar:
            raise SpecError(
                f"line {number} of {path.name} says no test: {text}",
                why="a finding is one of a test",
                instead=f"tests/test_order.py::test_name | {text}",
            )
        found[test] = (*found.get(test, ()), *Declared.parse(said))
    return found


def write_baseline(path: Path | None, results: Iterable[ResultJson]) -> int:
    """Declare every finding that the runtime is not known for; gives how many there are."""
    lines = []
    for result in results:
        for finding in result["findings"]:
            laws = [broken["law"] for broken in finding["broken"] if not broken["known"]]
            if laws:
                lines.append(f"{result['test']} | {finding['plan']} → {', '.join(laws)}")
    lines = list(dict.fromkeys(lines))
    if path is not None:
        path.write_text(_HEAD + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return len(lines)
