"""Snapshots: which one a store keeps, what JSON makes of it, when a strategy saves, and what a view shows."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import BaseModel, PrivateAttr

from tests.runtime.stores_domain import REF, Credited, Ledger, Opened, ref, stream, wait
from wowspec.errors import IllegalStateError, NotSerializableError, SpecError
from wowspec.messages.header import COMMAND_OPERATOR
from wowspec.modeling.builtin import AggregateDeleted, OwnerTransferred, ResourceTagsApplied
from wowspec.modeling.functions import Namespace
from wowspec.modeling.identity import NamedAggregate
from wowspec.modeling.states import state_metadata
from wowspec.runtime.event_store import InMemoryEventStore
from wowspec.runtime.repository import StateAggregateRepository
from wowspec.runtime.routing import RoutingSnapshotStore
from wowspec.runtime.snapshots import (
    DEFAULT_VERSION_OFFSET,
    InMemorySnapshotStore,
    NoOpSnapshotStore,
    NoOpSnapshotStrategy,
    SimpleSnapshotStrategy,
    Snapshot,
    SnapshotStore,
    VersionOffsetSnapshotStrategy,
    require_state_type,
)
from wowspec.runtime.sourcing import new_state_aggregate
from wowspec.runtime.state_json import read_snapshot, save_json, write_snapshot
from wowspec.runtime.views import to_full, to_medium, to_small

LEDGER = NamedAggregate("bank", "ledger")


def types(named):
    """The ledger alone has a type."""
    return state_metadata(Ledger) if named == LEDGER else None


@pytest.fixture
def store():
    """An empty store in memory."""
    return InMemorySnapshotStore(types)


def aggregate(version: int = 1, *, of: Any = REF, balance: int = 0, cls: Any = Ledger):
    """An aggregate at a version."""
    made = new_state_aggregate(state_metadata(cls), of)
    made.version = version
    if balance:
        made.state.balance = balance
    return made


def snapshot(version: int = 1, *, time: int = 500, **given: Any) -> Snapshot:
    """A snapshot of one."""
    return Snapshot(aggregate(version, **given), time)


@pytest.mark.clause("SNP-001")
def test_a_snapshot_shows_its_aggregate_and_its_time():
    """Every fact of the aggregate, as it is at each moment, and the time of the snapshot."""
    live = aggregate(0)
    live.on_sourcing(
        stream(
            1,
            Opened(balance=3),
            ResourceTagsApplied({"a": ["1"]}),
            AggregateDeleted(),
            id="st",
            owner_id="own",
            space_id="sp",
            create_time=10,
            header={COMMAND_OPERATOR: "op"},
        )
    )
    found = Snapshot(live, 99)
    assert (found.aggregate_id, found.state, found.version) == (REF, live.state, 1)
    assert (found.initialized, found.expected_next_version) == (True, 2)
    assert (found.owner_id, found.space_id, found.event_id) == ("own", "sp", "st")
    assert (found.first_operator, found.operator, found.first_event_time, found.event_time) == ("op", "op", 10, 10)
    assert (found.tags, found.deleted, found.snapshot_time) == ({"a": ["1"]}, True, 99)
    live.on_sourcing(stream(2))
    assert found.version == 2


@pytest.mark.clause("SNP-002", "SNP-011", "TCK-007")
@pytest.mark.parametrize(
    ("made", "name"),
    [
        (InMemorySnapshotStore(types), "in_memory"),
        (NoOpSnapshotStore(), "no_op"),
        (RoutingSnapshotStore(NoOpSnapshotStore(), {}), "routing"),
    ],
)
def test_names(made: SnapshotStore, name):
    """Each sort of store has its name; there are no others for them."""
    assert made.name == name


@pytest.mark.clause("SNP-003", "TCK-007")
def test_nothing_stored(store):
    """No snapshot, version 0, and nothing to close or delete."""
    assert wait(store.load(REF)) is None
    assert wait(store.get_version(REF)) == 0
    store.close()
    assert not hasattr(store, "delete")


@pytest.mark.clause("SNP-003", "TCK-007")
def test_save_and_load(store):
    """What was saved is loaded, with version and time."""
    wait(store.save(snapshot(4, balance=7, time=12)))
    found = wait(store.load(REF))
    assert (found.version, found.state, found.snapshot_time) == (4, Ledger(id="acc-1", balance=7), 12)
    assert wait(store.get_version(REF)) == 4


@pytest.mark.clause("SNP-003")
def test_everything_happens_at_the_await(store):
    """A save that is not awaited stores nothing; a load sees what is there when it is awaited."""
    later, version = store.load(REF), store.get_version(REF)
    saving = store.save(snapshot(2))
    assert wait(store.load(REF)) is None
    wait(saving)
    assert wait(later).version == wait(version) == 2


@pytest.mark.clause("SNP-003")
def test_an_aggregate_without_type_can_be_saved_but_not_read(store):
    """Reading is an illegal state, with the await; where nothing is stored, nothing is read."""
    vault = ref(name="vault")
    assert wait(store.get_version(vault)) == 0
    wait(store.save(snapshot(1, of=vault)))
    for later in (store.load(vault), store.get_version(vault)):
        with pytest.raises(IllegalStateError, match=r"bank\.vault has no aggregate type"):
            wait(later)


@pytest.mark.clause("SNP-004", "TCK-007")
@pytest.mark.parametrize(("saved", "kept"), [([1, 2], 2), ([2, 1], 2), ([3, -1, 0], 3), ([-2], -2), ([-2, 0], 0)])
def test_the_highest_version_is_kept(store, saved, kept):
    """A lower version is silently ignored."""
    for version in saved:
        wait(store.save(snapshot(version)))
    assert wait(store.get_version(REF)) == kept


@pytest.mark.clause("SNP-004")
def test_a_snapshot_replaces_the_stored_one_completely(store):
    """Nothing of the older one stays."""
    first = snapshot(1, balance=5)
    first.state_aggregate.tags["a"] = ["1"]
    wait(store.save(first))
    wait(store.save(snapshot(2)))
    found = wait(store.load(REF))
    assert (found.tags, found.state) == ({}, Ledger(id="acc-1"))


@pytest.mark.clause("SNP-004")
@pytest.mark.parametrize("other", [ref("other"), ref(tenant="east")])
def test_each_aggregate_has_its_own(store, other):
    """The whole id is the key."""
    wait(store.save(snapshot(1)))
    wait(store.save(snapshot(2, of=other)))
    assert (wait(store.get_version(REF)), wait(store.get_version(other))) == (1, 2)


@pytest.mark.clause("SNP-005", "TCK-007")
def test_whatever_the_order_the_highest_survives(store):
    """Eight saves in any order leave version 8."""
    versions = list(range(1, 9))
    random.Random(3).shuffle(versions)
    for later in [store.save(snapshot(version)) for version in versions]:
        wait(later)
    assert wait(store.get_version(REF)) == 8


@pytest.mark.clause("SNP-006", "TCK-007")
def test_an_equal_version_replaces_state_and_time(store):
    """Also when its time is earlier."""
    wait(store.save(snapshot(2, balance=1, time=50)))
    wait(store.save(snapshot(2, balance=9, time=40)))
    found = wait(store.load(REF))
    assert (found.state.balance, found.snapshot_time) == (9, 40)


@pytest.mark.clause("SNP-007")
def test_each_load_has_a_state_of_its_own(store):
    """What a reader does to the loaded state, nobody else sees."""
    wait(store.save(snapshot(1, balance=1)))
    first = wait(store.load(REF))
    first.state.balance = 99
    first.state.log.append("mine")
    first.tags["mine"] = ["1"]
    second = wait(store.load(REF))
    assert (second.state, second.tags) == (Ledger(id="acc-1", balance=1), {})


class Forgetful(BaseModel):
    """Part of it does not survive JSON."""

    id: str
    anything: Any = None
    _secret: str = PrivateAttr("none")


@pytest.mark.clause("SNP-007")
def test_what_does_not_survive_json_is_lost_or_fails():
    """A private attribute is lost; what has no JSON fails at the save."""
    forgetful = InMemorySnapshotStore(lambda _: state_metadata(Forgetful))
    live = aggregate(1, cls=Forgetful)
    live.state._secret = "told"
    wait(forgetful.save(Snapshot(live, 1)))
    assert wait(forgetful.load(REF)).state._secret == "none"
    live.state.anything = object()
    with pytest.raises(NotSerializableError):
        wait(forgetful.save(Snapshot(live, 2)))
    assert wait(forgetful.load(REF)).snapshot_time == 1


@pytest.mark.clause("SNP-009", "DOC-017")
@pytest.mark.parametrize("version", [None, "4", 4.0, True, "gone"])
def test_a_text_without_an_integer_version_is_not_kept(store, version):
    """A store must know which snapshot is newer, so it is stricter than other readers."""
    tree = json.loads(write_snapshot(snapshot(4)))
    tree["version"] = version
    if version == "gone":
        del tree["version"]
    with pytest.raises(IllegalStateError, match="which is no integer"):
        save_json(store, json.dumps(tree), types)
    assert wait(store.load(REF)) is None


@pytest.mark.clause("SNP-004", "SNP-009")
def test_a_text_is_kept_like_a_snapshot(store):
    """An older one is ignored, a newer one replaces."""
    for version in (4, 6, 5):
        save_json(store, write_snapshot(snapshot(version, balance=version)), types)
    found = wait(store.load(REF))
    assert (found.version, found.state.balance) == (6, 6)


@pytest.mark.clause("SNP-008", "TCK-007")
def test_the_stored_snapshot_does_not_follow_the_saved_object(store):
    """Sourcing on does not change what is stored; saving the same object again stores its new version."""
    live = aggregate(0).on_sourcing(stream(1, Opened(balance=1), ResourceTagsApplied({"a": ["1"]})))
    saved = Snapshot(live, 5)
    wait(store.save(saved))
    live.on_sourcing(stream(2, Credited(amount=10)))
    live.tags["a"].append("2")
    found = wait(store.load(REF))
    assert (found.version, found.state.balance, found.tags) == (1, 1, {"a": ["1"]})
    wait(store.save(saved))
    found = wait(store.load(REF))
    assert (found.version, found.state.balance, found.tags) == (2, 11, {"a": ["1", "2"]})


@pytest.mark.clause("SNP-010", "TCK-007")
def test_version_0_may_be_saved(store):
    """An uninitialized aggregate has a snapshot like any other."""
    wait(store.save(snapshot(0, balance=4)))
    found = wait(store.load(REF))
    assert (found.version, found.initialized, found.state.balance) == (0, False, 4)


@pytest.mark.clause("SNP-012")
def test_the_no_op_store_keeps_nothing():
    """Saving completes, loading finds nothing, the version is 0."""
    no_op = NoOpSnapshotStore()
    wait(no_op.save(snapshot(3)))
    assert wait(no_op.load(REF)) is None
    assert wait(no_op.get_version(REF)) == 0
    no_op.close()


def test_a_copy_is_independent(store):
    """After a copy neither side sees what the other saves."""
    wait(store.save(snapshot(1)))
    other = store.copy()
    third = InMemorySnapshotStore(types)
    third.take_over(store)
    assert wait(other.get_version(REF)) == wait(third.get_version(REF)) == 1
    wait(store.save(snapshot(2)))
    wait(other.save(snapshot(3)))
    assert (wait(store.get_version(REF)), wait(other.get_version(REF)), wait(third.get_version(REF))) == (2, 3, 1)


def test_a_state_that_was_defined_inside_a_function_is_read_back():
    """Its annotations resolve with the names that were around it."""

    @dataclass
    class Line:
        text: str

    @dataclass
    class Local:
        id: str
        lines: list[Line] = field(default_factory=list)

    metadata = state_metadata(Local, Namespace({"Line": Line}))
    live = new_state_aggregate(metadata, REF)
    live.state.lines.append(Line("x"))
    local = InMemorySnapshotStore(lambda _: metadata)
    wait(local.save(Snapshot(live, 1)))
    assert wait(local.load(REF)).state == Local("acc-1", [Line("x")])


@pytest.mark.clause("SNP-007")
def test_the_full_json_agrees_with_what_is_kept(store):
    """The text of a loaded snapshot, read again, is the same snapshot."""
    live = aggregate(0).on_sourcing(
        stream(1, Opened(balance=3), ResourceTagsApplied({"a": ["1"]}), owner_id="own", header={COMMAND_OPERATOR: "op"})
    )
    wait(store.save(Snapshot(live, 9)))
    kept = wait(store.load(REF))
    text = write_snapshot(kept)
    again = read_snapshot(text, types)
    assert write_snapshot(again) == text == write_snapshot(Snapshot(live, 9))
    assert again.state == kept.state == live.state
    other = InMemorySnapshotStore(types)
    wait(other.save(again))
    assert other._records == store._records


class Leaf(NoOpSnapshotStore):
    """Counts its closings, and may fail."""

    def __init__(self, error=None):
        self.closed = 0
        self.error = error

    def close(self):
        """Count, then fail if told to."""
        self.closed += 1
        if self.error is not None:
            raise self.error


@pytest.mark.clause("SNP-013")
def test_routing_goes_by_named_aggregate(store):
    """Load, version and save go to the store of the aggregate, else to the default one; errors pass through."""
    vaults = InMemorySnapshotStore(lambda _: None)
    vault = ref(name="vault")
    routing = RoutingSnapshotStore(store, {vault.named_aggregate: vaults})
    wait(routing.save(snapshot(1)))
    wait(routing.save(snapshot(2, of=vault)))
    assert wait(routing.load(REF)).version == wait(routing.get_version(REF)) == wait(store.get_version(REF)) == 1
    assert routing.get_version_now(REF) == 1
    with pytest.raises(IllegalStateError):
        wait(routing.load(vault))
    with pytest.raises(IllegalStateError):
        wait(routing.get_version(vault))
    assert wait(store.load(vault)) is None


@pytest.mark.clause("SNP-013", "EVT-029")
def test_routing_closes_its_leaves_like_the_event_router():
    """Each once, all of them, then the first failure."""
    error = ValueError("first")
    failing, good = Leaf(error), Leaf()
    routing = RoutingSnapshotStore(failing, {LEDGER: good, NamedAggregate("a", "b"): good})
    with pytest.raises(ValueError, match="first") as caught:
        routing.close()
    routing.close()
    assert caught.value is error
    assert (failing.closed, good.closed) == (1, 1)


class Moved(BaseModel, OwnerTransferred):
    """Another owner."""

    to_owner_id: str


def drive(strategy, live, *streams):
    """Apply streams, hand each state event to the strategy, and tell which versions it wanted saved."""
    saved = []
    for each in streams:
        state_event = live.on_sourcing(each).to_state_event(each)
        if strategy.should_save(state_event):
            strategy.save_now(state_event)
            saved.append(each.version)
    return saved


@pytest.mark.clause("SNP-014", "TCK-008")
def test_the_simple_strategy_saves_every_state_event(store):
    """The snapshot has the state event's fields and the time of the save."""
    strategy = SimpleSnapshotStrategy(store, lambda: 777)
    given = [stream(1, Opened(balance=1), owner_id="own", create_time=3), stream(2, Credited(amount=2), create_time=4)]
    assert drive(strategy, aggregate(0), *given) == [1, 2]
    found = wait(store.load(REF))
    assert (found.version, found.state.balance, found.snapshot_time) == (2, 3, 777)
    assert (found.event_id, found.first_event_time, found.event_time) == (given[1].id, 3, 4)


