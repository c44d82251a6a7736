"""JSON of wait signals and command results, which travel between processes (CMD-335, CMD-341)."""

from __future__ import annotations

from typing import Any, Final

from pydantic_core import to_json

from ..errors import ErrorCode
from ..modeling.identity import AggregateRef
from .codec import encode
from .json_reading import aggregate_ref, binding_errors, function_info
from .json_shapes import aggregate_id_fields, error_fields, function_fields
from .json_tree import Tree, parse, written
from .stages import CommandStage
from .wait_signals import CommandResult, WaitSignal


def write_wait_signal(signal: WaitSignal) -> bytes:
    """JSON of a wait signal; a result that has no JSON is a `NotSerializableError`."""
    fields = {
        "id": signal.id,
        "waitCommandId": signal.wait_command_id,
        "commandId": signal.command_id,
        "aggregateId": aggregate_id_fields(signal.aggregate_id),
        "stage": signal.stage.value,
        "function": function_fields(signal.function),
        "aggregateVersion": signal.aggregate_version,
        "isLastProjection": signal.is_last_projection,
        **error_fields(signal),
    }
    raw = {"result": encode(dict(signal.result)), "commands": to_json(list(signal.commands))}
    return written(fields, raw, {"signalTime": signal.signal_time, "succeeded": signal.succeeded})


def write_command_result(result: CommandResult) -> bytes:
    """JSON of a command result; a result map that has no JSON is a `NotSerializableError`."""
    fields = {
        "id": result.id,
        "waitCommandId": result.wait_command_id,
        "stage": result.stage.value,
        "contextName": result.context_name,
        "aggregateName": result.aggregate_name,
        "tenantId": result.tenant_id,
        "aggregateId": result.aggregate_id,
        "aggregateVersion": result.aggregate_version,
        "requestId": result.request_id,
        "commandId": result.command_id,
        "function": function_fields(result.function),
        **error_fields(result),
    }
    raw = {"result": encode(dict(result.result))}
    return written(fields, raw, {"signalTime": result.signal_time, "succeeded": result.succeeded})


def read_wait_signal(data: bytes | str, now_millis: int = 0) -> WaitSignal:
    """A wait signal; without a time of its own it is of `now_millis` (epoch milliseconds).

    Raises:
        DecodeError: if the text is none: ids, aggregate id, stage and function are needed, the rest has defaults.
    """
    tree = Tree("a wait signal", parse(data))
    return WaitSignal(
        id=_text(tree, "id"),
        wait_command_id=_text(tree, "waitCommandId"),
        command_id=_text(tree, "commandId"),
        aggregate_id=_aggregate_id(tree),
        stage=tree.member("stage", CommandStage),
        function=function_info(Tree("the function of a wait signal", tree.need_value("function"))),
        signal_time=_signal_time(tree, now_millis),
        aggregate_version=_version(tree),
        is_last_projection=_present(tree, "isLastProjection") and tree.boolean("isLastProjection"),
        error_code=_text(tree, "errorCode", ErrorCode.OK),
        error_msg=_text(tree, "errorMsg", ""),
        binding_errors=binding_errors(tree),
        result=_result(tree),
        commands=tuple(tree.texts_of("commands")) if _present(tree, "commands") else (),
    )


def read_command_result(data: bytes | str, now_millis: int = 0) -> CommandResult:
    """A command result; without a time of its own it is of `now_millis` (epoch milliseconds).

    Raises:
        DecodeError: if the text is none: ids, names, tenant, stage and function are needed, the rest has defaults.
    """
    tree = Tree("a command result", parse(data))
    return CommandResult(
        id=_text(tree, "id"),
        wait_command_id=_text(tree, "waitCommandId"),
        stage=tree.member("stage", CommandStage),
        context_name=_text(tree, "contextName"),
        aggregate_name=_text(tree, "aggregateName"),
        tenant_id=_text(tree, "tenantId"),
        aggregate_id=_text(tree, "aggregateId"),
        aggregate_version=_version(tree),
        request_id=_text(tree, "requestId"),
        command_id=_text(tree, "commandId"),
        function=function_info(Tree("the function of a command result", tree.need_value("function"))),
        error_code=_text(tree, "errorCode", ErrorCode.OK),
        error_msg=_text(tree, "errorMsg", ""),
        binding_errors=binding_errors(tree),
        result=_result(tree),
        signal_time=_signal_time(tree, now_millis),
    )


def _text(tree: Tree, key: str, default: str | None = None) -> str:
    """A text that must not be null."""
    if default is None or key in tree:
        tree.need_value(key)
    return tree.text(key, default)


def _present(tree: Tree, key: str) -> bool:
    """Whether a key is there; null is refused: it is no default."""
    return key in tree and tree.need_value(key) is not None


#: Texts that a number reads as null.
_NULLS: Final = ("", "null")


def _trimmed(tree: Tree, key: str) -> Tree:
    """A number in a text may have blanks around it; a blank text, and that of null, is null."""
    value = tree.get(key)
    if not isinstance(value, str):
        return tree
    text = value.strip()
    try:
        number = int(text) if text not in _NULLS and "_" not in text else None
    except ValueError:
        number = None
    if number is None and text not in _NULLS:
        tree.refuse(key, f"{value!r} is no integer")
    return Tree(tree.what, {key: number})


def _version(tree: Tree) -> int | None:
    """The version; null reads as none here, where a command's reads as 0."""
    trimmed = _trimmed(tree, "aggregateVersion")
    return None if trimmed.get("aggregateVersion") is None else trimmed.integer("aggregateVersion")


def _signal_time(tree: Tree, now_millis: int) -> int:
    if "signalTime" not in tree:
        return now_millis
    trimmed = _trimmed(tree, "signalTime")
    trimmed.need_value("signalTime")
    return trimmed.long("signalTime")


def _aggregate_id(tree: Tree) -> AggregateRef:
    return aggregate_ref(Tree("the aggregate id of a wait signal", tree.need_value("aggregateId")))


def _result(tree: Tree) -> dict[str, Any]:
    if not _present(tree, "result"):
        return {}
    value = tree.get("result")
    if not isinstance(value, dict):
        tree.refuse("result", "it is no object")
    for name, item in value.items():
        if item is None:
            tree.refuse("result", f"{name} must not be null")
    return value
