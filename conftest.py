"""What the whole suite shares: the closing lines of the golden run."""

from __future__ import annotations

pytest_plugins = ["tests.golden.report"]
