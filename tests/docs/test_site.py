"""The site is built without a warning."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.test_docs import ROOT

pytestmark = pytest.mark.long


def test_the_site_is_built_without_warnings(tmp_path):
    """Strictly: a page that no navigation names, or a link that leads nowhere, fails."""
    for needed in ("sphinx", "furo", "myst_parser"):
        pytest.importorskip(needed, reason="the extra `docs` brings what makes the site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-c", "docs", ".", str(tmp_path)]

    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert finished.returncode == 0, finished.stderr
    assert "docs/index.html" in (tmp_path / "index.html").read_text(encoding="utf-8")
    first = (tmp_path / "docs" / "index.html").read_text(encoding="utf-8")
    assert "First spec in five minutes" in first
    # A link to what is no page of the site is its text alone.
    assert "Examples" in first
    assert not re.search(r'href="[^"]*examples"', first)
