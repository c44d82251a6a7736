"""The document of a suite: which tests it has, their outcomes, specs, runs and stories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wowspec.reporting import collecting, document as schema
from wowspec.specs.run_json import RowJson, RunJson

from .sessions import SUITE, document_of, run_session


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    """The document of the suite."""
    return document_of(tmp_path_factory.mktemp("suite"))


@pytest.fixture(scope="module")
def tests(document):
    """Its tests, by name."""
    return {test["id"].partition("::")[2]: test for test in document["tests"]}


def line_of(text):
    """The number of a line of the suite."""
    return SUITE.splitlines().index(text) + 1


def test_tests_are_those_that_concern_us(document, tests):
    """Those that made specs or failed, in the order of their ids; none that has nothing to do with specs and passed."""
    assert [test["id"] for test in document["tests"]] == sorted(test["id"] for test in document["tests"])
    assert "test_plain" not in tests
    assert document["other_tests"] == 1
    assert {name: test["outcome"] for name, test in tests.items()} == {
        "test_order": "passed",
        "test_a_wrong_expectation": "failed",
        "test_a_lost_reply": "passed",
        "test_branches": "passed",
        "test_never_looked_at": "failed",
        "test_together": "passed",
        "test_an_example": "passed",
        "test_a_failing_example": "failed",
        "test_explored": "passed",
        "test_parts": "failed",
        "test_plain_failure": "failed",
        "test_set_up": "error",
        "test_tear_down": "error",
        "test_expected_to_fail": "xfailed",
        "test_skipped_halfway": "skipped",
    }


def test_a_test_says_where_it_is(tests):
    """File, line, title; nothing of a failure where it passed."""
    test = tests["test_order"]

    assert (test["file"], test["line"]) == ("test_it.py", line_of("def test_order():"))
    assert test["title"] == "An order is placed, and the stock hears of it"
    assert (test["failure"], test["place"]) == ("", "")
    assert tests["test_explored"]["line"] == line_of("@explore_faults(Order, max_runs=2)")


def test_a_failure_says_where_its_verb_is(tests):
    """Its text without frames, and the line of the verb."""
    test = tests["test_a_wrong_expectation"]

    assert test["place"] == f"test_it.py:{line_of('def test_a_wrong_expectation():') + 1}"
    assert test["failure"].startswith("1 event expected and stored: OrderPlaced missing, OrderPaid came instead")
    assert tests["test_plain_failure"]["failure"] == "AssertionError: assert 1 == 2"
    assert tests["test_set_up"]["failure"] == "ValueError: no such thing"


def test_what_fails_afterwards_keeps_the_specs(tests):
    """A tear-down that fails makes an error of a test that passed, and takes nothing from it."""
    test = tests["test_tear_down"]

    assert test["failure"] == "ValueError: too late"
    assert len(test["specs"]) == 1


def test_parts_of_a_test_are_told_with_it(tests):
    """What failed in each of them, the place of the first, and the specs of all."""
    test = tests["test_parts"]
    first, second = test["failure"].split("\n\n")

    assert first.startswith("order(o-1) is at version 1, expected 2")
    assert second == "AssertionError: assert 1 == 2"
    assert test["place"] == f"test_it.py:{line_of('def test_parts(subtests):') + 2}"
    assert [spec["steps"][-1].get("failed", False) for spec in test["specs"]] == [True, False]


def test_a_test_whose_process_ended_is_told():
    """By what is known of it where the session ends."""
    report = pytest.TestReport(
        "a/test_it.py::test_dies[x]", ("a/test_it.py", 6, "test_dies"), {}, "failed", "gone", "???"
    )
    told = collecting.lost_test(report, Path("/root"))

    assert (told["file"], told["line"], told["title"]) == ("a/test_it.py", 7, "Dies [x]")
    assert (told["outcome"], told["failure"]) == ("error", "gone")


def test_a_spec_has_its_steps_and_runs(tests):
    """Subject, context, steps in words, a run of each step that runs something, which says where that step is."""
    [spec] = tests["test_a_lost_reply"]["specs"]
    [run] = spec["runs"]

    assert (spec["subject"], spec["context"], spec["scenario"]) == ("Order", "shop", "A lost reply")
    assert spec["steps"][run["step"]]["code"] == 'when(PayOrder(id="o-1"))'
    assert (run["command"], run["outcome"], run["attempts"]) == ('PayOrder(id="o-1")', "failed", 2)
    assert run["error"].startswith("DuplicateRequestIdError: ")
    assert run["faults"] == ["event_store.append@1=ack_lost"]
    assert run["ledgers"] == {"emitted": 1, "stored": 1, "published": 0, "delivered": 0}


def test_a_struck_run_departs(tests):
    """The first row that the run without faults does not have, past the one that was struck."""
    [spec] = tests["test_a_lost_reply"]["specs"]
    [run] = spec["runs"]
    struck = [place for place, row in enumerate(run["rows"]) if row["struck"]]

    assert struck == [run["departure"] - 1]
    assert run["rows"][run["departure"]]["point"] == "snapshot.load"
    assert tests["test_order"]["specs"][0]["runs"][0]["departure"] == -1


def test_branches_are_specs(tests):
    """Each way of steps is one, with its branch in its title."""
    first, second = tests["test_branches"]["specs"]

    assert [first["scenario"], second["scenario"]] == ["Branches: paid", "Branches: of nobody"]
    assert [first["runs"][0]["outcome"], second["runs"][0]["outcome"]] == ["succeeded", "failed"]


def test_what_failed_before_it_ran_is_told(tests):
    """A spec that nothing was expected of has steps and no run."""
    [spec] = tests["test_never_looked_at"]["specs"]

    assert [step["keyword"] for step in spec["steps"]] == ["given", "when"]
    assert spec["runs"] == []


def test_what_was_sent_together_has_a_run_for_each_outcome(tests):
    """With the order that led there, and all commands."""
    [spec] = tests["test_together"]["specs"]

    assert len(spec["runs"]) > 1
    assert len({run["schedule"] for run in spec["runs"]}) == len(spec["runs"])
    assert all(run["command"] == 'PayOrder(id="o-1"), PayOrder(id="o-1")' for run in spec["runs"])
    assert spec["runs"][0]["ledgers"]["stored"] == len(spec["runs"][0]["events"])


def test_examples_are_those_that_count(tests):
    """Of a test under Hypothesis the one that failed, or the first one: here its author's."""
    [spec] = tests["test_an_example"]["specs"]
    [failed] = tests["test_a_failing_example"]["specs"]

    assert spec["runs"][0]["command"] == 'PlaceOrder(id="o-1", quantity=7)'
    assert failed["runs"][0]["command"] == 'PlaceOrder(id="o-1", quantity=2)'


