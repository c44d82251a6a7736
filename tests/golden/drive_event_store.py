"""Drive the recorded cases of the event store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tests.golden.bank_streams import Calls, named_of, ref_of, stream_of
from tests.golden.compare import first_difference
from tests.golden.outcomes import comparable
from wowspec.messages.envelopes import DomainEventStream
from wowspec.modeling.identity import AggregateRef
from wowspec.runtime.event_store import InMemoryEventStore


class _Driver:
    def __init__(self) -> None:
        self.store = InMemoryEventStore()
        self.calls = Calls()
        self.appended: dict[str, DomainEventStream] = {}

    def run(self, op: dict[str, Any]) -> dict[str, Any]:
        name = op["op"]
        if name == "run":
            return self.calls.resume(op["ref"])
        if name == "mutate_appended":
            self.appended[op["stream_id"]].header.update(op["header"])
            return {"value": None}
        call, show = OPS[name]
        return self.calls.run(lambda: call(self, op), lambda value: show(op, value), op.get("defer"))

    def append(self, op: dict[str, Any]) -> Any:
        stream = stream_of(op["stream"])
        self.appended[stream.id] = stream
        return self.store.append(stream)

    def load(self, op: dict[str, Any]) -> Any:
        given = {key: op[key] for key in ("head_version", "tail_version") if key in op}
        return self.store.load(ref_of(op), **given)

    def load_by_time(self, op: dict[str, Any]) -> Any:
        return self.store.load_by_event_time(ref_of(op), op["head_event_time"], op["tail_event_time"])

    def single(self, op: dict[str, Any]) -> Any:
        return self.store.single(ref_of(op), op["version"])

    def last(self, op: dict[str, Any]) -> Any:
        return self.store.last(ref_of(op))

    def exists_request_id(self, op: dict[str, Any]) -> Any:
        return self.store.exists_request_id(ref_of(op), op["request_id"])

    def scan(self, op: dict[str, Any]) -> Any:
        given = {key: op[key] for key in ("after_id", "limit") if key in op}
        return self.store.scan_aggregate_id(named_of(op), **given)


def _summary(op: dict[str, Any], stream: DomainEventStream) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": stream.id,
        "version": stream.version,
        "request_id": stream.request_id,
        "create_time": stream.create_time,
        "size": stream.size,
    }
    if op.get("detail"):
        found |= {
            "tenant_id": stream.aggregate_id.tenant_id,
            "command_id": stream.command_id,
            "owner_id": stream.owner_id,
            "space_id": stream.space_id,
            "header": dict(stream.header),
            "header_read_only": stream.header.is_read_only,
            "events": [
                {
                    "id": event.id,
                    "name": event.name,
                    "revision": event.revision,
                    "sequence": event.sequence,
                    "is_last": event.is_last,
                    "header": dict(event.header),
                }
                for event in stream
            ],
        }
    changes = op.get("mutate_header")
    if changes:
        stream.header.update(changes)
        for event in stream:
            event.header.update(changes)
    return found


def _plain(_: dict[str, Any], value: Any) -> Any:
    return value


def _streams(op: dict[str, Any], value: list[DomainEventStream]) -> Any:
    return [_summary(op, stream) for stream in value]


def _stream(op: dict[str, Any], value: DomainEventStream | None) -> Any:
    return None if value is None else _summary(op, value)


def _ids(_: dict[str, Any], value: list[AggregateRef]) -> Any:
    return [{"aggregate_id": ref.id, "tenant_id": ref.tenant_id} for ref in value]


OPS: Final[dict[str, tuple[Callable[[_Driver, dict[str, Any]], Any], Callable[[dict[str, Any], Any], Any]]]] = {
    "append": (_Driver.append, _plain),
    "load": (_Driver.load, _streams),
    "load_by_time": (_Driver.load_by_time, _streams),
    "single": (_Driver.single, _stream),
    "last": (_Driver.last, _stream),
    "exists_request_id": (_Driver.exists_request_id, _plain),
    "scan": (_Driver.scan, _ids),
}


def check(case: dict[str, Any]) -> str | None:
    """The first difference, or None."""
    driver = _Driver()
    actual = [driver.run(op) for op in case["input"]["ops"]]
    return first_difference(comparable(case["expect"]["results"]), comparable(actual), "results")
