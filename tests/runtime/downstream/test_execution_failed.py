"""The record of a failed execution: its life, its refusals, its times on the virtual clock."""

from __future__ import annotations

import pytest

from tests.runtime.downstream.shop import ORDER, Bench
from wowspec.errors import Recoverability
from wowspec.modeling.identity import AggregateRef, FunctionInfo, FunctionKind
from wowspec.runtime.downstream.execution_failed import (
    EXECUTION_FAILED,
    STATUS_AFTER,
    ApplyExecutionFailed,
    ApplyExecutionSuccess,
    ApplyRetrySpec,
    ChangeFunction,
    CompensationPrepared,
    CreateExecutionFailed,
    ErrorDetails,
    EventId,
    ExecutionFailed,
    ExecutionFailedApplied,
    ExecutionFailedCreated,
    ExecutionFailedState,
    ExecutionSuccessApplied,
    FailedAggregate,
    FailedFunction,
    ForcePrepareCompensation,
    MarkRecoverable,
    PrepareCompensation,
    Status,
)
from wowspec.runtime.downstream.retry_times import RetrySpec, RetryState

INFO = FunctionInfo(FunctionKind.EVENT, "shop", "OrderView", "on_event")
EVENT_ID = EventId(id="e-1", aggregate_id=FailedAggregate.of(ORDER), version=3)
ERROR = ErrorDetails(error_code="IllegalState", error_msg="no")
SPEC = RetrySpec(max_retries=2, min_backoff=10, execution_timeout=60)
RECORD = AggregateRef(EXECUTION_FAILED.context_name, EXECUTION_FAILED.aggregate_name, "f-1")


class Setting(Bench):
    """A world with one failed execution, `f-1`."""

    def __init__(self, spec: RetrySpec | None = SPEC) -> None:
        super().__init__(ExecutionFailed)
        self.start = self.world.now_millis()
        self.created = self.send(self.creation(spec), aggregate_id="f-1")

    @staticmethod
    def creation(spec: RetrySpec | None) -> CreateExecutionFailed:
        """The command that records the failure."""
        return CreateExecutionFailed(
            event_id=EVENT_ID, function=FailedFunction.of(INFO), error=ERROR, execute_at=5, retry_spec=spec
        )

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.world.clock.move_to(self.world.clock.nanos + int(seconds * 1_000_000_000))

    @property
    def state(self) -> ExecutionFailedState:
        """The state of the record."""
        return self.runtime.snapshot_store.load_now(RECORD).state

    def prepare(self) -> str:
        """Begin a try."""
        return self.send(PrepareCompensation(id="f-1"))

    def force(self) -> str:
        """Begin a try by force."""
        return self.send(ForcePrepareCompensation(id="f-1"))

    def fail(self) -> str:
        """End a try badly."""
        error = ErrorDetails(error_code="Again")
        return self.send(ApplyExecutionFailed(id="f-1", error=error, execute_at=7))

    def succeed(self) -> str:
        """End a try well."""
        return self.send(ApplyExecutionSuccess(id="f-1", execute_at=9))


@pytest.fixture
def record():
    """A failed execution that may be tried twice, ten seconds apart, for a minute each."""
    return Setting()


@pytest.mark.clause("EVT-143", "EVT-145")
def test_creation(record):
    """A new record is FAILED, has had no retry, and its times count from now."""
    state = record.state

    assert record.created == "Ok"
    assert state.status is Status.FAILED
    assert state.retry_state == RetryState(
        retries=0, retry_at=record.start, timeout_at=record.start + 60_000, next_retry_at=record.start + 10_000
    )
    assert state.event_id == EVENT_ID
    assert state.event_id.aggregate_id.ref() == ORDER
    assert state.function.info() == INFO
    assert (state.error, state.execute_at, state.retry_spec) == (ERROR, 5, SPEC)
    assert state.recoverable is Recoverability.UNKNOWN


@pytest.mark.clause("EVT-143", "EVT-129")
def test_without_a_spec_the_defaults_hold():
    """A function without @retry is tried ten times, from three minutes on, for two minutes each."""
    record = Setting(None)

    assert record.state.retry_spec == RetrySpec(max_retries=10, min_backoff=180, execution_timeout=120)


@pytest.mark.clause("EVT-145")
@pytest.mark.parametrize(
    ("spec", "code"),
    [
        (RetrySpec(max_retries=63), "BadRequest"),
        (RetrySpec(max_retries=62), "BadRequest"),
        (RetrySpec(min_backoff=-1), "IllegalArgument"),
        (RetrySpec(max_retries=63, min_backoff=0), "Ok"),
    ],
)
def test_a_spec_must_reach_its_last_try(spec, code):
    """On creation and when it is replaced, a spec is computed at its last try."""
    assert Setting(spec).created == code

    record = Setting()
    values = {"max_retries": spec.max_retries, "min_backoff": spec.min_backoff, "execution_timeout": 1}
    assert record.send(ApplyRetrySpec(id="f-1", **values)) == code
    assert (record.state.retry_spec == SPEC) is (code != "Ok")


