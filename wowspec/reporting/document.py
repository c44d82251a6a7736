"""What a suite came to, as one plain JSON document, of which every report is made.

Version 1 of the schema; `docs/reports.md` describes it. Keys are only ever added. It holds no time of day, no duration
and no absolute path: the same suite gives the same document.
"""

from __future__ import annotations

from typing import Any, Final, NotRequired, TypedDict

from ..exploration.results import ResultJson
from ..specs.run_json import RunJson

SCHEMA_VERSION: Final = 1


class StepJson(TypedDict):
    """A step of a spec, or what is expected after one.

    Attributes:
        keyword: `given`, `when`, `then`; `with` for what arranges the world (services, profile, faults).
        verb: the verb of the language, such as `given` or `expect_events`.
        sentence: the step in words, for people who do not read Python.
        details: one line for each further item below the sentence, such as each expected event.
        code: as its author would write it.
        failed: whether it is what did not hold; left out where it is not.
    """

    keyword: str
    verb: str
    sentence: str
    details: list[str]
    code: str
    failed: NotRequired[bool]


class SpecJson(TypedDict):
    """One spec of a test: a way of steps from its first word to its last expectation.

    Attributes:
        subject: name of the aggregate root or processor that it is about.
        context: the bounded context of that; empty: none.
        scenario: a title in words: of the branches, or the test's docstring, or its name.
        steps: in their order, expectations among them.
        runs: one for each step that runs something; of commands in flight together one for each outcome.
        left_out: how many runs are not among `runs`: outcomes past the first 8, steps before the last 20.
    """

    subject: str
    context: str
    scenario: str
    steps: list[StepJson]
    runs: list[RunJson]
    left_out: int


class TestJson(TypedDict):
    """One test.

    Attributes:
        id: node id.
        file: seen from the root directory.
        line: of the test's function, from 1.
        title: first line of its docstring, or its name in words.
        outcome: `passed`, `failed`, `skipped`, `xfailed`, `xpassed`, `error`.
        failure: the failure's text; empty: none.
        place: `file:line` of the verb that failed; empty: none.
        specs: what it made; of a test under Hypothesis those of the example that failed, or else of the first one.
        left_out: how many specs are not among `specs`, which has the first 50.
    """

    id: str
    file: str
    line: int
    title: str
    outcome: str
    failure: str
    place: str
    specs: list[SpecJson]
    left_out: int


class DocumentJson(TypedDict):
    """The whole document.

    Attributes:
        schema: `SCHEMA_VERSION`.
        tool: `wowspec`.
        version: of wowspec.
        title: name of the project: of the root directory.
        tests: those that made specs, failed, or were explored, in the order of their ids.
        other_tests: how many more there are, which made no spec and did not fail.
        exploration: as `--wowspec-fault-json` has it; empty: nothing was explored. A spec with the same steps as
            another one (`same_as`) has no stories of its own.
        coverage: percent of the possible cells (point and kind) that were explored; None: nothing was.
        strength: as `--wowspec-strength-json` has it; None: it was not asked for.
        unreachable: as `--wowspec-unreachable-json` has it; None: it was not asked for.
    """

    schema: int
    tool: str
    version: str
    title: str
    tests: list[TestJson]
    other_tests: int
    exploration: list[ResultJson]
    coverage: float | None
    strength: dict[str, Any] | None
    unreachable: dict[str, Any] | None
