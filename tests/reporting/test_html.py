"""The HTML report without a browser: one file that is whole and safe, its data, its colours, its size."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from copy import deepcopy
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pytest

from wowspec.reporting.html import bounds, page, page_text, write_html
from wowspec.reporting.html.embedding import address, escaped, readable, script_json, slug
from wowspec.reporting.html.groups import MOST_STORIES, MOST_TOLD, found_in
from wowspec.reporting.html.payload import MOST_FAILURE
from wowspec.reporting.html.unscripted import MOST_LINES, MOST_TEXTS, unscripted

from .pages import NASTY, data_of, many, nasty, whole_document

ASSETS: Final = Path(page.__file__).parent / "assets"


class Tags(HTMLParser):
    """The elements of a page in their order, with their attributes, and the texts of scripts."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.all = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.all.append((tag, dict(attrs)))

    def named(self, tag):
        return [attributes for name, attributes in self.all if name == tag]


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    """A small suite, with all that can be asked for."""
    return whole_document(tmp_path_factory.mktemp("suite"))


@pytest.fixture(scope="module")
def text(document):
    """Its page."""
    return page_text(document)


def bare(document):
    """A document of a suite for which nothing was asked besides."""
    return {**document, "exploration": [], "coverage": None, "strength": None, "unreachable": None}


# --- one file ---------------------------------------------------------------------------------------------------------


def test_page_needs_nothing_else(text):
    """No address leads anywhere but into the page itself, and its policy forbids all else."""
    tags = Tags(text)
    addresses = [value for _, given in tags.all for key, value in given.items() if key in {"src", "href", "action"}]
    (policy,) = [each["content"] for each in tags.named("meta") if each.get("http-equiv") == "Content-Security-Policy"]

    assert all(each.startswith(("#", "data:image/svg+xml,")) for each in addresses)
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:")
    assert "@import" not in text
    assert "url(" not in "".join(page.asset(name) for name in page.STYLES)


def test_page_has_landmarks(text):
    """Language, viewport, title, a link to skip what comes first, and the landmarks."""
    tags = Tags(text)

    assert tags.named("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in tags.named("meta")
    assert {"name": "color-scheme", "content": "light dark"} in tags.named("meta")
    assert tags.named("a")[0] == {"class": "skip", "href": "#main"}
    assert [len(tags.named(name)) for name in ("title", "header", "nav", "main", "footer", "noscript")] == [1] * 6
    assert tags.named("nav")[0]["aria-label"]
    assert [each["aria-live"] for each in tags.named("div") if "aria-live" in each] == ["polite"]


def test_motion_and_schemes_are_asked_for():
    """What moves, moves only for those who don't mind; colours follow the reader's scheme."""
    styles = "\n".join(page.asset(name) for name in page.STYLES)
    moving = re.findall(r"[^{}]*\{[^{}]*(?:transition|animation|scroll-behavior)[^{}]*\}", styles)
    block = re.search(r"@media \(prefers-reduced-motion: no-preference\) \{(.*?)\n\}", styles, re.DOTALL)

    assert block is not None
    assert all(rule.strip() in block[0] for rule in moving)
    assert "@media (prefers-color-scheme: dark)" in styles


def test_every_asset_is_in_the_page(text):
    """Each file of the folder is put into the page, once; what is not there can't be forgotten."""
    names = {path.name for path in ASSETS.iterdir()}

    assert names == {*page.STYLES, *page.SCRIPTS, "page.html"}
    assert all(text.count(page.asset(name)) == 1 for name in (*page.STYLES, *page.SCRIPTS))
    assert all(len(path.read_text(encoding="utf-8").splitlines()) <= 250 for path in ASSETS.iterdir())


def test_scripts_make_no_markup_of_texts():
    """No script writes HTML, evaluates a text, stores anything, or asks the network."""
    scripts = "\n".join(page.asset(name) for name in page.SCRIPTS)
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|\beval\b"
        r"|new Function|setTimeout\(\s*[\"'`]|\bfetch\b|XMLHttpRequest|WebSocket|sendBeacon|\bimport\b|localStorage"
        r"|sessionStorage|cookie|https?://(?!www\.w3\.org/)"
    )

    assert re.findall(forbidden, scripts) == []


