"""Outcomes as the recordings write them: `{"value": …}` or `{"error": …}`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from wowspec.error_policy import DEFAULT_POLICY
from wowspec.errors import (
    DuplicateAggregateIdError,
    DuplicateRequestIdError,
    EventVersionConflictError,
    IllegalStateError,
    RewriteNoCommandError,
    SourcingVersionConflictError,
    UnsupportedOperationError,
)

#: Error class → recorded name, most special first. Other names are detail of the recorded platform.
CLASSES: Final[tuple[tuple[type[BaseException], str], ...]] = (
    (EventVersionConflictError, "EventVersionConflictException"),
    (DuplicateAggregateIdError, "DuplicateAggregateIdException"),
    (DuplicateRequestIdError, "DuplicateRequestIdException"),
    (SourcingVersionConflictError, "SourcingVersionConflictException"),
    (RewriteNoCommandError, "RewriteNoCommandException"),
    (IllegalStateError, "IllegalStateException"),
    (ValueError, "IllegalArgumentException"),
    (UnsupportedOperationError, "UnsupportedOperationException"),
)
#: What a driver's own mistake raises; no recorded outcome.
DRIVER_BUGS: Final = (AssertionError, AttributeError, ImportError, NameError)
_KNOWN: Final = frozenset(recorded for _, recorded in CLASSES)


def error_of(error: BaseException, raised_by: str | None = None) -> dict[str, Any]:
    """An error as the recordings write it."""
    found: dict[str, Any] = {
        "error_code": DEFAULT_POLICY.info(error).error_code,
        "recoverable": str(DEFAULT_POLICY.recoverability(error)),
    }
    found["class"] = next((recorded for cls, recorded in CLASSES if isinstance(error, cls)), type(error).__name__)
    if raised_by is not None:
        found["raised_by"] = raised_by
    return found


def outcome(call: Callable[[], Any], raised_by: str | None = None) -> dict[str, Any]:
    """The outcome of a call."""
    try:
        return {"value": call()}
    except DRIVER_BUGS:
        raise
    except Exception as error:
        return {"error": error_of(error, raised_by)}


def comparable(expected: Any, keys: frozenset[str] = frozenset()) -> Any:
    """A recorded value without the names of classes that are platform detail, and without `keys` of errors."""
    if isinstance(expected, list):
        return [comparable(item, keys) for item in expected]
    if not isinstance(expected, dict):
        return expected
    error = expected.get("error")
    if isinstance(error, dict) and "error_code" in error:
        kept = {key: value for key, value in error.items() if key not in keys}
        if "class" in kept and kept["class"] not in _KNOWN:
            kept["class"] = lambda _actual: True
        return {**expected, "error": kept}
    return {key: comparable(value, keys) for key, value in expected.items()}
