"""The gateway's check that a request id is new (section E of the contract).

A precheck that may err on the side of "seen" comes first; only where it says "seen" is the aggregate instance asked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, Protocol

from ..messages.envelopes import CommandMessage
from ..modeling.identity import AggregateRef, NamedAggregate
from ..world.clock import NANOS_PER_SECOND, VirtualClock

#: What the production wiring gives its filter: one minute, in nanoseconds (CMD-097).
PRODUCTION_TTL_NANOS: Final = 60 * NANOS_PER_SECOND

#: Whether an aggregate instance has a stored stream with the request id (CMD-090, CMD-092).
RequestIdExistence = Callable[[AggregateRef, str], Awaitable[bool]]


class RequestIdChecker(Protocol):
    """What the gateway asks; only an explicit False is a duplicate, None counts as passed (CMD-082)."""

    async def check(self, command: CommandMessage[Any]) -> bool | None:
        """Whether the command may go on."""
        ...


class IdempotencyChecker(Protocol):
    """A precheck of one type of aggregate."""

    def check(self, request_id: str) -> bool:
        """Whether the id is new."""
        ...

    def copy(self, clock: VirtualClock) -> IdempotencyChecker:
        """An independent precheck that remembers the same ids, on another clock."""
        ...


class ExactIdempotencyChecker:
    """A filter without false positives; an id is spent as it is answered "new" (CMD-094).

    It is discarded as a whole when its time to live has passed; zero or less means a new one at every call (CMD-095).
    """

    __slots__ = ("_clock", "_expires", "_seen", "_ttl")

    def __init__(self, clock: VirtualClock, ttl_nanos: int | None = None) -> None:
        self._clock = clock
        self._ttl = ttl_nanos
        self._seen: set[str] = set()
        self._expires: int | None = None

    def check(self, request_id: str) -> bool:
        """Whether the id is new; from now on it is not."""
        if self._ttl is not None:
            now = self._clock.nanos
            if self._expires is None or now >= self._expires:
                self._seen.clear()
                self._expires = now + self._ttl
        if request_id in self._seen:
            return False
        self._seen.add(request_id)
        return True

    def copy(self, clock: VirtualClock) -> ExactIdempotencyChecker:
        """An independent filter that has seen the same ids."""
        other = ExactIdempotencyChecker(clock, self._ttl)
        other._seen = set(self._seen)
        other._expires = self._expires
        return other


class NoOpIdempotencyChecker:
    """Every id is new (CMD-096)."""

    __slots__ = ()

    def check(self, request_id: str) -> bool:  # noqa: ARG002
        """True."""
        return True

    def copy(self, clock: VirtualClock) -> NoOpIdempotencyChecker:  # noqa: ARG002
        """Itself: it remembers nothing."""
        return self


class Prechecks:
    """One precheck for each *type* of aggregate, not for each instance (CMD-093)."""

    __slots__ = ("_checkers", "_clock", "_make")

    def __init__(self, clock: VirtualClock, make: Callable[[NamedAggregate, VirtualClock], IdempotencyChecker]) -> None:
        self._clock = clock
        self._make = make
        self._checkers: dict[tuple[str, str], IdempotencyChecker] = {}

    @staticmethod
    def exact(clock: VirtualClock, ttl_nanos: int | None = None) -> Prechecks:
        """Exact filters that live for `ttl_nanos`; None: for the whole life of the world."""
        return Prechecks(clock, lambda _, clock: ExactIdempotencyChecker(clock, ttl_nanos))

    def copy(self, clock: VirtualClock) -> Prechecks:
        """Independent prechecks that know the same ids, on another clock."""
        other = Prechecks(clock, self._make)
        for key, checker in self._checkers.items():
            other._checkers[key] = checker.copy(clock)
        return other

    def lose_all(self) -> None:
        """Forget every id: the process that knew them is gone."""
        self._checkers.clear()

    def of(self, aggregate_id: AggregateRef) -> IdempotencyChecker:
        """The precheck of an instance's type of aggregate; made at its first use."""
        key = aggregate_id[:2]
        checker = self._checkers.get(key)
        if checker is None:
            checker = self._checkers[key] = self._make(aggregate_id.named_aggregate, self._clock)
        return checker


async def always_exists(aggregate_id: AggregateRef, request_id: str) -> bool:  # noqa: ARG001
    """Without an event store to look in, every id that the precheck has seen counts as existing (CMD-091)."""
    return True


class DefaultRequestIdChecker:
    """Precheck first; what it has seen is a duplicate only if the instance has it (CMD-089, CMD-090).

    Args:
        prechecks: by type of aggregate.
        exists: `event_store`'s look-up (profile `store`), or `always_exists` (profile `noop`).
    """

    __slots__ = ("_exists", "_prechecks")

    def __init__(self, prechecks: Prechecks, exists: RequestIdExistence = always_exists) -> None:
        self._prechecks = prechecks
        self._exists = exists

    async def check(self, command: CommandMessage[Any]) -> bool:
        """Whether the command's request id is new to its aggregate; looked up only if the precheck has seen it."""
        answer = self.begin(command)
        return answer if isinstance(answer, bool) else await answer

    def begin(self, command: CommandMessage[Any]) -> bool | Coroutine[Any, Any, bool]:
        """As `check`, answering at once where nothing must be looked up."""
        if self._prechecks.of(command.aggregate_id).check(command.request_id):
            return True
        return self._look_up(command)

    async def _look_up(self, command: CommandMessage[Any]) -> bool:
        return not await self._exists(command.aggregate_id, command.request_id)


class NoOpRequestIdChecker:
    """Lets every command pass."""

    __slots__ = ()

    async def check(self, command: CommandMessage[Any]) -> bool:  # noqa: ARG002
        """True."""
        return True
