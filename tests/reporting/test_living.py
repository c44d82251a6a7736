"""Living documentation: pages of scenarios from the document of a suite."""

from __future__ import annotations

from typing import Any

import pytest

from wowspec import faults, given, on, spec
from wowspec.reporting import document as schema
from wowspec.reporting.document import DocumentJson, SpecJson, StepJson
from wowspec.reporting.living import INDEX, MARKER, pages, write_docs
from wowspec.reporting.markdown import code, literal, slug, table
from wowspec.reporting.outlines import outline, shape_of

from .scenes import AlreadyCollectedError, CollectParcel, Parcel, ParcelCollected, ParcelPlaced, steps

PLACED = on(Parcel, "p-1", ParcelPlaced())


def step(keyword: str, sentence: str, *details: str, verb: str = "", failed: bool = False) -> StepJson:
    """A step in words."""
    verbs = {"given": "given", "when": "when", "then": "expect_events", "with": "using"}
    made: StepJson = {
        "keyword": keyword,
        "verb": verb or verbs[keyword],
        "sentence": sentence,
        "details": list(details),
        "code": "",
    }
    return {**made, "failed": True} if failed else made


def spec_json(
    said: list[StepJson], *, subject: str = "Parcel", context: str = "post", scenario: str = "It does"
) -> SpecJson:
    """One spec."""
    return {"subject": subject, "context": context, "scenario": scenario, "steps": said, "runs": [], "left_out": 0}


def a_test(
    name: str, *specs: SpecJson, file: str = "tests/test_parcel.py", line: int = 1, outcome: str = "passed", **more: Any
) -> schema.TestJson:
    """One test."""
    made: schema.TestJson = {
        "id": f"{file}::{name}",
        "file": file,
        "line": line,
        "title": "It does",
        "outcome": outcome,
        "failure": "",
        "place": "",
        "specs": list(specs),
        "left_out": 0,
    }
    return {**made, **more}  # type: ignore[typeddict-item]


def document(*tests: schema.TestJson) -> DocumentJson:
    """A suite's document."""
    return {
        "schema": 1,
        "tool": "wowspec",
        "version": "1",
        "title": "post",
        "tests": list(tests),
        "other_tests": 0,
        "exploration": [],
        "coverage": None,
        "strength": None,
        "unreachable": None,
    }


def page(*tests: schema.TestJson, name: str = "post-parcel.md") -> str:
    """The page about parcels."""
    return pages(document(*tests))[name]


def simple(amount: str = "3") -> list[StepJson]:
    """A scenario of three steps."""
    return [
        step("given", "nothing has happened yet"),
        step("when", f"the command is sent: Send (amount: {amount})"),
        step("then", f"this happens: Sent (amount: {amount})"),
    ]


# --- pages ------------------------------------------------------------------------------------------------------------


def test_a_scenario_as_people_read_it():
    """Title, remark, steps with And, and where it comes from."""
    made = (
        given(PLACED)
        .when(CollectParcel(id="p-1", by="Ann"))
        .expect_events(ParcelCollected(by="Ann"))
        .expect_state(holder="Ann")
    )

    assert (
        page(a_test("test_a_parcel_is_collected", spec_json(steps(made))))
        == f"""{MARKER}

# Parcel

Part of *Post*. 1 scenario; it holds.

## What happens

<a id="a-parcel-is-collected"></a>

### A parcel is collected

It does.

- **Given** parcel p-1 has this history: Parcel placed
- **When** Ann collects the parcel p-1
- **Then** Ann has the parcel
- **And** the parcel has holder: Ann

<sub>`tests/test_parcel.py::test_a_parcel_is_collected`</sub>
"""
    )


def test_a_page_for_each_aggregate_and_processor():
    """By bounded context; the index leads to each."""
    written = pages(
        document(
            a_test("test_a", spec_json(simple())),
            a_test("test_b", spec_json(simple(), subject="DeskView")),
            a_test("test_c", spec_json(simple(), context="shop")),
            a_test("test_d", spec_json(simple(), subject="", context="")),
        )
    )

    assert sorted(written) == ["index.md", "other.md", "post-desk-view.md", "post-parcel.md", "shop-parcel.md"]
    for line in [
        "# post: scenarios",
        "4 scenarios; all of them hold.",
        "## Post",
        "| [Desk view](post-desk-view.md) | 1 | all |",
        "| [Parcel](shop-parcel.md) | 1 | all |",
        "## Elsewhere",
        "| [Other scenarios](other.md) | 1 | all |",
    ]:
        assert line in written[INDEX].splitlines()


