"""Drives the family `stream_building`: what a command function returned becomes an event stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wowspec.messages.envelopes import CommandMessage, DomainEvent, DomainEventStream
from wowspec.messages.header import Header
from wowspec.messages.ids import IdGenerator
from wowspec.messages.streams import build_stream, ignores_sourcing
from wowspec.modeling.identity import DEFAULT_TENANT_ID, AggregateRef
from wowspec.modeling.naming import simple_name

from .compare import first_difference
from .outcomes import comparable, outcome
from .parts_domain import event_body

NOW = 1_700_000_000_000


class _Origin:
    def __init__(self) -> None:
        self._ids = IdGenerator()

    def next_id(self) -> str:
        return self._ids.next_id(NOW)

    def now_millis(self) -> int:
        return NOW


class _OneShot:
    """An iterable that counts how often it is walked, and has nothing for a second walk."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items
        self.traversals = 0

    def __iter__(self) -> Iterator[Any]:
        self.traversals += 1
        return iter(self.items if self.traversals == 1 else ())


def check(case: dict[str, Any]) -> str | None:
    """None if the case passes, else the first difference."""
    given, expected = case["input"], case["expect"]
    bodies = [entry and event_body(entry["type"], entry["body"]) for entry in given["events"]]
    result = _shaped(given["shape"], bodies)
    header = Header(given["header"]) if "header" in given else None

    def built() -> dict[str, Any]:
        stream = build_stream(
            result,
            command=_command(given["command"]),
            aggregate_version=given["aggregate_version"],
            owner_id=given["state_owner_id"],
            space_id=given["state_space_id"],
            origin=_Origin(),
            header=header,
            create_time=given.get("create_time"),
        )
        return _view(stream, header)

    actual = outcome(built)
    if "traversals" in expected:
        actual["traversals"] = result.traversals
    return first_difference(_with_now(comparable(expected)), actual)


def _shaped(shape: str, bodies: list[Any]) -> Any:
    if shape == "single":
        return bodies[0]
    if shape == "array":
        return tuple(bodies)
    if shape == "iterable":
        return _OneShot(bodies)
    return [bodies] if shape == "nested" else bodies


def _command(values: dict[str, Any]) -> CommandMessage[Any]:
    context_name, aggregate_name = values.get("aggregate", "bank-service.ledger").split(".")
    return CommandMessage(
        id=values["id"],
        body=None,
        aggregate_id=AggregateRef(
            context_name, aggregate_name, values["aggregate_id"], values.get("tenant_id", DEFAULT_TENANT_ID)
        ),
        name=values["name"],
        request_id=values["request_id"],
        header=Header(values.get("header", {})),
        owner_id=values.get("owner_id", ""),
        space_id=values.get("space_id", ""),
    )


def _with_now(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_now(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_now(item) for item in value]
    return NOW if value == "<now>" else value


def _view(stream: DomainEventStream, header: Header | None) -> dict[str, Any]:
    ids = [stream.id, *(event.id for event in stream)]
    ref = stream.aggregate_id
    view: dict[str, Any] = {
        "ids_are_distinct": len(set(ids)) == len(ids),
        "ids_are_increasing": ids == sorted(ids),
        "request_id": stream.request_id,
        "command_id": stream.command_id,
        "aggregate_id": ref.id,
        "tenant_id": ref.tenant_id,
        "context_name": ref.context_name,
        "aggregate_name": ref.aggregate_name,
        "owner_id": stream.owner_id,
        "space_id": stream.space_id,
        "version": stream.version,
        "size": stream.size,
        "create_time": stream.create_time,
        "header": dict(stream.header),
        "header_is_argument": None if header is None else stream.header is header,
        "ignore_sourcing": ignores_sourcing(stream),
        "events": [_event_view(event) for event in stream],
    }
    # Found by changing headers, so after everything else was looked at.
    copy = stream.copy()
    equal = dict(copy.header) == dict(stream.header) and all(
        dict(mine.header) == dict(other.header) for mine, other in zip(copy.events, stream.events, strict=True)
    )
    copy.header["touched"] = "copy"
    for event in copy.events:
        event.header["touched"] = "copy"
    untouched = all("touched" not in each.header for each in (stream, *stream.events))
    view["copy_is_independent"] = equal and untouched
    view["copy_shares_bodies"] = all(
        mine.body is other.body for mine, other in zip(copy.events, stream.events, strict=True)
    )
    stream.events[0].header["touched"] = "event"
    view["event_headers_are_independent"] = all("touched" not in each.header for each in (stream, *stream.events[1:]))
    return view


def _event_view(event: DomainEvent[Any]) -> dict[str, Any]:
    listed = isinstance(event.body, list)
    return {
        "name": "<list>" if listed else event.name,
        "revision": event.revision,
        "sequence": event.sequence,
        "is_last": event.is_last,
        "version": event.version,
        "command_id": event.command_id,
        "aggregate_id": event.aggregate_id.id,
        "owner_id": event.owner_id,
        "space_id": event.space_id,
        "create_time": event.create_time,
        "header": dict(event.header),
        "body_class": "<list>" if listed else simple_name(type(event.body)),
    }
