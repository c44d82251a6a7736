"""Wait signals and command results as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wowspec.errors import BindingError, DecodeError
from wowspec.messages.stages import CommandStage
from wowspec.messages.wait_json import (
    read_command_result,
    read_wait_signal,
    write_command_result,
    write_wait_signal,
)
from wowspec.messages.wait_signals import CommandResult, WaitSignal
from wowspec.modeling.identity import AggregateRef, FunctionInfo, FunctionKind

FUNCTION = FunctionInfo(FunctionKind.COMMAND, "bank", "Ledger", "onCommand")


def _signal(**changes: Any) -> WaitSignal:
    values: dict[str, Any] = {
        "id": "sig-1",
        "wait_command_id": "w-1",
        "command_id": "cmd-1",
        "aggregate_id": AggregateRef("bank", "ledger", "acc-1", "west"),
        "stage": CommandStage.PROCESSED,
        "function": FUNCTION,
        "signal_time": 5,
        "aggregate_version": 3,
        "is_last_projection": True,
        "error_code": "No",
        "error_msg": "m",
        "binding_errors": (BindingError("f", "m"),),
        "result": {"balance": 1},
        "commands": ("cmd-2",),
    }
    return WaitSignal(**{**values, **changes})


def _result(**changes: Any) -> CommandResult:
    values: dict[str, Any] = {
        "id": "sig-1",
        "wait_command_id": "w-1",
        "stage": CommandStage.SENT,
        "context_name": "bank",
        "aggregate_name": "ledger",
        "tenant_id": "west",
        "aggregate_id": "acc-1",
        "aggregate_version": None,
        "request_id": "rq-1",
        "command_id": "cmd-1",
        "function": FUNCTION,
        "signal_time": 5,
    }
    return CommandResult(**{**values, **changes})


def _changed(data: bytes, drop: str = "", **values: Any) -> str:
    read = {**json.loads(data), **values}
    read.pop(drop, None)
    return json.dumps(read)


@pytest.mark.clause("CMD-335")
def test_a_signal_has_its_fields_in_order():
    """Empty binding errors are left out, a null version is written, `succeeded` comes last."""
    keys = (
        "id waitCommandId commandId aggregateId stage function aggregateVersion isLastProjection errorCode errorMsg "
        "bindingErrors result commands signalTime succeeded"
    )
    assert " ".join(json.loads(write_wait_signal(_signal()))) == keys
    plain = json.loads(write_wait_signal(_signal(binding_errors=(), aggregate_version=None, result={}, commands=())))
    assert " ".join(plain) == keys.replace(" bindingErrors", "")
    assert (plain["aggregateVersion"], plain["result"], plain["commands"]) == (None, {}, [])


@pytest.mark.clause("CMD-341")
def test_a_result_has_its_fields_in_order():
    """The aggregate's parts stand side by side; there are no commands."""
    assert " ".join(json.loads(write_command_result(_result()))) == (
        "id waitCommandId stage contextName aggregateName tenantId aggregateId aggregateVersion requestId commandId "
        "function errorCode errorMsg result signalTime succeeded"
    )


@pytest.mark.clause("CMD-335", "CMD-341")
def test_signals_and_results_survive_their_json():
    """What is read is equal to what was written; whether it succeeded is derived."""
    assert read_wait_signal(write_wait_signal(_signal())) == _signal()
    assert read_command_result(write_command_result(_result())) == _result()
    assert read_wait_signal(_changed(write_wait_signal(_signal()), succeeded=True)).succeeded is False


@pytest.mark.clause("CMD-335")
def test_missing_fields_of_a_signal_have_their_defaults():
    """No version, not the last projection, success, nothing in the collections, and the time of reading."""
    text = write_wait_signal(_signal())
    for key in (
        "aggregateVersion", "isLastProjection", "errorCode", "errorMsg", "bindingErrors", "result", "commands",
        "signalTime",
    ):  # fmt: skip
        text = _changed(text if isinstance(text, bytes) else text.encode(), key).encode()
    back = read_wait_signal(text, now_millis=9)
    assert back == WaitSignal("sig-1", "w-1", "cmd-1", back.aggregate_id, CommandStage.PROCESSED, FUNCTION, 9)


