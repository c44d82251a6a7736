"""The generated parts of docs/failure-orderings-reference.md, and what is common to pages with such tables.

`python -m tests.exploration.pages` writes them anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from wowspec.exploration.coverage import LETTERS
from wowspec.exploration.findings import RecoveryClass
from wowspec.exploration.recoveries import RECOVERIES
from wowspec.exploration.run_laws import RUN_LAWS
from wowspec.plugin import _OPTIONS
from wowspec.world.profiles import PROFILES

DOCS: Final = Path(__file__).parent.parent.parent / "docs"
PAGE: Final = DOCS / "failure-orderings.md"
REFERENCE: Final = DOCS / "failure-orderings-reference.md"

#: What each class of a run means.
CLASSES: Final[dict[RecoveryClass, str]] = {
    RecoveryClass.MASKED: "the fault changed nothing that anybody could see",
    RecoveryClass.RETRIED: "the runtime tried again, and it came to the same",
    RecoveryClass.REDELIVERED: "a process died, and what it had not acknowledged came again",
    RecoveryClass.COMPENSATED: "the runtime recorded the failed function, and ran it again later",
    RecoveryClass.FAILED: "something else is stored, or somebody was told of a failure, and no law broke",
    RecoveryClass.HEALED: "a law broke, and a recovery that the application has makes it hold: fails nothing",
    RecoveryClass.KNOWN: "a law broke, as it does for the witness: fails nothing but under `--wowspec-strict`",
    RecoveryClass.NEVER: "a law broke, and no recovery that the application has makes it hold: fails the test",
}


def row(cells: Iterable[str]) -> str:
    """One row of a table."""
    return f"| {' | '.join(cells)} |\n"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table."""
    names = list(head)
    return row(names) + "|" + "---|" * len(names) + "\n" + "".join(map(row, rows))


def laws() -> str:
    """One row a law."""
    return table(["law", "its name", "what it says"], ([law.title, f"`{law.name}`", law.doc] for law in RUN_LAWS))


def recoveries() -> str:
    """One row a recovery: what is done, and whose runtime does it by itself."""
    return table(
        ["`recovery=`", "what is done", "tried unasked under"],
        (
            [
                f"`{each.name}`",
                each.doc,
                ", ".join(f"`{profile.name}`" for profile in PROFILES if each.native(profile)) or "–",
            ]
            for each in RECOVERIES
        ),
    )


def classes() -> str:
    """One row a class, with its letter in the matrix; the mildest first."""
    return table(
        ["class", "in the matrix", "what it means"],
        ([name.value, f"`{letter}`", CLASSES[name]] for name, letter in reversed(LETTERS)),
    )


def options() -> str:
    """One row an option of the command line."""
    rows = []
    for flag, takes, text in _OPTIONS:
        choices = takes.get("choices")
        value = "|".join(choices) if choices else takes.get("metavar", "")
        rows.append([f"`{flag}{'=' + value if value else ''}`".replace("|", "\\|"), text])
    return table(["option", "what it does"], rows)


TABLES: Final[dict[str, Callable[[], str]]] = {
    "laws": laws,
    "recoveries": recoveries,
    "classes": classes,
    "options": options,
}


def with_tables(text: str, tables: Mapping[str, Callable[[], str]]) -> str:
    """A page's text with its tables made anew.

    Raises:
        ValueError: if the page has no place for one of them.
    """
    for name, make in tables.items():
        pattern = re.compile(rf"(<!-- table: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if pattern.search(text) is None:
            raise ValueError(f"no place for the table {name}: <!-- table: {name} --> … <!-- end -->")
        text = pattern.sub(lambda found, make=make: f"{found[1]}{make()}{found[2]}", text)
    return text


def write(page: Path, tables: Mapping[str, Callable[[], str]]) -> None:
    """Write a page anew."""
    _ = page.write_text(with_tables(page.read_text(encoding="utf-8"), tables), encoding="utf-8")


if __name__ == "__main__":
    write(REFERENCE, TABLES)
