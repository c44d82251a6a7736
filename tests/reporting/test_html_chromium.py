"""The HTML report in a real Chromium: from the matrix to a finding, copying, keys, addresses, narrow windows."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Final

import pytest

from wowspec.reporting.html import write_html

from . import chromium
from .pages import data_of, many, nasty, whole_document

_PATH: Final = chromium.found()
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(_PATH is None, reason="no Chromium here; Debian's package is `chromium`"),
]

PAGES: Final = (
    "overview",
    "specs",
    "specs-failed",
    "faults",
    "findings",
    "findings-known",
    "strength",
    "givens",
    "fidelity",
)
#: What a page must be like, as text of each rule that it breaks.
_RULES: Final = """(() => {
  const broken = [];
  const levels = [...document.querySelectorAll("main h1, main h2, main h3, main h4")].map((e) => Number(e.tagName[1]));
  if (levels[0] !== 1 || levels.filter((level) => level === 1).length !== 1) broken.push("one h1, and first");
  levels.forEach((level, at) => {
    if (at && level > levels[at - 1] + 1) broken.push(`h${level} follows h${levels[at - 1]}`);
  });
  for (const e of document.querySelectorAll("svg[role=img]")) {
    const names = e.getAttribute("aria-labelledby").split(" ").map((id) => document.getElementById(id));
    if (names.length !== 2 || names.some((each) => !each || !each.textContent)) broken.push("a drawing without a text");
  }
  for (const e of document.querySelectorAll("a, button, input, summary")) {
    const name = e.getAttribute("aria-label") || e.textContent.trim() || e.title;
    if (!name) broken.push(`a ${e.tagName} without a name`);
    if (e.tabIndex < 0) broken.push(`${name} is out of reach`);
  }
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  if (new Set(ids).size !== ids.length) broken.push("an id twice");
  for (const e of document.querySelectorAll("th:not([scope])")) broken.push(`a head without a scope: ${e.textContent}`);
  if (document.documentElement.scrollWidth > innerWidth) broken.push(`${document.documentElement.scrollWidth} px wide`);
  return broken;
})()"""


@pytest.fixture(scope="module")
def browser():
    """A browser for all tests of this module."""
    with chromium.running(_PATH) as browser:
        yield browser


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    """A small suite, with all that can be asked for."""
    return whole_document(tmp_path_factory.mktemp("suite"))


@pytest.fixture(scope="module")
def report(document, tmp_path_factory):
    """Its page, as an address."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_html(document, path)
    return path


@pytest.fixture
def opened(browser, report):
    """Opens an address within the report, and requires in the end that the page had nothing to complain of."""
    pages = []

    def open_page(address="overview", path=report, **window):
        pages.append(browser.open(f"{path.as_uri()}#{address}", **window))
        return pages[-1]

    yield open_page
    problems = [problem for page in pages for problem in page.problems()]
    for page in pages:
        page.close()
    assert problems == []


