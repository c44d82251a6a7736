"""Recording of failed executions, and what runs them again (EVT-139 to EVT-142, EVT-147, EVT-148).

A `Runtime` has it with `Runtime(world, compensation=True)`.
"""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any, Final

from ...error_policy import ErrorPolicy
from ...errors import Recoverability
from ...messages.envelopes import DomainEvent
from ...modeling.aggregates import aggregate_metadata
from ...modeling.annotations import Retry, method_mark, retry
from ...modeling.decorators import on_event
from ...modeling.ordering import ORDER_DEFAULT, Order
from ...modeling.processors import event_processor, processor_metadata
from ...world.clock import NANOS_PER_SECOND
from ..chain import EVENT_DISPATCHERS, SNAPSHOT_DISPATCHER, FilterRow, Next
from .compensation import (
    CompensateSupporter,
    CompensationTarget,
    DomainEventCompensator,
    StateEventCompensator,
    compensation_id,
)
from .event_filters import RETRYABLE
from .execution_failed import (
    CONTEXT,
    EXECUTION_FAILED,
    ApplyExecutionFailed,
    ApplyExecutionSuccess,
    CompensationPrepared,
    CreateExecutionFailed,
    ErrorDetails,
    EventId,
    ExecutionFailed,
    FailedAggregate,
    FailedFunction,
    FieldError,
    PrepareCompensation,
)
from .retry_times import RetrySpec
from .snapshot_dispatcher import SNAPSHOT_FUNCTION_FILTER

if TYPE_CHECKING:
    from ..system import Runtime

#: How many failed executions the scheduler takes up at once, and how often it looks (EVT-147).
BATCH: Final = 100
PERIOD_NANOS: Final = 60 * NANOS_PER_SECOND
#: What an error of the scheduler is logged under.
COMPENSATION_SCHEDULER: Final = "compensation.scheduler"


def recoverability_by(mark: Retry | None, error: BaseException, policy: ErrorPolicy) -> Recoverability:
    """The class of an error by `@retry`: the nearest listed class wins, on a tie as recoverable (EVT-130)."""
    if mark is not None:
        for base in type(error).__mro__:
            if base in mark.recoverable:
                return Recoverability.RECOVERABLE
            if base in mark.unrecoverable:
                return Recoverability.UNRECOVERABLE
    return policy.recoverability(error)


def stack_text(error: BaseException) -> str:
    """An error, what led to it, and the user's functions it came through: the same text on every machine and Python."""
    lines: list[str] = []
    each: BaseException | None = error
    while each is not None:
        lines.append(f"{'caused by ' if lines else ''}{type(each).__name__}: {each}")
        names = (
            f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_qualname}"
            for frame, _ in traceback.walk_tb(each.__traceback__)
        )
        lines += [f"  at {name}" for name in names if not name.startswith("wowspec.")]
        each = each.__cause__
    return "\n".join(lines)


class CompensationFilter:
    """Records that a function failed, or how a further try of it ended; the failure itself goes on (EVT-139, EVT-140).

    It stands outside the retries, so what it sees of exhausted ones is their wrapper (EVT-142).
    """

    __slots__ = ("_runtime",)

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def filter(self, exchange: Any, next: Next) -> None:  # noqa: A002
        """Go on, then send the command that tells how it ended, if any; a failure of that replaces the outcome."""
        execute_at = self._runtime.world.now_millis()
        mark = _retry_of(exchange)
        is_off = exchange.function is None or (mark is not None and not mark.enabled)
        tried_id = compensation_id(exchange.header)
        try:
            await next(exchange)
        except Exception as error:
            if not is_off:
                await self._send(self._failure(exchange, error, mark, tried_id, execute_at))
            raise
        if tried_id is not None and not is_off:
            await self._send(ApplyExecutionSuccess(id=tried_id, execute_at=execute_at))

    async def _send(self, body: Any) -> None:
        runtime = self._runtime
        await runtime.gateway.send(runtime.message(body))

    def _failure(
        self, exchange: Any, error: Exception, mark: Retry | None, tried_id: str | None, execute_at: int
    ) -> CreateExecutionFailed | ApplyExecutionFailed:
        errors = self._runtime.world.errors
        info = errors.info(error)
        details = ErrorDetails(
            error_code=info.error_code,
            error_msg=info.error_msg,
            stack_trace=stack_text(error),
            binding_errors=tuple(FieldError(name=item.name, msg=item.msg) for item in info.binding_errors),
        )
        recoverable = recoverability_by(mark, error, errors)
        if tried_id is not None:
            return ApplyExecutionFailed(id=tried_id, error=details, execute_at=execute_at, recoverable=recoverable)
        message = exchange.message
        return CreateExecutionFailed(
            event_id=EventId(
                id=message.id, aggregate_id=FailedAggregate.of(message.aggregate_id), version=message.version
            ),
            function=FailedFunction.of(exchange.function),
            error=details,
            execute_at=execute_at,
            retry_spec=None if mark is None else _spec_of(mark),
            recoverable=recoverable,
        )