def test_what_is_refused_stands_apart():
    """And so does what happens where something goes wrong."""
    collect = CollectParcel(id="p-1", by="Ann")
    taken = on(Parcel, "p-1", ParcelPlaced(), ParcelCollected(by="Bob"))
    text = page(
        a_test("test_a", spec_json(steps(given(taken).when(collect).expect_error(AlreadyCollectedError)))),
        a_test(
            "test_b",
            spec_json(
                steps(given(PLACED).with_faults(faults.event_store.append.times_out()).when(collect).expect_attempts(2))
            ),
        ),
        a_test("test_c", spec_json(steps(given(PLACED).when(collect).expect_version(2)))),
    )

    heads = [line for line in text.splitlines() if line.startswith("#")]
    assert heads == [
        "# Parcel",
        "## What happens",
        "### C",
        "## What is refused",
        "### A",
        "## When something goes wrong on the way",
        "### B",
    ]
    assert "- **While** storing what happened times out" in text


def test_the_last_command_says_whether_it_is_refused():
    """An earlier refusal is a step on the way."""
    refused = step("then", "it is refused", verb="expect_error")
    text = page(a_test("test_a", spec_json([*simple(), step("when", "again"), refused, *simple()[1:]])))

    assert "## What happens" in text


def test_steps_that_say_how_a_test_is_made_are_left_out():
    """Stand-ins are nobody's business but the programmers'."""
    made = spec(Parcel).inject_factory(printer=dict).given(PLACED).when(CollectParcel(id="p-1")).expect_version(2)

    assert "stand-in" not in page(a_test("test_a", spec_json(steps(made))))


def test_a_scenario_whose_expectations_are_code():
    """Plain assertions are not told; that there are some is."""
    text = page(a_test("test_a", spec_json(simple()[:2])))

    assert "- *What then holds is said in the test's own code.*" in text


def test_time_that_passes_between_steps():
    """Is no new beginning."""
    text = page(a_test("test_a", spec_json([*simple(), step("given", "1 day passes", verb="advance")])))

    assert "- **After that** 1 day passes" in text


# --- titles -----------------------------------------------------------------------------------------------------------


def test_branches_are_scenarios_of_their_own():
    """Named after the test and the branch."""
    text = page(
        a_test(
            "test_collecting",
            spec_json(simple(), scenario="It does: twice"),
            spec_json(simple("4"), scenario="It does"),
        )
    )

    assert "### Collecting: twice" in text
    assert "### Collecting\n" in text
    assert '<a id="collecting-twice"></a>' in text


def test_a_docstring_that_says_what_the_name_says_is_said_once():
    """So is one that is not there."""
    assert "\n\nCollecting" not in page(a_test("test_collecting", spec_json(simple()), title="Collecting"))


def test_code_in_a_docstring_is_code():
    """It was written for readers of Markdown; a lone backtick is one."""
    made = a_test("test_a", spec_json(simple()), title="`when(*x)` goes on!")
    other = a_test("test_b", spec_json(simple()), title="5` long")

    assert "\n`when(*x)` goes on!\n" not in page(made)
    assert "`when(*x)` goes on&#33;\n" in page(made)
    assert "5&#96; long.\n" in page(other)


def test_scenarios_stand_as_their_authors_wrote_them():
    """By file and line; anchors are unique, whatever the names."""
    text = page(
        a_test("test_b", spec_json(simple()), line=9),
        a_test("test_a", spec_json(simple()), line=20),
        a_test("test_b", spec_json(simple()), file="tests/test_other.py"),
        a_test("TestX::test_a", spec_json(simple()), line=3),
    )

    assert [line for line in text.splitlines() if line.startswith("### ")] == ["### B", "### A", "### B", "### A"]
    anchors = [line for line in text.splitlines() if line.startswith("<a id=")]
    assert len(set(anchors)) == 4


# --- examples ---------------------------------------------------------------------------------------------------------


def test_parameters_make_a_table_of_examples():
    """One outline; what differs is named by its label, in the order of the numbers."""
    text = page(
        *[a_test(f"test_send[{n}]", spec_json(simple(n))) for n in ("10", "9")],
    )

    assert "- **When** the command is sent: Send (amount: *‹amount›*)" in text
    assert "- **Then** this happens: Sent (amount: *‹amount›*)" in text
    assert text.endswith("| amount |\n| --- |\n| 9 |\n| 10 |\n\n<sub>`tests/test_parcel.py::test_send`</sub>\n")


