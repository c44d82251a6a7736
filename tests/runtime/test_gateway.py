"""The command gateway: checks and plain sending (section E)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runtime.gateway_setting import (
    CALLS,
    ORDER,
    SENT,
    Pay,
    Setting,
    check_of,
    command,
    original_of,
)
from wowspec.errors import (
    CommandValidationError,
    DuplicateRequestIdError,
    IllegalStateError,
)
from wowspec.messages.header import Header
from wowspec.messages.wait_headers import write_wait_plan
from wowspec.messages.wait_plans import (
    processed,
    projected,
    sent,
)
from wowspec.runtime.gateway import PRE_CHECKS


@pytest.mark.clause("CMD-080", "TCK-018")
def test_calls_are_lazy():
    """Making a coroutine or a stream does nothing; each call repeats every step, the precheck too."""
    setting = Setting()
    setting.gateway.send(command()).close()
    setting.gateway.send_and_wait_stream(command(), processed().plan("c-1"))
    assert (setting.points, setting.coordinator.waiting) == ([], ())
    first, second = (setting.start(setting.gateway.send(command())) for _ in range(2))
    assert first.error is None
    assert isinstance(second.error, DuplicateRequestIdError)


@pytest.mark.clause("CMD-081", "CMD-105")
@CALLS
def test_order_of_work(call):
    """Request id, fields, bus; a duplicate is neither validated nor registered nor sent."""
    setting = Setting()
    check_of(setting, call, command())
    assert setting.points[:3] == [
        "gateway:o-1 request_id.check ok true",
        "gateway:o-1 command.validate ok",
        "gateway:o-1 command_bus.send ok Pay",
    ]
    check_of(setting, call, command(Pay.model_construct(amount=0)))
    assert setting.points[-1] == "gateway:o-1 request_id.check ok false"
    assert len(setting.sent) == 1


@pytest.mark.clause("CMD-082")
@pytest.mark.parametrize(("answer", "passes"), [(None, True), (True, True), (False, False)])
def test_only_an_explicit_false_is_a_duplicate(answer, passes):
    """A checker that says nothing lets the command pass."""

    class Checker:
        async def check(self, command):
            return answer

    setting = Setting(request_ids=Checker())
    assert (setting.start(setting.gateway.send(command())).error is None) is passes


@pytest.mark.clause("CMD-083")
@CALLS
def test_duplicate_request_id(call):
    """Code, aggregate id and request id; the bus is not called."""
    setting = Setting()
    setting.start(setting.gateway.send(command(id_="c-0")))
    error = original_of(check_of(setting, call, command()), call)
    assert isinstance(error, DuplicateRequestIdError)
    assert (error.error_code, error.aggregate_id, error.request_id) == ("DuplicateRequestId", ORDER, "r-1")
    assert "'r-1'" in str(error)
    assert len(setting.sent) == 1


@pytest.mark.clause("CMD-083")
@CALLS
def test_a_failing_checker(call):
    """Raw from `send`, wrapped in waiting calls."""

    class Checker:
        async def check(self, command):
            raise ConnectionError("no store")

    assert isinstance(original_of(check_of(Setting(request_ids=Checker()), call, command()), call), ConnectionError)


@pytest.mark.clause("CMD-084", "CMD-081")
@CALLS
def test_self_validation_comes_before_field_validation(call):
    """What it raises is not converted; fields are not looked at, and the request id is spent already."""
    setting = Setting()
    message = command(Pay.model_construct(amount=0, refuses=True))
    assert isinstance(original_of(check_of(setting, call, message), call), KeyError)
    assert setting.points[0] == "gateway:o-1 request_id.check ok true"
    assert not any("command.validate" in point for point in setting.points)


@pytest.mark.clause("CMD-085", "CMD-086", "CMD-088")
@CALLS
def test_field_validation(call):
    """One binding error for each violation, the body attached, the first message shown; nothing is sent."""
    setting, body = Setting(), Pay.model_construct(amount=0)
    error = original_of(check_of(setting, call, command(body)), call)
    assert isinstance(error, CommandValidationError)
    assert [binding.name for binding in error.binding_errors] == ["amount"]
    assert (error.command, error.error_code) == (body, "CommandValidation")
    assert error.error_msg == str(error) == "Input should be greater than 0"
    assert "gateway:o-1 command.validate violations:1" in setting.points
    assert setting.sent == []


@pytest.mark.clause("CMD-094")
def test_an_invalid_command_spends_its_request_id():
    """The next command with that id is a duplicate although nothing was sent."""
    setting = Setting()
    setting.start(setting.gateway.send(command(Pay.model_construct(amount=0))))
    assert isinstance(setting.start(setting.gateway.send(command())).error, DuplicateRequestIdError)


@pytest.mark.clause("CMD-098", "CMD-101")
def test_send_completes_without_a_value():
    """And without a plan in the header it signals nothing."""
    setting = Setting()
    task = setting.start(setting.gateway.send(command()))
    assert (task.result(), setting.notified, len(setting.sent)) == (None, [], 1)


@pytest.mark.clause("CMD-098")
def test_send_raises_bus_errors_raw():
    """As they are."""
    setting = Setting()
    setting.bus_error = IllegalStateError("closed")
    assert setting.start(setting.gateway.send(command())).error is setting.bus_error


def header_for(wait: Any) -> Header:
    """A header that holds a plan already."""
    return write_wait_plan(wait.plan("w"), "there", Header())


@pytest.mark.clause("CMD-099", "CMD-108")
def test_send_notifies_sent():
    """A successful SENT for the header's endpoint and wait id; the row follows the bus's."""
    setting = Setting()
    setting.start(setting.gateway.send(command(header=header_for(projected("shop")))))
    ((endpoint, item),) = setting.notified
    assert (endpoint, item.wait_command_id, item.stage, item.error_code) == ("there", "w", SENT, "Ok")
    assert setting.points[-1] == "gateway:o-1 wait.notify:SENT ok succeeded"


@pytest.mark.clause("CMD-100")
@pytest.mark.parametrize(
    ("step", "code"), [("duplicate", "DuplicateRequestId"), ("invalid", "CommandValidation"), ("bus", "IllegalState")]
)
def test_send_notifies_a_failed_sent(step, code):
    """Whichever step failed, and the original error still goes to the caller."""
    setting = Setting()
    if step == "duplicate":
        setting.start(setting.gateway.send(command(id_="c-0")))
    if step == "bus":
        setting.bus_error = IllegalStateError("closed")
    body = Pay.model_construct(amount=0) if step == "invalid" else Pay()
    task = setting.start(setting.gateway.send(command(body, header=header_for(sent()))))
    assert [item.error_code for _, item in setting.notified] == [code]
    assert setting.notified[0][1].original_error is task.error is not None


@pytest.mark.clause("CMD-102")
def test_send_reads_the_plan_after_the_bus_call():
    """A plan that the bus call itself writes counts."""
    setting = Setting()
    message = command()

    class Bus:
        async def send(self, message):
            write_wait_plan(sent().plan("w"), "late", message.header)

    setting.gateway.bus = Bus()
    setting.start(setting.gateway.send(message))
    assert [endpoint for endpoint, _ in setting.notified] == ["late"]


def test_the_checks_are_one_table():
    """Names are told apart, and each row carries its clauses."""
    assert len({row.name for row in PRE_CHECKS}) == len(PRE_CHECKS)
    assert all(row.clauses for row in PRE_CHECKS)


@pytest.mark.clause("CMD-128")
def test_the_gateway_is_a_command_bus():
    """Receiving and closing are the wrapped bus's."""
    calls = []

    class Bus:
        def receive(self, named, receiver):
            calls.append(("receive", named, receiver))

        def close(self):
            calls.append("close")

    setting = Setting()
    setting.gateway.bus = Bus()
    setting.gateway.receive(ORDER.named_aggregate, print)
    setting.gateway.close()
    assert calls == [("receive", ORDER.named_aggregate, print), "close"]
    assert setting.gateway.topic_kind == "COMMAND"
