"""Writes the pages of the gallery anew with `--write`; without it, says whether they are current."""

from __future__ import annotations

import sys

from . import comparison, gallery

MADE = {
    gallery.PAGE: gallery.page(gallery.texts()),
    comparison.PAGE: comparison.page(comparison.all_texts(), comparison.versions()),
}
stale = [path for path, made in MADE.items() if not path.exists() or path.read_text(encoding="utf-8") != made]
if "--write" in sys.argv[1:]:
    for path in stale:
        path.write_text(MADE[path], encoding="utf-8")
elif stale:
    sys.exit(f"{', '.join(path.name for path in stale)}: not current: python -m tests.failures --write")