def test_examples_of_another_shape_are_cases_of_their_own():
    """Under one heading."""
    text = page(
        a_test("test_send[1]", spec_json(simple("1"))),
        a_test("test_send[2]", spec_json(simple("2"))),
        a_test("test_send[3]", spec_json([*simple("3"), step("then", "it is tried twice")])),
    )

    assert text.count("### Send") == 1
    assert [line for line in text.splitlines() if line.startswith("Case")] == ["Case 1:", "Case 2:"]
    assert "| 1 |\n| 2 |" in text
    assert "Send (amount: 3)" in text


def test_examples_that_do_not_differ_are_told_once():
    """A parameter may show in nothing that a spec says."""
    text = page(*[a_test(f"test_send[{n}]", spec_json(simple())) for n in "ab"])

    assert text.count("- **Given**") == 1
    assert "| --- |" not in text


def test_examples_that_differ_too_much_stand_by_themselves():
    """A table of ten columns is read by nobody."""
    wide = [[step("given", ", ".join(f"f{n}: {n + add}" for n in range(10)))] for add in (0, 1)]

    assert outline(wide) is None
    text = page(*[a_test(f"test_send[{n}]", spec_json(said)) for n, said in enumerate(wide)])
    assert text.count("- **Given**") == 2


def test_a_failing_example_is_marked_in_its_row():
    """And the reason stands below the table."""
    text = page(
        a_test("test_send[1]", spec_json(simple("1"))),
        a_test("test_send[2]", spec_json(simple("2")), outcome="failed", failure="2 is too much\nmore", place="x.py:3"),
    )

    assert "### Send ✗" in text
    assert "| 1 | holds |" in text
    assert "| 2 | **does not hold** |" in text
    assert "> **This does not hold** (x.py:3): 2 is too much\n" in text


@pytest.mark.parametrize(
    ("first", "second", "line", "head"),
    [
        ("a: 1, b: 2", "a: 1, b: 3", "a: 1, b: *‹b›*", "| b |"),
        ("a: 1, b: 1", "a: 2, b: 2", "a: *‹a›*, b: *‹b›*", "| a | b |"),
        ("x (a: 1) and (a: 2)", "x (a: 3) and (a: 4)", "x (a: *‹a›*) and (a: *‹a 2›*)", "| a | a 2 |"),
        ("it is tried 2 times", "it is tried 3 times", "it is tried *‹times›* times", "| times |"),
        (
            "Ann books it for 0 nights from 11 May 2026, 00:00 UTC",
            "Ann books it for 31 nights from 11 May 2026, 00:00 UTC",
            "Ann books it for *‹nights›* nights from 11 May 2026, 00:00 UTC",
            "| nights |",
        ),
        ("from 11 May 2026 on", "from 12 May 2026 on", "from *‹what happened›*", "| what happened |"),
        ("Ann books it", "Bob Hill books it", "*‹what happened›* books it", "| what happened |"),
        ("Item paid", "Order paid", "*‹what happened›*", "| what happened |"),
        ("this happens to it: A", "this happens to it: B", "this happens to it: *‹event›*", "| event |"),
        ("fee: 10 EUR", "fee: 20 EUR", "fee: *‹fee›*", "| fee |"),
        ("this happens: A (x: 1)", "this happens: B (x: 1)", "this happens: *‹event›* (x: 1)", "| event |"),
        ("r: “not a”", "r: “not b”", "r: “*‹r›*”", "| r |"),
    ],
)
def test_where_sentences_part(first, second, line, head):
    """At labels, commas, brackets and quotes; else at the first word that differs."""
    text = page(
        a_test("test_a[1]", spec_json([step("given", first)])),
        a_test("test_a[2]", spec_json([step("given", second)])),
    )

    assert f"- **Given** {line}" in text.splitlines()
    assert head in text.splitlines()


def test_what_goes_wrong_is_one_value():
    """Faults differ in more than a word."""
    texts = ["storing what happened is done, but its answer is lost", "publishing what happened fails"]
    text = page(
        *[
            a_test(f"test_a[{n}]", spec_json([step("with", each, verb="with_faults"), *simple()]))
            for n, each in enumerate(texts)
        ]
    )

    assert "- **While** *‹what goes wrong›*" in text
    assert "| what goes wrong |\n| --- |\n| storing what" in text


