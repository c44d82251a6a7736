"""Drive the recorded cases of sourcing and of the two repositories."""

from __future__ import annotations

from typing import Any

from tests.golden.bank_streams import Calls, awaited, full_error, ref_of, snapshot_of, stream_of, types_of, views
from tests.golden.compare import first_difference
from tests.golden.outcomes import comparable
from tests.golden.parts_domain import STATES
from wowspec.modeling.states import state_metadata
from wowspec.runtime.event_store import InMemoryEventStore
from wowspec.runtime.repository import StateAggregateRepository
from wowspec.runtime.snapshots import InMemorySnapshotStore
from wowspec.runtime.sourcing import StateAggregate, new_state_aggregate


def check(case: dict[str, Any]) -> str | None:
    """The first difference, or None."""
    drive = _streams if case["input"]["kind"] == "streams" else _repository
    return first_difference(comparable(case["expect"]), comparable(drive(case["input"])))


def _streams(given: dict[str, Any]) -> dict[str, Any]:
    aggregate = new_state_aggregate(state_metadata(STATES[given["state_class"]]), ref_of(given))
    initial = views(aggregate)
    return {"initial": initial, "steps": [_step(aggregate, stream) for stream in given["streams"]]}


def _step(aggregate: StateAggregate, given: dict[str, Any]) -> dict[str, Any]:
    error, same = None, None
    try:
        same = aggregate.on_sourcing(stream_of(given)) is aggregate
    except Exception as caught:
        error = full_error(caught)
    return {"error": error, "same_aggregate": same, **views(aggregate)}


def _repository(given: dict[str, Any]) -> dict[str, Any]:
    store, snapshots = InMemoryEventStore(), InMemorySnapshotStore(types_of)
    for stream in given["store"]:
        awaited(store.append(stream_of(stream)))
    for snapshot in given.get("snapshots", ()):
        awaited(snapshots.save(snapshot_of(snapshot)))
    used = snapshots if given["repository"] == "event_sourcing" else None
    repository = StateAggregateRepository(store, used, types=types_of)
    return {"loads": [Calls().run(lambda load=load: _load(repository, load), views) for load in given["loads"]]}


def _load(repository: StateAggregateRepository, load: dict[str, Any]) -> Any:
    ref = ref_of(load)
    if "tail_version" in load:
        return repository.load_version(ref, tail_version=load["tail_version"])
    if "tail_event_time" in load:
        return repository.load_event_time(ref, tail_event_time=load["tail_event_time"])
    return repository.load(ref)