def test_same_document_gives_the_same_bytes(document, tmp_path):
    """Whether it was read from a file or not; and folders on the way are made."""
    first, second = tmp_path / "a.html", tmp_path / "deep" / "b.html"
    write_html(document, first)
    write_html(json.loads(json.dumps(document)), second)

    assert first.read_bytes() == second.read_bytes()
    assert b"\r" not in first.read_bytes()


@pytest.mark.long
def test_hash_seed_changes_nothing(document, tmp_path):
    """Two processes with other hash seeds write the same bytes."""
    source = tmp_path / "document.json"
    source.write_text(json.dumps(document), encoding="utf-8")
    program = (
        "import json, sys; from pathlib import Path; from wowspec.reporting.html import write_html;"
        "write_html(json.loads(Path(sys.argv[1]).read_text(encoding='utf-8')), Path(sys.argv[2]))"
    )
    written = []
    for seed in ("1", "2", "3"):
        target = tmp_path / f"{seed}.html"
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", program, str(source), str(target)], env=environment, check=True)
        written.append(target.read_bytes())

    assert written == written[:1] * 3


# --- texts that mean ill ----------------------------------------------------------------------------------------------


def test_no_text_becomes_markup(document, text):
    """With texts that mean ill everywhere, the page has the elements that it has without them, and no other."""
    ill = page_text(nasty(document))
    tags = Tags(ill)

    assert [name for name, _ in tags.all] == [name for name, _ in Tags(text).all]
    assert ill.count("<script") == 2
    assert ill.count("</script>") == 2
    assert "<!-- <![CDATA[" not in ill
    assert not {"\u2028", "\u2029", "\x00", "\x1b", "\ufeff"} & set(ill)
    ill.encode("utf-8")


def test_texts_reach_the_scripts_as_they_are(document):
    """What means ill is escaped, not lost."""
    data = data_of(page_text(nasty(document)))

    assert all(test["title"].endswith(NASTY) for test in data["tests"])
    assert all(spec["scenario"].endswith(NASTY) for test in data["tests"] for spec in test.get("specs", []))
    assert data["title"].endswith(NASTY)
    assert any(word.endswith(NASTY) for word in data["words"])


def test_script_json_is_ascii_without_markup():
    """JSON within a script holds no sign that a parser of HTML looks for."""
    written = script_json({"a": NASTY})

    assert written.isascii()
    assert not set("<>&") & set(written)
    assert json.loads(written) == {"a": NASTY}


def test_escaped_text_can_be_written():
    """Static texts lose colours of terminals, and show what has no shape by its number."""
    assert escaped("\x1b[31mred\x1b[0m <b> & \"q\" 'a'") == "red &lt;b&gt; &amp; &quot;q&quot; &#x27;a&#x27;"
    assert readable("a\x00b\ud800c\td\ne") == "a\\u0000b\\ud800c\td\ne"
    readable(NASTY).encode("utf-8")


def test_addresses_are_plain():
    """Addresses are letters, digits and `-`, and tell apart what differs anywhere."""
    assert slug("test_it[ä <b>/../]") == "test-it-b"
    assert address("spec", "test_it", "a") != address("spec", "test_it", "b")
    assert re.fullmatch(r"spec-[0-9a-f]{8}", address("spec", "שלום", "x"))
    assert re.fullmatch(r"[a-z0-9-]+", address("spec", "x" * 500, "\ud800"))
    assert len(address("spec", "x" * 500, "x")) < 80


# --- what it shows ----------------------------------------------------------------------------------------------------


