"""What the whole suite shares: the closing lines of the golden run, and knock-out runs."""

from __future__ import annotations

from tests.knockout.mutate import install

pytest_plugins = ["tests.golden.report"]

install()
