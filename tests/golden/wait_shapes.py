"""JSON shapes of the family `wait`, read into the model's values and written from them."""

from __future__ import annotations

from typing import Any

from tests.golden.compare import first_difference, is_present
from wowspec.errors import (
    BindingError,
    CommandResultError,
    DuplicateRequestIdError,
    IllegalArgumentError,
    IllegalStateError,
    RetriesExhaustedError,
    UnsupportedOperationError,
    WowError,
)
from wowspec.messages.envelopes import CommandMessage
from wowspec.messages.header import Header
from wowspec.messages.stages import CommandStage
from wowspec.messages.wait_headers import ExtractedWaitPlan, read_wait_plan
from wowspec.messages.wait_plans import (
    ChainTail,
    ChainTarget,
    FunctionSelector,
    StageTarget,
    WaitFor,
    WaitPlan,
    chain,
    event_handled,
    processed,
    projected,
    saga_handled,
    sent,
    snapshot,
    wait_for_stage,
    wait_for_stage_text,
)
from wowspec.messages.wait_signals import CommandResult, WaitSignal
from wowspec.modeling.identity import AggregateRef, FunctionInfo, FunctionKind

Json = dict[str, Any]

#: Most special first.
RAISED: tuple[tuple[type[BaseException], str], ...] = (
    (RetriesExhaustedError, "RetryExhaustedException"),
    (DuplicateRequestIdError, "DuplicateRequestIdException"),
    (WowError, "WowException"),
    (IllegalArgumentError, "IllegalArgumentException"),
    (IllegalStateError, "IllegalStateException"),
    (TimeoutError, "TimeoutException"),
    (UnsupportedOperationError, "UnsupportedOperationException"),
    (RuntimeError, "RuntimeException"),
)
ERRORS: dict[str, type[Exception]] = {
    "illegal_argument": IllegalArgumentError,
    "illegal_state": IllegalStateError,
    "timeout": TimeoutError,
    "runtime": RuntimeError,
}


def read_error(data: Json) -> Exception:
    """An error that a case gives."""
    message = data.get("message")
    if data["type"] == "coded":
        bindings = [BindingError(**item) for item in data.get("binding_errors", [])]
        return WowError(message or "", error_code=data["error_code"], binding_errors=bindings)
    error_class = ERRORS[data["type"]]
    return error_class() if message is None else error_class(message)


def write_error(error: BaseException) -> Json:
    """An error that the model raised; only the real runtime's causes count as causes."""
    if isinstance(error, CommandResultError):
        cause = error.wire_cause
        return {
            "raised": "CommandResultException",
            "command_result": write_result(error.result),
            "cause": None if cause is None else write_error(cause),
        }
    name = next((name for kind, name in RAISED if isinstance(error, kind)), type(error).__name__)
    if isinstance(error, WowError):
        return {"raised": name, "message": error.error_msg}
    return {"raised": name, "message": str(error.args[0]) if error.args else None}


def read_aggregate(data: Json) -> AggregateRef:
    """An aggregate id."""
    return AggregateRef(data["context"], data["aggregate"], data["id"], data["tenant"])


def read_function(data: Json) -> FunctionInfo:
    """A function."""
    return FunctionInfo(FunctionKind(data["kind"]), data["context"], data["processor"], data["name"])


def write_function(function: FunctionInfo) -> Json:
    """A function."""
    return {
        "kind": function.kind.value,
        "context": function.context_name,
        "processor": function.processor_name,
        "name": function.name,
    }


def read_signal(data: Json) -> WaitSignal:
    """A signal."""
    return WaitSignal(
        data["id"],
        data["wait_command_id"],
        data["command_id"],
        read_aggregate(data["aggregate"]),
        CommandStage(data["stage"]),
        read_function(data["function"]),
        data["signal_time"],
        data.get("aggregate_version"),
        data.get("is_last_projection", False),
        data.get("error_code", "Ok"),
        data.get("error_msg", ""),
        tuple(BindingError(**item) for item in data.get("binding_errors", [])),
        data.get("result", {}),
        tuple(data.get("commands", ())),
    )


def write_signal(signal: WaitSignal) -> Json:
    """A signal."""
    aggregate = signal.aggregate_id
    return {
        "id": signal.id,
        "wait_command_id": signal.wait_command_id,
        "command_id": signal.command_id,
        "aggregate": {
            "context": aggregate.context_name,
            "aggregate": aggregate.aggregate_name,
            "id": aggregate.id,
            "tenant": aggregate.tenant_id,
        },
        "stage": signal.stage.value,
        "function": write_function(signal.function),
        "aggregate_version": signal.aggregate_version,
        "is_last_projection": signal.is_last_projection,
        "succeeded": signal.succeeded,
        "error_code": signal.error_code,
        "error_msg": signal.error_msg,
        "binding_errors": [{"name": item.name, "msg": item.msg} for item in signal.binding_errors],
        "result": dict(signal.result),
        "commands": list(signal.commands),
        "signal_time": signal.signal_time,
    }


def write_result(result: CommandResult) -> Json:
    """A command result."""
    return {
        "id": result.id,
        "wait_command_id": result.wait_command_id,
        "stage": result.stage.value,
        "context_name": result.context_name,
        "aggregate_name": result.aggregate_name,
        "tenant_id": result.tenant_id,
        "aggregate_id": result.aggregate_id,
        "aggregate_version": result.aggregate_version,
        "request_id": result.request_id,
        "command_id": result.command_id,
        "function": write_function(result.function),
        "succeeded": result.succeeded,
        "error_code": result.error_code,
        "error_msg": result.error_msg,
        "binding_errors": [{"name": item.name, "msg": item.msg} for item in result.binding_errors],
        "result": dict(result.result),
        "signal_time": result.signal_time,
    }


