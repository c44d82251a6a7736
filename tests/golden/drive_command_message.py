"""Drive the recorded cases of `command_message`: command metadata, building messages, the builder and the factory."""

from __future__ import annotations

from typing import Any, Final

from tests.golden.bank_events import event_body
from tests.golden.command_classes import CommandClasses, ways_of
from tests.golden.compare import first_difference
from tests.golden.outcomes import DRIVER_BUGS, comparable, error_of, outcome
from wowspec.messages.command_factory import CommandMessageFactory
from wowspec.messages.commands import CommandBuilder, command_builder, plain_command_message, to_command_message
from wowspec.messages.envelopes import CommandMessage, DomainEvent
from wowspec.messages.header import Header
from wowspec.modeling.commands import command_metadata
from wowspec.modeling.events import event_metadata
from wowspec.modeling.identity import DEFAULT_TENANT_ID, AggregateRef
from wowspec.modeling.naming import simple_name, to_named_aggregate

NOW: Final = 1_700_000_000_123
DEFAULT_AGGREGATE: Final = "bank-service.ledger"


class RecordedOrigin:
    """Counted ids, one fixed time."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def next_id(self) -> str:
        """A new id."""
        self.ids.append(f"generated-{len(self.ids) + 1:03}")
        return self.ids[-1]

    def now_millis(self) -> int:
        """The fixed time."""
        return NOW


def check(case: dict[str, Any]) -> str | None:
    """None, or the first difference in any way of writing the command class."""
    for way in ways_of(case["input"]["command"]):
        found = _check(case, CommandClasses(way))
        if found is not None:
            return f"[{way}] {found}"
    return None


def _check(case: dict[str, Any], classes: CommandClasses) -> str | None:
    given, expected = case["input"], case["expect"]
    cls = classes.class_of(given["command"])
    actual: dict[str, Any] = {"metadata": outcome(lambda: _metadata(cls, classes))}
    wildcards: dict[str, Any] = {}
    if "message" in expected:
        origin = RecordedOrigin()
        actual["message"], message = _message(given, classes, origin)
        wildcards = {
            "<generated>": lambda value: value in origin.ids,
            "<id>": lambda value: message is not None and value == message.id and value in origin.ids,
            "<aggregate_id>": lambda value: (
                message is not None and value == message.aggregate_id.id and value in origin.ids
            ),
            "<now>": lambda value: value == NOW,
        }
    return first_difference(comparable(expected), actual, wildcards=wildcards)


def _metadata(cls: type, classes: CommandClasses) -> dict[str, Any]:
    metadata = command_metadata(cls).in_scopes(classes.scopes)
    return {
        "name": metadata.name,
        "is_create": metadata.is_create,
        "allow_create": metadata.allow_create,
        "is_void": metadata.is_void,
        "is_delete": metadata.is_delete,
        "static_tenant_id": metadata.static_tenant_id,
        "has_named_aggregate": metadata.named_aggregate is not None,
        "has_aggregate_id": metadata.aggregate_id is not None,
        "has_tenant_id": metadata.tenant_id is not None,
        "has_owner_id": metadata.owner_id is not None,
        "has_aggregate_version": metadata.aggregate_version is not None,
    }


def _message(
    given: dict[str, Any], classes: CommandClasses, origin: RecordedOrigin
) -> tuple[dict[str, Any], CommandMessage[Any] | None]:
    """The outcome of building, and the message."""
    raised_by = "call"
    extra: dict[str, Any] = {}
    try:
        body = classes.instance(given["command"], given["values"])
        via, options = given["via"], given.get("options") or {}
        if via == "function":
            arguments = _arguments(options)
            message = to_command_message(body, origin=origin, scopes=classes.scopes, **arguments)
            if "header" in arguments:
                extra["header_is_argument"] = message.header is arguments["header"]
        elif via == "direct":
            target = _aggregate_ref(options)
            message = plain_command_message(body, target, origin=origin, id=options.get("id"))
        else:
            builder = command_builder(body, origin)
            _apply(builder, given.get("calls") or (), classes)
            if via == "builder":
                message = builder.to_command_message(origin, scopes=classes.scopes)
            else:
                pending = _factory(given, classes, origin).create(builder)
                raised_by = "result"
                message = _await(pending)
    except DRIVER_BUGS:
        raise
    except Exception as error:
        return {"error": error_of(error, raised_by)}, None
    return {"value": {**message_view(message), **extra}}, message


def _arguments(options: dict[str, Any]) -> dict[str, Any]:
    arguments = {key: value for key, value in options.items() if key not in ("header_read_only", "aggregate")}
    if arguments.get("header") is not None:
        arguments["header"] = Header(arguments["header"])
        if options.get("header_read_only"):
            arguments["header"].freeze()
    if arguments.get("upstream") is not None:
        arguments["upstream"] = upstream_event(arguments["upstream"])
    return arguments


def _aggregate_ref(given: dict[str, Any]) -> AggregateRef:
    named = to_named_aggregate(given.get("aggregate") or DEFAULT_AGGREGATE)
    tenant = given.get("tenant_id", DEFAULT_TENANT_ID)
    return AggregateRef(named.context_name, named.aggregate_name, given["aggregate_id"], tenant)


def upstream_event(given: dict[str, Any]) -> DomainEvent[Any]:
    """A recorded domain event."""
    body = event_body(given["type"], given["body"])
    metadata = event_metadata(type(body))
    return DomainEvent(
        given["id"],
        body,
        _aggregate_ref(given),
        given["version"],
        metadata.name,
        given["command_id"],
        Header(given.get("header") or {}),
        revision=metadata.revision,
        owner_id=given.get("owner_id", ""),
        space_id=given.get("space_id", ""),
        create_time=given["create_time"],
    )


def _apply(builder: CommandBuilder[Any], calls: Any, classes: CommandClasses) -> None:
    for call in calls:
        kind = call["call"]
        if kind == "body":
            value = classes.instance(call["command"], call["values"])
        elif kind == "upstream" and call["value"] is not None:
            value = upstream_event(call["value"])
        elif kind == "header":
            value = Header(call["value"])
        elif "value" not in call or (kind == "local_first" and call["value"] is None):
            assert getattr(builder, kind)() is builder
            continue
        else:
            value = call["value"]
        assert getattr(builder, kind)(value) is builder


class RecordedRewriter:
    """Applies recorded calls, or yields nothing."""

    def __init__(self, given: dict[str, Any], classes: CommandClasses) -> None:
        self.given = given
        self.classes = classes

    async def rewrite(self, builder: CommandBuilder[Any]) -> CommandBuilder[Any] | None:
        """The builder with the calls applied, or None."""
        if self.given.get("empty"):
            return None
        _apply(builder, self.given["calls"], self.classes)
        return builder


def _factory(given: dict[str, Any], classes: CommandClasses, origin: RecordedOrigin) -> CommandMessageFactory:
    rewriter = given["rewriter"]
    if rewriter is not None:
        for call in rewriter.get("calls") or ():
            if call["call"] == "body":
                classes.class_of(call["command"])
    factory = CommandMessageFactory(origin)
    if rewriter is not None:
        target = rewriter.get("for", given["command"])
        if "fields" not in target:  # a superclass is only named
            supertypes = classes.class_of(given["command"]).__mro__
            cls = next(base for base in supertypes if base.__name__ == target["class_name"])
        else:
            cls = classes.class_of(target)
        factory.rewriters.register(cls, RecordedRewriter(rewriter, classes))
    factory.scopes = classes.scopes
    return factory


def _await(pending: Any) -> CommandMessage[Any]:
    steps = pending.__await__()
    try:
        next(steps)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    raise AssertionError("nothing here waits for anything")


def message_view(message: CommandMessage[Any]) -> dict[str, Any]:
    """A message as the recordings show it."""
    target = message.aggregate_id
    return {
        "id": message.id,
        "command_id": message.command_id,
        "request_id": message.request_id,
        "context_name": target.context_name,
        "aggregate_name": target.aggregate_name,
        "aggregate_id": target.id,
        "tenant_id": target.tenant_id,
        "owner_id": message.owner_id,
        "space_id": message.space_id,
        "aggregate_version": message.aggregate_version,
        "name": message.name,
        "is_create": message.is_create,
        "allow_create": message.allow_create,
        "is_void": message.is_void,
        "create_time": message.create_time,
        "header": dict(message.header),
        "body_class": simple_name(type(message.body)),
    }