def _retry_of(exchange: Any) -> Retry | None:
    target = getattr(exchange, "event_function", None)
    return None if target is None else method_mark(target.handler.owner, target.handler.name, Retry)


def _spec_of(mark: Retry) -> RetrySpec:
    return RetrySpec(
        max_retries=mark.max_retries, min_backoff=mark.min_backoff, execution_timeout=mark.execution_timeout
    )


#: The filters that compensation adds: to the chains of event functions, and to that of snapshots (EVT-124 to EVT-126).
EVENT_COMPENSATION: Final = FilterRow(
    "DomainEventCompensationFilter", Order(ORDER_DEFAULT, before=(RETRYABLE,)), "EVT-139", CompensationFilter
)
SNAPSHOT_COMPENSATION: Final = FilterRow(
    "StateEventCompensationFilter",
    Order(ORDER_DEFAULT, before=(SNAPSHOT_FUNCTION_FILTER,)),
    "EVT-139",
    CompensationFilter,
)


@event_processor(context=CONTEXT)
class CompensationEventProcessor:
    """Publishes again what a function failed on, when its next try is prepared (EVT-148)."""

    def __init__(self, supporter: CompensateSupporter) -> None:
        self._supporter = supporter

    @retry(enabled=False)
    @on_event
    async def prepared(self, event: DomainEvent[CompensationPrepared]) -> None:
        """Only what failed in an aggregate of this process; the record's id is the compensation's."""
        failed = event.body.event_id
        if self._supporter.is_local(failed.aggregate_id.named()):
            target = CompensationTarget(event.aggregate_id.id, event.body.function.info())
            await self._supporter.compensate(failed.aggregate_id.ref(), version=failed.version, target=target)


def supporter_of(runtime: Runtime) -> CompensateSupporter:
    """What publishes events and state events again on the buses of a runtime."""
    return CompensateSupporter(
        DomainEventCompensator(runtime.event_store, runtime.domain_event_bus.send),
        StateEventCompensator(runtime.event_store, runtime.catalog.state_type, runtime.state_event_bus.send),
        lambda named: named in runtime.catalog.aggregates,
    )


class CompensationScheduler:
    """Prepares tries that are due, as snapshots show them (EVT-147).

    Args:
        runtime: whose failed executions.
        batch: how many at once.
        period: nanoseconds between two looks of `run_until`.
    """

    __slots__ = ("_batch", "_period", "_runtime")

    def __init__(self, runtime: Runtime, *, batch: int = BATCH, period: int = PERIOD_NANOS) -> None:
        self._runtime = runtime
        self._batch = batch
        self._period = period

    def due(self) -> list[str]:
        """Ids of failed executions that are to be tried now, in order of their ids, at most a batch."""
        runtime = self._runtime
        now = runtime.world.now_millis()
        found: list[str] = []
        for ref in runtime.event_store.aggregate_ids():
            if ref.named_aggregate == EXECUTION_FAILED:
                snapshot = runtime.snapshot_store.load_now(ref)
                if snapshot is not None and snapshot.state.is_due(now):
                    found.append(ref.id)
        return sorted(found)[: self._batch]

    async def run_once(self) -> int:
        """Send the command that prepares each; how many. What one fails with is logged, and the next one follows."""
        runtime = self._runtime
        due = self.due()
        for record_id in due:
            message = runtime.message(PrepareCompensation(id=record_id))
            try:
                await runtime.gateway.send(message)
            except Exception as error:  # noqa: BLE001 - one that cannot be sent must not stop the others
                runtime.world.log_failure(COMPENSATION_SCHEDULER, message, error)
        return len(due)

    async def run_until(self, nanos: int) -> None:
        """Look once a period, until an instant in epoch nanoseconds: a world with endless timers never rests."""
        world = self._runtime.world
        while world.clock.nanos + self._period <= nanos:
            await world.scheduler.sleep(self._period)
            await self.run_once()


class Compensation:
    """Compensation in one runtime: its filters, the record of failed executions, and what publishes again.

    Attributes:
        supporter: publishes events and state events again.
    """

    __slots__ = ("supporter",)

    def __init__(self, runtime: Runtime) -> None:
        self.supporter: CompensateSupporter = supporter_of(runtime)

    def renew(self, runtime: Runtime) -> None:
        """The runtime has other buses now."""
        self.supporter = supporter_of(runtime)

    def rows(self, dispatcher: str) -> tuple[FilterRow, ...]:
        """What it adds to a dispatcher's chain."""
        if dispatcher == SNAPSHOT_DISPATCHER:
            return (SNAPSHOT_COMPENSATION,)
        return (EVENT_COMPENSATION,) if dispatcher in EVENT_DISPATCHERS.values() else ()

    def join(self, runtime: Runtime) -> None:
        """Let the record of failed executions, and its event processor, join the world; again is a no-op."""
        runtime.add_aggregate(aggregate_metadata(ExecutionFailed))
        runtime.add_processor(processor_metadata(CompensationEventProcessor))
