"""The command dispatcher: drops void commands, and hands the rest to the chain, one at a time per group (section H)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final

from ..messages.envelopes import CommandMessage
from ..messages.exchange import ServerCommandExchange
from ..modeling.aggregates import AggregateMetadata
from ..world.points import COMMAND_ACKNOWLEDGE
from ..world.trace import COMMAND_ROOM, make_lane
from .chain import COMMAND_DISPATCHER, Next, handle, log_resume
from .command_filters import acknowledge
from .receivers import Delivery
from .serial import SerialGroups

if TYPE_CHECKING:
    from .system import Runtime

#: Scheduling groups of one aggregate type (CMD-163); a fixed number, so that every machine groups alike.
PARALLELISM: Final = 1024
#: The one line of an intake.
VOID: Final = "void"
#: What an error that leaves the command chain is logged under.
COMMAND_HANDLER: Final = "command.handler"


class AggregateCommandDispatcher:
    """The dispatcher's part for one aggregate type (CMD-157, CMD-160)."""

    __slots__ = ("_chain", "_early", "_runtime", "_world", "ended", "failed", "groups", "intake", "metadata")

    def __init__(self, runtime: Runtime, metadata: AggregateMetadata, chain: Next) -> None:
        self._runtime = runtime
        self._world = runtime.world
        self._chain = chain
        self._early: list[tuple[CommandMessage[Any], Delivery[Any] | None]] | None = []
        self.ended: bool = False
        self.failed: bool = False
        self.metadata: AggregateMetadata = metadata
        name = metadata.named.aggregate_name
        self.groups: SerialGroups = SerialGroups(self._world.scheduler, name)
        #: The way from the bus to the groups, which is one for the whole type.
        self.intake: SerialGroups = SerialGroups(self._world.scheduler, f"void {name}")

    def prepare(self) -> Callable[[], None]:
        """Subscribe; nothing is taken before the start (CMD-169). Returns what ends the subscription."""
        runtime = self._runtime
        return runtime.listen(runtime.command_bus, self.metadata.named, self.receive, COMMAND_DISPATCHER)

    def start(self) -> None:
        """Take what has come, and what comes from now on."""
        early, self._early = self._early, None
        for message, delivery in early or ():
            self.receive(message, delivery)

    def stop(self) -> None:
        """Take no more; what was taken is finished (CMD-168, CMD-169)."""
        self.ended = True

    def receive(self, message: CommandMessage[Any], delivery: Delivery[Any] | None = None) -> None:
        """Take a command from the bus; after the end it is dropped, and not acknowledged (CMD-168)."""
        if self.ended:
            if delivery is not None:
                delivery.withdraw()
            return
        if self._early is not None:
            self._early.append((message, delivery))
            return
        if message.is_void or self.intake.busy:
            # CMD-158: a void command waits for no group, but what came after it waits until it is acknowledged.
            self.intake.submit(VOID, partial(self._take_in_turn, message, delivery), message)
            return
        self._take(message, delivery)

    async def _take_in_turn(self, message: CommandMessage[Any], delivery: Delivery[Any] | None) -> None:
        dropping = self._take(message, delivery)
        if dropping is not None:
            await dropping

    def _take(self, message: CommandMessage[Any], delivery: Delivery[Any] | None) -> Coroutine[Any, Any, None] | None:
        """Give a command to its group; of a void one, what drops it."""
        if self.ended:
            if delivery is not None:
                delivery.withdraw()
            return None
        exchange = ServerCommandExchange(message)
        exchange.lane = make_lane((COMMAND_ROOM, message.aggregate_id.id, ""))
        exchange.delivery = delivery
        audit = self._runtime.audit
        if audit is not None:
            audit.taken(exchange)
        if message.is_void:
            if delivery is not None:
                delivery.withdraw()
            return self._drop(exchange)
        exchange.aggregate_metadata = self.metadata
        job = partial(handle, self._chain, exchange, self._world, COMMAND_HANDLER, log_resume, self._end)
        self.groups.submit(message.aggregate_id.mod(PARALLELISM), job, message)
        return None

    def _end(self, error: Exception, exchange: ServerCommandExchange[Any]) -> None:
        """An error that escapes the handler ends this dispatcher for good, and its subscription with it (CMD-166)."""
        self._fail()
        self.groups.end()
        self._world.log_failure(COMMAND_DISPATCHER, exchange.message, error)

    def _fail(self) -> None:
        self.ended = self.failed = True
        self._runtime.unsubscribe(self.metadata.named)

    def take_over(self, other: AggregateCommandDispatcher) -> None:
        """Be as the dispatcher of another world is: blocked where it is, ended if it is."""
        self.groups.copy_blocked(other.groups)
        self.intake.copy_blocked(other.intake)
        self.ended = other.ended
        if other.failed:
            self._fail()

    async def _drop(self, exchange: ServerCommandExchange[Any]) -> None:
        try:
            acknowledging = acknowledge(self._world, exchange)
            if type(acknowledging) is CoroutineType:
                await acknowledging
        except Exception as error:  # noqa: BLE001 - nobody waits for it
            self._world.log_failure(COMMAND_ACKNOWLEDGE, exchange.message, error)
