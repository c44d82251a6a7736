"""Runs the mistakes of the gallery, and makes `docs/failures.md` of them and of what pytest says."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.plugin.test_entry import INSTALLED

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parent.parent
PAGE: Final = ROOT / "docs" / "failures.md"
MISTAKES: Final = HERE / "mistakes"

#: The mistakes in the order of the page.
SECTIONS: Final[Mapping[str, Sequence[str]]] = {
    "Events": (
        "wrong_field",
        "missing_event",
        "wrong_order",
        "given_event_expected",
        "class_among_events",
        "event_stored_elsewhere",
        "id_made_by_the_handler",
        "plain_assert",
        "wrong_header",
        "wrong_points",
    ),
    "What is given": (
        "nothing_given",
        "wrong_id",
        "paid_on_another_id",
        "event_of_another_aggregate",
        "given_command_failed",
        "wrong_expected_version",
        "command_without_id",
        "class_sent",
        "created_twice",
        "time_without_a_zone",
    ),
    "State": (
        "wrong_state",
        "misspelt_field",
        "state_of_another_aggregate",
        "forgotten_sourcing",
        "mutated_state",
        "misspelt_in_sourcing",
        "impure_sourcing",
        "state_not_json",
    ),
    "Command functions": (
        "forgotten_aggregate_root",
        "forgotten_return",
        "class_returned",
        "forgotten_await",
        "check_not_awaited",
        "handler_bug",
        "service_missing",
        "real_io",
    ),
    "Errors": (
        "error_nobody_expected",
        "error_that_never_came",
        "error_does_not_come",
        "error_of_another_class",
        "error_of_another_text",
        "error_of_another_code",
        "swallowed_error",
    ),
    "Specs that prove nothing": (
        "forgotten_when",
        "given_after_when",
        "forgotten_expectation",
        "spec_within_raises",
        "fault_never_struck",
    ),
    "Waiting": (
        "wait_for_nobody",
        "unreachable_stage",
        "deadline",
    ),
    "Sagas and projections": (
        "saga_sends_another_command",
        "sagas_command_fails",
        "class_of_a_command",
        "saga_not_in_the_world",
        "saga_without_return",
        "row_missing",
        "no_row_yet",
        "row_differs",
        "projection_not_idempotent",
    ),
    "Faults and orders": (
        "fault_published_expected",
        "lost_update",
        "plan_not_reached",
        "falsifying_example",
        "two_commands_of_a_saga",
        "uuid_found_by_a_sweep",
    ),
    "Misspelt": (
        "misspelt_verb",
        "misspelt_point",
        "misspelt_law",
        "misspelt_plan",
        "misspelt_option",
    ),
}

_OPTIONS: Final = re.compile(r"(?m)^# pytest (.*)\n\n")
_TITLE: Final = re.compile(r"(?m)^_{3,} (?:ERROR collecting )?([\w.]+) _{3,}\n")
_END: Final = re.compile(r"(?m)^=+ (?:wowspec: |warnings summary|short test summary).*\n(?:.|\n)*")
_FIRST: Final = re.compile(r"(?m)^(?:E +|ERROR: )(?:[\w.]+(?:Error|Failure): )?(.+)$")
_MOST_OF_LINE: Final = 90
#: What another machine, or another run, shows in another way.
_VARYING: Final = (
    (re.compile(r"\b0x[0-9a-f]{6,}"), "0x…"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b"), "<uuid>"),
)


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake: a module with one test, which fails."""

    name: str

    @property
    def source(self) -> str:
        """The module."""
        return (MISTAKES / f"{self.name}.py").read_text(encoding="utf-8")

    @property
    def title(self) -> str:
        """What the mistake is."""
        return (ast.get_docstring(ast.parse(self.source)) or "").removesuffix(".")

    @property
    def options(self) -> tuple[str, ...]:
        """What pytest is run with."""
        found = _OPTIONS.search(self.source)
        return tuple(found[1].split()) if found is not None else ()

    @property
    def code(self) -> str:
        """The module without its title."""
        return _OPTIONS.sub("", self.source.partition("\n\n")[2]).strip("\n") + "\n"


def mistakes() -> list[Mistake]:
    """All of them, in the order of the page."""
    return [Mistake(name) for names in SECTIONS.values() for name in names]


