"""Messages from the runtime's JSON: which keys must be there, and what a missing one counts as (SER-001 to SER-009)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import BindingError, DecodeError, ErrorInfo
from ..modeling.events import EventTypeId
from ..modeling.identity import AggregateRef, FunctionInfo, FunctionKind, NamedAggregate
from .codec import decode
from .envelopes import CommandMessage, DomainEvent, DomainEventStream, StateEvent
from .header import Header
from .json_tree import Tree, elements, members, parse, text_of
from .type_names import PYTHON_NAMES, TypeNames
from .upgrading import EventFacts, EventRecord, EventTypes, EventUpgraders, RawJson
from .wait_plans import FunctionSelector


def _no_state(_: NamedAggregate) -> type | None:
    return None


@dataclass(slots=True)
class JsonTypes:
    """What classes JSON is read as.

    Attributes:
        names: classes by their names.
        events: registered event types, which come before names (EVT-067).
        upgraders: rewrite events before that (EVT-066).
        state_of: the state class of a named aggregate, or None where the aggregate has no type.
    """

    names: TypeNames = PYTHON_NAMES
    events: EventTypes = field(default_factory=EventTypes)
    upgraders: EventUpgraders = field(default_factory=EventUpgraders)
    state_of: Callable[[NamedAggregate], type | None] = _no_state


def aggregate_ref(tree: Tree) -> AggregateRef:
    """The aggregate id among the keys of an object; each of its keys must be there (SER-012)."""
    return AggregateRef(
        tree.text("contextName"), tree.text("aggregateName"), tree.text("aggregateId"), tree.text("tenantId")
    )


def read_aggregate_id(data: bytes | str) -> AggregateRef:
    """An aggregate id (SER-012). This and all readers here raise a `DecodeError` for a text that does not fit."""
    return aggregate_ref(Tree("an aggregate id", parse(data)))


def read_named_aggregate(data: bytes | str) -> NamedAggregate:
    """A named aggregate."""
    tree = Tree("a named aggregate", parse(data))
    return NamedAggregate(tree.text("contextName"), tree.text("aggregateName"))


def function_info(tree: Tree) -> FunctionInfo:
    """A function's identity; each key must be there."""
    kind = tree.member("functionKind", FunctionKind)
    return FunctionInfo(kind, *(tree.value_text(key) for key in ("contextName", "processorName", "name")))


def read_function_info(data: bytes | str) -> FunctionInfo:
    """A function's identity."""
    return function_info(Tree("a function", parse(data)))


def read_function_selector(data: bytes | str) -> FunctionSelector:
    """A function's three names."""
    tree = Tree("a function's names", parse(data))
    return FunctionSelector(*(tree.value_text(key) for key in ("contextName", "processorName", "name")))


def binding_errors(tree: Tree) -> tuple[BindingError, ...]:
    """The binding errors among the keys of an object; none where they are missing. Null is refused."""

    def read(value: Any) -> BindingError:
        inner = Tree("a binding error", value)
        return BindingError(inner.value_text("name"), inner.value_text("msg"))

    if "bindingErrors" in tree:
        tree.need_value("bindingErrors")
    return tuple(tree.list_of("bindingErrors", read))


def read_error_info(data: bytes | str) -> ErrorInfo:
    """Error info; `succeeded` is derived, not read (CMD-321)."""
    tree = Tree("error info", parse(data))
    return ErrorInfo(tree.value_text("errorCode"), tree.text("errorMsg", ""), binding_errors(tree))


def read_command(data: bytes | str, names: TypeNames = PYTHON_NAMES) -> CommandMessage[Any]:
    """A command message (SER-002, CMD-050). A version that is null reads as 0; only a missing one is absent."""
    text = text_of(data)
    tree = Tree("a command", parse(text))
    ref = aggregate_ref(tree)
    body_type = tree.text("bodyType")
    tree.need("body")
    cls = names.class_of(body_type)
    if cls is None:
        message = f"cannot read a command from JSON: there is no class {body_type}"
        raise DecodeError(message)
    return CommandMessage(
        id=tree.text("id"),
        body=decode(cls, members(text)["body"]),
        aggregate_id=ref,
        name=tree.text("name"),
        request_id=tree.text("requestId"),
        header=Header(tree.texts("header")),
        owner_id=tree.text("ownerId", ""),
        space_id=tree.text("spaceId", ""),
        aggregate_version=tree.integer("aggregateVersion") if "aggregateVersion" in tree else None,
        is_create=tree.boolean("isCreate"),
        allow_create=tree.boolean("allowCreate", default=False),
        is_void=tree.boolean("isVoid", default=False),
        create_time=tree.long("createTime"),
    )


