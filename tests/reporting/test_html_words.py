"""What the HTML report says of findings: titles, causes, what heals them, how many of them a page tells."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

import pytest

from wowspec.exploration.recoveries import RECOVERIES
from wowspec.exploration.results import empty_result
from wowspec.exploration.run_laws import RUN_LAW_BY_NAME
from wowspec.reporting.html import page_text
from wowspec.reporting.html.groups import MOST_OTHERS, MOST_TOLD
from wowspec.reporting.html.words import CAUSES, RECOVERY_DOCS, TERMS, cause_of, headline, healing

from .pages import data_of


def finding(*broken: tuple[str, str], plan: str = "Pay/event_store.append@1=ack_lost", **more: Any) -> dict[str, Any]:
    """A finding in which laws break, each with its text."""
    known = more.pop("known", False)
    told = [
        {"law": law, "title": RUN_LAW_BY_NAME[law].title, "text": text, "known": known, "declared": False}
        for law, text in broken
    ]
    return {
        "plan": plan, "broken": told, "recovery": "never heals", "healed_by": "", "tried": [], "would_heal": "",
        "replay": f"pytest test_it.py::test_pay --wowspec-plan '{plan}'", "report": [], "paste": "", "functions": [],
        "story": None, **more,
    }  # fmt: skip


def row(made: str, due: str) -> str:
    """What the law of read models says of a row."""
    return f"Board['a is b'] is {made}, and the stored facts make {due} of it"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (row("2", "1"), "Board['a is b'] is 2, should be 1"),
        (row('Row(ids=["x"], count=-1)', 'Row(ids=["x"], count=0)'), "Board['a is b']: count is -1, should be 0"),
        (row("Row(a=1, b=2)", "Row(a=2)"), "Board['a is b']: a is 1, should be 2, b is 2, should be its default"),
        (row("Row(a=1)", "Other(a=1)"), "Board['a is b'] is Row(a=1), should be Other(a=1)"),
        (row("Row(<no code>)", "Row(a=1)"), "Board['a is b'] is Row(<no code>), should be Row(a=1)"),
        (row("missing", "1"), "Board['a is b'] is missing, should be 1"),
        (row("1", "nothing"), "Board['a is b'] is 1, should not be there"),
        ("something else\nand more", "something else"),
    ],
)
def test_a_title_says_what_differs(text, title):
    """Of a row that is an object the fields that differ, and no other; what cannot be read stays as it is."""
    assert headline(finding(("convergence", text))) == title


def test_a_title_is_short():
    """However long the values are, and of whatever law."""
    long = f"Row(a='{'x' * 9000}')"

    assert len(headline(finding(("convergence", row(long, "Row(a=1)"))))) <= 200
    assert len(headline(finding(("always", "y" * 900)))) == 200
    assert headline(finding()) == ""


def test_causes_are_of_laws_that_there_are():
    """Each names laws of the table; the first that fits counts; for what none fits there is a sentence as well."""
    assert all(cause.laws <= set(RUN_LAW_BY_NAME) for cause in CAUSES)
    assert cause_of(["no_lying_failure", "publication"])[0] == "Stored, and never published"
    assert cause_of(["no_lying_failure"])[0] == "Done, and told as failed"
    assert all(cause_of(["quiescence"]))


def test_what_heals_is_said():
    """What does, what would, or that nothing does."""
    assert healing(finding(healed_by="redelivery")) == "healed by redelivery"
    assert healing(finding(would_heal="client retry")) == "client retry would heal it"
    assert healing(finding(tried=["restart"])) == "nothing that was tried heals it"
    assert healing(finding()) == "no recovery heals it"
    assert set(RECOVERY_DOCS) == {recovery.name for recovery in RECOVERIES}


def test_terms_are_told_once():
    """A glossary of sentences."""
    assert len({term for term, _ in TERMS}) == len(TERMS)
    assert all(re.fullmatch(r"[a-z].*[^.]", text) for _, text in TERMS)


def document(results: list[dict[str, Any]]) -> dict[str, Any]:
    """A document of explorations alone."""
    tests = [
        {
            "id": result["test"], "file": "test_it.py", "line": 1, "title": "it pays", "outcome": "passed",
            "failure": "", "place": "", "specs": [], "left_out": 0,
        }
        for result in results
    ]  # fmt: skip
    return {
        "schema": 1, "tool": "wowspec", "version": "0", "title": "it", "tests": tests, "other_tests": 0,
        "exploration": results, "coverage": 50.0, "strength": None, "unreachable": None,
    }  # fmt: skip


def explored(name: str, findings: list[dict[str, Any]]) -> dict[str, Any]:
    """The result of a test's exploration."""
    result: dict[str, Any] = dict(empty_result(f"test_it.py::{name}", 0))
    cells = [{"point": "event_store.append", "kind": "ack_lost", "outcomes": {"known to the runtime": len(findings)}}]
    result.update(plans=9, outcomes={"known to the runtime": 9}, cells=cells, findings=findings, steps=name)
    return result