@pytest.mark.clause("SNP-015", "STA-043", "DOC-013")
@pytest.mark.parametrize(("owner", "kept"), [("old", "old"), ("", "")])
def test_a_snapshot_has_the_streams_owner(store, owner, kept):
    """A transfer is undone by its own snapshot, and a stream without owner blanks it, though the live one keeps it."""
    strategy = SimpleSnapshotStrategy(store, lambda: 1)
    live = aggregate(0)
    drive(strategy, live, stream(1, owner_id="old"), stream(2, Moved(to_owner_id="new"), owner_id=owner))
    assert live.owner_id == "new"
    repository = StateAggregateRepository(InMemoryEventStore(), store)
    assert wait(repository.load(REF, state_metadata(Ledger))).owner_id == kept


@pytest.mark.clause("SNP-016")
@pytest.mark.parametrize(
    ("offset", "stored", "saved"),
    [(DEFAULT_VERSION_OFFSET, None, [5, 10]), (1, None, list(range(1, 12))), (3, None, [3, 6, 9]), (5, 4, [9])],
)
def test_the_offset_strategy_counts_from_the_stored_version(store, offset, stored, saved):
    """It saves when the version is far enough from the stored one, 0 where there is none."""
    if stored is not None:
        wait(store.save(snapshot(stored)))
    strategy = VersionOffsetSnapshotStrategy(store, lambda: 1, offset)
    assert drive(strategy, aggregate(0), *(stream(version) for version in range(1, 12))) == saved


