"""What a report of two thousand specs costs: its size, and how long Chromium takes until it is drawn."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

from tests.reporting import chromium
from tests.reporting.pages import many, whole_document
from wowspec.reporting.html import write_html

from .measure import timed
from .rows import Row, at_most, beside

SPECS: Final = 2000
_NAME: Final = f"HTML report of {SPECS:,} specs"
#: Until all of it is read, and its first page is drawn: milliseconds since the navigation began.
_OPENED: Final = (
    "Math.max(performance.getEntriesByType('navigation')[0].loadEventEnd,"
    " performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0)"
)


def rows(*, quick: bool) -> list[Row]:
    """The rows; that of Chromium is skipped where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        document = many(whole_document(place), SPECS)
        report = place / "report.html"
        seconds = timed(partial(write_html, document, report), 1)
        found = [
            at_most(f"{_NAME}: size", report.stat().st_size / 1e6, "MB", 10),
            beside(f"{_NAME}: written", seconds * 1000, "ms"),
        ]
        path = chromium.found()
        if path is None:
            return [*found, Row(f"{_NAME}: opened", None, "skipped: no Chromium here", "<= 2000", None)]
        with chromium.running(path) as browser:
            opened = [_milliseconds(browser, report) for _ in range(3 if quick else 7)]
        return [*found, at_most(f"{_NAME}: opened in Chromium", median(opened), "ms", 2000)]


def _milliseconds(browser: chromium.Browser, report: Path) -> float:
    page = browser.open(report.as_uri())
    page.until("performance.getEntriesByName('first-contentful-paint').length")
    found = float(page.evaluate(_OPENED))
    page.close()
    return found
