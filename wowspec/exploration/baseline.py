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
#: Says under which profile the findings were found: another one's buses and stores fail in other ways.
_PROFILE: Final = "# Profile: "
_OWN: Final = "the specs' own profiles"


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


def told_of_profile(path: Path | None, profile: str | None) -> str:
    """What is to be told of a baseline that was written under another profile than this run's; else empty.

    Args:
        path: the baseline; None: there is none.
        profile: the one of the command line; None: each spec has its own.
    """
    if path is None or not path.is_file():
        return ""
    lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    written = next((line.removeprefix(_PROFILE) for line in lines if line.startswith(_PROFILE)), None)
    here = profile or _OWN
    if written is None or written == here:
        return ""
    return (
        f"the baseline {path.name} was written under {_under(written)}, and this run is under {_under(here)}: "
        "what it declares may not be found here, and what is found may not be declared"
    )


def _under(profile: str) -> str:
    return profile if profile == _OWN else f"the profile {profile}"


def write_baseline(path: Path | None, results: Iterable[ResultJson], profile: str | None = None) -> int:
    """Declare every finding that the runtime is not known for; gives how many there are.

    Args:
        path: the file; None: none is written.
        results: what was found.
        profile: the one of the command line; None: each spec has its own.
    """
    lines = []
    for result in results:
        for finding in result["findings"]:
            laws = [broken["law"] for broken in finding["broken"] if not broken["known"]]
            if laws:
                lines.append(f"{result['test']} | {finding['plan']} → {', '.join(laws)}")
    lines = list(dict.fromkeys(lines))
    if path is not None:
        path.write_text(
            f"{_HEAD}{_PROFILE}{profile or _OWN}\n" + "".join(f"{line}\n" for line in lines), encoding="utf-8"
        )
    return len(lines)