def read_command(data: Json, header: Header | None = None) -> CommandMessage[Any]:
    """A command message; its body is of no account."""
    return CommandMessage(
        data["id"],
        object(),
        read_aggregate(data["aggregate"]),
        "command",
        data["request_id"],
        header if header is not None else Header(),
        aggregate_version=data.get("aggregate_version"),
        is_void=data.get("void", False),
    )


def _names(data: Json) -> tuple[str, str, str]:
    return data.get("context", ""), data.get("processor", ""), data.get("name", "")


def read_selector(data: Json | None) -> FunctionSelector | None:
    """A selector, or none."""
    return None if data is None else FunctionSelector(*_names(data))


def read_plan(data: Json) -> WaitPlan:
    """A plan, made by the factory that the case names."""
    plan = _make(data)
    for timeout in data.get("timeouts_ms", ()):
        plan = plan.with_timeout(milliseconds=timeout)
    return plan


def _make(data: Json) -> WaitPlan:
    make, wait_id = data["make"], data["wait_command_id"]
    if make == "raw_stage":
        target = StageTarget(CommandStage(data["stage"]), read_selector(data["selector"]))
        return WaitPlan(wait_id, target, data.get("supports_void", False))
    if make == "raw_chain":
        tail = data["tail"]
        chain_target = ChainTarget(
            FunctionSelector(*_names(data)), ChainTail(CommandStage(tail["stage"]), FunctionSelector(*_names(tail)))
        )
        return WaitPlan(wait_id, chain_target)
    return _wait_for(make, data).plan(wait_id)


def _wait_for(make: str, data: Json) -> WaitFor:
    if make in _PLAIN:
        return _PLAIN[make]()
    if make in _FUNCTION:
        return _FUNCTION[make](*_names(data))
    if make == "stage":
        return wait_for_stage(CommandStage(data["stage"]), *_names(data))
    if make == "stage_text":
        return wait_for_stage_text(data["stage"], *_names(data))
    tail = data["tail"]
    return chain(saga_handled(*_names(data)), then=wait_for_stage(CommandStage(tail["stage"]), *_names(tail)))


_PLAIN = {"sent": sent, "processed": processed, "snapshot": snapshot}
_FUNCTION = {"projected": projected, "event_handled": event_handled, "saga_handled": saga_handled}


def write_selector(selector: FunctionSelector | None) -> Json | None:
    """A selector, or none."""
    if selector is None:
        return None
    return {"context": selector.context_name, "processor": selector.processor_name, "name": selector.function_name}


def write_chain(selector: FunctionSelector, tail: ChainTail) -> Json:
    """A chain."""
    return {
        "stage": "SAGA_HANDLED",
        "selector": write_selector(selector),
        "tail": {"stage": tail.stage.value, "selector": write_selector(tail.selector)},
    }


def write_plan(plan: WaitPlan) -> Json:
    """A plan."""
    target = plan.target
    if isinstance(target, ChainTarget):
        shape = {"type": "chain", **write_chain(target.selector, target.tail)}
    else:
        shape = {"type": "stage", "stage": target.stage.value, "selector": write_selector(target.selector)}
    return {
        "wait_command_id": plan.wait_command_id,
        "supports_void": plan.supports_void,
        "timeout_ms": plan.timeout_nanos // 1_000_000,
        "target": shape,
    }


def write_extracted(extracted: ExtractedWaitPlan | None) -> Json | None:
    """A plan that was read from a header, or none."""
    if extracted is None:
        return None
    return {
        "endpoint": extracted.endpoint,
        "wait_command_id": extracted.wait_command_id,
        "plan": write_plan(extracted.plan),
    }


def extract(header: Header) -> Json:
    """What a header holds, or the error of reading it."""
    try:
        return {"plan": write_extracted(read_wait_plan(header))}
    except Exception as error:
        return write_error(error)


def difference(data: Json, expected: Any, actual: Any) -> str | None:
    """The first difference, by the rules of comparing that this family has."""
    given = _texts(data)
    return first_difference(
        _expected(expected, given), actual, wildcards={"<generated>": is_present, "<runtime text>": _anything}
    )


def _anything(_: Any) -> bool:
    return True


def _texts(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set().union(*[_texts(item) for item in value.values()])
    if isinstance(value, list):
        return set().union(*[_texts(item) for item in value])
    return {value} if isinstance(value, str) else set()


def _expected(value: Any, given: set[str]) -> Any:
    """Messages count where the case gave their text; a wrapper counts by its type; bad numbers are bad arguments."""
    if isinstance(value, list):
        return [_expected(item, given) for item in value]
    if not isinstance(value, dict):
        return value
    result = {key: _expected(item, given) for key, item in value.items()}
    for key in ("message", "error_msg"):
        if isinstance(result.get(key), str) and result[key] and result[key] not in given:
            result[key] = "<runtime text>"
    if result.get("raised") == "NumberFormatException":
        result["raised"] = "IllegalArgumentException"
    if result.get("raised") == "RetryExhaustedException":
        result["message"] = "<runtime text>"
    return result
