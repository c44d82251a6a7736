"""Sphinx makes a site of the pages: `python -m sphinx -W --keep-going -q -c docs . site`.

The pages are plain Markdown, which GitHub shows as well. Nothing in them is for Sphinx alone but for what follows here:
navigation, and what becomes of links to files that are no pages.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pygments.lexers.special import TextLexer

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT: Final = Path(__file__).parent.parent

project = "wowspec"
author = "the wowspec authors"
project_copyright = "the wowspec authors, Apache-2.0"
language = "en"

extensions = ["myst_parser"]
# Read from the root of the repository, so that README, CONTRIBUTING and CHANGELOG are pages, too.
root_doc = "docs/index"
include_patterns = ["docs/**.md", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
exclude_patterns = ["docs/fidelity.head.md", "docs/_*"]
source_suffix = {".md": "markdown"}
highlight_language = "none"

# Headings get the anchors that GitHub gives them.
myst_heading_anchors = 6

html_theme = "furo"
html_title = "wowspec"
html_copy_source = False
html_show_sourcelink = False

#: Title and pages of each part of the navigation, from the root of the repository. A test compares it with the files.
NAVIGATION: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "Begin",
        (
            "README",
            "docs/first-spec",
            "docs/existing-project",
            "docs/from-pytest",
            "docs/coming-from",
            "docs/troubleshooting",
            "docs/glossary",
        ),
    ),
    (
        "Write specs",
        (
            "docs/writing-a-domain",
            "docs/sagas-and-projections",
            "docs/waiting",
            "docs/choosing-a-stage",
            "docs/unknown-outcomes",
            "docs/concurrency",
            "docs/commands-in-flight",
        ),
    ),
    (
        "When things fail",
        (
            "docs/faults",
            "docs/failure-orderings",
            "docs/failure-orderings-reference",
            "docs/what-the-sweep-finds",
            "docs/hypothesis",
            "docs/strength",
        ),
    ),
    (
        "Read and show results",
        (
            "docs/failures",
            "docs/failures-beside-others",
            "docs/reports",
            "docs/living-documentation",
            "docs/scenarios/index",
            "docs/in-ci",
        ),
    ),
    (
        "Look up",
        (
            "docs/reference/index",
            "docs/reference/specs",
            "docs/reference/domain",
            "docs/reference/waiting",
            "docs/reference/faults",
            "docs/reference/hypothesis",
            "docs/reference/errors",
            "docs/how-faithful",
            "docs/fidelity",
        ),
    ),
    (
        "Take part",
        ("CONTRIBUTING", "docs/architecture", "docs/trials", "CHANGELOG"),
    ),
)

#: The first of the pages that `wowspec docs` makes of the examples; it names the others.
_SCENARIOS: Final = "docs/scenarios/index"
#: Pages whose heading says too little in a list.
_TITLES: Final = {
    "README": "What it is for",
    "docs/scenarios/index": "The examples in words",
    "docs/reference/index": "API reference",
    "docs/architecture": "How it is built",
}

_LINK: Final = re.compile(r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<target>(?!\w+:|#)[^)#\s]+)(?:#[^)\s]*)?\)")


def _navigation() -> str:
    """The navigation, for Sphinx, which wants it on the first page."""
    entries = (
        (title, "".join(f"{_TITLES[page]} </{page}>\n" if page in _TITLES else f"/{page}\n" for page in pages))
        for title, pages in NAVIGATION
    )
    return "".join(f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{listed}```\n" for title, listed in entries)


def _without_foreign_links(text: str, folder: Path) -> str:
    """The text of links to files that are no pages of the site, such as the examples, in place of the links."""

    def unless_page(link: re.Match[str]) -> str:
        target = (folder / link["target"]).resolve()
        if target.suffix == ".md" and (target.parent == ROOT or ROOT / "docs" in target.parents):
            return link[0]
        return link["text"]

    return _LINK.sub(unless_page, text)


def _prepare(_: Sphinx, page: str, source: list[str]) -> None:
    source[0] = _without_foreign_links(source[0], (ROOT / page).parent)
    if page == root_doc:
        source[0] += _navigation()
    if page == _SCENARIOS:
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"


def _lead_to_first_page(app: Sphinx, error: Exception | None) -> None:
    """A site is opened at its root, and the first page is one folder below."""
    if error is None and app.builder.format == "html":
        there = f"{root_doc}.html"
        (Path(app.outdir) / "index.html").write_text(
            f'<!doctype html><meta charset="utf-8"><title>{project}</title>'
            f'<meta http-equiv="refresh" content="0; url={there}"><a href="{there}">{project}</a>\n',
            encoding="utf-8",
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Let Sphinx call us for each page that it reads."""
    # GitHub draws it; here it is text.
    app.add_lexer("mermaid", TextLexer)
    app.connect("source-read", _prepare)
    app.connect("build-finished", _lead_to_first_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