def test_an_explored_function_has_specs(document, tests):
    """Those that it makes without faults; what was found stands beside them, with the coverage."""
    [spec] = tests["test_explored"]["specs"]
    [result] = document["exploration"]

    assert spec["runs"][0]["command"] == 'PlaceOrder(id="o-1")'
    assert result["test"] == tests["test_explored"]["id"]
    assert result["plans"] == 2
    assert document["coverage"] > 0


def test_many_are_cut(monkeypatch, tmp_path):
    """Of many specs, runs and outcomes some are kept, and it is said how many are not."""
    for name in ("MOST_SPECS", "MOST_RUNS", "MOST_OUTCOMES"):
        monkeypatch.setattr(collecting, name, 1)
    suite = f"{SUITE}\n\ndef test_in_turn():\n    run = given(PlaceOrder(id='o-1')).when(PayOrder(id='o-1'))\n"
    suite += "    run.when(PayOrder(id='o-1')).expect_version(3)\n"
    found = document_of(tmp_path, "-k", "together or branches or in_turn", suite=suite)
    by_name = {test["id"].partition("::")[2]: test for test in found["tests"]}

    assert (len(by_name["test_branches"]["specs"]), by_name["test_branches"]["left_out"]) == (1, 1)
    [together] = by_name["test_together"]["specs"]
    assert (len(together["runs"]), together["left_out"]) == (1, 1)
    [in_turn] = by_name["test_in_turn"]["specs"]
    assert (len(in_turn["runs"]), in_turn["left_out"]) == (1, 1)


def test_what_cannot_be_told_is_said(monkeypatch, tmp_path):
    """A step whose words cannot be made loses no report."""
    monkeypatch.setattr("wowspec.reporting.sentences.steps_in_words", lambda *_, **__: 1 / 0)
    found = document_of(tmp_path, "-k", "order")

    [step] = found["tests"][0]["specs"][0]["steps"]
    assert step["sentence"] == "these steps cannot be told: ZeroDivisionError: division by zero"


def test_no_path_of_this_machine(document, tmp_path_factory):
    """The document names no folder above the suite's own."""
    assert str(tmp_path_factory.getbasetemp()) not in json.dumps(document)


def test_keys_are_those_of_the_schema(document, tests):
    """Each part has the keys of its typed dictionary."""
    [spec] = tests["test_order"]["specs"]

    assert list(document) == list(schema.DocumentJson.__annotations__)
    assert list(tests["test_order"]) == list(schema.TestJson.__annotations__)
    assert list(spec) == list(schema.SpecJson.__annotations__)
    assert list(spec["runs"][0]) == list(RunJson.__annotations__)
    assert list(spec["runs"][0]["rows"][0]) == list(RowJson.__annotations__)
    assert (document["schema"], document["tool"]) == (1, "wowspec")


def test_nothing_is_written_where_nothing_runs(tmp_path):
    """Where tests are only collected, there is nothing to tell."""
    session = run_session(tmp_path, "--wowspec-report=json:report.json", "--collect-only")

    assert session.code == 0
    assert not (tmp_path / "report.json").exists()
