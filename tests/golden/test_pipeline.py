"""The recorded cases of the family `pipeline`."""

from __future__ import annotations

import pytest

from tests.golden.cases import load
from tests.golden.runner import run


@pytest.mark.parametrize("case", load("pipeline"), ids=lambda case: case.id)
def test_pipeline(case):
    """The model does what the real runtime was seen to do."""
    run(case)
