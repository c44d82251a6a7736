"""Every link of the pages leads somewhere, every page is found from the first, and the navigation names each once."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.test_docs import DOCS, ROOT

#: The first part of another page, which holds it whole.
_PARTS: Final = {DOCS / "fidelity.head.md"}
PAGES: Final = sorted(
    {*DOCS.rglob("*.md"), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))} - _PARTS
)
_FENCED: Final = re.compile(r"(?ms)^ *```.*?^ *```")
_CODE: Final = re.compile(r"`[^`\n]+`")
_LINK: Final = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\((?P<target>[^)\s]+)\)")
_HEADING: Final = re.compile(r"(?m)^#+ +(.+?) *$")


@cache
def anchors_of(path: Path) -> frozenset[str]:
    """The anchors that GitHub gives the headings of a page."""
    counts: dict[str, int] = {}
    made = set()
    for heading in _HEADING.findall(_FENCED.sub("", path.read_text(encoding="utf-8"))):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        counts[slug] = counts.get(slug, -1) + 1
        made.add(f"{slug}-{counts[slug]}" if counts[slug] else slug)
    return frozenset(made)


@cache
def links_of(path: Path) -> tuple[tuple[Path, str], ...]:
    """The links of a page within the repository: file, anchor."""
    text = _FENCED.sub("", path.read_text(encoding="utf-8"))
    # A link's text may be code; code that looks like a link is none.
    text = _CODE.sub(lambda code: code[0] if "](" not in code[0] else "", text)
    found = []
    for link in _LINK.finditer(text):
        target, _, anchor = link["target"].partition("#")
        if not re.match(r"\w+:", link["target"]):
            found.append(((path.parent / target).resolve() if target else path, anchor))
    return tuple(found)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    """Files that are linked exist, and pages that are linked have the headings."""
    missing = [target.name for target, _ in links_of(page) if not target.exists()]
    astray = [
        f"{target.name}#{anchor}"
        for target, anchor in links_of(page)
        if anchor and target.suffix == ".md" and target.exists() and anchor not in anchors_of(target)
    ]

    assert missing + astray == []


def test_every_page_is_found_from_the_first():
    """A reader who begins at the index and follows links comes to every page."""
    seen = {DOCS / "index.md"}
    ahead = list(seen)
    while ahead:
        for target, _ in links_of(ahead.pop()):
            if target.suffix == ".md" and target.exists() and target not in seen:
                seen.add(target)
                ahead.append(target)

    assert sorted(page.name for page in set(PAGES) - seen) == []


def test_the_index_names_every_page_by_itself():
    """Nothing needs two steps but the pages of the reference and of scenarios."""
    named = {target for target, _ in links_of(DOCS / "index.md")}
    others = {page for page in PAGES if page.parent in {DOCS, ROOT}} - {DOCS / "index.md"}

    assert sorted(page.name for page in others - named) == []


def test_the_navigation_names_every_page():
    """The site's navigation and the files are the same, each page once."""
    source = ast.parse((DOCS / "conf.py").read_text(encoding="utf-8"))
    (value,) = [
        each.value
        for each in source.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.target.id == "NAVIGATION"
    ]
    named = [page for _, pages in ast.literal_eval(value) for page in pages]

    assert len(named) == len(set(named))
    # Scenarios are named by the first of them.
    scenarios = {page for page in PAGES if page.parent == DOCS / "scenarios" and page.stem != "index"}
    assert {ROOT / f"{name}.md" for name in named} == set(PAGES) - scenarios - {DOCS / "index.md"}