def test_numbers_are_counted(document, text):
    """Tests by outcome, specs, findings by sort, coverage, strength, givens."""
    data = data_of(text)

    assert sum(data["outcomes"].values()) == len(document["tests"]) == len(data["tests"])
    assert data["outcomes"]["failed"] == sum(test["outcome"] == "failed" for test in document["tests"])
    assert data["specs"] == sum(len(test["specs"]) for test in document["tests"])
    assert data["faults"]["coverage"] == document["coverage"]
    assert data["faults"]["plans"] > 0
    assert data["strength"]["counted"] >= len(data["strength"]["unseen"])
    assert data["unreachable"]["limit"] == 20
    assert data["fidelity"]["all"][0] == 847


def test_rows_can_be_read_back(document, text):
    """A story is kept whole, its texts once for all stories."""
    data = data_of(text)
    runs = [run for test in data["tests"] for spec in test.get("specs", []) for run in spec.get("runs", [])]
    told = [run for test in document["tests"] for spec in test["specs"] for run in spec["runs"]]
    read = [
        [
            {
                name: data["words"][cell] if is_text else cell
                for (name, is_text), cell in zip(data["columns"], row, strict=True)
            }
            for row in run["rows"]
        ]
        for run in runs
    ]

    assert read == [[{**row, "struck": int(row["struck"])} for row in run["rows"]] for run in told]
    assert len(set(data["words"])) == len(data["words"])


def test_every_column_of_a_row_is_there(document):
    """A key that a row gets is a column, too."""
    from wowspec.reporting.html.stories import COLUMNS
    from wowspec.specs.run_json import RowJson

    assert {name for name, _ in COLUMNS} == set(RowJson.__annotations__)


def test_findings_are_grouped(document, text):
    """Each finding is in one group of its sort; those of the domain come first, those known to the runtime last."""
    groups = data_of(text)["faults"]["groups"]
    sorts = [group["sort"] for group in groups]

    assert sum(group["count"] for group in groups) == len(found_in(document["exploration"]))
    assert {"domain", "known"} <= set(sorts)
    assert sorts == sorted(sorts, key=["domain", "declared", "healed", "known"].index)
    assert all(group["count"] == len(group["findings"]) + len(group["others"]) for group in groups)
    keys = [finding["key"] for group in groups for finding in group["findings"]]
    assert len(set(keys)) == len(keys)


def test_findings_of_the_domain_are_told_in_full(text):
    """Laws with texts, ledgers, replay line, the test to paste, and the story of the first ones."""
    groups = data_of(text)["faults"]["groups"]
    first = next(group for group in groups if group["sort"] == "domain")["findings"][0]

    assert first["broken"][0]["text"]
    assert "--wowspec-plan" in first["replay"]
    assert "\n\n@explore_faults" in first["paste"]
    assert "from wowspec import explore_faults" in first["paste"]
    assert first["told"]
    assert first["run"]["rows"]
    assert first["faults"][0]["cell"].count("--") == 1


def test_cells_lead_to_their_findings(text):
    """Each cell of a finding is in the matrix; each test of a finding lists it."""
    data = data_of(text)
    cells = data["faults"]["matrix"]["cells"]

    for group in data["faults"]["groups"]:
        assert set(group["cells"]) <= set(cells)
        for finding in group["findings"]:
            assert finding["key"] in data["tests"][finding["test"]]["findings"]


def test_tests_with_the_same_steps_find_the_same_once(document):
    """A finding of the same steps is told once, with the tests that found it, too; a declared one is another one."""
    again = deepcopy(document["exploration"])
    results = [result for result in again if result["findings"] and result["steps"]]
    twin = {**deepcopy(results[0]), "test": "test_twin.py::test_twin", "same_as": results[0]["test"]}
    declared = {**deepcopy(twin), "test": "test_twin.py::test_declared"}
    for finding in declared["findings"]:
        for item in finding["broken"]:
            item["declared"] = True

    found = found_in([results[0], twin, declared])

    count = len(results[0]["findings"])
    assert [each.also for each in found[:count]] == [["test_twin.py::test_twin"]] * count
    assert len(found) == 2 * count
    assert {each.sort for each in found[count:]} == {"declared"}


