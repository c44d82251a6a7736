"""How small suites begin that tests write and run."""

from __future__ import annotations

from typing import Final

HEAD: Final = """
import pytest
from tests.exploration.parcels import *
from wowspec import IllegalStateError, aggregate_root, create_aggregate, given, on, on_command, spec
"""
