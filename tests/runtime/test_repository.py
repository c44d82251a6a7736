"""Repositories: what a load starts from, what it replays, and which points it passes."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from tests.runtime.stores_domain import REF, Credited, Ledger, Opened, ref, stream, wait
from wowspec.errors import IllegalArgumentError, IllegalStateError, InjectedFault, SourcingVersionConflictError
from wowspec.messages.envelopes import DomainEvent
from wowspec.modeling.decorators import on_sourcing
from wowspec.modeling.identity import NamedAggregate
from wowspec.modeling.states import state_metadata
from wowspec.runtime.event_store import MAX_VERSION, InMemoryEventStore
from wowspec.runtime.later import Later, awaited
from wowspec.runtime.repository import StateAggregateRepository
from wowspec.runtime.snapshots import InMemorySnapshotStore, Snapshot
from wowspec.runtime.sourcing import new_state_aggregate
from wowspec.world.points import Room
from wowspec.world.trace import Lane
from wowspec.world.world import World

LEDGER = state_metadata(Ledger)


def types(named):
    """The ledger alone has a type."""
    return LEDGER if named == NamedAggregate("bank", "ledger") else None


@pytest.fixture
def events():
    """An event store with four versions: 10, then 1 credited each, at times 100, 200, 300, 400."""
    store = InMemoryEventStore()
    store.append_now(stream(1, Opened(balance=10), create_time=100, owner_id="own"))
    for version in (2, 3, 4):
        store.append_now(stream(version, Credited(amount=1), create_time=version * 100))
    return store


@pytest.fixture
def snapshots():
    """A snapshot store that holds version 2 with a balance of its own."""
    store = InMemorySnapshotStore(types)
    aggregate = new_state_aggregate(LEDGER, REF)
    aggregate.version, aggregate.state.balance, aggregate.owner_id = 2, 1000, "snap"
    store.save_now(Snapshot(aggregate, 1))
    return store


@pytest.mark.clause("STA-033", "CMD-190", "SNP-001")
def test_the_latest_load_starts_from_the_snapshot(events, snapshots):
    """Its state, its facts, then every stream after it."""
    found = wait(StateAggregateRepository(events, snapshots).load(REF, LEDGER))
    assert (found.version, found.state.balance, found.owner_id) == (4, 1002, "snap")
    assert found.state.log == ["Credited", "Credited"]


@pytest.mark.clause("STA-033", "STA-040")
@pytest.mark.parametrize("with_store", [True, False])
def test_without_a_snapshot_everything_is_replayed(events, with_store):
    """An empty snapshot store and none at all give the same."""
    store = InMemorySnapshotStore(types) if with_store else None
    found = wait(StateAggregateRepository(events, store).load(REF, LEDGER))
    assert (found.version, found.state.balance, found.owner_id) == (4, 13, "own")


@pytest.mark.clause("STA-033")
def test_a_snapshot_ahead_of_the_store_stands(snapshots):
    """Where nothing follows, the snapshot is the state."""
    found = wait(StateAggregateRepository(InMemoryEventStore(), snapshots).load(REF, LEDGER))
    assert (found.version, found.state.balance) == (2, 1000)


@pytest.mark.clause("STA-034")
def test_with_a_snapshot_no_blank_aggregate_is_made(events, snapshots):
    """The factory is not asked."""

    def refuse(*_):
        raise AssertionError("made a blank aggregate")

    repository = StateAggregateRepository(events, snapshots, factory=refuse)
    assert wait(repository.load(REF, LEDGER)).version == 4


@pytest.mark.clause("STA-030")
def test_nothing_is_made_before_the_await(events):
    """The factory is asked when the load is awaited."""
    made = []

    def factory(metadata, aggregate_id, supply):
        made.append(aggregate_id)
        return new_state_aggregate(metadata, aggregate_id, supply)

    later = StateAggregateRepository(events, factory=factory).load(REF, LEDGER)
    assert made == []
    wait(later)
    assert made == [REF]


@pytest.mark.clause("STA-035", "TCK-006")
@pytest.mark.parametrize(("tail", "version", "balance"), [(1, 1, 10), (3, 3, 12), (4, 4, 13), (99, 4, 13)])
def test_a_load_at_a_version_never_uses_the_snapshot(events, snapshots, tail, version, balance):
    """It replays from the first stream; beyond the end is the current state."""
    found = wait(StateAggregateRepository(events, snapshots).load_version(REF, LEDGER, tail_version=tail))
    assert (found.version, found.state.balance) == (version, balance)


@pytest.mark.clause("STA-035", "STA-033")
def test_the_largest_version_means_the_latest(events, snapshots):
    """Only the default tail uses the snapshot; one less does not."""
    repository = StateAggregateRepository(events, snapshots)
    assert wait(repository.load_version(REF, LEDGER, tail_version=MAX_VERSION)).state.balance == 1002
    assert wait(repository.load_version(REF, LEDGER, tail_version=MAX_VERSION - 1)).state.balance == 13


@pytest.mark.clause("STA-035")
@pytest.mark.parametrize("tail", [0, -1])
def test_a_version_below_1_fails_at_the_await(events, tail):
    """The call itself gives something to await."""
    later = StateAggregateRepository(events).load_version(REF, LEDGER, tail_version=tail)
    with pytest.raises(IllegalArgumentError):
        wait(later)


@pytest.mark.clause("STA-036", "TCK-006")
@pytest.mark.parametrize(("tail", "version"), [(99, 0), (100, 1), (299, 2), (300, 3), (9999, 4)])
def test_a_load_at_a_time_never_uses_the_snapshot(events, snapshots, tail, version):
    """It replays the streams up to that time, inclusive."""
    repository = StateAggregateRepository(events, snapshots)
    assert wait(repository.load_event_time(REF, LEDGER, tail_event_time=tail)).version == version


@pytest.mark.clause("STA-036")
def test_streams_at_time_0_are_left_out():
    """A load by time begins at time 1."""
    store = InMemoryEventStore()
    store.append_now(stream(1, create_time=0))
    assert wait(StateAggregateRepository(store).load_event_time(REF, LEDGER, tail_event_time=5)).version == 0


@pytest.mark.clause("STA-036")
@pytest.mark.parametrize("tail", [0, -7])
def test_a_time_below_1_fails_at_the_await(events, tail):
    """The call itself gives something to await."""
    later = StateAggregateRepository(events).load_event_time(REF, LEDGER, tail_event_time=tail)
    with pytest.raises(IllegalArgumentError):
        wait(later)


@pytest.mark.clause("STA-037", "TCK-006", "CMD-190")
def test_an_unknown_id_is_a_blank_aggregate(events, snapshots):
    """Never an error, never nothing."""
    found = wait(StateAggregateRepository(events, snapshots).load(ref("unknown"), LEDGER))
    assert (found.initialized, found.version, found.state) == (False, 0, Ledger(id="unknown"))


@pytest.mark.clause("STA-038", "TCK-006")
def test_without_a_type_the_call_fails(events):
    """An illegal state that needs no await; with a type, or with metadata, there is none."""
    repository = StateAggregateRepository(events, types=types)
    vault = ref(name="vault")
    for call in (
        lambda: repository.load(vault),
        lambda: repository.load_version(vault, tail_version=1),
        lambda: repository.load_event_time(vault, tail_event_time=1),
        lambda: StateAggregateRepository(events).load(REF),
    ):
        with pytest.raises(IllegalStateError, match="has no aggregate type"):
            call()
    assert wait(repository.load(REF)).version == 4
    assert wait(repository.load(vault, LEDGER)).version == 0


@pytest.mark.clause("STA-039", "TCK-006")
def test_a_factory_may_start_later():
    """An aggregate that starts at version 1 and finds nothing further stays as it is; what follows it is replayed."""
    store = InMemoryEventStore()

    def factory(metadata, aggregate_id, supply):
        made = new_state_aggregate(metadata, aggregate_id, supply)
        made.version = 1
        return made

    repository = StateAggregateRepository(store, factory=factory)
    found = wait(repository.load(REF, LEDGER))
    assert (found.initialized, found.version) == (True, 1)
    store.append_now(stream(2))
    assert wait(repository.load(REF, LEDGER)).version == 2


@pytest.mark.clause("STA-007", "STA-033")
def test_a_gap_in_the_store_cannot_be_replayed(events, snapshots):
    """The load fails, but for a snapshot that lies behind the gap."""
    store = InMemoryEventStore()
    store.append_now(stream(1))
    store.append_now(stream(3))
    with pytest.raises(SourcingVersionConflictError):
        wait(StateAggregateRepository(store).load(REF, LEDGER))
    assert wait(StateAggregateRepository(store, snapshots).load(REF, LEDGER)).version == 3


@pytest.mark.clause("STA-041", "CMD-311")
def test_an_ignored_stream_leaves_the_aggregate_uninitialized():
    """It is stored, but a load is at version 0 afterwards."""

    class Refused(BaseModel):
        error_code: str = "Refused"
        error_msg: str = "no"

    from wowspec.modeling.builtin import IgnoreSourcing

    class Ignored(Refused, IgnoreSourcing):
        pass

    store = InMemoryEventStore()
    store.append_now(stream(1, Ignored()))
    assert wait(StateAggregateRepository(store).load(REF, LEDGER)).version == 0


class HeaderWriter(BaseModel):
    """Writes into the header of each event that it applies."""

    id: str
    seen: list[Any] = []

    @on_sourcing
    def credited(self, event: DomainEvent[Credited]) -> None:
        self.seen.append(dict(event.header))
        event.header["seen"] = "yes"


@pytest.mark.clause("EVT-013", "EVT-014")
def test_a_sourcing_function_cannot_write_into_the_store(events):
    """Every load hands the functions headers of its own."""
    repository = StateAggregateRepository(events)
    for _ in range(2):
        found = wait(repository.load(REF, state_metadata(HeaderWriter)))
        assert found.state.seen == [{}, {}, {}]


def test_a_branch_of_the_stores_loads_its_own(events, snapshots):
    """Copies of both stores and a repository over them go their own way."""
    other = events.copy()
    other.append_now(stream(5, Credited(amount=100)))
    assert wait(StateAggregateRepository(other, snapshots.copy()).load(REF, LEDGER)).state.balance == 1102
    assert wait(StateAggregateRepository(events, snapshots).load(REF, LEDGER)).state.balance == 1002


class LaterStore:
    """A store of the user's: coroutines only, and one method that gives another awaitable."""

    def __init__(self, inner):
        self._inner = inner

    async def load(self, aggregate_id, head_version=1, tail_version=MAX_VERSION):
        """From the inner one."""
        return self._inner.load_now(aggregate_id, head_version, tail_version)

    def load_by_event_time(self, aggregate_id, head_event_time, tail_event_time):
        """From the inner one."""
        return Later(self._inner.load_by_event_time_now, aggregate_id, head_event_time, tail_event_time)


