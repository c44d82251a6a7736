"""The record of a failed execution and its life: an aggregate like any other, of context `compensation` (EVT-143)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import BaseModel

from ...errors import IllegalArgumentError, IllegalStateError, Recoverability
from ...messages.definitions import aggregate_root
from ...modeling.aggregates import aggregate_metadata
from ...modeling.annotations import AggregateId, create_aggregate
from ...modeling.decorators import on_command
from ...modeling.identity import AggregateRef, FunctionInfo, FunctionKind, NamedAggregate
from ...world.user_clock import Clock
from .retry_times import RetrySpec, RetryState, check_retry_spec, retry_state

CONTEXT: Final = "compensation"


class Status(StrEnum):
    """Where a failed execution stands (EVT-143)."""

    FAILED = "FAILED"
    PREPARED = "PREPARED"
    SUCCEEDED = "SUCCEEDED"


class FailedAggregate(BaseModel, frozen=True):
    """The aggregate whose event failed."""

    context_name: str
    aggregate_name: str
    id: str
    tenant_id: str

    @classmethod
    def of(cls, ref: AggregateRef) -> FailedAggregate:
        """From a reference."""
        return cls(context_name=ref.context_name, aggregate_name=ref.aggregate_name, id=ref.id, tenant_id=ref.tenant_id)

    def ref(self) -> AggregateRef:
        """As a reference."""
        return AggregateRef(self.context_name, self.aggregate_name, self.id, self.tenant_id)

    def named(self) -> NamedAggregate:
        """Its type."""
        return NamedAggregate(self.context_name, self.aggregate_name)


class EventId(BaseModel, frozen=True):
    """The message that a function failed on: an event, or for snapshots a stream (EVT-141)."""

    id: str
    aggregate_id: FailedAggregate
    version: int


class FailedFunction(BaseModel, frozen=True):
    """The function that failed."""

    kind: FunctionKind
    context_name: str
    processor_name: str
    name: str

    @classmethod
    def of(cls, info: FunctionInfo) -> FailedFunction:
        """From a function's identity."""
        return cls(kind=info.kind, context_name=info.context_name, processor_name=info.processor_name, name=info.name)

    def info(self) -> FunctionInfo:
        """As a function's identity."""
        return FunctionInfo(self.kind, self.context_name, self.processor_name, self.name)


class FieldError(BaseModel, frozen=True):
    """A field that was refused."""

    name: str
    msg: str


class ErrorDetails(BaseModel, frozen=True):
    """What a function failed with."""

    error_code: str
    error_msg: str = ""
    stack_trace: str = ""
    binding_errors: tuple[FieldError, ...] = ()


# ------------------------------------------------------------------------------------------------------------ commands


@create_aggregate
class CreateExecutionFailed(BaseModel):
    """A function failed for the first time (EVT-141). Times are in epoch milliseconds."""

    event_id: EventId
    function: FailedFunction
    error: ErrorDetails
    execute_at: int
    retry_spec: RetrySpec | None = None
    recoverable: Recoverability = Recoverability.UNKNOWN


class PrepareCompensation(BaseModel):
    """Try again, if that is due to it."""

    id: Annotated[str, AggregateId()]


class ForcePrepareCompensation(BaseModel):
    """Try again, however often it was tried."""

    id: Annotated[str, AggregateId()]


class ApplyExecutionFailed(BaseModel):
    """A try failed."""

    id: Annotated[str, AggregateId()]
    error: ErrorDetails
    execute_at: int
    recoverable: Recoverability = Recoverability.UNKNOWN


class ApplyExecutionSuccess(BaseModel):
    """A try succeeded."""

    id: Annotated[str, AggregateId()]
    execute_at: int


class ApplyRetrySpec(BaseModel):
    """From now on, try so often and so soon."""

    id: Annotated[str, AggregateId()]
    max_retries: int
    min_backoff: int
    execution_timeout: int


class MarkRecoverable(BaseModel):
    """Somebody judged the failure."""

    id: Annotated[str, AggregateId()]
    recoverable: Recoverability


class ChangeFunction(BaseModel):
    """The function has another name by now."""

    id: Annotated[str, AggregateId()]
    function: FailedFunction


# -------------------------------------------------------------------------------------------------------------- events


class ExecutionFailedCreated(BaseModel):
    """A failed execution is on record."""

    event_id: EventId
    function: FailedFunction
    error: ErrorDetails
    execute_at: int
    retry_state: RetryState
    retry_spec: RetrySpec
    recoverable: Recoverability


class CompensationPrepared(BaseModel):
    """The execution is to be tried again now."""

    event_id: EventId
    function: FailedFunction
    retry_state: RetryState


class ExecutionFailedApplied(BaseModel):
    """A try failed."""

    error: ErrorDetails
    execute_at: int
    recoverable: Recoverability


class ExecutionSuccessApplied(BaseModel):
    """A try succeeded."""

    execute_at: int


class RetrySpecApplied(BaseModel):
    """There is another retry spec."""

    retry_spec: RetrySpec


class RecoverableMarked(BaseModel):
    """The failure was judged."""

    recoverable: Recoverability


class FunctionChanged(BaseModel):
    """The function has another name."""

    function: FailedFunction


# ----------------------------------------------------------------------------------------------------------- aggregate


