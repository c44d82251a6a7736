"""The workflows that the pages show are YAML of their kind, and call what there is."""

from __future__ import annotations

import re
import shlex
from typing import Any, Final

import pytest

from tests.test_docs import BLOCKS
from wowspec.plugin import _ALL_OPTIONS, REPORT_KINDS

yaml = pytest.importorskip("yaml", reason="PyYAML reads the workflows; the extra `test` brings it")

WORKFLOWS: Final = [block for block in BLOCKS if block.mark == "workflow"]
#: Options of pytest itself, and of pytest-xdist.
_OF_OTHERS: Final = {"-n", "--junitxml"}
_ACTION: Final = re.compile(r"[\w-]+/[\w-]+(/[\w-]+)?@v\d+")
_EXPRESSION: Final = re.compile(r"\$\{\{.*?\}\}")


def jobs():
    """Each job, of whole workflows and of parts of one."""
    for block in WORKFLOWS:
        read: dict[Any, Any] = yaml.safe_load(block.body)
        yield from read["jobs"].values() if "jobs" in read else [read]


def commands():
    """Each line that calls pytest, with `1` in place of what GitHub fills in."""
    for job in jobs():
        for step in job["steps"]:
            if str(step.get("run", "")).startswith("pytest"):
                yield shlex.split(_EXPRESSION.sub("1", step["run"]))


def test_there_is_a_whole_one():
    """One page shows a workflow from its name to its last step."""
    (whole,) = [yaml.safe_load(block.body) for block in WORKFLOWS if block.said == "whole"]

    # YAML 1.1 reads `on` as a truth value.
    assert set(whole[True]) == {"push", "pull_request", "schedule"}
    assert whole["jobs"]["tests"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]
    assert whole["permissions"] == {"contents": "read"}


def test_each_step_does_one_thing():
    """A step uses an action of a named version, or runs a command."""
    for job in jobs():
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step), step
            assert _ACTION.fullmatch(step.get("uses", "actions/checkout@v7")), step


def test_options_exist():
    """Each option of a command is one of the kit's, or of pytest's."""
    known = {flag for flag, _, _ in _ALL_OPTIONS} | _OF_OTHERS
    used = [word.partition("=")[0] for command in commands() for word in command if word.startswith("-")]

    assert len(used) > 8
    assert [option for option in used if option not in known] == []


def test_values_are_legal():
    """Kinds of reports exist, and parts are parts."""
    given = [word.partition("=") for command in commands() for word in command]
    reports = [value.partition(":")[0] for option, _, value in given if option == "--wowspec-report"]
    parts = [value for option, _, value in given if option == "--wowspec-shard"]

    assert reports
    assert set(reports) <= {kind for kind, _, _ in REPORT_KINDS}
    assert set(parts) == {"1/4"}


def test_hidden_files_are_uploaded():
    """A folder whose name begins with a dot is uploaded only if that is said."""
    uploads = [step["with"] for job in jobs() for step in job["steps"] if "upload-artifact" in step.get("uses", "")]
    hidden = [each for each in uploads if each["path"].startswith(".")]

    assert hidden
    assert all(each["include-hidden-files"] for each in hidden)


def test_what_is_saved_is_restored():
    """The cache of examples is read and written at the same path under the same key."""
    caches = [step for job in jobs() for step in job["steps"] if "actions/cache/" in step.get("uses", "")]

    assert len({(each["with"]["path"], each["with"]["key"]) for each in caches}) == 1
    assert all(each["with"]["key"].startswith("hypothesis-") for each in caches)
