"""Collect the marked tests and golden hints of each clause; write `docs/fidelity.md`, and its numbers for reports."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.golden import cases

ROOT: Final = Path(__file__).parent.parent.parent
DATA: Final = Path(__file__).parent / "clauses.toml"
HEAD: Final = ROOT / "docs" / "fidelity.head.md"
LEDGER: Final = ROOT / "docs" / "fidelity.md"
#: What the HTML report says of it; it travels in the package.
NUMBERS: Final = ROOT / "wowspec" / "reporting" / "fidelity.json"
COMMAND: Final = "python -m tests.ledger --write"

_STATES: Final = ("pinned", "open", "left out")
_CLAUSE: Final = re.compile(r"^[A-Z]{3}-\d{3}$")


@dataclass(slots=True)
class Clause:
    """One clause: where it is pinned, or why it is left out."""

    id: str
    section: str
    left_out: str = ""
    tests: list[str] = field(default_factory=list)
    golden: Counter[str] = field(default_factory=Counter)

    @property
    def state(self) -> str:
        """`left out`, `pinned` or `open`."""
        if self.left_out:
            return "left out"
        return "pinned" if self.tests or self.golden else "open"


@dataclass(frozen=True, slots=True)
class MarkedTest:
    """One use of `@pytest.mark.clause`: the test, where it stands, and its clauses."""

    test: str
    place: str
    clauses: tuple[str, ...]


def expand(text: str) -> list[str]:
    """`CMD-001..CMD-003` as the ids it stands for."""
    first, _, last = text.partition("..")
    prefix, start = first.split("-")
    end = (last or first).split("-")[1]
    return [f"{prefix}-{number:03d}" for number in range(int(start), int(end) + 1)]


def read_clauses() -> dict[str, Clause]:
    """Every clause of the contract, none of them pinned yet."""
    data = tomllib.loads(DATA.read_text(encoding="utf-8"))
    clauses = {
        clause: Clause(clause, section["name"]) for section in data["section"] for clause in expand(section["clauses"])
    }
    for key, reason in data["left_out"].items():
        for clause in expand(key):
            clauses[clause].left_out = reason
    return clauses


def marked_tests(path: Path) -> Iterator[MarkedTest]:
    """The marks of one test module: on tests, on their parameters, on classes, on the module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    module = path.relative_to(ROOT).as_posix()
    whole = [
        mark
        for node in tree.body
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == "pytestmark" for target in node.targets)
        for mark in _marks(node.value)
    ]
    yield from _marked_in(tree.body, module, whole, module)


def _marked_in(body: list[ast.stmt], prefix: str, inherited: list[ast.Call], module: str) -> Iterator[MarkedTest]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            marks = [*inherited, *(mark for decorator in node.decorator_list for mark in _marks(decorator))]
            yield from _marked_in(node.body, f"{prefix}::{node.name}", marks, module)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            for mark in [*inherited, *(mark for decorator in node.decorator_list for mark in _marks(decorator))]:
                yield MarkedTest(f"{prefix}::{node.name}", f"{module}:{mark.lineno}", tuple(_ids(mark)))


def _marks(node: ast.expr) -> list[ast.Call]:
    return [
        call for call in ast.walk(node) if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("mark.clause")
    ]


def _ids(mark: ast.Call) -> Iterator[str]:
    for argument in mark.args:
        yield argument.value if isinstance(argument, ast.Constant) else ast.unparse(argument)


def test_modules() -> list[Path]:
    """Every module that may hold marked tests."""
    return sorted(path for folder in ("tests", "examples") for path in (ROOT / folder).rglob("test_*.py"))


def problems(clauses: dict[str, Clause]) -> list[str]:
    """Marks that name no clause, one that isn't in the contract, or one that is left out."""
    found = []
    for path in test_modules():
        for mark in marked_tests(path):
            if not mark.clauses:
                found.append(f"{mark.place}: a clause mark without a clause")
            for clause in mark.clauses:
                if not _CLAUSE.match(clause) or clause not in clauses:
                    found.append(f"{mark.place}: {clause} is no clause of the contract")
                elif clauses[clause].left_out:
                    found.append(f"{mark.place}: {clause} is left out ({clauses[clause].left_out})")
    return found


def collect() -> dict[str, Clause]:
    """Every clause with its marked tests and the golden cases that name it."""
    clauses = read_clauses()
    for path in test_modules():
        for mark in marked_tests(path):
            for clause in mark.clauses:
                if clause in clauses and mark.test not in clauses[clause].tests:
                    clauses[clause].tests.append(mark.test)
    for family in cases.FAMILIES:
        for case in cases.read(cases.OWN_DATA, family):
            for clause in {*case.data.get("clauses", ()), *case.data.get("rules", ())}:
                if clause in clauses and not clauses[clause].left_out:
                    clauses[clause].golden[case.driver.rpartition("drive_")[2]] += 1
    return clauses