def test_details_may_differ_too():
    """Line by line; another number of lines is another shape."""
    one = [step("given", "this happened:", "A (x: 1)", "B")]
    two = [step("given", "this happened:", "A (x: 2)", "B")]
    three = [step("given", "this happened:", "A (x: 2)")]

    assert shape_of(one) == shape_of(two) != shape_of(three)
    text = page(*[a_test(f"test_a[{n}]", spec_json(said)) for n, said in enumerate([one, two])])
    assert "    - A (x: *‹x›*)\n    - B\n" in text


# --- failures ---------------------------------------------------------------------------------------------------------


def test_what_does_not_hold_is_marked():
    """The step, the heading, the counts of page and index."""
    said = [*simple()[:2], step("then", "this happens: Lost", failed=True)]
    written = pages(
        document(
            a_test("test_a", spec_json(said), outcome="failed", failure="1 event expected\n  more", place="t.py:9"),
            a_test("test_b", spec_json(simple())),
        )
    )

    text = written["post-parcel.md"]
    assert "2 scenarios; **1 of them does not hold.**" in text
    assert "### A ✗" in text
    assert "- **Then** this happens: Lost **← this does not hold**" in text
    assert "> **This does not hold** (t.py:9): 1 event expected\n" in text
    assert "| [Parcel](post-parcel.md) | 2 | **1 not** |" in written[INDEX]


def test_a_finding_is_told_by_what_goes_wrong():
    """Nobody who reads scenarios knows of plans and laws."""
    failure = (
        "wowspec: 2 faults break test_a  (violates: eventually)\n"
        "  plan   A>B/event.deliver:Board.placed@1=fail; A/event_store.append@2=ack_lost\n  class  never heals"
    )
    text = page(a_test("test_a", spec_json(simple()), outcome="failed", failure=failure, place="t.py:9"))

    assert (
        "> **This does not hold** (t.py:9): where telling the board what happened fails "
        "and storing what happened is done, but its answer is lost the second time\n"
    ) in text
    strange = page(a_test("test_a", spec_json(simple()), outcome="failed", failure="wowspec: x\n  plan  ?/y"))
    assert "> **This does not hold**: wowspec: x\n" in strange


def test_conditions_that_stay_code_are_code():
    """Those that somebody wrote within quotation marks are somebody's text."""
    said = 'in the end: `(row or Row()).rooms == ["r-1"]`; text: “a `b` c”'
    text = page(a_test("test_a", spec_json([*simple(), step("then", said)])))

    assert 'in the end: `(row or Row()).rooms == ["r-1"]`; text: “a &#96;b&#96; c”\n' in text


def test_of_a_failed_test_one_spec_is_to_blame():
    """The one with the failed step, else the last."""
    broken = [*simple()[:2], step("then", "no", failed=True)]
    first = a_test(
        "test_a", spec_json(broken), spec_json(simple(), scenario="It does: b"), outcome="failed", failure="why"
    )
    last = a_test(
        "test_a", spec_json(simple()), spec_json(simple(), scenario="It does: b"), outcome="error", failure="why"
    )

    assert "### A ✗" in page(first)
    assert "### A: b\n" in page(first)
    assert "### A: b ✗" in page(last)
    assert page(last).count("does not hold") == 2


def test_all_specs_with_a_failed_step_do_not_hold():
    """As where parts of a test failed. The place is told once, although the failure begins with it."""
    broken = [*simple()[:2], step("then", "no", failed=True)]
    test = a_test(
        "test_a",
        spec_json(broken),
        spec_json(broken, scenario="It does: b"),
        outcome="failed",
        failure="test_a.py:7: why",
    )
    text = page({**test, "place": "test_a.py:7"})

    assert "### A ✗" in text
    assert "### A: b ✗" in text
    assert "**This does not hold** (test_a.py:7): why" in text


def test_known_failures_are_told_as_such():
    """They do not count as broken."""
    text = page(a_test("test_a", spec_json(simple()), outcome="xfailed"))

    assert "> It is known that this does not hold." in text
    assert "it holds" in text


def test_tests_that_failed_before_there_was_a_scenario_are_listed():
    """Nobody finds them on a page."""
    written = pages(document(a_test("test_a", outcome="error", failure="x"), a_test("test_b")))

    assert "There is no scenario yet." in written[INDEX]
    assert "- It does <sub>`tests/test_parcel.py::test_a`</sub>" in written[INDEX]
    assert "test_b" not in written[INDEX]


# --- literal text -----------------------------------------------------------------------------------------------------