@pytest.mark.clause("EVT-143", "EVT-145", "EXM-017")
def test_a_life_of_two_tries(record):
    """Prepared with one more retry and new times, failed, prepared again, succeeded."""
    record.wait(10)
    assert record.prepare() == "Ok"
    state = record.state
    assert state.status is Status.PREPARED
    assert state.retry_state == RetryState(
        retries=1,
        retry_at=record.start + 10_000,
        timeout_at=record.start + 70_000,
        next_retry_at=record.start + 10_000 + 20_000,
    )

    assert record.fail() == "Ok"
    assert record.state.status is Status.FAILED
    assert (record.state.error.error_code, record.state.execute_at) == ("Again", 7)
    assert record.prepare() == "Ok"
    assert record.state.retry_state.retries == 2
    assert record.succeed() == "Ok"
    assert (record.state.status, record.state.execute_at) == (Status.SUCCEEDED, 9)


@pytest.mark.clause("EVT-143")
def test_results_need_a_prepared_try(record):
    """Neither a failure nor a success is taken of a record that is not PREPARED."""
    assert (record.fail(), record.succeed()) == ("IllegalState", "IllegalState")
    record.prepare()
    record.succeed()
    assert (record.fail(), record.succeed()) == ("IllegalState", "IllegalState")


@pytest.mark.clause("EVT-144")
def test_a_prepared_try_must_time_out_first(record):
    """A try that was begun is not begun again before its time-out has passed, not even by force."""
    record.prepare()
    record.wait(60)
    assert (record.prepare(), record.force()) == ("IllegalState", "IllegalState")

    record.wait(0.001)
    assert record.prepare() == "Ok"
    assert record.state.retry_state.retries == 2


@pytest.mark.clause("EVT-144")
def test_force_drops_the_count_alone(record):
    """After the last try only force begins another one; a success is never begun again."""
    for _ in range(2):
        record.prepare()
        record.fail()
    assert record.prepare() == "IllegalState"
    assert record.force() == "Ok"
    assert record.state.retry_state.retries == 3

    record.succeed()
    record.wait(1_000)
    assert (record.prepare(), record.force()) == ("IllegalState", "IllegalState")


@pytest.mark.clause("EVT-146")
def test_marking_the_same_again_is_refused(record):
    """The same recoverability and the same function are illegal arguments; others are taken."""
    assert record.send(MarkRecoverable(id="f-1", recoverable=Recoverability.UNKNOWN)) == "IllegalArgument"
    assert record.send(MarkRecoverable(id="f-1", recoverable=Recoverability.UNRECOVERABLE)) == "Ok"
    assert record.state.recoverable is Recoverability.UNRECOVERABLE

    function = FailedFunction.of(INFO)
    assert record.send(ChangeFunction(id="f-1", function=function)) == "IllegalArgument"
    other = function.model_copy(update={"name": "other"})
    assert record.send(ChangeFunction(id="f-1", function=other)) == "Ok"
    assert record.state.function == other
    assert record.state.status is Status.FAILED


@pytest.mark.clause("EVT-145")
def test_another_spec(record):
    """A replaced spec holds from the next try on."""
    values = {"max_retries": 5, "min_backoff": 1, "execution_timeout": 2}
    assert record.send(ApplyRetrySpec(id="f-1", **values)) == "Ok"

    record.prepare()

    assert record.state.retry_state.timeout_at - record.state.retry_state.retry_at == 2_000
    assert record.state.retry_state.next_retry_at - record.state.retry_state.retry_at == 2_000


@pytest.mark.clause("EVT-147")
def test_what_the_scheduler_picks(record):
    """Due is what may be tried by count and by time and is not UNRECOVERABLE."""
    state = record.state
    now = state.retry_state.next_retry_at

    assert state.is_due(now)
    assert not state.is_due(now - 1)
    for kind, is_due in ((Recoverability.RECOVERABLE, True), (Recoverability.UNRECOVERABLE, False)):
        assert state.model_copy(update={"recoverable": kind}).is_due(now) is is_due
    spent = state.retry_state.model_copy(update={"retries": 2})
    assert not state.model_copy(update={"retry_state": spent}).is_due(now)
    prepared = state.model_copy(update={"status": Status.PREPARED})
    assert not prepared.is_due(now)
    assert prepared.is_due(state.retry_state.timeout_at + 1)
    assert not state.model_copy(update={"status": Status.SUCCEEDED}).is_due(now)


@pytest.mark.clause("EVT-143")
def test_which_events_change_the_status():
    """Four of the seven events do."""
    assert {
        ExecutionFailedCreated: Status.FAILED,
        CompensationPrepared: Status.PREPARED,
        ExecutionFailedApplied: Status.FAILED,
        ExecutionSuccessApplied: Status.SUCCEEDED,
    } == STATUS_AFTER
