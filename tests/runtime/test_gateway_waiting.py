"""The command gateway's waiting calls (section F)."""

from __future__ import annotations

import inspect

import pytest

from tests.runtime.gateway_setting import (
    EVENT_HANDLED,
    PROCESSED,
    PROJECTED,
    SAGA_HANDLED,
    SECOND,
    SENT,
    SNAPSHOT,
    WAITING,
    MarkedSpy,
    Setting,
    Spy,
    SpyingCoordinator,
    check_of,
    command,
    original_of,
    signal,
    spied,
)
from wowspec.errors import (
    CommandResultError,
    DeadlineExceeded,
    DuplicateRequestIdError,
    IllegalArgumentError,
    IllegalStateError,
    ModelError,
    UnsupportedOperationError,
)
from wowspec.messages.header import Header
from wowspec.messages.wait_headers import read_wait_plan
from wowspec.messages.wait_plans import (
    chain,
    event_handled,
    processed,
    projected,
    saga_handled,
    sent,
    snapshot,
)
from wowspec.modeling.identity import GATEWAY_FUNCTION, PROCESS_FUNCTION
from wowspec.runtime.gateway import CommandGateway
from wowspec.world.scheduler import Cancelled


@pytest.mark.clause("CMD-103", "CMD-104")
@WAITING
def test_void_commands_need_a_plan_that_suits_them(call):
    """Raw, before the request-id check, and nothing is left behind."""
    setting = Setting()
    task = check_of(setting, call, command(is_void=True), processed().plan("c-1"))
    assert isinstance(task.error, IllegalArgumentError)
    assert (setting.points, setting.coordinator.waiting) == ([], ())
    assert check_of(setting, call, command(is_void=True), sent().plan("c-1")).error is None


@pytest.mark.clause("CMD-105")
@WAITING
def test_an_in_flight_duplicate_is_a_duplicate(call):
    """Not a clash of handles: the coordinator is not touched by failed checks."""
    setting = Setting()
    setting.wait()
    assert isinstance(original_of(check_of(setting, call, command()), call), DuplicateRequestIdError)
    assert setting.coordinator.waiting == ("c-1",)


@pytest.mark.clause("CMD-106")
@WAITING
def test_a_taken_wait_id(call):
    """Raw; the command is not sent, and the existing handle is untouched."""
    setting = Setting()
    handle = setting.coordinator.open_last(processed().plan("c-1"))
    task = check_of(setting, call, command())
    assert isinstance(task.error, IllegalArgumentError)
    assert (setting.sent, setting.coordinator.waiting) == ([], ("c-1",))
    assert handle.next(signal()) is True


@pytest.mark.clause("CMD-107", "CMD-347")
@WAITING
def test_wait_headers_are_written_after_registration(call):
    """To the command's own header, with the gateway's endpoint, right before the bus call."""
    setting = Setting()
    message, plan = command(), projected("shop").plan("c-1")
    check_of(setting, call, message, plan)
    extracted = read_wait_plan(setting.headers[0])
    assert extracted is not None
    assert (extracted.endpoint, extracted.plan) == ("here", plan)
    assert setting.headers[0] == message.header
    assert setting.open_while_sending == [("c-1",)]


@pytest.mark.clause("CMD-110", "CMD-075")
@WAITING
def test_a_read_only_header(call):
    """Wrapped, with code BadRequest; the bus is not called and the handle is gone."""
    setting = Setting()
    error = original_of(check_of(setting, call, command(header=Header().freeze())), call)
    assert isinstance(error, UnsupportedOperationError)
    assert (setting.sent, setting.coordinator.waiting) == ([], ())


@pytest.mark.clause("CMD-108")
@WAITING
def test_waiting_calls_do_not_notify(call):
    """Their SENT goes straight into the handle."""
    setting = Setting()
    check_of(setting, call, command())
    assert setting.notified == []


@pytest.mark.clause("CMD-109", "CMD-418")
def test_sent_is_skipped_for_built_in_last_handles_of_later_stages():
    """Unless the target is SENT; a chain's target is SAGA_HANDLED, so it is skipped there too."""
    chained = chain(saga_handled("shop"), then=sent()).plan("c-1")
    assert spied(MarkedSpy, processed().plan("c-1")) == []
    assert spied(MarkedSpy, chained) == []
    assert spied(MarkedSpy, sent().plan("c-1")) == [(SENT, "Ok")]
    assert spied(Spy, processed().plan("c-1")) == [(SENT, "Ok")]
    assert [item.stage for item in Setting().stream()[1]] == [SENT]


@pytest.mark.clause("CMD-110")
def test_a_bus_failure_is_pushed_into_the_handle():
    """Always, also where a successful SENT would be skipped."""
    assert spied(MarkedSpy, processed().plan("c-1"), bus_error=IllegalStateError("x")) == [(SENT, "IllegalState")]


