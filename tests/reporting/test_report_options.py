"""`--wowspec-report`: what is refused before anything runs, what is written where, in one process or in several."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.plugin.test_entry import run_pytest
from wowspec.plugin import REPORT_KINDS
from wowspec.reporting import plugin

from .sessions import SUITE, run_session


def test_kinds_are_those_that_are_written():
    """The table of the options is that of the writers."""
    assert [kind for kind, _, _ in REPORT_KINDS] == list(plugin.WRITERS)


@pytest.mark.parametrize(
    ("said", "what", "instead"),
    [
        ("htlm:r.html", "there is no report of the kind 'htlm'", "--wowspec-report=html:r.html"),
        ("r.html", "there is no report of the kind 'r.html'", "--wowspec-report=html:report.html"),
        ("", "there is no report of the kind ''", "--wowspec-report=html:report.html"),
        ("json", "says no path", "--wowspec-report=json:report.json"),
        ("mermaid:", "says no path", "--wowspec-report=mermaid:reports/mermaid"),
        ("json:nowhere/r.json", "there is no folder", "a folder that is there"),
        ("json:here", "here is a folder", "--wowspec-report=json:here/report.json"),
        ("docs:test_it.py", "test_it.py is a file", "--wowspec-report=docs:test_it.py.d"),
        ("JSON:r.json", "there is no report of the kind 'JSON'", "--wowspec-report=json:r.json"),
        ("json:test_it.py", "test_it.py is there, and is no json report", "another path"),
        ("html:test_it.py", "test_it.py is there, and is no html report", "another path"),
        ("docs:own", "own/index.md was not written by wowspec", "a folder for the report alone"),
        ("mermaid:own", "own/index.md was not written by wowspec", "a folder for the report alone"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path, capsys, said, what, instead):
    """Kind, path and folder are looked at before anything runs."""
    (tmp_path / "here").mkdir()
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "index.md").write_text("# My own\n", encoding="utf-8")
    session = run_session(tmp_path, f"--wowspec-report={said}")
    text = capsys.readouterr().err

    assert session.code == pytest.ExitCode.USAGE_ERROR
    assert f"--wowspec-report={said}" in text
    assert what in text
    assert "\n  why: " in text
    assert f"\n  instead: {instead}" in text


def test_two_reports_need_two_paths(tmp_path, capsys):
    """The second one would be written over the first."""
    session = run_session(tmp_path, "--wowspec-report=json:r", "--wowspec-report=html:r")

    assert session.code == pytest.ExitCode.USAGE_ERROR
    assert "the json report goes there, too" in capsys.readouterr().err


def test_two_names_of_a_folder_are_one(tmp_path, capsys):
    """A link leads to the same place."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    session = run_session(tmp_path, "--wowspec-report=docs:folder", "--wowspec-report=mermaid:link")

    assert session.code == pytest.ExitCode.USAGE_ERROR
    assert "the docs report goes there, too" in capsys.readouterr().err


def test_what_the_system_refuses_is_no_mistake_of_ours(tmp_path, capsys, monkeypatch):
    """Names that are too long; folders that cannot be written to."""
    session = run_session(tmp_path, f"--wowspec-report=json:{'x' * 300}")
    assert session.code == pytest.ExitCode.USAGE_ERROR
    assert "ERROR: --wowspec-report: [Errno " in capsys.readouterr().err

    monkeypatch.setattr(plugin.os, "access", lambda path, mode: False)
    session = run_session(tmp_path, "--wowspec-report=json:r.json")
    assert session.code == pytest.ExitCode.USAGE_ERROR
    assert f"{tmp_path} cannot be written to" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["docs", "mermaid"])
@pytest.mark.parametrize(
    ("options", "why"),
    [(["-x"], "the session ended before all tests were run"), (["-k", "nothing_is_called_so"], "no test was run")],
)
def test_a_folder_keeps_what_a_session_did_not_come_to(tmp_path, kind, options, why):
    """Files of tests that did not run are not stale."""
    suite = SUITE[: SUITE.index("def test_a_lost_reply")]
    run_session(tmp_path, f"--wowspec-report={kind}:folder", suite=suite)
    before = {path.name: path.read_bytes() for path in (tmp_path / "folder").iterdir()}
    session = run_session(
        tmp_path, f"--wowspec-report={kind}:folder", *options, suite=f"{suite}\n\ndef test_last(): pass"
    )

    assert before == {path.name: path.read_bytes() for path in (tmp_path / "folder").iterdir()}
    assert f"wowspec: {kind} report not written: {why}; folder stays as it is" in session.output


def test_reports_are_written_and_said(tmp_path, monkeypatch):
    """Each to its path, seen from where pytest was called; the summary says where."""
    written = []
    kinds = {kind: lambda document, path, kind=kind: written.append((kind, path)) for kind in plugin.WRITERS}
    monkeypatch.setattr(plugin, "WRITERS", kinds)
    session = run_session(tmp_path, "-k", "order", "--wowspec-report=html:r.html", "--wowspec-report=docs:words")

    assert written == [("html", tmp_path / "r.html"), ("docs", tmp_path / "words")]
    assert "wowspec: html report: r.html" in session.output
    assert "wowspec: docs report: words" in session.output


def test_a_report_that_fails_fails_the_session(tmp_path, monkeypatch):
    """Where it cannot be written after all, nobody is told that it was."""

    def refuse(document, path):
        raise OSError("no space left")

    monkeypatch.setattr(plugin, "WRITERS", {**plugin.WRITERS, "json": refuse})
    session = run_session(tmp_path, "-k", "order", "--wowspec-report=json:r.json")

    assert session.code == pytest.ExitCode.TESTS_FAILED
    assert "wowspec: json report not written: no space left" in session.output
    assert "json report: r.json" not in session.output


