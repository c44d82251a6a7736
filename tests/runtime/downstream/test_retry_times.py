"""Retry times: doubled back-off in seconds, exact in 64 bits."""

from __future__ import annotations

import pytest

from wowspec.errors import IllegalArgumentError
from wowspec.runtime.downstream.retry_times import (
    RetrySpec,
    RetryState,
    check_retry_spec,
    next_retry_at,
    retry_state,
    timeout_at,
)

MAX = 2**63 - 1


@pytest.mark.clause("EVT-145")
@pytest.mark.parametrize(
    ("min_backoff", "retries", "retry_at", "expected"),
    [
        (180, 0, 1_000, 181_000),
        (180, 1, 1_000, 361_000),
        (180, 10, 0, 184_320_000),
        (0, 10, 1_000, 1_000),
        (0, 63, 1_000, 1_000),
        (0, 1_000, MAX, MAX),
        (1, 53, 0, 2**53 * 1_000),
        (1, 0, MAX - 1_000, MAX),
    ],
)
def test_next_retry(min_backoff, retries, retry_at, expected):
    """The last try plus the back-off doubled for each retry; a back-off of 0 means at once."""
    assert next_retry_at(min_backoff, retries, retry_at) == expected


@pytest.mark.clause("EVT-145")
@pytest.mark.parametrize(
    ("min_backoff", "retries", "retry_at"),
    [(1, 63, 0), (1, 64, 0), (2, 62, 0), (1, 54, 0), (1, 0, MAX - 999), (MAX, 1, 0)],
)
def test_overflow(min_backoff, retries, retry_at):
    """An instant that does not fit into 64 bits is an arithmetic error, at whatever step it is too large."""
    with pytest.raises(ArithmeticError):
        next_retry_at(min_backoff, retries, retry_at)


@pytest.mark.clause("EVT-145")
def test_timeout():
    """The last try plus the execution timeout; too large is an arithmetic error."""
    assert timeout_at(120, 1_000) == 121_000
    assert timeout_at(0, 1_000) == 1_000
    with pytest.raises(ArithmeticError):
        timeout_at(MAX // 1_000 + 1, 0)
    with pytest.raises(ArithmeticError):
        timeout_at(1, MAX - 999)


@pytest.mark.clause("EVT-145")
@pytest.mark.parametrize(
    ("call", "args"),
    [
        (next_retry_at, (-1, 0, 0)),
        (next_retry_at, (1, -1, 0)),
        (next_retry_at, (1, 0, -1)),
        (next_retry_at, (0, -1, 0)),
        (timeout_at, (-1, 0)),
        (timeout_at, (0, -1)),
    ],
)
def test_negative_values(call, args):
    """A negative value is an illegal argument."""
    with pytest.raises(IllegalArgumentError, match="cannot be negative"):
        call(*args)


@pytest.mark.clause("EVT-145", "EVT-129")
def test_state_and_spec():
    """A state holds both instants; a spec is legal if its last try has them; the defaults are those of @retry."""
    assert RetrySpec() == RetrySpec(max_retries=10, min_backoff=180, execution_timeout=120)
    assert retry_state(RetrySpec(), 1, 1_000) == RetryState(
        retries=1, retry_at=1_000, timeout_at=121_000, next_retry_at=361_000
    )
    assert check_retry_spec(RetrySpec(), 0) == RetrySpec()
    with pytest.raises(ArithmeticError):
        check_retry_spec(RetrySpec(max_retries=63), 0)
    with pytest.raises(IllegalArgumentError):
        check_retry_spec(RetrySpec(max_retries=-1), 0)
