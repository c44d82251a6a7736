"""Drive the recorded cases of the snapshot stores, strategies and materialised views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from tests.golden.bank_streams import (
    Calls,
    awaited,
    full_error,
    ref_of,
    snapshot_of,
    snapshot_view,
    stream_of,
    types_of,
)
from tests.golden.compare import first_difference
from tests.golden.outcomes import comparable
from tests.golden.parts_domain import LedgerState
from wowspec.messages.envelopes import StateEvent
from wowspec.modeling.identity import AggregateRef
from wowspec.modeling.states import state_metadata
from wowspec.runtime.event_store import InMemoryEventStore
from wowspec.runtime.repository import StateAggregateRepository
from wowspec.runtime.snapshots import (
    InMemorySnapshotStore,
    NoOpSnapshotStore,
    NoOpSnapshotStrategy,
    SimpleSnapshotStrategy,
    Snapshot,
    VersionOffsetSnapshotStrategy,
)
from wowspec.runtime.sourcing import StateAggregate, new_state_aggregate
from wowspec.runtime.views import to_full, to_medium, to_small
from wowspec.world.clock import VirtualClock
from wowspec.world.world import World

VIEWS: Final[dict[str, Callable[[Snapshot, Callable[[Any], Any]], Any]]] = {
    "small": to_small,
    "medium": to_medium,
    "full": to_full,
}


def check(case: dict[str, Any]) -> str | None:
    """The first difference, or None."""
    world = World(clock=VirtualClock())
    drive = {"store": _store, "strategy": _strategy, "materialize": _materialize}[case["input"]["kind"]]
    actual = drive(case["input"], world)
    wildcards = {"<now>": lambda value: value == world.now_millis()}
    return first_difference(comparable(case["expect"]), comparable(actual), wildcards=wildcards)


# --- stores -----------------------------------------------------------------------------------------------------------


class _Driver:
    def __init__(self, store: Any) -> None:
        self.store = store
        self.calls = Calls()
        self.kept: dict[str, Snapshot] = {}

    def run(self, op: dict[str, Any]) -> dict[str, Any]:
        name, defer = op["op"], op.get("defer")
        if name == "run":
            return self.calls.resume(op["ref"])
        if name == "name":
            return {"value": self.store.name}
        if name == "source":
            aggregate = self.kept[op["ref"]].state_aggregate
            assert isinstance(aggregate, StateAggregate)
            aggregate.on_sourcing(stream_of(op["stream"]))
            return {"value": None}
        if name == "save":
            snapshot = snapshot_of(op["snapshot"])
            if "ref" in op:
                self.kept[op["ref"]] = snapshot
            return self.calls.run(lambda: self.store.save(snapshot), _plain, defer)
        if name == "save_again":
            return self.calls.run(lambda: self.store.save(self.kept[op["ref"]]), _plain, defer)
        if name == "get_version":
            return self.calls.run(lambda: self.store.get_version(ref_of(op)), _plain, defer)
        assert name == "load", name
        return self.calls.run(lambda: self.store.load(ref_of(op)), lambda found: _loaded(op, found), defer)


def _plain(value: Any) -> Any:
    return value


def _loaded(op: dict[str, Any], snapshot: Snapshot | None) -> Any:
    view = snapshot_view(snapshot)
    changes = op.get("mutate")
    if changes and snapshot is not None:
        snapshot.state.balance = changes["balance"]
        snapshot.state.log.append(changes["log"])
    return view


def _store(given: dict[str, Any], _: World) -> dict[str, Any]:
    driver = _Driver(InMemorySnapshotStore(types_of) if given["store"] == "in_memory" else NoOpSnapshotStore())
    return {"results": [driver.run(op) for op in given["ops"]]}


# --- strategies -------------------------------------------------------------------------------------------------------


class _NotingStore(InMemorySnapshotStore):
    """Notes which versions a strategy hands to it."""

    __slots__ = ("saved",)

    def __init__(self) -> None:
        super().__init__(types_of)
        self.saved: list[int] = []

    def save_now(self, snapshot: Snapshot) -> None:
        self.saved.append(snapshot.version)
        super().save_now(snapshot)


def _strategy(given: dict[str, Any], world: World) -> dict[str, Any]:
    store, events = _NotingStore(), InMemoryEventStore()
    for snapshot in given["stored"]:
        store.save_now(snapshot_of(snapshot))
    strategy = _strategy_of(given, store, world)
    repository = StateAggregateRepository(events, store, types=types_of)
    metadata = state_metadata(LedgerState)
    live: dict[AggregateRef, StateAggregate] = {}
    steps = []
    for item in given["streams"]:
        stream = stream_of(item)
        ref = stream.aggregate_id
        aggregate = live.setdefault(ref, new_state_aggregate(metadata, ref))
        aggregate.on_sourcing(stream)
        events.append_now(stream)
        store.saved.clear()
        state_event: StateEvent[Any] = aggregate.to_state_event(stream)
        if strategy.should_save(state_event):
            strategy.save_now(state_event)
        steps.append(
            {
                "version": stream.version,
                "saved": list(store.saved),
                "live": {"owner_id": aggregate.owner_id, "space_id": aggregate.space_id},
                "stored": snapshot_view(store.load_now(ref)),
                "loaded": _replayed(repository, ref),
            }
        )
    return {"steps": steps}


def _strategy_of(given: dict[str, Any], store: InMemorySnapshotStore, world: World) -> Any:
    if given["strategy"] == "simple":
        return SimpleSnapshotStrategy(store, world.now_millis)
    if given["strategy"] == "no_op":
        return NoOpSnapshotStrategy()
    assert given["strategy"] == "version_offset"
    offset = {"offset": given["offset"]} if "offset" in given else {}
    return VersionOffsetSnapshotStrategy(store, world.now_millis, **offset)


def _replayed(repository: StateAggregateRepository, ref: AggregateRef) -> dict[str, Any]:
    try:
        aggregate = awaited(repository.load(ref))
    except Exception as error:
        return {"error": full_error(error)}
    return {
        "version": aggregate.version,
        "owner_id": aggregate.owner_id,
        "space_id": aggregate.space_id,
        "balance": aggregate.state.balance,
    }


# --- views ------------------------------------------------------------------------------------------------------------


def _materialize(given: dict[str, Any], _: World) -> dict[str, Any]:
    view = VIEWS[given["view"]](snapshot_of(given["snapshot"]), lambda state: state.balance)
    return {"fields": {_camel(key): value for key, value in asdict(view).items()}}


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)
