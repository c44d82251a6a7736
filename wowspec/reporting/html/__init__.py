"""`--wowspec-report=html:PATH`: one file that holds all of a suite's document, and opens without network from anywhere.

The page is plain HTML, CSS and JavaScript (`assets/`), put together by `page.py`. What it shows is prepared by
`payload.py`, so that the scripts only draw.
"""

from __future__ import annotations

from pathlib import Path

from ..document import DocumentJson
from .page import page_text

__all__ = ["page_text", "write_html"]


def write_html(document: DocumentJson, path: Path) -> None:
    """Write the page; the same document gives the same bytes.

    Args:
        document: what the suite came to.
        path: of the file; folders on the way to it are made.

    Raises:
        OSError: if it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(page_text(document).encode("utf-8"))
