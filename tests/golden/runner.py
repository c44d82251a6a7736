"""Run one recorded case through its driver."""

from __future__ import annotations

import importlib
import traceback
from pathlib import Path

import pytest

from tests.golden.cases import Case


def run(case: Case) -> None:
    """Fail the test, with the first difference alone as its text, unless the model did what was recorded."""
    difference = first_difference_of(case)
    if difference is not None:
        pytest.fail(difference, pytrace=False)


def first_difference_of(case: Case) -> str | None:
    """What the driver says; a missing driver and an error of the driver are failures too."""
    try:
        driver = importlib.import_module(case.driver)
    except ModuleNotFoundError as error:
        if error.name == case.driver:
            return f"no driver: there is no module {case.driver} with check(case)"
        return f"the driver {case.driver} can't be imported: {error}"
    try:
        found: str | None = driver.check(case.data)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"the driver raised {type(error).__name__}: {error} (at {Path(last.filename).name}:{last.lineno})"
    return found