@pytest.mark.clause("SNP-016")
def test_the_default_offset_is_5(store):
    """Nothing is saved before version 5."""
    strategy = VersionOffsetSnapshotStrategy(store, lambda: 1)
    assert drive(strategy, aggregate(0), *(stream(version) for version in range(1, 8))) == [5]


@pytest.mark.clause("SNP-016")
@pytest.mark.parametrize(("stored", "saved"), [(-1, [4, 9]), (-(2**31) + 2, [1, 6]), (-(2**31), []), (2**31 - 1, [])])
def test_the_distance_to_the_stored_version_is_32_bit(store, stored, saved):
    """Like a version it wraps: what is stored very far below looks as if it were above."""
    wait(store.save(snapshot(stored)))
    strategy = VersionOffsetSnapshotStrategy(store, lambda: 1)
    assert drive(strategy, aggregate(0), *(stream(version) for version in range(1, 10))) == saved


def test_the_offset_strategy_needs_a_store_that_answers_at_once():
    """A store that only answers later is refused by its name, behind a route too; the no-op store always says 0."""

    class Slow:
        """Has no direct form."""

        async def get_version(self, aggregate_id):
            return 0

        async def save(self, snapshot): ...

        def close(self): ...

    given = stream(1)
    state_event = aggregate(0).on_sourcing(given).to_state_event(given)
    for store in (Slow(), RoutingSnapshotStore(Slow(), {})):
        with pytest.raises(SpecError, match="Slow says its version only later"):
            VersionOffsetSnapshotStrategy(store, lambda: 1).should_save(state_event)
    assert VersionOffsetSnapshotStrategy(NoOpSnapshotStore(), lambda: 1, 1).should_save(state_event)


