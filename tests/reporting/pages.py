"""Documents for the HTML report: of a small suite, of one that is large, of one that means ill."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from typing import Any, Final

from .sessions import document_of

#: Whatever could end a script, a comment, an attribute or a line; what has no shape; what runs the other way.
NASTY: Final = (
    "</script><script>alert(1)</script><!-- <![CDATA[ --!> </noscript></style>"
    "\u2028\u2029\ud800\x00\x1b[31m \u202e שלום العربية &lt;&amp;\"'` ${x} {{data}} \\u003c🎉"
)
#: Texts that people, or their domains, say.
_FREE: Final = frozenset(
    {
        "code", "command", "context", "detail", "details", "error", "events", "expectation", "failure", "file", "given",
        "id", "instead", "item", "lane", "name", "note", "paste", "place", "report", "scenario", "sent", "sentence",
        "subject", "test", "tests", "text", "title", "tried", "why",
    }
)  # fmt: skip
_DATA: Final = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)
#: All that can be asked for, a few points of the pipeline.
EVERYTHING: Final = (
    "--wowspec-faults=sweep",
    "--wowspec-points=event_store.append",
    "--wowspec-points=projection.write",
    "--wowspec-points=command_bus.send",
    "--wowspec-strength",
    "--wowspec-unreachable=20",
)


def whole_document(folder: Any) -> dict[str, Any]:
    """A document of which each part has something to show."""
    return document_of(folder, *EVERYTHING)


def many(document: dict[str, Any], specs: int) -> dict[str, Any]:
    """A document with so many specs: its tests again and again, each with an id and a title of its own."""
    tests = [test for test in document["tests"] if test["specs"]]
    found: list[dict[str, Any]] = []
    count = 0
    while count < specs:
        for test in tests:
            number = len(found)
            again = {**deepcopy(test), "id": f"{test['id']}[{number}]", "file": f"tests/test_{number // 40}.py"}
            again["title"] = f"{test['title']}, case {number}"
            for spec in again["specs"]:
                for step in spec["steps"]:
                    step["sentence"] += f" (case {number})"
            found.append(again)
            count += len(again["specs"])
            if count >= specs:
                break
    return {**document, "tests": found}


def nasty(value: Any, *, free: bool = False) -> Any:
    """A document in which each text that people say ends in what means ill."""
    if isinstance(value, dict):
        return {key: nasty(each, free=key in _FREE) for key, each in value.items()}
    if isinstance(value, list):
        return [nasty(each, free=free) for each in value]
    return f"{value}{NASTY}" if free and isinstance(value, str) else value


def data_of(page: str) -> dict[str, Any]:
    """What the scripts of a page are given."""
    found = _DATA.search(page)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data