def render(clauses: dict[str, Clause]) -> str:
    """The text of `docs/fidelity.md`."""
    lines = [
        HEAD.read_text(encoding="utf-8").rstrip(),
        "",
        "## Clause by clause",
        "",
        f"Written by `{COMMAND}`; don't edit below this line, nor the part above it, which is `docs/{HEAD.name}`.",
        "",
        "* *Pinned*: by tests that are marked with the clause, or by recorded cases whose notes name it (how many).",
        "* *Open*: in scope, and nothing names it yet.",
        "* *Left out*: by the project's rules, with the reason.",
        "",
        *_totals(clauses),
    ]
    sections: dict[str, list[Clause]] = defaultdict(list)
    for clause in clauses.values():
        sections[clause.section].append(clause)
    for name, members in sections.items():
        lines += ["", f"### {name}", "", "| clause | pinned by |", "|---|---|"]
        lines += [f"| {members_of_row} | {text} |" for members_of_row, text in _rows(members)]
    return "\n".join(lines) + "\n"


def numbers(clauses: dict[str, Clause]) -> str:
    """The text of `fidelity.json`: by section, what is left out, where specs differ from the runtime on purpose."""
    sections: dict[str, list[Clause]] = defaultdict(list)
    left_out: dict[str, list[str]] = defaultdict(list)
    for clause in clauses.values():
        sections[clause.section].append(clause)
        if clause.left_out:
            left_out[clause.left_out].append(clause.id)
    told = {
        "runtime": "Wow 8.10.10",
        "columns": ["area", "clauses", "all", *_STATES],
        "areas": [[name, _span(members), len(members), *_counts(members)] for name, members in sections.items()],
        "all": [len(clauses), *_counts(list(clauses.values()))],
        "left_out": [[_spans(members), reason] for reason, members in left_out.items()],
        "differences": [list(row) for row in differences()],
    }
    rows = [f" {json.dumps(key)}: {_lines(value)}" for key, value in told.items()]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _lines(value: object) -> str:
    """JSON; of a list of lists a line each, so that changes can be read."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        return "[\n" + ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in value) + "\n ]"
    return json.dumps(value, ensure_ascii=False)


def _counts(members: list[Clause]) -> list[int]:
    states = [clause.state for clause in members]
    return [states.count(state) for state in _STATES]


def _span(members: list[Clause]) -> str:
    first, last = members[0].id, members[-1].id
    return first if first == last else f"{first} … {last}"


def _spans(ids: list[str]) -> str:
    """Clauses as ranges of neighbours."""
    runs: list[list[str]] = []
    for clause in ids:
        prefix, number = clause.split("-")
        if runs and runs[-1][-1] == f"{prefix}-{int(number) - 1:03d}":
            runs[-1].append(clause)
        else:
            runs.append([clause])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]} … {run[-1]}" for run in runs)


def differences() -> list[tuple[str, str, str]]:
    """The rows of the page's table of differences: in a spec, in the runtime, why."""
    rows = [
        line.strip("| ").split(" | ") for line in HEAD.read_text(encoding="utf-8").splitlines() if line.startswith("|")
    ]
    return [(row[0], row[1], row[2]) for row in rows[2:]]


def _totals(clauses: dict[str, Clause]) -> list[str]:
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for clause in clauses.values():
        counted[clause.id.partition("-")[0]][clause.state] += 1
    lines = ["| clauses | all | pinned | open | left out |", "|---|---|---|---|---|"]
    for prefix, counts in counted.items():
        lines.append(f"| {prefix} | {counts.total()} | {' | '.join(str(counts[state]) for state in _STATES)} |")
    whole: Counter[str] = sum(counted.values(), Counter())
    lines.append(f"| **all** | {whole.total()} | {' | '.join(str(whole[state]) for state in _STATES)} |")
    return lines


def _rows(members: list[Clause]) -> Iterator[tuple[str, str]]:
    """One row a clause; neighbours that say the same share one."""
    start = 0
    for index, clause in enumerate(members):
        text = _text(clause)
        if index + 1 < len(members) and not clause.tests and not clause.golden and _text(members[index + 1]) == text:
            continue
        first = members[start].id
        yield (first if first == clause.id else f"{first} … {clause.id}"), text
        start = index + 1


def _text(clause: Clause) -> str:
    if clause.left_out:
        return f"*left out*: {clause.left_out}"
    parts = [f"`{test.removeprefix('tests/')}`" for test in clause.tests]
    parts += [f"golden {family} ({count})" for family, count in sorted(clause.golden.items())]
    return ", ".join(parts) or "*open*"