@pytest.mark.clause("CMD-110", "CMD-111")
@WAITING
def test_a_bus_failure_reaches_the_caller(call):
    """As the cause of a `CommandResultError`; a stream gives no element before."""
    setting = Setting()
    setting.bus_error = IllegalStateError("closed")
    if call == "stream":
        task, results = setting.stream()
        assert results == []
    else:
        task = setting.wait()
    assert original_of(task, call) is setting.bus_error
    assert (task.error.error_code, task.error.result.aggregate_version) == ("IllegalState", None)
    assert setting.coordinator.waiting == ()


@pytest.mark.clause("CMD-112")
def test_the_final_signal_as_result():
    """One result, made from the final signal, merged."""
    setting = Setting()
    task = setting.wait()
    assert (task.done, setting.coordinator.waiting) == (False, ("c-1",))
    setting.coordinator.signal(signal(SENT, result={"a": 1}))
    setting.coordinator.signal(signal(result={"b": 2}))
    setting.settle()
    result = task.result()
    assert (result.stage, result.result, result.request_id) == (PROCESSED, {"a": 1, "b": 2}, "r-1")


@pytest.mark.clause("CMD-113", "CMD-328")
def test_a_failed_final_signal_raises():
    """With the result; the real runtime has no cause there, and here the original error is at hand."""
    setting, original = Setting(), ValueError("in the handler")
    task = setting.wait()
    setting.coordinator.signal(signal(error="X", error_msg="no", original_error=original))
    setting.settle()
    error = task.error
    assert isinstance(error, CommandResultError)
    assert (error.error_code, error.error_msg, error.result.stage) == ("X", "no", PROCESSED)
    assert error.wire_cause is None
    assert error.__cause__ is error.original is original


@pytest.mark.clause("CMD-114")
def test_a_wait_that_somebody_else_cancels():
    """The call ends without a result."""
    setting = Setting()
    setting.coordinator = setting.gateway.coordinator = SpyingCoordinator(MarkedSpy)
    task = setting.wait()
    setting.coordinator.spies[0].handle.cancel()
    setting.settle()
    assert (task.error, task.result()) == (None, None)


@pytest.mark.clause("CMD-115")
@pytest.mark.parametrize("error", ["Ok", "X"])
def test_a_stream_gives_every_accepted_signal(error):
    """In order, unmerged; a failed one is an ordinary last element."""
    setting = Setting()
    task, results = setting.stream(snapshot().plan("c-1"))
    for item in (signal(PROJECTED), signal(result={"a": 1}), signal(SNAPSHOT, error=error)):
        setting.coordinator.signal(item)
    setting.settle()
    assert [(item.stage, item.error_code) for item in results] == [(SENT, "Ok"), (PROCESSED, "Ok"), (SNAPSHOT, error)]
    assert [item.result for item in results] == [{}, {"a": 1}, {}]
    assert (task.error, setting.coordinator.waiting) == (None, ())


@pytest.mark.clause("CMD-116")
def test_a_stream_may_end_without_sent():
    """If processing signals the target before the bus call returns."""
    setting = Setting()
    setting.signals_while_sending = [signal()]
    task, results = setting.stream()
    assert ([item.stage for item in results], task.error) == ([PROCESSED], None)


@pytest.mark.clause("CMD-116")
def test_sent_may_come_after_processed():
    """In a stream that waits for more."""
    setting = Setting()
    setting.signals_while_sending = [signal()]
    assert [item.stage for item in setting.stream(snapshot().plan("c-1"))[1]] == [PROCESSED, SENT]


@pytest.mark.clause("CMD-110")
@WAITING
def test_a_bus_failure_after_the_final_signal(call):
    """The handle had completed; the caller gets the bus's error all the same."""
    setting = Setting()
    setting.signals_while_sending, setting.bus_error = [signal()], TimeoutError("reply lost")
    assert original_of(check_of(setting, call, command()), call) is setting.bus_error


@pytest.mark.clause("CMD-117")
@WAITING
@pytest.mark.parametrize("end", ["success", "error", "cancel", "deadline"])
def test_the_wait_id_is_free_after_every_end(call, end):
    """The handle is cancelled and unregistered."""
    setting = Setting()
    if end == "error":
        setting.bus_error = ConnectionError()
    task = check_of(setting, call, command())
    if end == "success":
        setting.coordinator.signal(signal())
    if end == "cancel":
        task.cancel()
    setting.settle(30 * SECOND if end == "deadline" else 0)
    assert task.done
    assert setting.coordinator.waiting == ()
    setting.coordinator.open_last(processed().plan("c-1"))


@pytest.mark.clause("CMD-117")
def test_the_handle_is_cancelled_after_normal_completion_too():
    """Custom handles must tolerate it."""
    setting = Setting()
    setting.coordinator = setting.gateway.coordinator = SpyingCoordinator(MarkedSpy)
    setting.wait()
    setting.coordinator.signal(signal())
    setting.settle()
    assert setting.coordinator.spies[0].cancelled == 1


