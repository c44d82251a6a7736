"""Steps and expectations in words."""

from __future__ import annotations

import pytest

from wowspec.faults.values import Fault
from wowspec.reporting.phrases import PHRASES
from wowspec.reporting.points_in_words import KIND_WORDS, POINT_WORDS, STAGE_WORDS
from wowspec.reporting.steps_in_words import SETUPS, STEPS
from wowspec.specs.builder import Spec
from wowspec.specs.concurrent_spec import ConcurrentSpec
from wowspec.specs.nodes import Step
from wowspec.specs.recorded import CONDITION_VERBS
from wowspec.world.points import KINDS, POINTS


def expectations() -> set[str]:
    """Every expectation verb of the language."""
    names = {name for cls in (Spec, ConcurrentSpec) for name in dir(cls) if name.startswith("expect_")}
    return names | set(CONDITION_VERBS)


def test_each_expectation_has_a_phrase():
    """A verb of the language has its row, and a row its verb."""
    assert set(PHRASES) == expectations()
