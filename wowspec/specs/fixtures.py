"""What the two fixtures of the pytest plugin give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, overload

import pytest

from ..errors import printable
from ..modeling.deciders import Decided
from . import tracking
from .builder import Spec, given, spec
from .gateway import Gateway
from .story import rows_text

S = TypeVar("S")


class Factory:
    """The `wowspec` fixture: `wowspec(Cart)` makes a spec, as `spec(Cart)` does. It holds nothing."""

    __slots__ = ()

    @overload
    def __call__(self, /) -> Spec[Any]: ...
    @overload
    def __call__(self, subject: type[Decided[S]], /) -> Spec[S]: ...
    @overload
    def __call__(self, subject: Callable[[str], S], /) -> Spec[S]: ...
    @overload
    def __call__(self, subject: Callable[[S], Any], /) -> Spec[S]: ...
    @overload
    def __call__(self, subject: type[S], /) -> Spec[S]: ...  # pyright: ignore[reportOverlappingOverload]
    def __call__(self, subject: Any = None, /) -> Spec[Any]:
        """A spec of an aggregate root (or, without one, of whatever types it mentions)."""
        return spec(subject)

    def given(self, *items: Any, deliver: bool = False) -> Spec[Any]:
        """As `given(...)` of the package, for modules in which that name is Hypothesis'."""
        return given(*items, deliver=deliver)

    def __repr__(self) -> str:
        return "<wowspec factory>"


def make_factory() -> Factory:
    """The session-scoped factory."""
    return Factory()


def open_gateway(request: pytest.FixtureRequest) -> Gateway:
    """A gateway for one test: it is judged when the test's call ends, and refuses use after the test."""
    gateway = Gateway()
    held = gateway._held
    tracking.expect(held)

    def close() -> None:
        tracking.forget(held)
        held.close(request.node.nodeid)

    request.addfinalizer(close)
    return gateway


def stories(fixtures: Mapping[str, Any]) -> list[str]:
    """What passed the points in the world of each gateway that a test was given, as text."""
    worlds = [value._held.made for value in fixtures.values() if isinstance(value, Gateway)]
    return [printable(rows_text(made.world.trace.rows)) for made in worlds if made is not None]
