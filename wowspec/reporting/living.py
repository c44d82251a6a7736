"""Living documentation: the specs of a suite as Markdown scenarios, a page for each aggregate and processor.

For people who do not read Python. The same document gives the same pages, byte by byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

from ..errors import SpecError
from ..faults.plans import Plan
from .document import DocumentJson, SpecJson, StepJson, TestJson
from .markdown import code, literal, slug, table
from .outlines import Column, Line, outline, shape_of
from .points_in_words import planned_fault_in_words
from .wording import joined, plural, title

#: The first line of each page; a page without it is somebody's own, and is never touched.
MARKER: Final = "<!-- Written by wowspec from the specs of this project. Changes here are lost. -->"
INDEX: Final = "index.md"

#: Steps that say how a test is made, nothing of what the system does.
_LEFT_OUT: Final = frozenset({"inject", "inject_factory", "with_filter", "without_law"})
_KEYWORDS: Final = {"given": "Given", "when": "When", "then": "Then", "with": "With"}
_OF_VERBS: Final = {"with_faults": "While", "advance": "After that"}
_SECTIONS: Final = ("What happens", "What is refused", "When something goes wrong on the way")
_FAILED: Final = frozenset({"failed", "error"})
#: The plan of a finding, in the text of a failure.
_PLAN: Final = re.compile(r"^  plan +(\S.*)$", re.MULTILINE)
#: A condition that is told as code; within quotation marks it is somebody's text.
_CODE_SPAN: Final = re.compile(r"“[^”]*”|`([^`\0]+)`")


@dataclass(frozen=True, slots=True)
class _Scenario:
    """One spec, with the test that it belongs to.

    Attributes:
        holds: whether its test passed.
        reason: why it does not hold; empty: it does, or another spec of its test is the one.
    """

    test: TestJson
    spec: SpecJson
    steps: tuple[StepJson, ...]
    holds: bool
    reason: str


def write_docs(document: DocumentJson, directory: Path) -> None:
    """Write the pages and an index; pages of an earlier time that nothing belongs to any more are removed.

    Args:
        document: what the suite came to.
        directory: made if it is not there.

    Raises:
        FileExistsError: if somebody's own page stands where one would be written; then nothing is written.
    """
    written = pages(document)
    for name in written:
        path = directory / name
        if path.exists() and not _is_own(path):
            raise FileExistsError(
                f"{path} was not written by wowspec\n  why: somebody's own page would be lost\n"
                "  instead: a folder for the scenarios alone"
            )
    directory.mkdir(parents=True, exist_ok=True)
    for path in sorted(directory.glob("*.md")):
        if path.name not in written and _is_own(path):
            path.unlink()
    for name, text in written.items():
        path = directory / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8", newline="\n")


def _is_own(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.readline().rstrip() == MARKER


def pages(document: DocumentJson) -> dict[str, str]:
    """Each page's name and text, the index among them."""
    scenarios = [each for test in _in_order(document["tests"]) for each in _scenarios(test)]
    taken: set[str] = set()
    found: dict[str, str] = {}
    entries: list[tuple[str, str, str, list[_Scenario]]] = []
    by_subject = sorted(scenarios, key=_subject)
    for (context, subject), group in groupby(by_subject, key=_subject):
        mine = _in_given_order(group, scenarios)
        name = f"{slug(f'{context} {title(subject)}' if subject else 'other', taken)}.md"
        found[name] = _text(_page(context, subject, mine))
        entries.append((context, subject, name, mine))
    silent = [test for test in _in_order(document["tests"]) if not test["specs"] and test["outcome"] in _FAILED]
    found[INDEX] = _text(_index(document, entries, silent))
    return found


def _in_order(tests: Iterable[TestJson]) -> list[TestJson]:
    """As their authors wrote them; parameters by their numbers, since nobody knows their order any more."""
    return sorted(tests, key=lambda test: (test["file"], test["line"], _natural(test["id"])))


