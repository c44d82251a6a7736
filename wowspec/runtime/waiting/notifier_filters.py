"""The notifier filters: outermost in their chains, one for each stage after SENT (sections P and U of the contract)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from ...errors import ErrorCode, RetriesExhaustedError
from ...messages.envelopes import DomainEvent
from ...messages.stages import CommandStage
from ...messages.wait_headers import ExtractedWaitPlan, read_wanted_plan
from ...messages.wait_signals import WaitSignal
from ...modeling.identity import unknown_function
from ...world.world import World
from .notifier import WaitNotifier, notify_if_wanted

Next = Callable[[Any], Awaitable[None]]


class NotifierFilter:
    """Tells whoever waits that a message's chain has ended, well or badly (CMD-419 to CMD-427, PRJ-005 to PRJ-012).

    Args:
        stage: the stage that the end of this chain means.
        notifier: carries the signals.
        world: passes the point `wait.notify:<STAGE>`, in the exchange's own lane.
    """

    __slots__ = ("_notifier", "_stage", "_tells_commands", "_world")

    def __init__(self, stage: CommandStage, notifier: WaitNotifier, world: World) -> None:
        self._stage = stage
        self._tells_commands = stage is CommandStage.SAGA_HANDLED
        self._notifier = notifier
        self._world = world

    async def filter(self, exchange: Any, next: Next) -> None:  # noqa: A002 - the field's own word
        """Run the inner chain, then signal, then end as it ended (CMD-421, CMD-422, CMD-425).

        The header is read when this is awaited, before the inner chain starts (CMD-353, CMD-420). A cancellation
        signals nothing (CMD-424).
        """
        extracted = read_wanted_plan(exchange.message.header, self._stage)
        if extracted is None:
            await next(exchange)
            return
        try:
            await next(exchange)
        except RetriesExhaustedError as exhausted:
            failure = exhausted.__cause__
        except Exception as error:
            self._signal(extracted, exchange, error)
            raise
        else:
            self._signal(extracted, exchange, exchange.failure())
            return
        if failure is None:
            # The runtime fails inside its own subscriber here, which ends neither way: the chain never ends (CMD-422).
            await self._world.scheduler.forever()
            return
        self._signal(extracted, exchange, failure)
        raise failure

    def _signal(self, extracted: ExtractedWaitPlan, exchange: Any, failure: BaseException | None) -> None:
        signal = self._make_signal(extracted.plan.wait_command_id, exchange, failure)
        notify_if_wanted(self._world, self._notifier, extracted, signal, exchange.lane, exchange.message)

    def _make_signal(self, wait_command_id: str, exchange: Any, failure: BaseException | None) -> WaitSignal:
        """The signal's fields by origin (the second table of section P; PRJ-008, PRJ-009)."""
        message = exchange.message
        aggregate_id = message.aggregate_id
        signal = WaitSignal(
            message.id,
            wait_command_id,
            message.command_id,
            aggregate_id,
            self._stage,
            exchange.function or unknown_function(aggregate_id.context_name),
            self._world.now_millis(),
            exchange.aggregate_version,
            isinstance(message, DomainEvent) and message.is_last,
            ErrorCode.OK,
            "",
            (),
            exchange.command_result,
            # Ids of the commands that a saga sent; other stages have none (CMD-339).
            _commands(exchange) if self._tells_commands else (),
        )
        if failure is not None:
            info = self._world.errors.info(failure)
            signal.error_code = info.error_code
            signal.error_msg = info.error_msg
            signal.binding_errors = info.binding_errors
            signal.original_error = failure
        return signal


def _commands(exchange: Any) -> tuple[str, ...]:
    return tuple(message.id for message in exchange.command_stream or ())