def test_what_the_runtime_is_known_for_is_told_by_cause():
    """One group for a cause, wherever it strikes; one finding of each place is told in full, others in short."""
    places = ["event_store.append@1=ack_lost", "command.acknowledge@1=fail"]
    results = [
        explored(
            f"test_{number}",
            [
                finding(("publication", "x"), plan=f"Pay/{place}", known=True, would_heal="resend"[: 6 * at])
                for at, place in enumerate(places)
            ],
        )
        for number in range(MOST_OTHERS)
    ]

    (group,) = data_of(page_text(document(results)))["faults"]["groups"]

    assert (group["sort"], group["title"], group["count"]) == ("known", "Stored, and never published", 2 * MOST_OTHERS)
    assert group["heals"] == [["no recovery heals it", MOST_OTHERS], ["resend would heal it", MOST_OTHERS]]
    assert [each["faults"][0]["cell"] for each in group["findings"]] == list(group["cells"])
    assert len(group["findings"]) == 2 <= MOST_TOLD["known"]
    assert len(group["others"]) == MOST_OTHERS
    assert {tuple(other[3]) for other in group["others"]} == {(0,), (1,)}


def test_a_test_says_how_its_plans_came_out_and_what_was_found():
    """All its findings count, those that the page does not tell in full as well."""
    broken = ("convergence", row("2", "1"))
    due = [finding(broken, plan=f"Pay/event_store.append@{visit}=ack_lost") for visit in range(1, 200)]
    known = [finding(("publication", "x"), known=True)]
    results = [explored("test_a", [*deepcopy(due), *known]), {**explored("test_b", []), "not_swept": "it is too slow"}]

    first, second = data_of(page_text(document(results)))["tests"]

    assert first["found"] == {"domain": 199, "known": 1}
    assert len(first["findings"]) == MOST_TOLD["domain"] + 1
    assert first["swept"] == {"plans": 9, "outcomes": {"known to the runtime": 9}, "why": ""}
    assert "found" not in second
    assert second["swept"]["why"] == "it is too slow"


def test_a_finding_has_what_can_be_done():
    """Advice for its law, how one lives with it, and the function that it is about."""
    told = finding(("convergence", row("2", "1")), functions=["Board.paid (shop.py:7)"])

    data = data_of(page_text(document([explored("test_a", [told])])))
    (first,) = data["faults"]["groups"][0]["findings"]

    lines = [data["words"][line] for line in first["mend"]]
    assert lines[0].startswith("  instead: a row that is set from the event, or that remembers the ids of events")
    assert lines[1].startswith("  if it is to stay so: ")
    assert first["functions"] == ["Board.paid (shop.py:7)"]
    assert data["faults"]["pairs"][0] == 1 < data["faults"]["pairs"][1]