class ExecutionFailedState(BaseModel):
    """What is known of a failed execution; empty before it is created."""

    id: str
    event_id: EventId | None = None
    function: FailedFunction | None = None
    error: ErrorDetails | None = None
    execute_at: int = 0
    retry_state: RetryState = RetryState(retries=0, retry_at=0, timeout_at=0, next_retry_at=0)
    retry_spec: RetrySpec = RetrySpec()
    recoverable: Recoverability = Recoverability.UNKNOWN
    status: Status = Status.FAILED

    def is_below_limit(self) -> bool:
        """Whether it may be tried again by count."""
        return self.retry_state.retries < self.retry_spec.max_retries

    def can_force_retry(self, now: int) -> bool:
        """Whether it failed, or was begun and never answered (EVT-144). `now` is in epoch milliseconds."""
        if self.status is Status.PREPARED:
            return self.retry_state.timeout_at < now
        return self.status is Status.FAILED

    def can_retry(self, now: int) -> bool:
        """The same, and below the limit (EVT-144)."""
        return self.is_below_limit() and self.can_force_retry(now)

    def is_due(self, now: int) -> bool:
        """Whether the scheduler picks it (EVT-147)."""
        return (
            self.recoverable is not Recoverability.UNRECOVERABLE
            and self.can_retry(now)
            and self.retry_state.next_retry_at <= now
        )

    def on_sourcing(
        self,
        event: ExecutionFailedCreated
        | CompensationPrepared
        | ExecutionFailedApplied
        | ExecutionSuccessApplied
        | RetrySpecApplied
        | RecoverableMarked
        | FunctionChanged,
    ) -> None:
        """Every event sets the fields that it has, and some the status."""
        for name in type(event).model_fields:
            setattr(self, name, getattr(event, name))
        self.status = STATUS_AFTER.get(type(event), self.status)


#: The status that an event leads to; the others leave it (EVT-143).
STATUS_AFTER: Final[dict[type, Status]] = {
    ExecutionFailedCreated: Status.FAILED,
    CompensationPrepared: Status.PREPARED,
    ExecutionFailedApplied: Status.FAILED,
    ExecutionSuccessApplied: Status.SUCCEEDED,
}


@aggregate_root(context=CONTEXT)
class ExecutionFailed:
    """Decides what becomes of a failed execution."""

    def __init__(self, state: ExecutionFailedState) -> None:
        self.state = state

    @on_command
    def create(self, command: CreateExecutionFailed, clock: Clock) -> ExecutionFailedCreated:
        """Record a failure; it has had no retry yet. A spec whose last try has no instant is refused (EVT-145)."""
        now = clock.now_millis()
        spec = check_retry_spec(command.retry_spec or RetrySpec(), now)
        return ExecutionFailedCreated(
            event_id=command.event_id,
            function=command.function,
            error=command.error,
            execute_at=command.execute_at,
            retry_state=retry_state(spec, 0, now),
            retry_spec=spec,
            recoverable=command.recoverable,
        )

    @on_command
    def prepare(self, _: PrepareCompensation, clock: Clock) -> CompensationPrepared:
        """Begin a try that may be begun by time and by count (EVT-144)."""
        now = clock.now_millis()
        if not self.state.can_retry(now):
            raise IllegalStateError(self._refusal("may not be tried again now"))
        return self._prepared(now)

    @on_command
    def force_prepare(self, _: ForcePrepareCompensation, clock: Clock) -> CompensationPrepared:
        """Begin a try that may be begun by time (EVT-144)."""
        now = clock.now_millis()
        if not self.state.can_force_retry(now):
            raise IllegalStateError(self._refusal("may not be tried again, not even by force"))
        return self._prepared(now)

    @on_command
    def apply_failed(self, command: ApplyExecutionFailed) -> ExecutionFailedApplied:
        """A try failed (EVT-143)."""
        self._require_prepared()
        return ExecutionFailedApplied(
            error=command.error, execute_at=command.execute_at, recoverable=command.recoverable
        )

    @on_command
    def apply_success(self, command: ApplyExecutionSuccess) -> ExecutionSuccessApplied:
        """A try succeeded (EVT-143)."""
        self._require_prepared()
        return ExecutionSuccessApplied(execute_at=command.execute_at)

    @on_command
    def apply_retry_spec(self, command: ApplyRetrySpec, clock: Clock) -> RetrySpecApplied:
        """Take another spec, if its last try has an instant (EVT-145)."""
        spec = RetrySpec(
            max_retries=command.max_retries,
            min_backoff=command.min_backoff,
            execution_timeout=command.execution_timeout,
        )
        return RetrySpecApplied(retry_spec=check_retry_spec(spec, clock.now_millis()))

    @on_command
    def mark_recoverable(self, command: MarkRecoverable) -> RecoverableMarked:
        """Judge the failure otherwise than it is judged (EVT-146)."""
        if command.recoverable is self.state.recoverable:
            message = f"{self.state.id} is marked {command.recoverable} already"
            raise IllegalArgumentError(message)
        return RecoverableMarked(recoverable=command.recoverable)

    @on_command
    def change_function(self, command: ChangeFunction) -> FunctionChanged:
        """Name another function than it names (EVT-146)."""
        if command.function == self.state.function:
            message = f"{self.state.id} is of that function already: {command.function}"
            raise IllegalArgumentError(message)
        return FunctionChanged(function=command.function)

    def _prepared(self, now: int) -> CompensationPrepared:
        state = self.state
        assert state.event_id is not None
        assert state.function is not None
        return CompensationPrepared(
            event_id=state.event_id,
            function=state.function,
            retry_state=retry_state(state.retry_spec, state.retry_state.retries + 1, now),
        )

    def _require_prepared(self) -> None:
        if self.state.status is not Status.PREPARED:
            raise IllegalStateError(self._refusal("has no try that could end"))

    def _refusal(self, what: str) -> str:
        state = self.state
        tries = f"{state.retry_state.retries} of {state.retry_spec.max_retries} tries"
        return f"the failed execution {state.id} {what}: it is {state.status}, after {tries}"


EXECUTION_FAILED: Final = aggregate_metadata(ExecutionFailed).named
