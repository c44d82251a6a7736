"""What the page says where no script runs: the numbers, and what failed."""

from __future__ import annotations

from collections import Counter
from typing import Final

from ...exploration.results import undeclared
from ...specs.layout import several
from ..document import DocumentJson, TestJson
from .embedding import escaped

#: Outcomes that ask for somebody's attention.
_FAILED: Final = ("failed", "error", "xpassed")
#: So many failed tests are told with their texts, of so many lines; of the others the place. So many findings are told.
MOST_TEXTS, MOST_LINES, MOST_FINDINGS = 50, 60, 100


def unscripted(document: DocumentJson) -> str:
    """The overview and the list of what failed, as HTML without any script."""
    tests = document["tests"]
    outcomes = Counter(test["outcome"] for test in tests)
    found = [
        (result["test"], finding, broken)
        for result in document["exploration"]
        for finding, broken in undeclared(result)
    ]
    rows = [("tests", str(len(tests))), ("specs", str(sum(len(test["specs"]) for test in tests)))]
    rows += [(name, str(count)) for name, count in sorted(outcomes.items())]
    others = document["other_tests"]
    rows += [("other tests, without specs", str(others))] if others else []
    if document["exploration"]:
        swept = [result for result in document["exploration"] if not result["not_swept"] and not result["same_as"]]
        rows += [("plans of faults", str(sum(result["plans"] for result in swept)))]
        rows += [("findings due to the domain", str(len(found)))]
    if document["coverage"] is not None:
        rows += [("fault coverage", f"{document['coverage']:.0f} %")]
    numbers = "".join(f"<tr><th scope='row'>{escaped(name)}</th><td>{escaped(text)}</td></tr>" for name, text in rows)
    failed = [test for test in tests if test["outcome"] in _FAILED]
    lines = [
        "<p>This page is drawn by its scripts, and none runs here. The numbers, and what failed, without them:</p>",
        f"<table class='numbers'><caption>{escaped(several(len(tests), 'test'))}</caption>{numbers}</table>",
        "<h2>What failed</h2>",
        *(_failed(test, told=place < MOST_TEXTS) for place, test in enumerate(failed)),
        *([] if failed else ["<p>Nothing failed.</p>"]),
    ]
    if found:
        lines += ["<h2>Findings due to the domain</h2>", "<ul>"]
        for test, finding, broken in found[:MOST_FINDINGS]:
            laws = ", ".join(item["title"] for item in broken)
            lines.append(
                f"<li><code>{escaped(finding['plan'])}</code> breaks {escaped(laws)} in <code>{escaped(test)}</code>"
                f"<br><code>{escaped(finding['replay'])}</code></li>"
            )
        lines.append("</ul>")
        more = len(found) - MOST_FINDINGS
        lines += [f"<p>And {more} more.</p>"] if more > 0 else []
    return "\n".join(lines)


def _failed(test: TestJson, *, told: bool) -> str:
    head = f"{escaped(test['title'])} <small>{escaped(test['outcome'])}</small>"
    place = escaped(test["place"] or f"{test['file']}:{test['line']}")
    lines = test["failure"].splitlines()
    more = [f"… {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    text = escaped("\n".join(lines[:MOST_LINES] + more))
    shown = f"<pre>{text}</pre>" if told and text else ""
    return f"<section><h3>{head}</h3><p><code>{escaped(test['id'])}</code><br>{place}</p>{shown}</section>"
