"""The command dispatcher: drops void commands, and hands the rest to the chain, one at a time per group (section H)."""

from __future__ import annotations

from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final

from ..messages.envelopes import CommandMessage
from ..messages.exchange import ServerCommandExchange
from ..modeling.aggregates import AggregateMetadata
from ..world.points import COMMAND_ACKNOWLEDGE, Room
from ..world.trace import Lane
from .chain import Next, handle
from .command_filters import acknowledge
from .serial import SerialGroups

if TYPE_CHECKING:
    from .system import Runtime

#: Scheduling groups of one aggregate type (CMD-163); a fixed number, so that every machine groups alike.
PARALLELISM: Final = 1024
#: What an error that leaves the command chain is logged under.
COMMAND_HANDLER: Final = "command.handler"


class AggregateCommandDispatcher:
    """The dispatcher's part for one aggregate type (CMD-157, CMD-160)."""

    __slots__ = ("_chain", "_runtime", "groups", "metadata")

    def __init__(self, runtime: Runtime, metadata: AggregateMetadata, chain: Next) -> None:
        self._runtime = runtime
        self._chain = chain
        self.metadata = metadata
        self.groups = SerialGroups(runtime.world.scheduler, metadata.named.aggregate_name)

    def receive(self, message: CommandMessage[Any]) -> None:
        """Take a command from the bus."""
        exchange = ServerCommandExchange(message, lane=Lane(Room.COMMAND, message.aggregate_id.id))
        audit = self._runtime.audit
        if audit is not None:
            audit.taken(exchange)
        if message.is_void:
            # CMD-158: filtered between bus and groups, so a void command waits for no one.
            _ = self._runtime.world.scheduler.spawn(self._drop(exchange), "void")
            return
        exchange.aggregate_metadata = self.metadata
        self.groups.submit(message.aggregate_id.mod(PARALLELISM), lambda: self._handle(exchange))

    async def _handle(self, exchange: ServerCommandExchange[Any]) -> None:
        await handle(self._chain, exchange, self._runtime.world, COMMAND_HANDLER)

    async def _drop(self, exchange: ServerCommandExchange[Any]) -> None:
        try:
            acknowledging = acknowledge(self._runtime, exchange)
            if type(acknowledging) is CoroutineType:
                await acknowledging
        except Exception as error:  # noqa: BLE001 - nobody waits for it
            self._runtime.world.log_failure(COMMAND_ACKNOWLEDGE, exchange.message, error)
