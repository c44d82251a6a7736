"""When a failed execution is tried again: exponential back-off in seconds, exact in 64 bits (EVT-145)."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel

from ...errors import IllegalArgumentError

_MAX_LONG: Final = 2**63 - 1
#: From this many retries on, 2^retries is no 64-bit number.
_MAX_SHIFT: Final = 63


class RetrySpec(BaseModel, frozen=True):
    """How often and when: the values of `@retry`, and its defaults (EVT-129). Times are in seconds."""

    max_retries: int = 10
    min_backoff: int = 180
    execution_timeout: int = 120


class RetryState(BaseModel, frozen=True):
    """The tries so far. Times are in epoch milliseconds."""

    retries: int
    retry_at: int
    timeout_at: int
    next_retry_at: int


def next_retry_at(min_backoff: int, retries: int, retry_at: int) -> int:
    """`retry_at` plus the back-off doubled for each try, in epoch milliseconds.

    Args:
        min_backoff: seconds; 0 means at once.
        retries: tries so far.
        retry_at: epoch milliseconds of the last try.

    Raises:
        IllegalArgumentError: for a negative value.
        OverflowError: if the instant does not fit into 64 bits.
    """
    _not_negative("min_backoff", min_backoff)
    _not_negative("retries", retries)
    _not_negative("retry_at", retry_at)
    if min_backoff == 0:
        return retry_at
    if retries >= _MAX_SHIFT:
        message = f"2^{retries} seconds is no instant: the back-off doubles at most {_MAX_SHIFT - 1} times"
        raise OverflowError(message)
    return _fits(_fits(_fits(min_backoff << retries) * 1000) + retry_at)


def timeout_at(execution_timeout: int, retry_at: int) -> int:
    """When a try counts as failed, in epoch milliseconds.

    Raises:
        IllegalArgumentError: for a negative value.
        OverflowError: if the instant does not fit into 64 bits.
    """
    _not_negative("execution_timeout", execution_timeout)
    _not_negative("retry_at", retry_at)
    return _fits(_fits(execution_timeout * 1000) + retry_at)


def retry_state(spec: RetrySpec, retries: int, retry_at: int) -> RetryState:
    """The state after a try at an instant; raises as its two times do."""
    return RetryState(
        retries=retries,
        retry_at=retry_at,
        timeout_at=timeout_at(spec.execution_timeout, retry_at),
        next_retry_at=next_retry_at(spec.min_backoff, retries, retry_at),
    )


def check_retry_spec(spec: RetrySpec, now: int) -> RetrySpec:
    """A spec whose last try still has times; raises as they do."""
    retry_state(spec, spec.max_retries, now)
    return spec


def _not_negative(name: str, value: int) -> None:
    if value < 0:
        message = f"{name} is {value}: it cannot be negative"
        raise IllegalArgumentError(message)


def _fits(value: int) -> int:
    if value > _MAX_LONG:
        message = f"{value} does not fit into 64 bits"
        raise OverflowError(message)
    return value
