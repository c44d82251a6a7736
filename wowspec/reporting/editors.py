"""Hands failed comparisons to the plugin by which PyCharm and TeamCity show a test run, for their diff viewer.

That plugin (`teamcity-messages`; PyCharm brings its own copy) knows the two sides of a plain `assert` and of unittest's
`assertEqual`. What others compare it takes from where its own patch of unittest leaves it. The sides travel on reports,
so that they get to the process that talks to the editor, under `pytest -n` too.
"""

from __future__ import annotations

from collections.abc import Generator
from importlib import import_module
from typing import Any, Final

import pytest

#: Attribute of a report: what it says, the expected side, the actual one.
COMPARED: Final = "wowspec_compared"
#: Where the plugin keeps the last plain `assert` of a test: it would go before what we hand over.
_OF_ASSERT: Final = "_teamcity_assertion_failure"
#: Where it cuts a traceback for which it has a comparison.
_CUT: Final = "_ _ _ _ _"


class EditorsPlugin:
    """Registered where that plugin is."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Let our comparison be the one that counts."""
        report = yield
        if hasattr(report, COMPARED):
            vars(item).pop(_OF_ASSERT, None)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, Any, Any]:
        """Hand over the sides while the report of a failure is passed on, and take them back where nobody took them."""
        compared: tuple[str, str, str] | None = getattr(report, COMPARED, None)
        if compared is None:
            return (yield)
        text, expected, actual = compared
        store: Any = import_module("teamcity.jb_local_exc_store")
        error: Any = import_module("teamcity.diff_tools").EqualsAssertionError
        # Where the traceback is cut, nothing else would tell the rest of the failure.
        said = text if _CUT in report.longreprtext else text.partition("\n")[0]
        store.store_exception(error(expected, actual, said, preformated=True))
        try:
            return (yield)
        finally:
            store.get_exception()
