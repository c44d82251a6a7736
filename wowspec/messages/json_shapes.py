"""Writing messages, and what they are made of, as the runtime's JSON; the order of fields is part of the shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

from ..errors import ErrorInfo
from ..modeling.identity import AggregateRef, FunctionInfo, NamedAggregate
from .codec import encode
from .envelopes import CommandMessage, DomainEvent, DomainEventStream, StateEvent
from .json_tree import written
from .type_names import PYTHON_NAMES, TypeNames
from .upgrading import RawJson
from .wait_plans import FunctionSelector


def aggregate_id_fields(ref: AggregateRef) -> dict[str, str]:
    """The fields of an aggregate id (SER-012)."""
    return {
        "contextName": ref.context_name,
        "aggregateName": ref.aggregate_name,
        "aggregateId": ref.id,
        "tenantId": ref.tenant_id,
    }


def function_fields(function: FunctionInfo) -> dict[str, str]:
    """The fields of a function's identity."""
    return {
        "functionKind": function.kind.value,
        "contextName": function.context_name,
        "processorName": function.processor_name,
        "name": function.name,
    }


def error_fields(info: Any) -> dict[str, Any]:
    """Code, message and, where there are any, binding errors (CMD-321)."""
    fields: dict[str, Any] = {"errorCode": info.error_code, "errorMsg": info.error_msg}
    if info.binding_errors:
        fields["bindingErrors"] = [{"name": error.name, "msg": error.msg} for error in info.binding_errors]
    return fields


def write_aggregate_id(ref: AggregateRef) -> bytes:
    """JSON of an aggregate id (SER-012)."""
    return to_json(aggregate_id_fields(ref))


def write_named_aggregate(named: NamedAggregate) -> bytes:
    """JSON of a named aggregate."""
    return to_json({"contextName": named.context_name, "aggregateName": named.aggregate_name})


def write_header(header: Mapping[str, str]) -> bytes:
    """JSON of a header: a flat object of texts (SER-013)."""
    return to_json(dict(header))


def write_function_info(function: FunctionInfo) -> bytes:
    """JSON of a function's identity."""
    return to_json(function_fields(function))


def write_function_selector(selector: FunctionSelector) -> bytes:
    """JSON of a function's three names."""
    return to_json(
        {
            "contextName": selector.context_name,
            "processorName": selector.processor_name,
            "name": selector.function_name,
        }
    )


def write_error_info(info: ErrorInfo) -> bytes:
    """JSON of error info, with the derived `succeeded` (CMD-321)."""
    return to_json({**error_fields(info), "succeeded": info.succeeded})


def write_command(message: CommandMessage[Any], names: TypeNames = PYTHON_NAMES) -> bytes:
    """JSON of a command message (SER-001); a body without JSON is a `NotSerializableError`."""
    ref = message.aggregate_id
    fields: dict[str, Any] = {
        "id": message.id,
        "contextName": ref.context_name,
        "aggregateName": ref.aggregate_name,
        "name": message.name,
        "header": dict(message.header),
        "tenantId": ref.tenant_id,
        "aggregateId": ref.id,
        "ownerId": message.owner_id,
        "spaceId": message.space_id,
        "requestId": message.request_id,
    }
    if message.aggregate_version is not None:
        fields["aggregateVersion"] = message.aggregate_version
    fields["isCreate"] = message.is_create
    fields["isVoid"] = message.is_void
    fields["allowCreate"] = message.allow_create
    fields["bodyType"] = names.name_of(type(message.body))
    return written(fields, {"body": encode(message.body)}, {"createTime": message.create_time})


def write_domain_event(event: DomainEvent[Any], names: TypeNames = PYTHON_NAMES) -> bytes:
    """JSON of a single event (SER-007); a body without JSON is a `NotSerializableError`."""
    ref = event.aggregate_id
    fields = {
        "id": event.id,
        "contextName": ref.context_name,
        "aggregateName": ref.aggregate_name,
        "name": event.name,
        "header": dict(event.header),
        "tenantId": ref.tenant_id,
        "aggregateId": ref.id,
        "ownerId": event.owner_id,
        "spaceId": event.space_id,
        "commandId": event.command_id,
        "version": event.version,
        "sequence": event.sequence,
        "revision": event.revision,
        "isLast": event.is_last,
        "bodyType": body_type(event.body, names),
    }
    return written(fields, {"body": body_text(event.body)}, {"createTime": event.create_time})


def write_event_stream(stream: DomainEventStream, names: TypeNames = PYTHON_NAMES) -> bytes:
    """JSON of a stream (SER-003); a body without JSON is a `NotSerializableError`."""
    return written(_stream_fields(stream), {"body": _elements(stream, names)}, {"createTime": stream.create_time})


def write_state_event(event: StateEvent[Any], names: TypeNames = PYTHON_NAMES) -> bytes:
    """JSON of a state event: the stream's, with what is known of the state inside (SER-008)."""
    fields = {
        **_stream_fields(event.stream),
        "firstOperator": event.first_operator,
        "firstEventTime": event.first_event_time,
    }
    raw = {
        "state": body_text(event.state),
        "tags": to_json(event.tags),
        "deleted": to_json(event.deleted),
        "body": _elements(event.stream, names),
    }
    return written(fields, raw, {"createTime": event.create_time})


def _stream_fields(stream: DomainEventStream) -> dict[str, Any]:
    ref = stream.aggregate_id
    return {
        "id": stream.id,
        "contextName": ref.context_name,
        "aggregateName": ref.aggregate_name,
        "header": dict(stream.header),
        "aggregateId": ref.id,
        "tenantId": ref.tenant_id,
        "ownerId": stream.owner_id,
        "spaceId": stream.space_id,
        "commandId": stream.command_id,
        "requestId": stream.request_id,
        "version": stream.version,
    }


def _elements(stream: DomainEventStream, names: TypeNames) -> bytes:
    """The events of a stream: what is not here is taken from the stream on reading (SER-004, SER-006)."""
    return b"[" + b",".join(_element(event, names) for event in stream.events) + b"]"


def _element(event: DomainEvent[Any], names: TypeNames) -> bytes:
    fields = {
        "id": event.id,
        "name": event.name,
        "revision": event.revision,
        "bodyType": body_type(event.body, names),
    }
    return written(fields, {"body": body_text(event.body)}, {})


def body_type(body: Any, names: TypeNames) -> str:
    """The name of a body's class; the original one of raw JSON (EVT-071)."""
    return body.type_name if isinstance(body, RawJson) else names.name_of(type(body))


def body_text(body: Any) -> bytes:
    """The JSON of a body or a state; raw JSON as it was."""
    return body.text.encode() if isinstance(body, RawJson) else encode(body)