def test_a_mistake_in_one_report_costs_no_other(tmp_path, monkeypatch):
    """It is told, and the session fails; what pytest has to tell is told, too."""

    def broken(document, path):
        raise KeyError("rows")

    monkeypatch.setattr(plugin, "WRITERS", {**plugin.WRITERS, "html": broken})
    session = run_session(
        tmp_path, "--wowspec-report=html:r.html", "--wowspec-report=json:r.json", suite="def test_a(): pass"
    )

    assert session.code == pytest.ExitCode.TESTS_FAILED
    assert "html report not written: KeyError: 'rows' (test_report_options.py:" in session.output
    assert "wowspec: json report: r.json" in session.output
    assert "1 passed" in session.output


def test_half_a_character_is_written(tmp_path):
    """As JSON has it: no file can hold it otherwise."""
    plugin.write_json({"title": "a\ud800b"}, tmp_path / "r.json")

    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8")) == {"title": "a\ud800b"}


def test_results_of_others_join(tmp_path):
    """Explorations, strength and givens stand in the document, as their own files have them."""
    run_session(
        tmp_path,
        "-k",
        "test_order or lost_reply",
        "--wowspec-report=json:report.json",
        "--wowspec-faults=sweep",
        "--wowspec-max-runs=5",
        "--wowspec-strength",
        "--wowspec-unreachable",
        *(f"--wowspec-{kind}-json={kind}.json" for kind in ("fault", "strength", "unreachable")),
    )
    document, fault, strength, unreachable = (
        json.loads((tmp_path / f"{name}.json").read_text()) for name in ("report", "fault", "strength", "unreachable")
    )

    assert len(document["exploration"]) == 2
    assert [result["plans"] for result in document["exploration"]] == [result["plans"] for result in fault["results"]]
    assert document["strength"] == strength
    assert document["unreachable"] == unreachable
    assert document["strength"]["counted"] > 0


def test_findings_are_drawn_once(tmp_path):
    """A spec with the same steps as another one names it, and has no stories of its own."""
    suite = SUITE.replace("def test_plain():", "def test_same():\n    test_order()\n\n\ndef test_plain():")
    run_session(
        tmp_path,
        "-k",
        "test_order or same",
        "--wowspec-report=json:report.json",
        "--wowspec-faults=sweep",
        "--wowspec-points=projection.write",
        suite=suite,
    )
    first, second = json.loads((tmp_path / "report.json").read_text())["exploration"]

    assert first["findings"]
    assert any(finding["story"] for finding in first["findings"])
    assert second["same_as"] == first["test"]
    assert not any(finding["story"] for finding in second["findings"])


def properties(folder):
    """The properties of each test case of a JUnit file that has any."""
    return {
        case.get("name"): {each.get("name"): each.get("value") for each in case.iter("property")}
        for case in ET.parse(folder / "junit.xml").iter("testcase")
        if case.find("properties") is not None
    }


def test_junit_says_how_many_specs(tmp_path):
    """A test case with specs has a property; others have none."""
    run_session(tmp_path, "--junitxml=junit.xml", "-k", "test_order or branches or plain or skipped")

    assert properties(tmp_path) == {
        "test_order": {"wowspec.specs": "1"},
        "test_branches": {"wowspec.specs": "2"},
        "test_skipped_halfway": {"wowspec.specs": "1"},
    }


def test_junit_says_what_was_found(tmp_path):
    """Plans, findings, declared and known ones, and the line that replays the first that fails the test."""
    points = "--wowspec-points=projection.write"
    run_session(tmp_path, "--junitxml=junit.xml", "-k", "test_order", "--wowspec-faults=sweep", points)
    found = properties(tmp_path)["test_order"]

    assert found["wowspec.specs"] == "1"
    assert int(found["wowspec.plans"]) > int(found["wowspec.findings"]) > 0
    assert int(found["wowspec.known"]) > 0
    assert found["wowspec.declared"] == "0"
    assert found["wowspec.replay"].startswith("pytest test_it.py::test_order --wowspec-plan 'PlaceOrder>")


def test_without_junit_nothing_is_noted(tmp_path):
    """Other plugins look at the same properties: they get ours where JUnit XML is written alone."""
    seen = []

    class Looks:
        def pytest_runtest_logreport(self, report):
            seen.append(report.user_properties)

    run_session(tmp_path, "-k", "test_order", "--wowspec-report=json:r.json", plugins=(Looks(),))

    assert seen == [[], [], []]


@pytest.mark.long
@pytest.mark.skipif(importlib.util.find_spec("xdist") is None, reason="the extra `test` brings pytest-xdist")
def test_processes_make_the_same_document(tmp_path):
    """Byte for byte, with a sweep, whatever the hash seed."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(SUITE)
    points = ["--wowspec-points=projection.write", "--wowspec-points=event_store.append"]
    options = ["--wowspec-faults=sweep", *points, "-pno:randomly", "--junitxml=junit.xml"]
    finished = [
        run_pytest(tmp_path, *options, f"--wowspec-report=json:{name}.json", *more)
        for name, more in (
            ("one", ["-pno:xdist"]),
            ("two", ["-n2"]),
            ("crew", ["-pno:xdist", "--wowspec-executor=processes:2"]),
        )
    ]
    one, two, crew = (Path(tmp_path, f"{name}.json").read_bytes() for name in ("one", "two", "crew"))

    assert one == two == crew, finished
    assert b'"story": {' in one
    assert properties(tmp_path)["test_order"]["wowspec.specs"] == "1"