def test_a_store_that_answers_later_gives_the_save_to_await():
    """The strategy hands on what is to be awaited."""
    saved = []

    class Slow:
        async def save(self, snapshot):
            saved.append(snapshot.version)

    given = stream(1)
    wait(SimpleSnapshotStrategy(Slow(), lambda: 1).save_now(aggregate(0).on_sourcing(given).to_state_event(given)))
    assert saved == [1]


@pytest.mark.clause("SNP-017")
def test_the_no_op_strategy_saves_nothing(store):
    """Whatever comes."""
    assert drive(NoOpSnapshotStrategy(), aggregate(0), *(stream(version) for version in range(1, 8))) == []
    assert wait(store.load(REF)) is None


@pytest.fixture
def everything():
    """A snapshot in which every field has a value of its own."""
    made = aggregate(3, of=ref(tenant="east"), balance=8)
    made.owner_id, made.space_id, made.event_id = "own", "sp", "st"
    made.first_operator, made.operator = "first", "op"
    made.first_event_time, made.event_time = 1, 2
    made.tags, made.deleted = {"a": ["1"]}, True
    return Snapshot(made, 9)


def balance_of(state):
    """The conversion."""
    return state.balance


@pytest.mark.clause("SNP-022")
def test_the_small_view(everything):
    """Version, time of the first stream, state."""
    view = to_small(everything, balance_of)
    assert (view.version, view.first_event_time, view.state) == (3, 1, 8)
    assert len(view.__slots__) == 3