def test_many_findings_are_told_by_the_first_of_them(document):
    """A defect that a thousand plans find is told in full so many times; the others by test and plan."""
    base = deepcopy(document)
    result = next(each for each in base["exploration"] if any(f["story"] for f in each["findings"]))
    finding = next(f for f in result["findings"] if f["story"])
    base["exploration"] = [
        {**result, "test": f"test_it.py::test_{number}", "steps": str(number), "findings": [deepcopy(finding)]}
        for number in range(1000)
    ]

    (group,) = data_of(page_text(base))["faults"]["groups"]

    assert (group["count"], group["tests"]) == (1000, 1000)
    assert len(group["findings"]) == MOST_TOLD[group["sort"]]
    assert sum(bool(each["run"]) for each in group["findings"]) == MOST_STORIES
    assert len(group["others"]) == 1000 - MOST_TOLD[group["sort"]]


def test_what_was_not_asked_for_is_not_there(document):
    """Without exploration, strength and givens the page has nothing of them."""
    data = data_of(page_text(bare(document)))

    assert (data["faults"], data["strength"], data["unreachable"]) == (None, None, None)


def test_an_empty_suite_has_a_page():
    """No test, nothing explored: the page is whole all the same."""
    empty = {
        "schema": 1, "tool": "wowspec", "version": "0", "title": "nothing", "tests": [], "other_tests": 0,
        "exploration": [], "coverage": None, "strength": None, "unreachable": None,
    }  # fmt: skip

    data = data_of(page_text(empty))

    assert (data["tests"], data["outcomes"], data["specs"]) == ([], {}, 0)


def test_without_scripts_the_page_says_what_failed(document, text):
    """The numbers, each failed test with its text, each finding of the domain with its replay line."""
    static = re.search(r"<noscript>(.*?)</noscript>", text, re.DOTALL)[1]
    failed = [test for test in document["tests"] if test["outcome"] in {"failed", "error"}]
    due = [group for group in data_of(text)["faults"]["groups"] if group["sort"] == "domain"]

    assert failed
    assert f"<td>{len(document['tests'])}</td>" in static
    for test in failed:
        assert escaped("\n".join(test["failure"].splitlines()[:MOST_LINES])) in static
        assert escaped(test["id"]) in static
    for group in due:
        assert escaped(group["findings"][0]["replay"]) in static
    assert "<script" not in static


def test_without_scripts_a_thousand_failures_are_named(document):
    """Each failed test has its place, the first ones their texts, none of which is endless."""
    test = next(test for test in document["tests"] if test["outcome"] == "failed")
    many_failed = [{**test, "id": f"test_it.py::test_{number}", "failure": "line\n" * 500} for number in range(1000)]

    static = unscripted({**bare(document), "tests": many_failed})

    assert static.count("<h3>") == 1000
    assert static.count("<pre>") == MOST_TEXTS
    assert static.count("… 440 more lines") == MOST_TEXTS


def test_tests_without_specs_are_counted(document):
    """They count for pytest, and whoever reads both numbers wonders: the page says how many it does not show."""
    assert document["other_tests"] == data_of(page_text(document))["others"] > 0
    assert "<th scope='row'>other tests, without specs</th>" in unscripted(document)
    assert "other tests" not in unscripted({**document, "other_tests": 0})


def test_steps_can_be_read_back(document, text):
    """Keyword, sentence, code, what is wrong and details of each step, once for all steps that say the same."""
    data = data_of(text)
    read = [
        [data["words"][word] for word in step]
        for test in data["tests"]
        for spec in test.get("specs", [])
        for step in spec.get("steps", [])
    ]

    assert read == [
        [step["keyword"], step["sentence"], step["code"], "failed" if step.get("failed") else "", *step["details"]]
        for test in document["tests"]
        for spec in test["specs"]
        for step in spec["steps"]
    ]


