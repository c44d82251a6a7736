"""Streams, ids, aggregates and errors of the bank, between the recorded form and the model's."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Final

from tests.golden.outcomes import CLASSES, error_of
from tests.golden.parts_domain import LEDGER, LedgerState, event_body
from wowspec.messages.envelopes import DomainEvent, DomainEventStream
from wowspec.messages.header import Header
from wowspec.modeling.events import event_metadata
from wowspec.modeling.identity import AggregateRef, NamedAggregate
from wowspec.modeling.states import StateMetadata, state_metadata
from wowspec.runtime.snapshots import Snapshot
from wowspec.runtime.sourcing import StateAggregate

#: What a view of a state shows besides the fields that all share.
_SHARED: Final = ("holder", "balance", "log")
_OWN: Final = {"LedgerState": ("id",), "TenantLedgerState": ("id", "tenant"), "VersionedLedgerState": ("version",)}
_ERROR_PARTS: Final = ("request_id", "expect_version")
#: Facts of an aggregate that have the same name in the recordings.
_FACTS: Final = (
    "owner_id", "space_id", "event_id", "first_operator", "operator",
    "first_event_time", "event_time", "tags", "deleted",
)  # fmt: skip


def named_of(given: dict[str, Any]) -> NamedAggregate:
    """The named aggregate that something recorded speaks of."""
    context, _, name = given.get("aggregate", "bank-service.ledger").partition(".")
    return NamedAggregate(context, name)


def ref_of(given: dict[str, Any]) -> AggregateRef:
    """The aggregate id that something recorded speaks of."""
    named = named_of(given)
    tenant = given.get("tenant_id", "(0)")
    return AggregateRef(named.context_name, named.aggregate_name, given["aggregate_id"], tenant)


def stream_of(given: dict[str, Any]) -> DomainEventStream:
    """A recorded stream."""
    header = Header(given.get("header", {}))
    ref = ref_of(given)
    size = len(given["events"])
    events = []
    for sequence, item in enumerate(given["events"], 1):
        body = event_body(item["type"], item.get("body", {}))
        metadata = event_metadata(type(body))
        events.append(
            DomainEvent(
                id=item["id"],
                body=body,
                aggregate_id=ref,
                version=given["version"],
                name=metadata.name,
                command_id=given["command_id"],
                header=Header(item["header"]) if "header" in item else header.copy(),
                sequence=sequence,
                is_last=sequence == size,
                revision=metadata.revision,
                owner_id=given.get("owner_id", ""),
                space_id=given.get("space_id", ""),
                create_time=given["create_time"],
            )
        )
    return DomainEventStream(given["id"], given["request_id"], header, tuple(events))


def types_of(named: NamedAggregate) -> StateMetadata | None:
    """The configured state types: the ledger alone has one."""
    return state_metadata(LedgerState) if named == LEDGER else None


def snapshot_of(given: dict[str, Any]) -> Snapshot:
    """A recorded snapshot, around an aggregate that was made directly from its values."""
    ref = ref_of(given)
    metadata = state_metadata(LedgerState)
    aggregate = StateAggregate(metadata, ref, LedgerState(id=ref.id, **given.get("state", {})))
    aggregate.version = given.get("version", 0)
    for fact in _FACTS:
        if fact in given:
            setattr(aggregate, fact, given[fact])
    return Snapshot(aggregate, given["snapshot_time"])


def aggregate_view(aggregate: StateAggregate) -> dict[str, Any]:
    """The recorded view of an aggregate."""
    return {
        "aggregate_id": aggregate.aggregate_id.id,
        "tenant_id": aggregate.aggregate_id.tenant_id,
        "version": aggregate.version,
        "expected_next_version": aggregate.expected_next_version,
        "initialized": aggregate.initialized,
        "is_initial_version": aggregate.is_initial_version,
        **{fact: getattr(aggregate, fact) for fact in _FACTS},
    }


def state_view(state: Any) -> dict[str, Any]:
    """The recorded view of a state object."""
    own = _OWN.get(type(state).__name__, ())
    return {name: getattr(state, name) for name in (*_SHARED, *own)}


def views(aggregate: StateAggregate) -> dict[str, Any]:
    """Both views, copied, since the aggregate goes on."""
    return _copied({"aggregate": aggregate_view(aggregate), "state": state_view(aggregate.state)})


def snapshot_view(snapshot: Snapshot | None) -> dict[str, Any] | None:
    """The recorded view of a loaded snapshot."""
    if snapshot is None:
        return None
    aggregate = snapshot.state_aggregate
    assert isinstance(aggregate, StateAggregate)
    return {**views(aggregate), "snapshot_time": snapshot.snapshot_time}


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(item) for item in value]
    return value


def full_error(error: Exception, raised_by: str | None = None) -> dict[str, Any]:
    """An error with its cause and its properties."""
    found = error_of(error, raised_by)
    if error.__cause__ is not None:
        found["cause"] = next((name for cls, name in CLASSES if isinstance(error.__cause__, cls)), "?")
    stream = getattr(error, "event_stream", None)
    if stream is not None:
        found["stream_id"] = stream.id
    for part in _ERROR_PARTS:
        if hasattr(error, part):
            found[part] = getattr(error, part)
    return found


def awaited(answer: Awaitable[Any]) -> Any:
    """What an answer gives that waits for nothing."""
    coroutine = _coroutine(answer)
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    message = f"{answer!r} waits for something"
    raise AssertionError(message)


async def _coroutine(answer: Awaitable[Any]) -> Any:
    return await answer


class Calls:
    """Makes calls whose results may be awaited later, and tells at which of both moments they failed."""

    def __init__(self) -> None:
        self.deferred: dict[str, tuple[Any, Any]] = {}

    def run(self, call: Any, show: Any, defer: str | None = None) -> dict[str, Any]:
        """Make a call and await it, unless it is deferred; `show` gives the recorded form of the result."""
        try:
            answer = call()
        except Exception as error:
            return {"error": full_error(error, "call")}
        if defer is not None:
            self.deferred[defer] = (answer, show)
            return {"value": "deferred"}
        return self._result(answer, show)

    def resume(self, ref: str) -> dict[str, Any]:
        """Await a deferred result."""
        return self._result(*self.deferred.pop(ref))

    @staticmethod
    def _result(answer: Any, show: Any) -> dict[str, Any]:
        try:
            return {"value": show(awaited(answer))}
        except Exception as error:
            return {"error": full_error(error, "result")}