@pytest.mark.clause("SNP-022")
def test_the_medium_view(everything):
    """Tenant, owner, space, version, event, operators, times and state; its tags are empty."""
    view = to_medium(everything, balance_of)
    assert {name: getattr(view, name) for name in view.__slots__} == {
        "tenant_id": "east",
        "owner_id": "own",
        "space_id": "sp",
        "version": 3,
        "event_id": "st",
        "first_operator": "first",
        "operator": "op",
        "first_event_time": 1,
        "event_time": 2,
        "state": 8,
        "tags": {},
    }


@pytest.mark.clause("SNP-022")
def test_the_full_view_forgets_space_and_tags(everything):
    """Names, id, time of the snapshot and deletion besides; space and tags fall back to nothing."""
    view = to_full(everything, balance_of)
    assert {name: getattr(view, name) for name in view.__slots__} == {
        "context_name": "bank",
        "aggregate_name": "ledger",
        "tenant_id": "east",
        "owner_id": "own",
        "space_id": "",
        "aggregate_id": "acc-1",
        "version": 3,
        "event_id": "st",
        "first_operator": "first",
        "operator": "op",
        "first_event_time": 1,
        "event_time": 2,
        "state": 8,
        "snapshot_time": 9,
        "tags": {},
        "deleted": True,
    }


@pytest.mark.clause("STA-038")
def test_a_missing_state_type_is_an_illegal_state():
    """The error names the aggregate."""
    assert require_state_type(types, LEDGER) is state_metadata(Ledger)
    with pytest.raises(IllegalStateError, match=r"bank\.vault"):
        require_state_type(types, NamedAggregate("bank", "vault"))
