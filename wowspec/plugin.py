"""The pytest entry point: imports pytest alone, since every pytest run of every project that has wowspec pays for it.

Each hook first asks whether the spec layer was ever imported, and does nothing where it was not. There is no autouse
fixture and no option without the prefix `wowspec`. Switch it off with `-p no:wowspec`.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import Any, Final

import pytest

#: The part of the spec layer that the hooks and fixtures below speak to.
_SPEC_LAYER: Final = "wowspec.spec.fixtures"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the ini keys."""
    parser.addini(
        "wowspec_using",
        "Processors or a whole context that every spec of the suite uses, as `module:name`",
        type="args",
        default=[],
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Let the spec layer report the specs that a passing test made and left unjudged."""
    layer = sys.modules.get(_SPEC_LAYER)
    if layer is not None:
        layer.start_test(item)
    try:
        result = yield
    except BaseException:
        layer = sys.modules.get(_SPEC_LAYER)
        if layer is not None:
            layer.abandon_test(item)
        raise
    layer = sys.modules.get(_SPEC_LAYER)
    if layer is not None:
        layer.finish_test(item)
    return result


@pytest.fixture(scope="session")
def wowspec() -> Any:
    """`wowspec(Cart)` makes a spec of an aggregate; session-scoped, so that `@hypothesis.given` accepts it.

    The factory holds no state: each spec that it makes has a world of its own.
    """
    from .spec.fixtures import make_factory

    return make_factory()


@pytest.fixture
def gateway(request: pytest.FixtureRequest) -> Any:
    """A command gateway over a fresh world; refuses to be used after the test has ended."""
    from .spec.fixtures import open_gateway

    return open_gateway(request)
