"""Writes `docs/failures.md` anew: `python -m tests.failures --write`; without it, says whether the page is current."""

from __future__ import annotations

import sys

from .gallery import PAGE, page, texts

made = page(texts())
if "--write" in sys.argv[1:]:
    PAGE.write_text(made, encoding="utf-8")
elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != made:
    sys.exit("docs/failures.md is not current: python -m tests.failures --write")