@pytest.mark.clause("CMD-118")
@WAITING
def test_cancelling_while_the_bus_is_pending(call):
    """Releases the handle, and the caller sees its own cancellation."""
    setting = Setting()
    setting.bus_hangs = True
    task = check_of(setting, call, command())
    assert setting.coordinator.waiting == ("c-1",)
    task.cancel()
    setting.settle()
    assert isinstance(task.error, Cancelled)
    assert setting.coordinator.waiting == ()


@pytest.mark.clause("CMD-122")
def test_this_gateway_keeps_deadlines():
    """Callers need none of their own."""
    assert CommandGateway.enforces_command_wait_timeout is True


@pytest.mark.clause("CMD-123", "CMD-124", "CMD-129")
def test_wait_for_sent_is_a_path_of_its_own():
    """No handle, no header, no check of void commands; the result is made by the gateway."""
    setting = Setting()
    message = command(is_void=True, aggregate_version=4)
    result = setting.start(setting.gateway.send_and_wait_for_sent(message)).result()
    assert (setting.open_while_sending, setting.headers, setting.notified) == ([()], [{}], [])
    assert (result.wait_command_id, result.command_id, result.stage) == ("c-1", "c-1", SENT)
    assert (result.aggregate_version, result.function, result.succeeded) == (4, GATEWAY_FUNCTION, True)
    assert (result.result, bool(result.id)) == ({}, True)


@pytest.mark.clause("CMD-125")
def test_wait_for_sent_wraps_its_errors():
    """Also the bus's; the deadline alone is raw."""
    setting = Setting()
    setting.bus_error = ConnectionError("down")
    task = setting.start(setting.gateway.send_and_wait_for_sent(command()))
    assert original_of(task, "sent") is setting.bus_error
    assert task.error.result.wait_command_id == "c-1"
    hanging = Setting()
    hanging.bus_hangs = True
    late = hanging.start(hanging.gateway.send_and_wait_for_sent(command()))
    hanging.settle(30 * SECOND - 1)
    assert late.done is False
    hanging.settle(1)
    assert isinstance(late.error, DeadlineExceeded)


@pytest.mark.clause("CMD-126")
@pytest.mark.parametrize(("name", "stage"), [("processed", PROCESSED), ("snapshot", SNAPSHOT)])
def test_short_forms(name, stage):
    """`send_and_wait` with that stage's plan, the command's id as wait id."""
    setting = Setting()
    task = setting.start(getattr(setting.gateway, f"send_and_wait_for_{name}")(command()))
    assert setting.headers[0]["command_wait_id"] == "c-1"
    setting.coordinator.signal(signal())
    setting.coordinator.signal(signal(SNAPSHOT))
    setting.settle()
    assert task.result().stage is stage


@pytest.mark.clause("CMD-127")
def test_waiting_calls_take_message_and_plan():
    """And nothing else."""
    for call in (CommandGateway.send_and_wait, CommandGateway.send_and_wait_stream):
        assert list(inspect.signature(call).parameters) == ["self", "message", "plan"]


@pytest.mark.clause("CMD-131", "CMD-396")
def test_a_chain_result_names_the_tail_and_the_first_request():
    """Command id and aggregate of the tail, request id of the command that was sent."""
    setting = Setting()
    task = setting.wait(chain(saga_handled("shop", "OrderSaga"), then=processed()).plan("c-1"))
    saga = PROCESS_FUNCTION.__class__(PROCESS_FUNCTION.kind, "shop", "OrderSaga", "on_event")
    item = signal(SAGA_HANDLED, commands=("t-1",))
    item.function = saga
    for each in (signal(), item, signal(of="t-1")):
        assert setting.coordinator.signal(each) is True
    setting.settle()
    assert (task.result().command_id, task.result().request_id) == ("t-1", "r-1")


@pytest.mark.clause("CMD-372")
def test_a_chain_with_another_wait_id_can_only_time_out():
    """Its own signals are taken for pending tails."""
    setting = Setting()
    task = setting.wait(chain(saga_handled("shop"), then=processed()).plan("other"))
    setting.coordinator.signal(signal(wait="other"))
    setting.settle(30 * SECOND)
    assert isinstance(task.error, DeadlineExceeded)


@pytest.mark.clause("CMD-366")
def test_event_handled_ends_with_the_first_signal():
    """Through the gateway as in the state."""
    setting = Setting()
    task = setting.wait(event_handled("wow").plan("c-1"))
    setting.coordinator.signal(signal())
    setting.coordinator.signal(signal(EVENT_HANDLED))
    setting.settle()
    assert task.result().stage is EVENT_HANDLED


def test_waiting_needs_a_task():
    """Awaited outside the world's scheduler there would be no deadline."""
    with pytest.raises(ModelError, match="outside a task"):
        Setting().gateway.send_and_wait(command(), processed().plan("c-1")).send(None)
    with pytest.raises(ModelError, match="outside a task"):
        Setting().gateway.send_and_wait_stream(command(), processed().plan("c-1")).__anext__().send(None)