def addresses(path):
    """Every page of a report that is of its own kind: a failed spec, a passed one, a cell, findings of all sorts."""
    data = data_of(path.read_text(encoding="utf-8"))
    tests = [
        next(test["key"] for test in data["tests"] if test["outcome"] == outcome) for outcome in ("failed", "passed")
    ]
    tests += [test["key"] for test in data["tests"] if "together" in test["name"] or "branches" in test["name"]]
    found = {group["sort"]: group["findings"][0]["key"] for group in data["faults"]["groups"]}
    cell = next(iter(next(iter(data["faults"]["groups"]))["cells"]))
    return [*PAGES, *tests, *found.values(), f"cell-{cell}", "nowhere"]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_every_page_keeps_the_rules(opened, report, width, dark):
    """Headings in order, names for what can be pressed, texts for drawings; nothing wider than the window."""
    page = opened(width=width, dark=dark)
    broken = {}
    for address in addresses(report):
        page.evaluate(f"location.hash = {json.dumps(address)}")
        page.until(f"document.querySelector('main h1') && location.hash === {json.dumps('#' + address)}")
        page.evaluate("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
        page.evaluate("new Promise((done) => setTimeout(done, 30))")
        if rules := page.evaluate(_RULES):
            broken[address] = rules

    assert broken == {}


def test_from_the_matrix_to_a_finding(opened, document):
    """A cell leads to its findings, a finding to its spec; going back leads to where one was."""
    page = opened("faults")
    page.click(".cell.bad")
    assert page.text("h1").count(" at ") == 1
    page.click(".card.bad h3 a")

    assert " breaks " in page.text("main .lead").replace("break ", "breaks ")
    assert "--wowspec-plan" in page.text()
    assert page.evaluate("document.querySelectorAll('.story svg[role=img]').length") == 1
    assert page.evaluate("document.querySelectorAll('.struck .box').length") >= 1
    assert page.evaluate("document.querySelectorAll('.sent').length") >= 1
    page.click(".trail a[href^='#spec-']")
    assert "Given" in page.text() or "When" in page.text()
    page.evaluate("history.back()")
    page.until("location.hash.startsWith('#finding-')")
    page.evaluate("history.go(-2)")
    page.until("location.hash === '#faults' && document.querySelector('.matrix')")


def test_a_finding_says_what_to_do(opened, report):
    """Advice, the place of the function, a declaration to copy; the whole report is as the terminal prints it."""
    finding = data_of(report.read_text(encoding="utf-8"))["faults"]["groups"][0]["findings"][0]
    page = opened(finding["key"])

    assert page.text("h1") == finding["headline"]
    assert "Instead: " in page.text()
    assert finding["functions"][0] in page.text()
    assert f'expected=["{finding["plan"]} → ' in page.text()
    page.evaluate(
        "[...document.querySelectorAll('summary')].find((e) => e.textContent === 'The whole report as text').click()"
    )
    page.until("[...document.querySelectorAll('pre')].at(-1).textContent.includes('if it is to stay so')")
    whole = page.evaluate("[...document.querySelectorAll('pre')].at(-1).textContent")
    for part in ("wowspec: 1 fault breaks", "  replay pytest ", "  pin it:\n    from ", "  instead: "):
        assert part in whole
    assert "This line fails on purpose" not in page.text()


def test_a_story_of_a_finding_opens_where_it_goes_wrong(opened, document, tmp_path):
    """The command in whose course the fault strikes comes first; what was before it is there on demand."""
    result = next(each for each in document["exploration"] if any(f["story"] for f in each["findings"]))
    finding = deepcopy(next(f for f in result["findings"] if f["story"]))
    story = finding["story"]
    given = [{**row, "struck": False, "outcome": "ok"} for row in story["rows"][: story["departure"]]]
    story["rows"] = given + story["rows"]
    story["departure"] += len(given)
    path = tmp_path / "given.html"
    write_html({**document, "exploration": [{**result, "findings": [finding]}]}, path)
    page = opened(data_of(path.read_text(encoding="utf-8"))["faults"]["groups"][0]["findings"][0]["key"], path=path)
    boxes = "document.querySelectorAll('.story svg[role=img] .box').length"

    assert page.evaluate(boxes) == len(story["rows"]) - len(given)
    assert page.evaluate("document.querySelectorAll('.story .departs').length") == 1
    page.evaluate(
        f"[...document.querySelectorAll('button')].find((e) => e.textContent === 'Show the {len(given)} steps before')"
        ".click()"
    )
    page.until(f"{boxes} === {len(story['rows'])}")
    assert page.evaluate("document.querySelectorAll('.story .departs').length") == 1


def test_what_the_runtime_is_known_for_is_explained(opened, report):
    """The number leads to its section, opened; causes say why and what would heal; a replay is said to fail."""
    data = data_of(report.read_text(encoding="utf-8"))
    page = opened()
    page.click("a.tile[href='#findings-known']")
    page.until("document.querySelector('[data-sort=known]').open")
    groups = [group for group in data["faults"]["groups"] if group["sort"] == "known"]
    for group in groups:
        assert group["title"] in page.text()
        assert group["why"] in page.text()
    assert "would heal it" in page.text()
    page.click("[data-sort=known] .card h3 a")
    page.until("location.hash.startsWith('#finding-')")
    assert "This line fails on purpose" in page.text()
    assert groups[0]["why"] in page.text()


def test_a_cell_that_was_never_struck_says_why(opened, report):
    """Its dash leads to a reason."""
    page = opened("faults")
    page.click(".cell.blank")
    page.until("location.hash.startsWith('#cell-')")

    assert "no plan struck here. " in page.text()


def test_long_lists_say_how_much_of_them_is_there(opened, document, tmp_path):
    """Of findings that say the same the first ones are shown, others on demand; what is left out is said."""
    result = next(each for each in document["exploration"] if any(f["story"] for f in each["findings"]))
    finding = next(f for f in result["findings"] if f["story"])
    results = [{**result, "test": f"test_it.py::test_{n}", "steps": str(n), "findings": [finding]} for n in range(1300)]
    path = tmp_path / "many.html"
    write_html({**document, "exploration": results}, path)
    page = opened("findings", path=path)

    assert "1,100 of 1,300" in page.text()
    page.evaluate("[...document.querySelectorAll('summary')].find((e) => e.textContent === '1,100 of 1,300').click()")
    page.until("document.querySelectorAll('.card .rows > li').length === 100")
    assert "50 of 100 shown" in page.text()
    assert "50 of 1,000 shown" in page.text()
    assert "200 more are in the JSON report" in page.text()
    page.evaluate(
        "[...document.querySelectorAll('.card .button')].filter((e) => e.textContent === 'Show more')[1].click()"
    )
    page.until("document.querySelectorAll('.card .rows > li').length === 150")


def test_the_filter_counts_what_matters(opened, report):
    """Tests with findings that somebody may want to see: not those that the runtime alone is known for."""
    data = data_of(report.read_text(encoding="utf-8"))
    found = [test for test in data["tests"] if set(test.get("found", {})) - {"known"}]
    page = opened("specs")
    page.evaluate("[...document.querySelectorAll('.button')].find((e) => e.textContent === 'With findings').click()")

    page.until(f"[...document.querySelectorAll('.rows > li')].filter((e) => !e.hidden).length === {len(found)}")
    assert page.evaluate("document.querySelectorAll('.rows .badge').length") >= len(found)


def test_going_back_finds_the_place(opened):
    """A list is where one left it."""
    page = opened("specs", height=300)
    page.evaluate("scrollTo(0, 250)")
    page.evaluate("document.querySelectorAll('.row')[5].click()")
    page.until("location.hash.startsWith('#spec-') && scrollY === 0")
    page.evaluate("history.back()")

    page.until("location.hash === '#specs' && scrollY === 250")


def test_an_address_leads_to_its_place(opened, report):
    """A link from elsewhere shows the spec, the finding, the cell that it names; an unknown one says so."""
    data = data_of(report.read_text(encoding="utf-8"))
    test = data["tests"][0]

    assert opened(test["key"]).text("h1").startswith(test["title"])
    finding = data["faults"]["groups"][0]["findings"][0]
    page = opened(finding["key"])
    assert finding["broken"][0]["text"].split("\n")[0] in page.text()
    assert page.evaluate("document.querySelector('#nav [aria-current]').textContent") == "Findings"
    assert "event_store.append" in opened("cell-event_store.append--ack_lost").text("h1")
    assert opened("finding-of-another-run").text("h1") == "Nothing here"
    assert opened("%E0%A4%A").text("h1") == "Nothing here"


def test_what_is_copied(opened, report):
    """It goes to the clipboard; where there is none, the old way; where that fails, it is marked; each is said."""
    data = data_of(report.read_text(encoding="utf-8"))
    finding = data["faults"]["groups"][0]["findings"][0]
    page = opened(finding["key"])
    page.evaluate(
        "window.copied = [];"
        "Object.defineProperty(navigator, 'clipboard', { configurable: true, value:"
        " { writeText: async (text) => { window.copied.push(text); } } })"
    )
    page.click(".copy[aria-label='Copy the replay line']")
    page.until("document.querySelector('#said').textContent.startsWith('Copied the replay line')")
    assert page.evaluate("window.copied") == [finding["replay"]]

    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.evaluate(
        "document.execCommand = (what) => { window.copied.push([what, document.activeElement.value]); return true; }"
    )
    page.click(".copy[aria-label='Copy the test']")
    page.until("document.querySelector('#said').textContent.startsWith('Copied the test')")
    assert page.evaluate("window.copied")[1] == ["copy", finding["paste"]]

    page.evaluate("document.execCommand = () => false")
    page.click(".copy[aria-label='Copy the test']")
    page.until("document.querySelector('#said').textContent.startsWith('The text is marked')")
    assert page.evaluate("getSelection().toString()").strip() == finding["paste"].strip()


def test_keys_alone(opened):
    """Tab goes from the skip link through the pages to a test, Enter opens it, and the focus can be seen."""
    page = opened()
    page.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    page.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.press("Tab", shift=True)
    page.press("Tab", shift=True)
    page.evaluate("document.querySelector('#nav a').focus()")
    page.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Specs"
    page.press("Enter")
    page.until("location.hash === '#specs' && document.activeElement.tagName === 'H1'")
    seen = []
    for _ in range(9):
        page.press("Tab")
        seen.append(page.evaluate("document.activeElement.className.split(' ')[0]"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        assert page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth)") >= 2
    assert seen == ["field", "button", "button", "button", "button", "button", "row", "row", "row"]
    page.press("Enter")
    page.until("location.hash.startsWith('#spec-')")


def test_searching(opened, document):
    """Words of a title, an aggregate or a step leave the tests that have all of them; the count is told."""
    page = opened("specs")
    page.evaluate("document.querySelector('.field').focus()")
    page.type("stock hears")
    page.until("[...document.querySelectorAll('.rows > li')].filter((e) => !e.hidden).length === 1")
    assert page.text(".tools [role=status]") == f"1 of {len(document['tests'])} tests"
    page.evaluate("document.querySelector('.field').select()")
    page.type("no such words")
    page.until("!document.querySelector('main .lead').hidden")
    page.click(".buttons:last-of-type .button:last-of-type")
    assert page.evaluate("document.querySelector('.buttons:last-of-type .button:last-of-type').ariaPressed") == "true"


def test_a_story_is_drawn_and_told(opened, report):
    """Lanes, arrows, what was struck, the first departure; the table says the same in as many rows."""
    data = data_of(report.read_text(encoding="utf-8"))
    test = next(test for test in data["tests"] if test["name"] == "test_a_lost_reply")
    run = test["specs"][0]["runs"][-1]
    page = opened(test["key"])

    assert page.evaluate("document.querySelectorAll('.story svg[role=img] .box').length") == len(run["rows"])
    lanes = len({row[[name for name, _ in data["columns"]].index("lane")] for row in run["rows"]})
    assert page.evaluate("document.querySelectorAll('.story .life').length") == lanes
    assert page.evaluate("document.querySelectorAll('.story .heads .role').length") == lanes
    assert page.evaluate("document.querySelectorAll('.story .departs').length") == 1
    assert "✗ ack_lost" in page.evaluate("document.querySelector('.story .struck').textContent")
    assert "ack_lost" in page.evaluate("document.querySelector('.story desc').textContent")
    page.evaluate(
        "[...document.querySelectorAll('summary')].find((e) => e.textContent === 'The same as a table').click()"
    )
    page.until("document.querySelector('.timeline')")
    assert page.evaluate("document.querySelectorAll('.timeline tbody tr').length") == len(run["rows"])
    assert page.evaluate("document.querySelectorAll('.timeline tr.wrong').length") >= 1
    assert "first departure" in page.evaluate("document.querySelector('.timeline').textContent")


def test_arrows_lead_from_who_sent_to_who_was_meant(opened, report):
    """A message arrives once from the lane that sent it; a saga's command comes of the function that made it."""
    data = data_of(report.read_text(encoding="utf-8"))
    test = next(test for test in data["tests"] if test["name"] == "test_order")
    page = opened(test["key"])

    assert page.evaluate("[...document.querySelectorAll('.story .arrow title')].map((e) => e.textContent)") == [
        "sent by gateway:o-1, for o-1",
        "sent by o-1, for OrderBoard.placed@o-1",
        "sent by o-1, for OrderSaga.placed@o-1",
        "made by OrderSaga.placed@o-1, for gateway:s-1",
        "sent by o-1, for snapshot@o-1",
        "sent by gateway:s-1, for s-1",
        "sent by s-1, for snapshot@s-1",
    ]


def test_texts_that_mean_ill_do_nothing(opened, document, tmp_path):
    """They stand there as they are; no script of theirs runs, and no page is wider for them."""
    path = tmp_path / "ill.html"
    write_html(nasty(document), path)
    page = opened(path=path, width=400)
    page.evaluate("window.alert = () => { throw new Error('it ran'); }")
    for address in addresses(path):
        page.evaluate(f"location.hash = {json.dumps(address)}")
        page.until("document.querySelector('main h1')")
        page.evaluate("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
        page.evaluate("new Promise((done) => setTimeout(done, 30))")

        assert page.evaluate(_RULES) == []
    assert page.evaluate("document.scripts.length") == 2
    page.evaluate("location.hash = 'overview'")
    page.until("location.hash === '#overview' && document.querySelector('.tiles')")
    assert "</script><script>alert(1)" in page.text()


def test_long_words_stay_in_their_boxes(opened, document, tmp_path):
    """An id of thousands of letters without a blank widens no page."""
    path = tmp_path / "long.html"
    word = "x" * 3000
    test = document["tests"][0]
    write_html({**document, "title": word, "tests": [{**test, "title": word, "file": word, "failure": word}]}, path)
    page = opened(path=path, width=400)
    for address in ("overview", "specs", data_of(path.read_text(encoding="utf-8"))["tests"][0]["key"]):
        page.evaluate(f"location.hash = {json.dumps(address)}")
        page.until("document.querySelector('main h1')")

        assert page.evaluate("document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize("count", [1, 2000])
def test_large_and_small(opened, document, tmp_path, count):
    """One spec, and two thousand: it opens, and lists them all."""
    path = tmp_path / "report.html"
    write_html(many(document, count), path)
    page = opened("specs", path=path)
    tests = page.evaluate("document.querySelectorAll('.rows > li').length")

    assert tests == len(data_of(path.read_text(encoding="utf-8"))["tests"])
    page.evaluate("document.querySelector('.rows > li:last-child a').click()")
    page.until("location.hash.startsWith('#spec-') && document.querySelector('.scenario')")


def test_nothing_was_asked_for(opened, document, tmp_path):
    """Each page says which option gives it."""
    path = tmp_path / "bare.html"
    write_html({**document, "exploration": [], "coverage": None, "strength": None, "unreachable": None}, path)
    for address, option in (
        ("faults", "--wowspec-faults=sweep"),
        ("findings", "--wowspec-faults=sweep"),
        ("strength", "--wowspec-strength"),
        ("givens", "--wowspec-unreachable"),
    ):
        assert option in opened(address, path=path).text()
    assert "Not asked for this time" in opened(path=path).text()


def test_tests_without_specs_are_told_apart(opened, document, tmp_path):
    """The first page says of which tests it speaks, and how many others there are."""
    passed = [test for test in document["tests"] if test["outcome"] == "passed"]
    only = {**document, "tests": passed, "exploration": [], "coverage": None}
    for others, heading in ((3, f"All {len(passed)} tests with specs passed"), (0, f"All {len(passed)} tests passed")):
        path = tmp_path / f"others_{others}.html"
        write_html({**only, "other_tests": others}, path)
        text = opened(path=path).text()
        assert heading in text
        assert ("other tests, without specs" in text) is (others > 0)


def test_without_scripts(browser, report, document):
    """Where scripts are off, the numbers and what failed can be read."""
    page = browser.open(report.as_uri(), scripts=False, width=400)
    said = page.text()
    width = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    failed = [test for test in document["tests"] if test["outcome"] == "failed"]

    assert "What failed" in said
    assert all(test["id"] in said for test in failed)
    assert width <= 400
