"""Drives the family `json_shapes`: the JSON that the runtime writes, and how it reads JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from wowspec.errors import BindingError, ErrorInfo
from wowspec.messages.codec import encode
from wowspec.messages.envelopes import CommandMessage, DomainEvent, DomainEventStream, StateEvent
from wowspec.messages.header import Header
from wowspec.messages.json_reading import (
    JsonTypes,
    read_aggregate_id,
    read_command,
    read_domain_event,
    read_error_info,
    read_event_stream,
    read_function_info,
    read_function_selector,
    read_named_aggregate,
    read_state_event,
)
from wowspec.messages.json_shapes import (
    write_aggregate_id,
    write_command,
    write_domain_event,
    write_error_info,
    write_event_stream,
    write_function_info,
    write_function_selector,
    write_header,
    write_named_aggregate,
    write_state_event,
)
from wowspec.messages.stages import CommandStage
from wowspec.messages.type_names import PythonTypeNames
from wowspec.messages.upgrading import EventTypes, RawJson
from wowspec.messages.wait_json import (
    read_command_result,
    read_wait_signal,
    write_command_result,
    write_wait_signal,
)
from wowspec.messages.wait_plans import FunctionSelector
from wowspec.messages.wait_signals import CommandResult, WaitSignal
from wowspec.modeling.events import event_metadata
from wowspec.modeling.identity import DEFAULT_TENANT_ID, AggregateRef, FunctionInfo, FunctionKind, NamedAggregate
from wowspec.modeling.naming import simple_name
from wowspec.modeling.states import StateMetadata, state_metadata
from wowspec.runtime.snapshots import Snapshot
from wowspec.runtime.sourcing import StateAggregate, restore
from wowspec.runtime.state_json import (
    read_snapshot,
    read_state_aggregate,
    write_snapshot,
    write_state_aggregate,
)

from .compare import first_difference
from .outcomes import comparable, outcome
from .parts_domain import COMMANDS, EVENTS, LEDGER, REGISTERED_EVENTS, LedgerState, event_body

JSON: Final = "JSON"
EVENT_PACKAGE: Final = "golden.parts.bank."
COMMAND_PACKAGE: Final = "golden.parts.command.ledger."


class BankNames:
    """The recorded names of the bank's classes; the runtime's own for its built-in ones."""

    def __init__(self) -> None:
        self._rest = PythonTypeNames()
        self._classes = {
            **{COMMAND_PACKAGE + name: cls for name, cls in COMMANDS.items()},
            **{EVENT_PACKAGE + name: cls for name, cls in EVENTS.items() if not name.startswith("Default")},
            EVENT_PACKAGE + "DefaultRevisionOverBase": EVENTS["DefaultRevisionOverBase"],
        }
        self._names = {cls: name for name, cls in self._classes.items()}

    def name_of(self, cls: type) -> str:
        return self._names.get(cls) or self._rest.name_of(cls)

    def class_of(self, name: str) -> type | None:
        return self._classes.get(name) or self._rest.class_of(name)


NAMES: Final = BankNames()


def _types() -> JsonTypes:
    events = EventTypes()
    for cls in REGISTERED_EVENTS:
        events.register_class(LEDGER.context_name, LEDGER.aggregate_name, cls)
    return JsonTypes(NAMES, events, state_of=lambda named: LedgerState if named == LEDGER else None)


TYPES: Final = _types()


def _state_types(named: NamedAggregate) -> StateMetadata | None:
    return state_metadata(LedgerState) if named == LEDGER else None


@dataclass(frozen=True)
class Target:
    """One kind of object: made from a recorded value, written, read, and looked at."""

    make: Callable[[dict[str, Any]], Any]
    write: Callable[[Any], bytes]
    read: Callable[[str], Any] | None = None
    view: Callable[[Any], Any] = dict


def check(case: dict[str, Any]) -> str | None:
    """None if the case passes, else the first difference."""
    given, expected = case["input"], case["expect"]
    target = TARGETS[given["target"]]
    if given["kind"] == "read":
        return first_difference(comparable(expected), _read(target, given["text"]))
    text = target.write(target.make(given["value"])).decode()
    found = _text_difference(expected["json"], text)
    if found is None and "read_back" in expected:
        found = first_difference(comparable(expected["read_back"]), _read(target, text), "read_back")
    return found


def _read(target: Target, text: str) -> dict[str, Any]:
    assert target.read is not None
    read = target.read
    return outcome(lambda: target.view(read(text)))


def _text_difference(expected: str, actual: str) -> str | None:
    """Text for text, but for the order of keys inside bodies, states and maps, which means nothing."""
    if " " not in actual and expected == actual:
        return None
    want, have = json.loads(expected), json.loads(actual)
    found = first_difference(want, have, "json") or first_difference(_order(want), _order(have), "order of json")
    compact = json.dumps(have, separators=(",", ":"), ensure_ascii=False)
    return found or first_difference(compact, actual, "spaces of json")


def _order(value: Any, key: str = "") -> Any:
    """Keys in their order, where it means something."""
    if isinstance(value, list):
        return [_order(item) for item in value]
    if not isinstance(value, dict) or key in ("body", "state", "header", "tags", "result"):
        return None
    return [[name, _order(item, name)] for name, item in value.items()]


# --- making -----------------------------------------------------------------------------------------------------------


def _ref(value: dict[str, Any]) -> AggregateRef:
    context_name, aggregate_name = value.get("aggregate", "bank-service.ledger").split(".")
    return AggregateRef(context_name, aggregate_name, value["aggregate_id"], value.get("tenant_id", DEFAULT_TENANT_ID))


def _function(value: dict[str, Any]) -> FunctionInfo:
    return FunctionInfo(
        FunctionKind[value["function_kind"]], value["context_name"], value["processor_name"], value["name"]
    )


def _bindings(value: dict[str, Any]) -> tuple[BindingError, ...]:
    return tuple(BindingError(each["name"], each["msg"]) for each in value.get("binding_errors", ()))


def _command(value: dict[str, Any]) -> CommandMessage[Any]:
    cls: Any = NAMES.class_of(value["body_type"])
    return CommandMessage(
        id=value["id"],
        body=cls(**value["body"]),
        aggregate_id=_ref(value),
        name=value["name"],
        request_id=value["request_id"],
        header=Header(value.get("header", {})),
        owner_id=value.get("owner_id", ""),
        space_id=value.get("space_id", ""),
        aggregate_version=value.get("aggregate_version"),
        is_create=value["is_create"],
        allow_create=value["allow_create"],
        is_void=value["is_void"],
        create_time=value["create_time"],
    )


def _stream(value: dict[str, Any]) -> DomainEventStream:
    ref, header = _ref(value), Header(value.get("header", {}))
    events = []
    for index, entry in enumerate(value["events"]):
        body = event_body(entry["type"], entry["body"])
        metadata = event_metadata(type(body))
        events.append(
            DomainEvent(
                id=entry["id"],
                body=body,
                aggregate_id=ref,
                version=value["version"],
                name=metadata.name,
                command_id=value["command_id"],
                header=Header(entry.get("header", header)),
                sequence=index + 1,
                is_last=index + 1 == len(value["events"]),
                revision=metadata.revision,
                owner_id=value.get("owner_id", ""),
                space_id=value.get("space_id", ""),
                create_time=value["create_time"],
            )
        )
    return DomainEventStream(value["id"], value["request_id"], header, tuple(events))


def _state(value: dict[str, Any], aggregate_id: str) -> LedgerState:
    return LedgerState(id=aggregate_id, **value.get("state", {}))


def _state_event(value: dict[str, Any]) -> StateEvent[Any]:
    stream = _stream(value["stream"])
    return StateEvent(
        stream,
        _state(value, stream.aggregate_id.id),
        value["first_operator"],
        value["first_event_time"],
        value["tags"],
        value["deleted"],
    )


@dataclass(frozen=True)
class _Facts:
    aggregate_id: AggregateRef
    version: int = 0
    owner_id: str = ""
    space_id: str = ""
    event_id: str = ""
    first_operator: str = ""
    operator: str = ""
    first_event_time: int = 0
    event_time: int = 0
    tags: Any = None
    deleted: bool = False


def _aggregate(value: dict[str, Any]) -> StateAggregate:
    names = set(_Facts.__dataclass_fields__) - {"aggregate_id"}
    facts = _Facts(_ref(value), **{name: value[name] for name in names if name in value})
    return restore(state_metadata(LedgerState), facts, _state(value, value["aggregate_id"]))


def _signal(value: dict[str, Any]) -> WaitSignal:
    return WaitSignal(
        id=value["id"],
        wait_command_id=value["wait_command_id"],
        command_id=value["command_id"],
        aggregate_id=_ref(value),
        stage=CommandStage[value["stage"]],
        function=_function(value["function"]),
        signal_time=value["signal_time"],
        aggregate_version=value["aggregate_version"],
        is_last_projection=value.get("is_last_projection", False),
        error_code=value["error_code"],
        error_msg=value["error_msg"],
        binding_errors=_bindings(value),
        result=value.get("result", {}),
        commands=tuple(value.get("commands", ())),
    )


def _result(value: dict[str, Any]) -> CommandResult:
    return CommandResult(
        id=value["id"],
        wait_command_id=value["wait_command_id"],
        stage=CommandStage[value["stage"]],
        context_name=value["context_name"],
        aggregate_name=value["aggregate_name"],
        tenant_id=value["tenant_id"],
        aggregate_id=value["aggregate_id"],
        aggregate_version=value["aggregate_version"],
        request_id=value["request_id"],
        command_id=value["command_id"],
        function=_function(value["function"]),
        error_code=value["error_code"],
        error_msg=value["error_msg"],
        binding_errors=_bindings(value),
        result=value.get("result", {}),
        signal_time=value["signal_time"],
    )


# --- views ------------------------------------------------------------------------------------------------------------


def _ref_view(ref: AggregateRef) -> dict[str, Any]:
    return {
        "context_name": ref.context_name,
        "aggregate_name": ref.aggregate_name,
        "aggregate_id": ref.id,
        "tenant_id": ref.tenant_id,
    }


def _function_view(function: FunctionInfo) -> dict[str, Any]:
    return {
        "function_kind": function.kind.value,
        "context_name": function.context_name,
        "processor_name": function.processor_name,
        "name": function.name,
    }


def _error_view(info: Any) -> dict[str, Any]:
    return {
        "error_code": info.error_code,
        "error_msg": info.error_msg,
        "succeeded": info.succeeded,
        "binding_errors": [{"name": each.name, "msg": each.msg} for each in info.binding_errors],
    }


def _json(value: Any) -> Any:
    return json.loads(encode(value))


def _body_view(body: Any) -> dict[str, Any]:
    if isinstance(body, RawJson):
        return {"body_type": body.type_name, "body_class": JSON, "body": body.value}
    return {"body_class": simple_name(type(body)), "body": _json(body)}


def _command_view(message: CommandMessage[Any]) -> dict[str, Any]:
    return {
        "id": message.id,
        "command_id": message.command_id,
        "request_id": message.request_id,
        "aggregate_id": _ref_view(message.aggregate_id),
        "owner_id": message.owner_id,
        "space_id": message.space_id,
        "aggregate_version": message.aggregate_version,
        "name": message.name,
        "is_create": message.is_create,
        "allow_create": message.allow_create,
        "is_void": message.is_void,
        "create_time": message.create_time,
        "header": dict(message.header),
        "header_read_only": message.is_read_only,
        **_body_view(message.body),
    }


def _event_view(event: DomainEvent[Any]) -> dict[str, Any]:
    return {
        "id": event.id,
        "name": event.name,
        "revision": event.revision,
        "aggregate_id": _ref_view(event.aggregate_id),
        "owner_id": event.owner_id,
        "space_id": event.space_id,
        "version": event.version,
        "sequence": event.sequence,
        "is_last": event.is_last,
        "command_id": event.command_id,
        "create_time": event.create_time,
        "header": dict(event.header),
        **_body_view(event.body),
    }


def _stream_view(stream: DomainEventStream) -> dict[str, Any]:
    return {
        "id": stream.id,
        "request_id": stream.request_id,
        "command_id": stream.command_id,
        "aggregate_id": _ref_view(stream.aggregate_id),
        "owner_id": stream.owner_id,
        "space_id": stream.space_id,
        "version": stream.version,
        "create_time": stream.create_time,
        "header": dict(stream.header),
        "size": stream.size,
        "one_header_object": all(event.header is stream.header for event in stream),
        "events": [_event_view(event) for event in stream],
    }


def _state_view(state: Any) -> dict[str, Any]:
    if isinstance(state, RawJson):
        return {"state_class": JSON, "state": state.value}
    return {"state_class": type(state).__name__, "state": _json(state)}


def _state_event_view(event: StateEvent[Any]) -> dict[str, Any]:
    return {
        **_stream_view(event.stream),
        "event_id": event.event_id,
        "operator": event.operator,
        "event_time": event.event_time,
        "first_operator": event.first_operator,
        "first_event_time": event.first_event_time,
        "tags": event.tags,
        "deleted": event.deleted,
        "state": _state_view(event.state),
    }


def _aggregate_view(aggregate: StateAggregate) -> dict[str, Any]:
    names = (
        "version", "expected_next_version", "initialized", "is_initial_version", "owner_id", "space_id", "event_id",
        "first_operator", "operator", "first_event_time", "event_time", "tags", "deleted",
    )  # fmt: skip
    facts = {name: getattr(aggregate, name) for name in names}
    ref = aggregate.aggregate_id
    return {
        "aggregate": {"aggregate_id": ref.id, "tenant_id": ref.tenant_id, **facts},
        "state": _state_view(aggregate.state),
    }


def _snapshot_view(snapshot: Snapshot) -> dict[str, Any]:
    assert isinstance(snapshot.state_aggregate, StateAggregate)
    return {**_aggregate_view(snapshot.state_aggregate), "snapshot_time": snapshot.snapshot_time}


def _signal_view(signal: WaitSignal) -> dict[str, Any]:
    return {
        "id": signal.id,
        "wait_command_id": signal.wait_command_id,
        "command_id": signal.command_id,
        "aggregate_id": _ref_view(signal.aggregate_id),
        "stage": signal.stage.name,
        "function": _function_view(signal.function),
        "aggregate_version": signal.aggregate_version,
        "is_last_projection": signal.is_last_projection,
        **_error_view(signal),
        "result": signal.result,
        "commands": list(signal.commands),
        "signal_time": signal.signal_time,
    }


def _result_view(result: CommandResult) -> dict[str, Any]:
    return {
        "id": result.id,
        "wait_command_id": result.wait_command_id,
        "stage": result.stage.name,
        "context_name": result.context_name,
        "aggregate_name": result.aggregate_name,
        "tenant_id": result.tenant_id,
        "aggregate_id": result.aggregate_id,
        "aggregate_version": result.aggregate_version,
        "request_id": result.request_id,
        "command_id": result.command_id,
        "function": _function_view(result.function),
        **_error_view(result),
        "result": result.result,
        "signal_time": result.signal_time,
    }


TARGETS: Final[dict[str, Target]] = {
    "aggregate_id": Target(_ref, write_aggregate_id, read_aggregate_id, _ref_view),
    "named_aggregate": Target(
        lambda value: NamedAggregate(*value["aggregate"].split(".")),
        write_named_aggregate,
        read_named_aggregate,
        lambda named: {"context_name": named.context_name, "aggregate_name": named.aggregate_name},
    ),
    "header": Target(lambda value: Header(value["header"]), write_header),
    "function_info": Target(_function, write_function_info, read_function_info, _function_view),
    "named_function_info": Target(
        lambda value: FunctionSelector(value["context_name"], value["processor_name"], value["name"]),
        write_function_selector,
        read_function_selector,
        lambda names: {
            "context_name": names.context_name,
            "processor_name": names.processor_name,
            "name": names.function_name,
        },
    ),
    "error_info": Target(
        lambda value: ErrorInfo(value["error_code"], value["error_msg"], _bindings(value)),
        write_error_info,
        read_error_info,
        _error_view,
    ),
    "command_message": Target(
        _command, lambda made: write_command(made, NAMES), lambda text: read_command(text, NAMES), _command_view
    ),
    "event_stream": Target(
        _stream,
        lambda made: write_event_stream(made, NAMES),
        lambda text: read_event_stream(text, TYPES),
        _stream_view,
    ),
    "domain_event": Target(
        lambda value: _stream(value["stream"]).events[value["index"]],
        lambda made: write_domain_event(made, NAMES),
        lambda text: read_domain_event(text, TYPES),
        _event_view,
    ),
    "state_event": Target(
        _state_event,
        lambda made: write_state_event(made, NAMES),
        lambda text: read_state_event(text, TYPES),
        _state_event_view,
    ),
    "snapshot": Target(
        lambda value: Snapshot(_aggregate(value), value["snapshot_time"]),
        write_snapshot,
        lambda text: read_snapshot(text, _state_types),
        _snapshot_view,
    ),
    "state_aggregate": Target(
        _aggregate, write_state_aggregate, lambda text: read_state_aggregate(text, _state_types), _aggregate_view
    ),
    "wait_signal": Target(_signal, write_wait_signal, read_wait_signal, _signal_view),
    "command_result": Target(_result, write_command_result, read_command_result, _result_view),
}
