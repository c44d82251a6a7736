"""Mermaid text of stories: its syntax, its lanes, what is marked, and names of files."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Final

import pytest

from wowspec.reporting import mermaid
from wowspec.reporting.mermaid import MARKER, Diagram, diagrams, escaped, file_name, text_of, write_mermaid

from .sessions import document_of

#: What Mermaid would take for something else, or refuse.
NASTY: Final = [
    "end",
    "a;b",
    "#35;",
    "%% c",
    "%%{init: {}}%%",
    "<br/>",
    "a\nb\r\nc\u2028d",
    '"q"',
    "wrap: x",
    "-->>",
    "`x`",
    "{a}",
    "\\n",
    "🎉",
    "title: x",
    "",
    " ",
    "::",
    "a" * 500,
    "\x00\x07\ud800",
    "<script>alert(1)</script>",
    "---\ntitle: x\n---",
]
#: A text: no sign but entities by number.
_TEXT: Final = r"(?:[^#;:%<>&\"`{}\\\x00-\x1f\x7f\u2028]|#\d+;)*"
#: The only lines that there are.
_LINES: Final = [
    re.compile(pattern)
    for pattern in (
        rf"    title {_TEXT}",
        rf"    participant (?P<made>p\d+) as {_TEXT}",
        rf"    Note over (?P<one>p\d+)(,(?P<two>p\d+))?: (wrap: )?{_TEXT}",
        rf"    Note right of (?P<one>p\d+): {_TEXT}",
        rf"    (    )?(?P<one>p\d+)(->>|-x)(?P<two>p\d+): {_TEXT}",
        r"    rect rgba\(\d+, \d+, \d+, 0\.\d\)",
        r"    end",
    )
]


def require_syntax(text):
    """Each line is one that may be there; participants come first, and blocks end."""
    marker, first, *lines = text.splitlines()
    assert (marker, first) == (MARKER, "sequenceDiagram")
    assert text.endswith("\n")
    known: set[str] = set()
    depth = 0
    for line in lines:
        found = next((found for pattern in _LINES if (found := pattern.fullmatch(line))), None)
        assert found is not None, line
        groups = found.groupdict()
        known |= {groups["made"]} if groups.get("made") else set()
        assert {name for key in ("one", "two") if (name := groups.get(key))} <= known, line
        depth += line.startswith("    rect")
        depth -= line == "    end"
        assert 0 <= depth <= 1, line
    assert depth == 0
    assert len(text) < 50_000


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    """A document with stories of all sorts, and findings."""
    folder = tmp_path_factory.mktemp("suite")
    options = ["--wowspec-faults=sweep", "--wowspec-points=projection.write", "--wowspec-points=event_store.append"]
    return document_of(folder, *options)


@pytest.fixture(scope="module")
def drawn(document):
    """Its diagrams."""
    return list(diagrams(document))


def of_test(drawn, name):
    """The text of the first diagram of a test."""
    return text_of(next(each for each in drawn if each.test.endswith(f"::{name}")))


def test_every_diagram_is_mermaid(drawn):
    """By its grammar."""
    assert len(drawn) > 8
    for diagram in drawn:
        require_syntax(text_of(diagram))


@pytest.mark.parametrize("nasty", NASTY, ids=range(len(NASTY)))
def test_nothing_that_is_said_is_taken_for_mermaid(drawn, nasty):
    """Whatever stands in lanes, details, errors and titles."""
    run = deepcopy(drawn[0].runs[0])
    run["command"] = run["error"] = run["schedule"] = nasty
    for row in run["rows"]:
        row["lane"] = nasty if row["role"] == "gateway" else row["lane"]
        row["point"] = row["detail"] = row["note"] = row["outcome"] = nasty
        row["struck"] = True

    require_syntax(text_of(Diagram("test", nasty, "name.mmd", [run])))


def test_signs_are_numbers():
    """As Mermaid takes them; line ends are signs, and long texts are cut."""
    assert escaped('a;b #1: "x"') == "a#59;b #35;1#58; #34;x#34;"
    assert escaped("a\r\n  b") == "a ⏎ b"
    assert escaped("x" * 300).endswith("x…")


def test_points_lead_from_lane_to_lane(drawn):
    """A command to its aggregate, an event to who hears of it, a snapshot to who keeps it, a signal back."""
    text = of_test(drawn, "test_order")
    ids = {name: made for made, name in re.findall(r"participant (p\d+) as (.*)", text)}
    gateway, order, board, saga = (
        ids[name] for name in ("gateway#58;o-1", "o-1", "OrderBoard.placed@o-1", "OrderSaga.placed@o-1")
    )

    assert f"{gateway}->>{gateway}: request_id.check true" in text
    assert f"{gateway}->>{order}: command_bus.send PlaceOrder" in text
    assert f"{order}->>{board}: event.deliver#58;OrderBoard.placed OrderPlaced v1#35;1" in text
    assert f"{order}->>{saga}: event.deliver#58;OrderSaga.placed" in text
    assert f"{order}->>{gateway}: wait.notify#58;PROCESSED succeeded" in text
    assert f"{order}->>{ids['snapshot@o-1']}: snapshot.save v1" in text


def test_what_went_wrong_is_marked(drawn):
    """What a fault struck has a ground of its own; what failed has a cross; where it departs, and how it came out."""
    lines = of_test(drawn, "test_a_lost_reply").splitlines()
    struck = next(
        place for place, line in enumerate(lines) if line.endswith("event_store.append v2 OrderPaid ✗ ack_lost")
    )

    assert lines[struck - 1].startswith("    rect ")
    assert lines[struck].startswith("        p1-xp1: ")
    assert lines[struck + 1] == "    end"
    assert lines[struck + 2].endswith(": 500 ms")
    assert "Note over p1: from here on it is not as it is without faults" in lines[struck + 3]
    assert "✗ error#58;DuplicateRequestIdError" in "\n".join(lines)
    assert "wrap: failed#58; DuplicateRequestIdError" in lines[-1]


def test_findings_are_drawn(document, drawn):
    """Each that has a story, with its plan."""
    found = [finding for result in document["exploration"] for finding in result["findings"] if finding["story"]]
    told = [each for each in drawn if "-finding-" in each.name]

    assert len(told) == len(found) > 0
    assert told[0].title.endswith(found[0]["plan"])


def test_names_of_files_are_safe_and_their_own():
    """Lower case, letters, digits and hyphens; each diagram has its own, the same one whatever else there is."""
    names = [
        file_name(test, what)
        for test in ("a/test_x.py::test_y[A]", "a/test_x.py::test_y[a]", "a_test_x.py::test_y[a]", "é" * 300, "x" * 300)
        for what in ("spec 0", "spec 1")
    ]

    assert len({name.lower() for name in names}) == len(names)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*\.mmd", name) and len(name) < 110 for name in names)
    assert file_name("a/test_x.py::test_y[A]", "spec 0") == names[0]


def test_a_folder_of_files(document, drawn, tmp_path):
    """A file for each diagram, and an index that leads to each; the same text each time; others' files stay."""
    folder = tmp_path / "stories"
    write_mermaid(document, folder)
    (folder / "mine.mmd").write_text("mine")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / "gone.mmd").write_text(f"{MARKER}\nsequenceDiagram\n")
    write_mermaid(document, folder)
    index = (folder / "index.md").read_text(encoding="utf-8")

    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert set(before) == {"index.md", "mine.mmd", *(each.name for each in drawn)}
    assert re.findall(r"(?m)\]\((\S+\.mmd)\)$", index) == [each.name for each in drawn]
    assert "## `test_it.py::test_order`" in index


def test_an_index_of_somebody_else_stays(document, tmp_path):
    """Then nothing is written."""
    (tmp_path / "index.md").write_text("mine")
    with pytest.raises(FileExistsError, match="was not written by wowspec"):
        write_mermaid(document, tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["index.md"]


def test_nothing_ran(document, tmp_path):
    """The index says so."""
    write_mermaid({**document, "tests": [], "exploration": []}, tmp_path)

    assert "No spec ran." in (tmp_path / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("most", [1_200, 4_500, 6_000])
def test_a_long_story_is_cut(monkeypatch, drawn, most):
    """Mermaid refuses long texts: whole runs are left out, and of a run that is too long alone its end."""
    monkeypatch.setattr(mermaid, "MOST_TEXT", most)
    run = next(each for each in drawn if each.test.endswith("::test_order")).runs[0]
    text = text_of(Diagram("test", "title", "name.mmd", [run] * 9))

    require_syntax(text)
    assert len(text) <= most + 500
    assert "p0->>p1: command_bus.send PlaceOrder" in text
    assert "runs are left out …" in text or most < 4_500
