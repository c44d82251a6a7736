"""Strategies that show as the call that made them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


def named(
    name: str, args: tuple[Any, ...], options: Mapping[str, Any], inner: st.SearchStrategy[T]
) -> st.SearchStrategy[T]:
    """The same strategy, whose text is `name(*args, **options)`."""

    def draw_from(draw: st.DrawFn, *_args: Any, **_options: Any) -> T:
        return draw(inner)

    draw_from.__name__ = draw_from.__qualname__ = name
    return st.composite(draw_from)(*args, **options)
