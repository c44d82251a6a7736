"""Drive the recorded cases of `naming_and_metadata`: names, ids, scopes, metadata documents, headers, propagation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tests.golden.bank_events import EVENTS, event_body
from tests.golden.compare import first_difference
from tests.golden.outcomes import comparable, outcome
from wowspec.messages.envelopes import CommandMessage, DomainEvent, DomainEventStream
from wowspec.messages.header import (
    COMMAND_OPERATOR,
    Header,
    is_local_first,
    require_operator,
    to_header,
    write_local_first,
)
from wowspec.messages.propagation import propagate
from wowspec.messages.wait_headers import read_wait_plan
from wowspec.messages.wait_plans import ChainTarget
from wowspec.modeling import naming
from wowspec.modeling.builtin import merge_tags
from wowspec.modeling.configuration import MetadataScopes, WowMetadata, alias_prefix, alias_text, context_alias
from wowspec.modeling.events import EventTypeId, event_metadata
from wowspec.modeling.identity import (
    DEFAULT_TENANT_ID,
    AggregateRef,
    FunctionInfo,
    FunctionKind,
    NamedAggregate,
    unknown_function,
)

STRATEGIES: Final = {
    "snake": naming.SNAKE,
    "kebab": naming.KEBAB,
    "lower_dot": naming.LOWER_DOT,
    "pascal": naming.PASCAL,
    "camel": naming.CAMEL,
}
AFFIXES: Final[dict[str, Callable[[str], naming.Converter]]] = {
    "ignore_prefix": naming.ignore_prefix,
    "append_prefix": naming.append_prefix,
    "ignore_suffix": naming.ignore_suffix,
    "append_suffix": naming.append_suffix,
}
#: The metadata that was configured when the cases were recorded.
CONFIGURED: Final = WowMetadata.from_document(
    {
        "contexts": {
            "bank-service": {
                "alias": "bank",
                "scopes": ["golden.parts.bank", "golden.parts.command.contextual"],
                "aggregates": {
                    "ledger": {"scopes": ["golden.parts.bank", "golden.parts.command.ledger"]},
                    "vault": {"scopes": ["golden.parts.command.vault"], "tenantId": "vault-tenant"},
                },
            },
            "plain-service": {"scopes": ["golden.parts.plain"], "aggregates": {"item": {}}},
            "blank-service": {"alias": "", "scopes": ["golden.parts.blank"], "aggregates": {"thing": {}}},
        }
    }
)
DEFAULT_AGGREGATE: Final = "bank-service.ledger"


def check(case: dict[str, Any]) -> str | None:
    """None, or the first difference."""
    given, expected = case["input"], comparable(case["expect"])
    actual = outcome(lambda: OPERATIONS[given["op"]](given))
    if given["op"] == "aggregate_id" and "value" in expected:
        # Text form and hash are platform detail; what they decide, the group, is not.
        for key in ("text", "hash", "hash_code"):
            expected["value"].pop(key, None)
    return first_difference(expected, actual)


# --- names ------------------------------------------------------------------------------------------------------------


def _converter(given: dict[str, Any]) -> naming.Converter:
    kind = given["kind"]
    if kind == "simple":
        return naming.convert(STRATEGIES[given["from"]], STRATEGIES[given["to"]])
    if kind == "composite":
        return naming.composite(_converter(given["first"]), STRATEGIES[given["from"]], STRATEGIES[given["to"]])
    return AFFIXES[kind](given["text"])


def _named(value: NamedAggregate | None) -> dict[str, Any] | None:
    return value and {"context_name": value.context_name, "aggregate_name": value.aggregate_name}


def _named_aggregate_text(given: dict[str, Any]) -> dict[str, Any]:
    named = NamedAggregate(given["context_name"], given["aggregate_name"])
    return {
        "text": str(named),
        "with_alias": alias_text(CONFIGURED, named),
        "alias": context_alias(CONFIGURED, named.context_name),
        "alias_prefix": alias_prefix(CONFIGURED, named.context_name),
    }


def _same_named_aggregate(given: dict[str, Any]) -> dict[str, Any]:
    one, two = (NamedAggregate(item["context_name"], item["aggregate_name"]) for item in given["pair"])
    instance = AggregateRef(two.context_name, two.aggregate_name, "some-id")
    return {
        "equal": one == two,
        "same_aggregate_name": one == two,
        "same_bounded_context": one.context_name == two.context_name,
        "id_is_same": one == instance.named_aggregate,
    }


# --- ids and functions ------------------------------------------------------------------------------------------------


def _ref(given: dict[str, Any]) -> AggregateRef:
    named = naming.to_named_aggregate(given.get("aggregate") or DEFAULT_AGGREGATE)
    return AggregateRef(
        given.get("context_name", named.context_name),
        given.get("aggregate_name", named.aggregate_name),
        given["aggregate_id"],
        given.get("tenant_id", DEFAULT_TENANT_ID),
    )


def _compare(given: dict[str, Any]) -> dict[str, Any]:
    one, two = (_ref(item) for item in given["pair"])
    return {"equal": one == two, "compare": outcome(lambda: (two < one) - (one < two))}


def _function(given: dict[str, Any]) -> FunctionInfo:
    kind = FunctionKind(given.get("function_kind", "EVENT"))
    return FunctionInfo(kind, given["context_name"], given["processor_name"], given["name"])


def _function_is_same(given: dict[str, Any]) -> dict[str, Any]:
    one, two = (_function(item) for item in given["pair"])
    return {"same": one.is_same_function(two), "equal": one == two}


def _unknown_function(given: dict[str, Any]) -> dict[str, Any]:
    function = unknown_function(given["context_name"], FunctionKind(given["function_kind"]))
    return {
        "function_kind": str(function.kind),
        "context_name": function.context_name,
        "processor_name": function.processor_name,
        "name": function.name,
    }


# --- metadata ---------------------------------------------------------------------------------------------------------


def _scopes(given: dict[str, Any]) -> MetadataScopes:
    return MetadataScopes(WowMetadata.from_document(given["metadata"]))


def _search_aggregate(given: dict[str, Any]) -> dict[str, Any] | None:
    scopes = _scopes(given)
    search = scopes.require_aggregate if given["required"] else scopes.search_aggregate
    return _named(search(given["class_name"]))


def _search_context(given: dict[str, Any]) -> str | None:
    scopes = _scopes(given)
    search = scopes.require_context if given["required"] else scopes.search_context
    return search(given["class_name"])


def _merge_metadata(given: dict[str, Any]) -> dict[str, Any]:
    merged = WowMetadata()
    for document in given["documents"]:
        merged = merged.merge(WowMetadata.from_document(document))
    return merged.to_document()


def _event_metadata(given: dict[str, Any]) -> dict[str, Any]:
    metadata = event_metadata(EVENTS[given["class_name"]])
    return {"name": metadata.name, "revision": metadata.revision}


# --- headers ----------------------------------------------------------------------------------------------------------


def _stream(given: dict[str, Any]) -> DomainEventStream:
    header = Header(given.get("header") or {})
    events = []
    for sequence, item in enumerate(given["events"], start=1):
        body = event_body(item["type"], item["body"])
        metadata = event_metadata(type(body))
        events.append(
            DomainEvent(
                item["id"],
                body,
                _ref(given),
                given["version"],
                metadata.name,
                given["command_id"],
                Header(item["header"]) if item.get("header") is not None else header.copy(),
                sequence,
                sequence == len(given["events"]),
                metadata.revision,
                given.get("owner_id", ""),
                given.get("space_id", ""),
                given["create_time"],
            )
        )
    return DomainEventStream(given["id"], given["request_id"], header, tuple(events))


def _upstream(given: dict[str, Any]) -> Any:
    if given["kind"] == "command":
        header = Header(given.get("header") or {})
        return CommandMessage(given["id"], object(), _ref(given), given["name"], given["id"], header)
    stream = _stream(given["stream"])
    return stream.events[0] if given["kind"] == "event" else stream


def _propagate(given: dict[str, Any]) -> dict[str, Any]:
    header = Header(given["header"])
    if given.get("read_only"):
        header.freeze()
    returned = propagate(_upstream(given["upstream"]), header)
    return {"header": dict(header), "same_object": returned is header}


def _parts(selector: Any) -> dict[str, str] | None:
    return selector and {
        "context_name": selector.context_name,
        "processor_name": selector.processor_name,
        "name": selector.function_name,
    }


def _extract_wait_plan(given: dict[str, Any]) -> dict[str, Any] | None:
    extracted = read_wait_plan(Header(given["header"]))
    if extracted is None:
        return None
    target = extracted.plan.target
    found = {
        "wait_command_id": extracted.wait_command_id,
        "endpoint": extracted.endpoint,
        "kind": "chain" if isinstance(target, ChainTarget) else "stage",
        "stage": str(target.stage),
        "function": _parts(target.selector),
        "support_void_command": extracted.plan.supports_void,
    }
    if isinstance(target, ChainTarget):
        found["tail_stage"] = str(target.tail.stage)
        found["tail_function"] = _parts(target.tail.selector)
    return found


def _to_header(given: dict[str, Any]) -> dict[str, Any]:
    header = to_header(given["map"])
    return {"header": dict(header), "read_only": header.is_read_only}


def _to_header_of_header(given: dict[str, Any]) -> dict[str, Any]:
    header = Header(given["header"])
    if given.get("read_only"):
        header.freeze()
    converted = to_header(header)
    return {"header": dict(converted), "same_object": converted is header, "read_only": converted.is_read_only}


def _operator(given: dict[str, Any]) -> dict[str, Any]:
    header = Header(given["header"])
    return {"operator": header.get(COMMAND_OPERATOR), "required": outcome(lambda: require_operator(header))}


class _HeaderSteps:
    """Walks through recorded steps on a header and its copies."""

    def __init__(self, entries: dict[str, str]) -> None:
        self.first = self.current = Header(entries)

    def step(self, given: dict[str, Any]) -> Any:
        """The value of one step."""
        header, key, value = self.current, given.get("key", ""), given.get("value", "")
        match given["step"]:
            case "is_read_only":
                return header.is_read_only
            case "read_only":
                return header.freeze() is header
            case "copy":
                self.current = header.copy()
                return self.current is not header
            case "equals_first":
                return header == self.first
            case "get":
                return header.get(key)
            case "put":
                previous = header.get(key)
                header[key] = value
                return previous
            case "remove":
                return header.pop(key, None)
            case "with":
                return header.with_(key, value) is header
            case "with_all":
                return header.with_all(given["values"]) is header
            case "is_local_first":
                return is_local_first(header)
            case "local_first":
                write_local_first(header, *([given["value"]] if "value" in given else []))
                return None
            case "clear":
                header.clear()
                return None
        raise AssertionError(f"unknown step {given['step']!r}")


def _header_steps(given: dict[str, Any]) -> dict[str, Any]:
    steps = _HeaderSteps(given["header"])
    results = [outcome(lambda step=step: steps.step(step)) for step in given["steps"]]
    return {"steps": results, "first": dict(steps.first), "last": dict(steps.current)}


OPERATIONS: Final[dict[str, Callable[[dict[str, Any]], Any]]] = {
    "pascal_to_snake": lambda given: naming.to_snake(given["text"]),
    "segment": lambda given: STRATEGIES[given["strategy"]].segment(given["text"]),
    "transform": lambda given: STRATEGIES[given["strategy"]].transform(given["words"]),
    "convert": lambda given: _converter(given["converter"])(given["text"]),
    "to_named_aggregate": lambda given: _named(naming.to_named_aggregate(given["text"], given["context_name"])),
    "named_aggregate_text": _named_aggregate_text,
    "same_named_aggregate": _same_named_aggregate,
    "aggregate_id": lambda given: {"mod": [_ref(given).mod(divisor) for divisor in given["divisors"]]},
    "compare_aggregate_ids": _compare,
    "search_aggregate": _search_aggregate,
    "search_context": _search_context,
    "merge_metadata": _merge_metadata,
    "event_metadata": _event_metadata,
    "event_type_id": lambda given: str(
        EventTypeId(given["context_name"], given["aggregate_name"], given["name"], given["revision"])
    ),
    "function_is_empty": lambda given: _function(given).is_empty,
    "function_is_same": _function_is_same,
    "unknown_function": _unknown_function,
    "propagate": _propagate,
    "extract_wait_plan": _extract_wait_plan,
    "header_steps": _header_steps,
    "to_header": _to_header,
    "to_header_of_header": _to_header_of_header,
    "operator": _operator,
    "merge_tags": lambda given: merge_tags(given["left"], given["right"]),
}
