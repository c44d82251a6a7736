"""Retries inside the process: exponential back-off on virtual time (EVT-127, EVT-131)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from ..errors import RetriesExhaustedError
from ..world.clock import NANOS_PER_MILLI, NANOS_PER_SECOND
from ..world.scheduler import Scheduler

T = TypeVar("T")


def any_error(_: BaseException) -> bool:
    """Every error is worth another try."""
    return True


@dataclass(frozen=True, slots=True)
class RetryStrategy:
    """How often, and how long to wait before.

    Attributes:
        max_retries: tries after the first one.
        first_backoff: nanoseconds before the first of them; it doubles each time.
    """

    max_retries: int
    first_backoff: int

    async def run(
        self,
        work: Callable[[], Awaitable[T]],
        scheduler: Scheduler,
        is_worth_it: Callable[[BaseException], bool] = any_error,
    ) -> T:
        """Do the work until it succeeds.

        Raises:
            RetriesExhaustedError: when all tries failed; its cause is the last failure.
            Exception: at once, what is not worth another try.
        """
        attempt = 0
        while True:
            try:
                return await work()
            except Exception as error:
                if not is_worth_it(error):
                    raise
                if attempt == self.max_retries:
                    message = f"retries exhausted: {attempt}/{self.max_retries}"
                    raise RetriesExhaustedError(message) from error
            await scheduler.sleep(self.first_backoff << attempt)
            attempt += 1


#: Of whoever names none: 10 tries from 200 ms, after any error (EVT-131).
DEFAULT_RETRIES: Final = RetryStrategy(10, 200 * NANOS_PER_MILLI)
#: Of event functions: 3 tries from 2 s (EVT-127).
EVENT_RETRIES: Final = RetryStrategy(3, 2 * NANOS_PER_SECOND)
