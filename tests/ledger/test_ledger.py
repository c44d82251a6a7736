"""The fidelity ledger is whole, honest and current."""

from __future__ import annotations

import json
import textwrap

from tests.ledger import ledger


def test_every_clause_is_listed_once():
    """The list holds the contract's 847 clauses."""
    clauses = ledger.read_clauses()

    assert len(clauses) == 847
    assert sum(clause.startswith("CMD") for clause in clauses) == 437


def test_marks_name_clauses_of_the_contract():
    """A mark names at least one clause, each in the contract and in scope."""
    assert ledger.problems(ledger.read_clauses()) == []


def test_ledger_is_current():
    """docs/fidelity.md and the numbers that reports show say what marks and recordings say; `--write` renews them."""
    clauses = ledger.collect()
    pages = ((ledger.LEDGER, ledger.render(clauses)), (ledger.NUMBERS, ledger.numbers(clauses)))
    stale = [path.name for path, text in pages if path.read_text(encoding="utf-8") != text]

    assert not stale, f"{', '.join(stale)} stale: run {ledger.COMMAND}"


def test_numbers_name_all_that_is_left_out():
    """Areas add up to the whole, and each clause that is left out stands in one range with its reason."""
    told = json.loads(ledger.NUMBERS.read_text(encoding="utf-8"))
    left_out = [text for text, _ in told["left_out"]]

    assert [sum(column) for column in zip(*(area[2:] for area in told["areas"]), strict=True)] == told["all"]
    assert told["all"][0] == 847
    assert "TST-001 … TST-053" in left_out
    assert "CMD-034, NAM-019, NAM-021" in left_out
    assert len(told["differences"]) > 10


def test_marks_are_found_wherever_they_stand(tmp_path, monkeypatch):
    """Marks on a module, a class, a test and a parameter all count for the test."""
    monkeypatch.setattr(ledger, "ROOT", tmp_path)
    module = tmp_path / "test_it.py"
    module.write_text(
        textwrap.dedent(
            """
            pytestmark = [pytest.mark.clause("CMD-001")]

            @pytest.mark.clause("CMD-002")
            class TestIt:
                @pytest.mark.clause("CMD-003", "CMD-004")
                async def test_one(self): ...

            @pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.clause("CMD-005"))])
            def test_two(x): ...

            def helper(): ...
            """
        )
    )

    found = {(mark.test, mark.clauses) for mark in ledger.marked_tests(module)}

    assert found == {
        ("test_it.py::TestIt::test_one", ("CMD-001",)),
        ("test_it.py::TestIt::test_one", ("CMD-002",)),
        ("test_it.py::TestIt::test_one", ("CMD-003", "CMD-004")),
        ("test_it.py::test_two", ("CMD-001",)),
        ("test_it.py::test_two", ("CMD-005",)),
    }


def test_wrong_marks_are_named(tmp_path, monkeypatch):
    """An unknown clause, a left-out one and an empty mark are problems with their place."""
    monkeypatch.setattr(ledger, "ROOT", tmp_path)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(
        '@pytest.mark.clause("CMD-999")\ndef test_a(): ...\n'
        '@pytest.mark.clause("TST-001")\ndef test_b(): ...\n'
        "@pytest.mark.clause()\ndef test_c(): ...\n"
    )

    found = ledger.problems(ledger.read_clauses())

    assert [problem.split(": ")[0] for problem in found] == [f"tests/test_it.py:{line}" for line in (1, 3, 5)]