@pytest.mark.parametrize("in_world", [False, True])
def test_a_store_that_answers_later_is_awaited(events, in_world):
    """Coroutines and other awaitables both do, within a world and without."""
    at = World().carry if in_world else None
    lane = Lane(Room.COMMAND, "acc-1")
    repository = StateAggregateRepository(LaterStore(events), at=at)  # type: ignore[arg-type]
    assert wait(repository.load(REF, LEDGER, lane)).version == 4
    assert wait(repository.load_event_time(REF, LEDGER, tail_event_time=200, lane=lane)).version == 2


def test_later_can_be_done_at_once():
    """What is put off can also be done now."""
    assert Later(lambda a, b: a + b, 1, 2).now() == wait(awaited(Later(lambda a, b: a + b, 1, 2))) == 3


def rows(world):
    """The trace, as text."""
    return [str(row) for row in world.trace]


def test_a_load_in_a_world_passes_its_points(events, snapshots):
    """The snapshot first, then the streams from the first version that is wanted."""
    world = World()
    lane = Lane(Room.COMMAND, "acc-1")
    repository = StateAggregateRepository(events, snapshots, at=world.carry)
    wait(repository.load(REF, LEDGER, lane))
    wait(repository.load(ref("unknown"), LEDGER, Lane(Room.COMMAND, "unknown")))
    assert rows(world) == [
        "acc-1 snapshot.load ok",
        "acc-1 event_store.load ok from v3",
        "unknown snapshot.load ok",
        "unknown event_store.load ok from v1",
    ]
    assert [row.key for row in world.trace] == ["acc-1", "acc-1", "unknown", "unknown"]


def test_a_load_without_a_lane_leaves_no_trace(events, snapshots):
    """Looking at a state from outside is no work of the pipeline."""
    world = World()
    assert wait(StateAggregateRepository(events, snapshots, at=world.carry).load(REF, LEDGER)).version == 4
    assert rows(world) == []


@pytest.mark.parametrize("point", ["snapshot.load", "event_store.load"])
def test_a_fault_at_a_point_fails_the_load(events, snapshots, point):
    """What strikes at the point reaches the caller."""
    from wowspec.world.points import FaultKind

    class Strike:
        kind = FaultKind.FAIL
        payload = None

    class Injector:
        def visit(self, row):
            return Strike() if row.point == point else None

    world = World()
    world.injector = Injector()
    repository = StateAggregateRepository(events, snapshots, at=world.carry)
    with pytest.raises(InjectedFault):
        wait(repository.load(REF, LEDGER, Lane(Room.COMMAND, "acc-1")))
    assert rows(world)[-1].startswith(f"acc-1 {point} fail")
