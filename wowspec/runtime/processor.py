"""The retrying aggregate processor: load or create, process, retry what is recoverable (section J)."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from ..errors import IllegalStateError, Recoverability, RetriesExhaustedError
from ..messages.envelopes import DomainEventStream
from ..messages.exchange import ServerCommandExchange
from ..modeling.aggregates import AggregateMetadata
from ..world.clock import NANOS_PER_MILLI
from ..world.world import World
from .aggregate import Append, CommandAggregate
from .audit import Audit
from .repository import StateAggregateRepository
from .sourcing import Supply, new_state_aggregate

#: Retries that follow the first attempt (CMD-194).
MAX_RETRIES: Final = 3
#: First back-off; it doubles each time. Jitter is left out, so that time is the same in every run (CMD-195).
FIRST_BACKOFF_NANOS: Final = 500 * NANOS_PER_MILLI


class RetryableAggregateProcessor:
    """Processes one command exchange; keeps nothing between commands (CMD-188)."""

    processor_name: ClassVar[str] = "RetryableAggregateProcessor"

    __slots__ = ("_append", "_audit", "_metadata", "_repository", "_supply", "_world")

    def __init__(
        self,
        metadata: AggregateMetadata,
        repository: StateAggregateRepository,
        append: Append,
        world: World,
        audit: Audit | None = None,
        supply: Supply | None = None,
    ) -> None:
        self._audit = audit
        self._supply = supply
        self._metadata = metadata
        self._repository = repository
        self._append = append
        self._world = world

    async def process(self, exchange: ServerCommandExchange[Any]) -> DomainEventStream | None:
        """Process with retries.

        Raises:
            RetriesExhaustedError: when the last retry failed with a recoverable error, which is its cause (CMD-200).
            Exception: the first failure that is not recoverable.
        """
        attempt = 0
        while True:
            exchange.error = None
            exchange.attempts += 1
            try:
                command, metadata = exchange.message, self._metadata
                if command.is_create:
                    # A new state, without looking at any store (CMD-189).
                    state = new_state_aggregate(metadata.state, command.aggregate_id, self._supply)
                else:
                    state = await self._repository.load(command.aggregate_id, metadata.state, exchange.lane)
                aggregate = CommandAggregate(metadata, state, self._append, self._world, self._audit)
                return await aggregate.process(exchange)
            except Exception as error:
                if self._world.errors.recoverability(error) is not Recoverability.RECOVERABLE:
                    raise
                if attempt == MAX_RETRIES:
                    message = f"retries exhausted: {attempt}/{MAX_RETRIES}"
                    raise RetriesExhaustedError(message) from error
            await self._world.scheduler.sleep(FIRST_BACKOFF_NANOS << attempt)
            attempt += 1


def require_metadata(exchange: ServerCommandExchange[Any]) -> AggregateMetadata:
    """The aggregate metadata on the exchange (CMD-176).

    Raises:
        IllegalStateError: if the dispatcher put none there.
    """
    metadata = exchange.aggregate_metadata
    if not isinstance(metadata, AggregateMetadata):
        message = f"no aggregate metadata on the exchange of {exchange.message.name}"
        raise IllegalStateError(message)
    return metadata