def test_an_endless_failure_is_cut(document):
    """What explains a failure stands first; of the rest it is said how much it is, and where."""
    test = {**document["tests"][0], "failure": "x" * (MOST_FAILURE + 7)}
    (shown,) = data_of(page_text({**bare(document), "tests": [test]}))["tests"]

    assert shown["failure"].endswith("x\n… 7 more characters, in --wowspec-report=json:PATH")


def test_many_failures_share_their_room(document, monkeypatch):
    """Short ones are whole, long ones have as much as any other."""
    monkeypatch.setattr(bounds, "MOST_FAILURES", 3_000)
    tests = [{**document["tests"][0], "failure": "x" * length} for length in (10, 20, 5_000, 1_500, 6_000)]
    shown = [test["failure"] for test in data_of(page_text({**bare(document), "tests": tests}))["tests"]]

    assert shown[:2] == ["x" * 10, "x" * 20]
    assert [each.count("x") for each in shown[2:]] == [990, 990, 990]
    assert shown[2].endswith("x\n… 4,010 more characters, in --wowspec-report=json:PATH")


def test_each_failure_has_some_room():
    """However many there are; where they are few, all of it."""
    assert bounds.share([1_000] * 100_000, bounds.MOST_FAILURES) == bounds.LEAST_FAILURE
    assert bounds.share([1_000] * 10, bounds.MOST_FAILURES) == 1_000
    assert bounds.share([], bounds.MOST_FAILURES) == bounds.MOST_FAILURES


def test_two_thousand_specs_are_a_file_of_moderate_size(document):
    """Less than 10 MB, everything asked for."""
    size = len(page_text(many(document, 2000)).encode("utf-8"))

    assert size < 10_000_000


# --- colours ----------------------------------------------------------------------------------------------------------


def schemes():
    """The colours of the light and of the dark scheme, by name."""
    light, dark = page.asset("colours.css").split("@media")
    return [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", part)) for part in (light, dark)]


def luminance(colour):
    """As WCAG 2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, two):
    """As WCAG 2 defines it."""
    dark, light = sorted((luminance(one), luminance(two)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_texts_stand_out(scheme):
    """4.5 : 1 for texts on each ground, and on the soft ground of their own colour; 3 : 1 for the edges of fields."""
    colours = schemes()[scheme]
    tones = ("good", "bad", "warn", "known", "accent")
    grounds = ("ground", "surface", "sunken")
    pairs = [(text, ground) for text in ("text", "muted", *tones) for ground in grounds]
    pairs += [(tone, f"{tone}-soft") for tone in tones]
    pairs += [(text, f"{tone}-soft") for text in ("text", "muted") for tone in tones]
    pairs += [("surface", "accent")]

    weak = [f"{text} on {ground}: {contrast(colours[text], colours[ground]):.2f}" for text, ground in pairs
            if contrast(colours[text], colours[ground]) < 4.5]  # fmt: skip
    weak += [f"edge on {ground}" for ground in grounds if contrast(colours["edge"], colours[ground]) < 3]

    assert weak == []


def test_colours_have_names():
    """No rule says a colour by itself: all are in one file, where their contrast is computed."""
    others = "\n".join(page.asset(name) for name in page.STYLES if name != "colours.css")

    assert re.findall(r"#[0-9a-fA-F]{3,8}\b|\brgba?\(|\bhsl", others) == []
    assert set(schemes()[0]) == set(schemes()[1])
    assert set(re.findall(r"var\(--([a-z-]+)", others)) <= {
        *schemes()[0], "shade", "sans", "mono", "wide", "side", "width", "room",
    }  # fmt: skip