def read_domain_event(data: bytes | str, types: JsonTypes | None = None) -> DomainEvent[Any]:
    """A single event (SER-007); raw JSON stays where its class is not known (EVT-067)."""
    text = text_of(data)
    tree = Tree("an event", parse(text))
    facts = EventFacts(
        id=tree.text("id"),
        aggregate_id=aggregate_ref(tree),
        version=tree.integer("version"),
        command_id=tree.text("commandId"),
        header=Header(tree.texts("header")),
        sequence=tree.integer("sequence"),
        is_last=tree.boolean("isLast"),
        owner_id=tree.text("ownerId", ""),
        space_id=tree.text("spaceId", ""),
        create_time=tree.long("createTime"),
    )
    return _event(facts, tree, text, types or JsonTypes())


def read_event_stream(data: bytes | str, types: JsonTypes | None = None) -> DomainEventStream:
    """A stream. Its events are numbered by position, and share its one header object (SER-005).

    Raises:
        IllegalArgumentError: if it has no event, or an event's name or revision is blank.
    """
    text = text_of(data)
    return _stream(Tree("a stream", parse(text)), text, types or JsonTypes())


def read_state_event(data: bytes | str, types: JsonTypes | None = None) -> StateEvent[Any]:
    """A state event; the state of an aggregate without a type stays raw JSON (SER-009). Errors as with a stream."""
    types = types or JsonTypes()
    text = text_of(data)
    tree = Tree("a state event", parse(text))
    stream = _stream(tree, text, types)
    tree.need("state")
    return StateEvent(
        stream,
        read_state(stream.aggregate_id.named_aggregate, members(text)["state"], types),
        tree.text("firstOperator", ""),
        tree.long("firstEventTime", 0),
        tree.tags("tags"),
        tree.boolean("deleted"),
    )


def read_state(named: NamedAggregate, text: str, types: JsonTypes) -> Any:
    """The state of an aggregate; raw JSON where the aggregate has no type."""
    cls = types.state_of(named)
    return RawJson(text) if cls is None else decode(cls, text)


def _stream(tree: Tree, text: str, types: JsonTypes) -> DomainEventStream:
    ref = aggregate_ref(tree)
    header = Header(tree.texts("header"))
    version, command_id = tree.integer("version"), tree.text("commandId")
    owner_id, space_id = tree.text("ownerId", ""), tree.text("spaceId", "")
    create_time = tree.long("createTime")
    if not isinstance(tree.need("body"), list):
        tree.refuse("body", "it is no list of events")
    texts = list(elements(members(text)["body"]))
    events = []
    for index, element in enumerate(texts):
        inner = Tree("an event of a stream", parse(element))
        facts = EventFacts(
            inner.text("id"), ref, version, command_id, header, index + 1, index == len(texts) - 1,
            owner_id, space_id, create_time,
        )  # fmt: skip
        events.append(_event(facts, inner, element, types))
    return DomainEventStream(tree.text("id"), tree.text("requestId"), header, tuple(events))


def _event(facts: EventFacts, tree: Tree, text: str, types: JsonTypes) -> DomainEvent[Any]:
    tree.need("body")
    body_type = tree.text("bodyType") if "bodyType" in tree else None
    record = types.upgraders.upgrade(
        EventRecord(facts, tree.text("name"), tree.text("revision"), body_type, members(text)["body"])
    )
    facts = record.facts
    return DomainEvent(
        id=facts.id,
        body=_body(record, types),
        aggregate_id=facts.aggregate_id,
        version=facts.version,
        name=record.name,
        command_id=facts.command_id,
        header=facts.header,
        sequence=facts.sequence,
        is_last=facts.is_last,
        revision=record.revision,
        owner_id=facts.owner_id,
        space_id=facts.space_id,
        create_time=facts.create_time,
    )


def _body(record: EventRecord, types: JsonTypes) -> Any:
    ref = record.facts.aggregate_id
    cls = types.events.get(EventTypeId(ref.context_name, ref.aggregate_name, record.name, record.revision))
    if cls is None:
        if record.body_type is None:
            message = f"cannot read the event {record.name} from JSON: bodyType is missing, and it is not registered"
            raise DecodeError(message)
        cls = types.names.class_of(record.body_type)
    if cls is None:
        return RawJson(record.body_text, record.body_type or "")
    return decode(cls, record.body_text)
