"""Puts the page together: one file, its styles, scripts and data within it."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

from ..document import DocumentJson
from .bounds import bounded
from .embedding import escaped, script_json
from .payload import payload_of
from .unscripted import unscripted

#: In the order in which a browser reads them.
STYLES: Final = ("colours.css", "layout.css", "parts.css", "tables.css", "diagram.css")
SCRIPTS: Final = (
    "elements.js",
    "data.js",
    "diagram.js",
    "overview.js",
    "specs.js",
    "spec.js",
    "faults.js",
    "groups.js",
    "finding.js",
    "strength.js",
    "fidelity.js",
    "main.js",
)
_SLOT: Final = re.compile(r"\{\{(\w+)\}\}")


def asset(name: str) -> str:
    """The text of a file that the page is made of."""
    return (files("wowspec.reporting.html") / "assets" / name).read_text(encoding="utf-8")


def page_text(document: DocumentJson) -> str:
    """The whole page.

    Args:
        document: what the suite came to.
    """
    document = bounded(document)
    scripts = "\n".join(asset(name) for name in SCRIPTS)
    parts = {
        "title": escaped(document["title"]),
        "styles": "\n".join(asset(name) for name in STYLES),
        "unscripted": unscripted(document),
        "data": script_json(payload_of(document)),
        "scripts": f'(() => {{\n"use strict";\n{scripts}\n}})();',
    }
    return _SLOT.sub(lambda slot: parts[slot[1]], asset("page.html"))