EVIL = [
    "a | b",
    "**bold** _em_ `code`",
    "<b>bold</b> <script>x</script>",
    "[link](http://x) ![img](y)",
    "two\nlines\r\nthree",
    "# no heading",
    "- no item",
    "1. no item",
    "&amp; &#60;",
    "$x$ ~~gone~~ {name}",
    "\\*",
]


@pytest.mark.parametrize("text", EVIL)
def test_text_is_shown_literally(text):
    """Nothing in it is markup, anywhere on a page."""
    made = literal(text)

    assert not set(made) & set("|*<>`[]{}~$\\\n\r")
    assert not made.startswith(("#", "-", "1."))


@pytest.mark.parametrize("text", EVIL)
def test_a_rendered_page_shows_what_the_field_holds(text):
    """As a renderer of CommonMark reads it, in a sentence, in a table and in a heading."""
    markdown_it = pytest.importorskip("markdown_it", reason="the extra `test` brings a renderer of CommonMark")
    render = markdown_it.MarkdownIt("commonmark").enable("table").enable("strikethrough")
    line = " ⏎ ".join(part.strip() for part in text.splitlines())

    html = render.render(
        f"{literal(text)}\n\n- {literal(text)}\n\n"
        + "\n".join(table(["x"], [[literal(text)]]))
        + f"\n\n# {literal(text)}"
    )

    shown = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    assert html.count(shown) == 4
    assert "<p>" + shown + "</p>" in html
    assert f"<td>{shown}</td>" in html
    assert f"<h1>{shown}</h1>" in html


def test_names_with_underscores_stay_readable():
    """Between letters an underscore is no markup."""
    assert literal("deposit_many") == "deposit_many"
    assert literal("_private") == "&#95;private"


def test_code_with_backticks_is_text():
    """A span of code cannot hold them."""
    assert code("a*b") == "`a*b`"
    assert code("a`b") == "a&#96;b"


def test_evil_values_stay_in_their_cells():
    """A field's value with `|` makes no new column."""
    text = page(*[a_test(f"test_a[{n}]", spec_json([step("given", f"x: “{n}|{n}”")])) for n in (1, 2)])

    assert "| 1&#124;1 |\n| 2&#124;2 |" in text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("post Parcel", "post-parcel"),
        ("../../etc/passwd", "etc-passwd"),
        ("CON", "con-scenarios"),
        ("index", "index-scenarios"),
        ("Bestellung geändert", "bestellung-ge-ndert"),
        ("x" * 300, "x" * 80),
    ],
)
def test_file_names_are_safe(text, name):
    """On every file system, and never the index."""
    assert slug(text, set()) == name


def test_file_names_are_told_apart():
    """Also those of other scripts, and those that differ in case alone."""
    taken: set[str] = set()

    names = [slug(text, taken) for text in ("Order", "order", "注文", "請求", "")]

    assert names[:2] == ["order", "order-2"]
    assert len(set(names)) == 5
    assert all(name.isascii() and name for name in names)


# --- files ------------------------------------------------------------------------------------------------------------


def test_pages_are_written_and_old_ones_removed(tmp_path):
    """Only those of our own: a page without the marker is somebody's."""
    folder = tmp_path / "made" / "here"
    write_docs(
        document(a_test("test_a", spec_json(simple())), a_test("test_b", spec_json(simple(), subject="B"))),
        folder,
    )
    (folder / "notes.md").write_text("# Mine\n")
    (folder / "picture.png").write_bytes(b"x")

    write_docs(document(a_test("test_a", spec_json(simple()))), folder)

    assert sorted(path.name for path in folder.iterdir()) == ["index.md", "notes.md", "picture.png", "post-parcel.md"]


def test_nothing_is_written_over_somebody_s_page(tmp_path):
    """Refused before anything is written."""
    (tmp_path / "index.md").write_text("# Mine\n")

    with pytest.raises(FileExistsError, match="was not written by wowspec") as caught:
        write_docs(document(a_test("test_a", spec_json(simple()))), tmp_path)

    assert "instead:" in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["index.md"]


def test_a_page_that_is_the_same_is_not_touched(tmp_path):
    """Whoever watches the folder is not woken."""
    made = document(a_test("test_a", spec_json(simple())))
    write_docs(made, tmp_path)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}

    write_docs(made, tmp_path)

    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_the_order_of_the_document_s_tests_does_not_matter():
    """The same suite gives the same pages."""
    tests = [a_test(f"test_{n}", spec_json(simple(str(n)), subject=f"S{n % 2}"), line=n) for n in range(6)]

    assert pages(document(*tests)) == pages(document(*reversed(tests)))
