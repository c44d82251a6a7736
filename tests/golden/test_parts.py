"""The recorded cases of the family `parts`."""

from __future__ import annotations

import pytest

from tests.golden.cases import load
from tests.golden.runner import run


@pytest.mark.parametrize("case", load("parts"), ids=lambda case: case.id)
def test_parts(case):
    """The model does what the real runtime was seen to do."""
    run(case)