def run_pytest(folder: Path, *arguments: str, ci: bool = False) -> str:
    """What pytest prints in a folder, alone with the kit."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    # A terminal's width decides where headlines and short texts end.
    environment |= {"PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    environment.pop("CI", None)
    if ci:
        environment["CI"] = "1"
    plugin = [] if INSTALLED else ["-p", "wowspec.plugin"]
    others = [f"-pno:{name}" for name in ("asyncio", "anyio", "xdist", "randomly", "cacheprovider")]
    command = [sys.executable, "-m", "pytest", "-q", "--continue-on-collection-errors", *plugin, *others, *arguments]
    finished = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return finished.stdout + finished.stderr


def texts(*, ci: bool = False) -> dict[str, str]:
    """What pytest says of each mistake."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for mistake in mistakes():
        groups.setdefault(mistake.options, []).append(mistake.name)
    found: dict[str, str] = {}
    for options, names in groups.items():
        with TemporaryDirectory() as made:
            folder = Path(made)
            (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
            shutil.copy(HERE / "shop.py", folder)
            for name in names:
                # The code as the page shows it: a line number in a text is one of the page's code.
                (folder / f"test_{name}.py").write_text(Mistake(name).code, encoding="utf-8")
            found |= _told(run_pytest(folder, *options, ci=ci), names)
    return found


def _told(output: str, names: Sequence[str]) -> dict[str, str]:
    parts = _TITLE.split(_END.sub("", output))
    if len(parts) == 1:
        (name,) = names
        kept = [line for line in output.splitlines() if not line.startswith(("  inifile", "  rootdir"))]
        return {name: steady("\n".join(kept))}
    bodies = list(zip(parts[1::2], parts[2::2], strict=True))
    # What cannot be collected comes first; the rest as it was collected, by the names of the files.
    early = [title.removeprefix("test_").removesuffix(".py") for title, _ in bodies if title.endswith(".py")]
    order = early + [name for name in sorted(names) if name not in early]
    return {name: steady(body) for name, (_, body) in zip(order, bodies, strict=True)}


def steady(text: str) -> str:
    """What pytest says of one test, without what differs from run to run."""
    shown = "\n".join(line.rstrip() for line in re.sub(r"(?m)^=+ FAILURES =+\n", "", text).strip("\n").splitlines())
    for pattern, instead in _VARYING:
        shown = pattern.sub(instead, shown)
    return shown + "\n"


def page(told: Mapping[str, str]) -> str:
    """`docs/failures.md`."""
    lines = [_HEAD.format(number=len(mistakes())), "## By mistake\n"]
    for section, names in SECTIONS.items():
        lines.append(f"- [{section}](#{section.lower().replace(' ', '-')})")
        lines += [f"  - {_link(name)}" for name in names]
    lines += ["\n## By the first line of the text\n", "| it says | mistake |", "|---|---|"]
    lines += sorted(f"| {_literal(first_line(told[mistake.name]))} | {_link(mistake.name)} |" for mistake in mistakes())
    for section, names in SECTIONS.items():
        lines.append(f"\n## {section}")
        for name in names:
            mistake = Mistake(name)
            run = f"\n`pytest {' '.join(mistake.options)}` says:\n" if mistake.options else ""
            lines.append(f"\n### {mistake.title}\n\n```py\n{mistake.code}```\n{run}\n```text\n{told[name]}```".rstrip())
    lines.append(f"\n## The shop\n\nWhat the specs above import:\n\n```py\n{_shop()}```")
    return "\n".join(lines) + "\n"


def first_line(text: str) -> str:
    """What a text says first, without the class of its error; cut where it is long."""
    found = _FIRST.search(text)
    said = found[1] if found is not None else text.partition("\n")[0]
    return said if len(said) <= _MOST_OF_LINE else f"{said[: _MOST_OF_LINE - 1].rstrip()}…"


def _literal(text: str) -> str:
    return "`` " + text.replace("|", "\\|") + " ``" if "`" in text else "`" + text.replace("|", "\\|") + "`"


def _link(name: str) -> str:
    title = Mistake(name).title
    anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    return f"[{title[0].lower()}{title[1:]}](#{anchor})"


def _shop() -> str:
    return (HERE / "shop.py").read_text(encoding="utf-8").partition("\n\n")[2]


_HEAD: Final = """\
# What you see when a spec fails

{number} mistakes, each with the code and with the text that pytest prints for it, as it stands. This page is made by
`python -m tests.failures --write`, and a test compares it with what is printed.

* The first line says what is wrong; below it stands what was expected beside what there is: `-` is expected and not
  there, `+` is there and not expected, and `events[0].lines[0].quantity: 3 ≠ 4` has what is expected on its left.
* `why`, `instead`, `hint`: what it means, and what to write. `made by` names the function to look at; `if it is right`
  is the expectation as it would hold, for when the spec is wrong and not the system.
* The pipeline has a line for each point that was passed: virtual time, lane (the aggregate, or the function
  downstream), point, what passed it; `✗` marks what was struck or failed. With `-vv` a section *wowspec story* below
  the failure (`-q -vv` is no `-vv`) tells each run of the test whole: steps, retries, faults, where it first departed
  from the run without faults, and what each ledger then held.
* pytest marks the line of the verb that failed. No frame of the kit is shown (`--full-trace` shows all), and the text
  is the same on a terminal, through xdist, and on CI.
* A comparison has `expected` and `actual` as attributes of its error: two texts, alike in all but what is not as
  expected. PyCharm (and TeamCity) show them in their diff viewer, under `pytest -n` too; VS Code has none for Python,
  and shows the text.
"""
