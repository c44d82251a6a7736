"""Two short ways for a domain to refuse: `check` and `require_found`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .errors import NotFoundError, WowError

T = TypeVar("T")

#: What is raised here is the caller's refusal: pytest shows the line of theirs, not of ours.
__tracebackhide__ = True


def check(condition: bool, error_code: str, message: str | Callable[[], str] = "") -> None:
    """Refuse, with a code that the sender is told, unless a condition holds (CMD-329).

    Args:
        condition: what has to hold.
        error_code: the code of the refusal.
        message: its text; a function is called only where it is needed.

    Raises:
        WowError: with that code, if the condition does not hold.
    """
    if not condition:
        raise WowError(message() if callable(message) else message, error_code=error_code)


def require_found(value: T | None, message: str = "", cause: BaseException | None = None) -> T:
    """The value; nothing at all is a resource that was not found (CMD-331).

    Args:
        value: what a look-up gave.
        message: the text of the refusal.
        cause: what kept it from being found, if an error did.

    Raises:
        NotFoundError: if the value is None.
    """
    if value is None:
        raise NotFoundError(message) from cause
    return value
