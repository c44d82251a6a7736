"""What GitHub Actions is told: errors beside the lines of failing specs, a notice, a summary; nothing elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wowspec.reporting.github import MOST_ERRORS, Failed, command, error_lines, summary

from .sessions import SUITE, Session, run_session

#: A workflow command, as GitHub reads it.
_COMMAND = re.compile(r"(?m)^::(\w+) ([^:\n]*)::(.*)$")


@pytest.fixture
def github(monkeypatch, tmp_path):
    """The environment of a job; gives the file of its summary."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    return tmp_path / "summary.md"


@pytest.fixture
def run(github, tmp_path):
    """Runs the suite in a folder of the checkout."""
    folder = tmp_path / "project"
    folder.mkdir()

    def run(*arguments: str, **more: object) -> Session:
        return run_session(folder, *arguments, github_too=True, **more)

    return run


def commands(output):
    """The workflow commands that were printed: kind, properties, message."""
    return [
        (kind, dict(each.split("=", 1) for each in said.split(",")), message)
        for kind, said, message in _COMMAND.findall(output)
    ]


def line_of(text):
    """The number of a line of the suite."""
    return SUITE.splitlines().index(text) + 1


def test_failing_specs_are_annotated(run):
    """At the verb's line, seen from the checkout, with the whole text; tests that others failed are not."""
    found = commands(run("-k", "wrong_expectation or never_looked_at or plain_failure or set_up").output)

    assert [kind for kind, _, _ in found] == ["error", "error"]
    for name, (_, said, _) in zip(("test_a_wrong_expectation", "test_never_looked_at"), found, strict=True):
        line = line_of(f"def {name}():") + 1
        assert said == {"file": "project/test_it.py", "line": str(line), "title": f"wowspec%3A {name}"}
    assert found[0][2].startswith("1 event expected and stored: OrderPlaced missing, OrderPaid came instead%0A")
    assert "%0A  if it is right: .expect_events(OrderPaid())%0A" in found[0][2]


def test_the_summary_says_what_failed(run, github):
    """A row for each failing spec; what was there before stays."""
    github.write_text("### Before\n")
    run("-k", "wrong_expectation")
    text = github.read_text()
    line = line_of("def test_a_wrong_expectation():") + 1

    assert text.startswith("### Before\n### wowspec\n\n**1 failing test**\n")
    assert (
        f"| `test_it.py::test_a_wrong_expectation` | `test_it.py:{line}` "
        "| 1 event expected and stored: OrderPlaced missing, OrderPaid came instead |\n"
    ) in text


def test_a_sweep_is_told(run, github):
    """Findings fail their test; the summary has their replay lines and the matrix, a notice the coverage."""
    points = ["--wowspec-points=projection.write", "--wowspec-points=event_store.append"]
    error, notice = commands(run("-k", "test_order", "--wowspec-faults=sweep", *points).output)
    text = github.read_text()

    assert (error[0], error[1]["line"]) == ("error", str(line_of("def test_order():")))
    assert "%0A  replay pytest test_it.py::test_order --wowspec-plan '" in error[2]
    assert notice[:2] == ("notice", {"title": "wowspec%3A fault coverage"})
    assert re.fullmatch(r"\d+ %25 of the possible cells \(point and kind\), by \d+ plans over 1 spec", notice[2])
    assert re.search(r"\*\*\d+ findings?\*\*; \d+ more declared, healed or known\n", text)
    assert "````text\npytest test_it.py::test_order --wowspec-plan 'PlaceOrder>" in text
    assert re.search(r"(?m)^projection\.write  ", text)


def test_nothing_is_told_where_nothing_failed(run, github):
    """Nor where all that failed is not ours."""
    session = run("-k", "branches or plain")

    assert commands(session.output) == []
    assert not github.exists()


def test_nothing_is_told_elsewhere(monkeypatch, tmp_path):
    """Where GitHub Actions does not run the suite."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    session = run_session(tmp_path, "-k", "wrong_expectation", github_too=True)

    assert session.code == 1
    assert commands(session.output) == []


def test_it_can_be_switched_off(run, github):
    """By `wowspec_github = off`; what is neither is refused."""
    assert commands(run("-k", "wrong_expectation", "-o", "wowspec_github=off").output) == []
    assert not github.exists()
    assert run("-o", "wowspec_github=maybe").code == pytest.ExitCode.USAGE_ERROR


def test_others_annotate(run, github):
    """Where the plugin that annotates every failed test is there, ours are not annotated twice."""

    class Others:
        pass

    class Registers:
        def pytest_configure(self, config):
            config.pluginmanager.register(Others(), "pytest_github_actions_annotate_failures")

    assert commands(run("-k", "wrong_expectation", plugins=(Registers(),)).output) == []
    assert "**1 failing test**" in github.read_text()


def test_a_summary_that_cannot_be_written_is_said(run, monkeypatch, tmp_path):
    """The tests are what counts."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "nowhere" / "summary.md"))
    session = run("-k", "wrong_expectation")

    assert session.code == 1
    assert "wowspec: no job summary was written: " in session.output


def test_signs_are_escaped():
    """As GitHub's own toolkit does: in messages `%` and ends of lines, in properties `:` and `,` besides."""
    assert command("error", "100 % a,b:c\r\nd", file="a,b:c%.py", line=3) == (
        "::error file=a%2Cb%3Ac%25.py,line=3::100 %25 a,b:c%0D%0Ad"
    )


@pytest.mark.parametrize("count", [1, MOST_ERRORS, MOST_ERRORS + 1, 99])
def test_errors_are_as_many_as_github_shows(monkeypatch, tmp_path, count):
    """The last one says how many more there are; a long text is cut."""
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    failed = [Failed(f"a.py::test_{number}", "a.py", number, "x" * 9_999) for number in range(count)]
    lines = error_lines(failed, Path("/elsewhere"))

    assert len(lines) == min(count, MOST_ERRORS)
    assert lines[0].startswith("::error file=/elsewhere/a.py,line=0,title=wowspec%3A test_0::xxx")
    assert len(lines[0]) < 4_200
    assert ("90 more tests fail" in lines[-1]) is (count == 99)


def test_the_summary_is_markdown(tmp_path):
    """Signs of Markdown in texts are signs, and a long list is cut."""
    failed = [Failed(f"a.py::test_{number}[a|`b`]", "a.py", number, "<b> *x* | y\nmore") for number in range(30)]
    text = summary(failed, [])

    assert "| `a.py::test_0[a\\| b ]` | `a.py:0` | \\<b\\> \\*x\\* \\| y |\n" in text
    assert text.count("| `a.py::") == 20
    assert "… 10 more; the log has them" in text