def _natural(text: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", text)]


def _in_given_order(group: Iterable[_Scenario], scenarios: Sequence[_Scenario]) -> list[_Scenario]:
    places = {id(each): place for place, each in enumerate(scenarios)}
    return sorted(group, key=lambda each: places[id(each)])


def _subject(scenario: _Scenario) -> tuple[str, str]:
    return scenario.spec["context"], scenario.spec["subject"]


def _text(lines: Iterable[str]) -> str:
    return "\n".join([MARKER, "", *lines]).rstrip() + "\n"


# --- scenarios --------------------------------------------------------------------------------------------------------


def _scenarios(test: TestJson) -> Iterator[_Scenario]:
    """The specs of a test; of a failed one, that which failed says why."""
    specs = test["specs"]
    guilty = [spec for spec in specs if any(step.get("failed") for step in spec["steps"])] or specs[-1:]
    for spec in specs:
        failed = test["outcome"] in _FAILED and any(spec is each for each in guilty)
        reason = _reason(test["failure"].strip().removeprefix(f"{test['place']}: ")) if failed else ""
        steps = tuple(step for step in spec["steps"] if step["verb"] not in _LEFT_OUT)
        yield _Scenario(test, spec, steps, not failed, reason)


def _reason(failure: str) -> str:
    """Why a test failed, in a line; of a finding what has to go wrong for it."""
    first = failure.strip().partition("\n")[0]
    plan = _PLAN.search(failure) if first.startswith("wowspec: ") else None
    if plan is not None:
        with suppress(SpecError):
            return f"where {joined(map(planned_fault_in_words, Plan.parse(plan[1])))}"
    return first or "it could not be run"


def _section(scenario: _Scenario) -> str:
    steps = scenario.steps
    if any(step["verb"] == "with_faults" for step in steps):
        return _SECTIONS[2]
    last = max((place for place, step in enumerate(steps) if step["keyword"] == "when"), default=0)
    return _SECTIONS[1 if any(step["verb"] == "expect_error" for step in steps[last:]) else 0]


def _function(test: TestJson) -> str:
    """The name of a test's function."""
    return test["id"].partition("[")[0].rpartition("::")[2]


def _key(scenario: _Scenario) -> tuple[str, str]:
    """What examples of one scenario share: their test's function, and the branch."""
    return scenario.test["id"].partition("[")[0], _branch(scenario)


def _branch(scenario: _Scenario) -> str:
    own, whole = scenario.test["title"], scenario.spec["scenario"]
    return whole.removeprefix(own).removeprefix(": ") if whole.startswith(own) else whole


def _heading(scenario: _Scenario) -> str:
    name = title(_function(scenario.test).removeprefix("test_"))
    branch = _branch(scenario)
    return f"{name}: {branch}" if branch else name


def _remark(scenario: _Scenario) -> str:
    """The first line of the test's docstring; empty: it has none."""
    said = scenario.test["title"]
    return "" if said.partition(" [")[0] == title(_function(scenario.test).removeprefix("test_")) else said


# --- pages ------------------------------------------------------------------------------------------------------------


def _page(context: str, subject: str, scenarios: Sequence[_Scenario]) -> Iterator[str]:
    yield f"# {literal(title(subject) if subject else 'Other scenarios')}"
    yield ""
    yield f"{_of_context(context)}{_counted(scenarios)}"
    anchors: set[str] = set()
    for section in _SECTIONS:
        mine = [each for each in scenarios if _section(each) == section]
        if not mine:
            continue
        yield ""
        yield f"## {section}"
        for key, group in _grouped(mine):
            yield ""
            yield from _block(key, group, anchors)


def _of_context(context: str) -> str:
    return f"Part of *{literal(title(context))}*. " if context else ""


def _counted(scenarios: Sequence[_Scenario]) -> str:
    broken = sum(1 for each in scenarios if not each.holds)
    count = plural(len(scenarios), "scenario")
    if not broken:
        return f"{count}; {'it holds' if len(scenarios) == 1 else 'all of them hold'}."
    return f"{count}; **{broken} of them {'does' if broken == 1 else 'do'} not hold.**"


def _grouped(scenarios: Iterable[_Scenario]) -> list[tuple[tuple[str, str], list[_Scenario]]]:
    """Examples of one scenario together, where the first of them stands."""
    groups: dict[tuple[str, str], list[_Scenario]] = {}
    for each in scenarios:
        groups.setdefault(_key(each), []).append(each)
    return list(groups.items())


def _block(key: tuple[str, str], group: Sequence[_Scenario], anchors: set[str]) -> Iterator[str]:
    first = group[0]
    yield f'<a id="{slug(" ".join((_function(first.test).removeprefix("test_"), key[1])), anchors)}"></a>'
    yield ""
    yield f"### {literal(_heading(first))}{'' if all(each.holds for each in group) else ' ✗'}"
    remark = _remark(first)
    if remark:
        yield ""
        yield f"{_prose(remark)}{'' if remark[-1] in '.!?' else '.'}"
    shapes: dict[object, list[_Scenario]] = {}
    for each in group:
        shapes.setdefault(shape_of(each.steps), []).append(each)
    parts = [part for alike in shapes.values() for part in _parts(alike)]
    for number, part in enumerate(parts, 1):
        yield ""
        if len(parts) > 1:
            yield f"Case {number}:"
            yield ""
        yield from part
    yield ""
    yield f"<sub>{code(key[0])}</sub>"


def _prose(text: str) -> str:
    """What an author wrote for readers: code between backticks is code."""
    parts = text.split("`")
    if len(parts) % 2 == 0 or "``" in text:
        return literal(text)
    return "".join(code(part) if place % 2 else literal(part) for place, part in enumerate(parts) if part)


def _parts(alike: Sequence[_Scenario]) -> Iterator[list[str]]:
    """An outline of scenarios of one shape, or each by itself."""
    found = outline([each.steps for each in alike]) if len(alike) > 1 else None
    if found is None:
        for each in alike:
            own = [Line(step, [step["sentence"]], [[text] for text in step["details"]]) for step in each.steps]
            yield [*_steps(own), *_reasons([each])]
        return
    lines = list(_steps(found.lines))
    if found.columns:
        broken = any(not each.holds for each in alike)
        head = [literal(column.name) for column in found.columns] + ([" "] if broken else [])
        rows = [
            [literal(column.values[place]) or " " for column in found.columns]
            + ([("holds" if each.holds else "**does not hold**")] if broken else [])
            for place, each in enumerate(alike)
        ]
        lines += ["", *table(head, list(map(list, dict.fromkeys(map(tuple, rows)))))]
    yield [*lines, *_reasons(alike)]


def _reasons(scenarios: Iterable[_Scenario]) -> Iterator[str]:
    for each in scenarios:
        if each.reason:
            where = f" ({literal(each.test['place'])})" if each.test["place"] else ""
            yield ""
            yield f"> **This does not hold**{where}: {literal(each.reason)}"
        elif each.test["outcome"] == "xfailed":
            yield ""
            yield "> It is known that this does not hold."


def _steps(lines: Sequence[Line]) -> Iterator[str]:
    before = ""
    for line in lines:
        step = line.step
        keyword = _OF_VERBS.get(step["verb"]) or _KEYWORDS.get(step["keyword"], title(step["keyword"]))
        shown = "And" if keyword == before else keyword
        before = keyword
        mark = " **← this does not hold**" if step.get("failed") else ""
        yield f"- **{shown}** {_written(line.sentence)}{mark}"
        for detail in line.details:
            yield f"    - {_written(detail)}"
    if not any(line.step["keyword"] == "then" for line in lines):
        yield "- *What then holds is said in the test's own code.*"


def _written(pieces: Iterable[str | Column]) -> str:
    """Pieces of a line; what begins one is no markup."""
    text = "".join("\0" if isinstance(piece, Column) else piece for piece in pieces)
    columns = iter([piece for piece in pieces if isinstance(piece, Column)])
    spans = [found[1] for found in _CODE_SPAN.finditer(text) if found[1]]
    shown = literal(_CODE_SPAN.sub(lambda found: "\1" if found[1] else found[0], text))
    for span in spans:
        shown = shown.replace("\1", code(span), 1)
    parts = shown.split("\0")
    return parts[0] + "".join(f"*‹{literal(next(columns).name)}›*{part}" for part in parts[1:])


# --- the index --------------------------------------------------------------------------------------------------------


def _index(
    document: DocumentJson, entries: Sequence[tuple[str, str, str, list[_Scenario]]], silent: Sequence[TestJson]
) -> Iterator[str]:
    yield f"# {literal(document['title'])}: scenarios"
    yield ""
    yield from _HOW_TO_READ
    everything = [each for *_, mine in entries for each in mine]
    yield ""
    yield _counted(everything) if everything else "There is no scenario yet."
    for context, group in groupby(entries, key=lambda entry: entry[0]):
        yield ""
        yield f"## {literal(title(context)) if context else 'Elsewhere'}"
        yield ""
        rows = []
        for _, subject, name, mine in group:
            broken = sum(1 for each in mine if not each.holds)
            link = f"[{literal(title(subject) if subject else 'Other scenarios')}]({name})"
            rows.append([link, str(len(mine)), f"**{broken} not**" if broken else "all"])
        yield from table(["about", "scenarios", "hold"], rows)
    if silent:
        yield ""
        yield "## Tests that failed before there was a scenario"
        yield ""
        for test in silent:
            yield f"- {literal(test['title'])} <sub>{code(test['id'])}</sub>"


_HOW_TO_READ: Final = (
    "Each scenario was run against the system itself: what stands here is what it does.",
    "",
    "- **Given** says what happened before, **With** who takes part, **When** what somebody asks for or what happens,",
    "  **Then** what comes of it, **While** what goes wrong on the way.",
    "- *This happens* names everything that happens; *what happens includes* names a part of it.",
    "- Of a thing with many properties those are named that matter to the scenario.",
)
