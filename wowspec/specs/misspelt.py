"""What is said of a verb that does not exist: the nearest of those that do."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, NoReturn

from ..errors import SpecError


class UnknownVerbError(SpecError, AttributeError):
    """There is no such verb; an `AttributeError` too, as Python asks."""

    @property
    def name(self) -> Any:
        """None, whatever Python sets it to: newer ones would add a suggestion of their own to ours."""
        return None

    @name.setter
    def name(self, value: Any) -> None: ...  # pyright: ignore[reportIncompatibleVariableOverride]


def no_verb(owner: str) -> Callable[[Any, str], NoReturn]:
    """A `__getattr__` that names the nearest verbs; type checkers must not see it, or they'd let every name pass.

    Args:
        owner: whose verbs they are, read as "a spec".
    """

    def __getattr__(self: Any, name: str) -> NoReturn:  # noqa: N807
        __tracebackhide__ = True
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        known = [verb for verb in dir(self) if not verb.startswith("_")]
        close = difflib.get_close_matches(name, known, 3, 0.8) or difflib.get_close_matches(name, known, 1)
        raise UnknownVerbError(f"{owner} has no {name!r}", instead=" or ".join(f".{verb}" for verb in close))

    return __getattr__