@pytest.mark.clause("CMD-335", "CMD-341")
def test_what_has_no_default_must_be_there():
    """Ids, stage and function of both, the aggregate id of a signal, the names of a result."""
    for key in ("id", "waitCommandId", "commandId", "stage", "function", "aggregateId"):
        for text in (
            _changed(write_wait_signal(_signal()), key),
            _changed(write_wait_signal(_signal()), **{key: None}),
        ):
            with pytest.raises(DecodeError, match=key):
                read_wait_signal(text)
    for key in ("id", "stage", "function", "tenantId", "requestId", "contextName", "aggregateName", "aggregateId"):
        with pytest.raises(DecodeError, match=key):
            read_command_result(_changed(write_command_result(_result()), key))


def test_unknown_stages_and_other_shapes_are_refused():
    """A stage that does not exist, a result that is no object, commands that are no list."""
    data = write_wait_signal(_signal())
    for text in (_changed(data, stage="DONE"), _changed(data, result=[]), _changed(data, commands={})):
        with pytest.raises(DecodeError):
            read_wait_signal(text)


def read_with(**changes: Any) -> WaitSignal:
    """A signal whose JSON has other values."""
    return read_wait_signal(json.dumps({**json.loads(write_wait_signal(_signal())), **changes}))


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, None), ("", None), ("  ", None), ("null", None), (" 12 ", 12), ("+5", 5), ("\u0663", 3), (9.5, 9)],
)
def test_versions_of_signals_are_read_leniently(value, expected):
    """Seen when the runtime read them: blanks around a text count for nothing, and a blank text is none."""
    assert read_with(aggregateVersion=value).aggregate_version == expected


@pytest.mark.parametrize("value", ["8.5", "1e0", "1_0", "x", True, False, 2**31, [], {}])
@pytest.mark.parametrize("key", ["aggregateVersion", "signalTime"])
def test_what_is_no_number_of_a_signal_is_refused(key, value):
    """Seen when the runtime read them; a time may have more digits."""
    if (key, value) == ("signalTime", 2**31):
        assert read_with(signalTime=value).signal_time == value
        return
    with pytest.raises(DecodeError, match=key):
        read_with(**{key: value})


@pytest.mark.parametrize("key", ["signalTime", "isLastProjection", "bindingErrors", "commands", "result"])
def test_null_is_no_default_of_a_signal(key):
    """What may be missing must not be null, as the runtime reads it."""
    with pytest.raises(DecodeError, match=key):
        read_with(**{key: None})


@pytest.mark.parametrize(
    "changes",
    [
        {"result": {"n": None}},
        {"commands": [None]},
        {"commands": [[]]},
        {"isLastProjection": 2.0},
        {"bindingErrors": [{"name": "f", "msg": {}}]},
        {"function": {"functionKind": "COMMAND", "contextName": [], "processorName": "P", "name": "f"}},
        {"function": {"functionKind": 5, "contextName": "c", "processorName": "P", "name": "f"}},
        {"stage": 6},
        {"stage": True},
        {"stage": "processed"},
    ],
)
def test_other_shapes_within_a_signal_are_refused(changes):
    """Each is refused by the runtime, too."""
    with pytest.raises(DecodeError):
        read_with(**changes)


def test_members_may_be_given_by_their_places():
    """As the runtime reads them; other scalars count as their texts, in lower case."""
    signal = read_with(
        stage=3,
        function={"functionKind": "2 ", "contextName": "c", "processorName": True, "name": 7},
        commands=[False, "a"],
        bindingErrors=[{"name": "f", "msg": True}],
    )

    assert signal.stage is CommandStage.PROJECTED
    assert signal.function == FunctionInfo(FunctionKind.EVENT, "c", "true", "7")
    assert signal.commands == ("false", "a")
    assert signal.binding_errors == (BindingError("f", "true"),)
