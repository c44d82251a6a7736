"""Event stores: what they refuse and when, what they hand out, what a copy shares."""

from __future__ import annotations

import inspect
import random

import pytest

from tests.runtime.stores_domain import REF, Credited, Opened, ref, stream, wait
from wowspec.error_policy import DEFAULT_POLICY
from wowspec.errors import (
    DuplicateAggregateIdError,
    DuplicateRequestIdError,
    EventVersionConflictError,
    IllegalArgumentError,
    Recoverability,
    UnsupportedOperationError,
)
from wowspec.modeling.identity import NamedAggregate
from wowspec.runtime.event_store import (
    DEFAULT_SCAN_LIMIT,
    FIRST_ID,
    LAST_ID,
    MAX_VERSION,
    EventStore,
    InMemoryEventStore,
)
from wowspec.runtime.request_ids import always_exists
from wowspec.runtime.routing import RoutingEventStore

LEDGERS = NamedAggregate("bank", "ledger")


@pytest.fixture
def store():
    """An empty store."""
    return InMemoryEventStore()


def versions(streams):
    """The versions of streams."""
    return [each.version for each in streams]


@pytest.mark.clause("EVT-001")
def test_surface(store):
    """The store offers append, the loads, single, last, the request id check, the scan, and an idle close."""
    wait(store.append(stream(1)))
    store.close()
    assert versions(wait(store.load(REF))) == [1]
    for operation in ("load_by_event_time", "single", "last", "exists_request_id", "scan_aggregate_id"):
        assert callable(getattr(store, operation))


@pytest.mark.clause("EVT-002")
def test_append_happens_at_the_await(store):
    """Nothing is stored or refused before the await, and each further await appends again."""
    later = store.append(stream(1))
    assert wait(store.load(REF)) == []
    wait(later)
    assert versions(wait(store.load(REF))) == [1]
    with pytest.raises(DuplicateAggregateIdError):
        wait(later)


@pytest.mark.clause("EVT-002")
def test_an_append_that_is_never_awaited_stores_nothing(store, recwarn):
    """Dropping the answer neither stores nor warns."""
    store.append(stream(1))
    assert wait(store.last(REF)) is None
    assert not recwarn.list


@pytest.mark.clause("EVT-003", "TCK-001")
def test_one_stream_is_one_unit(store):
    """Ten events of one command are stored and read back together, in their order."""
    wait(store.append(stream(1, *(Credited(amount=n) for n in range(10)), id="st")))
    (loaded,) = wait(store.load(REF))
    assert (loaded.id, loaded.version, loaded.size) == ("st", 1, 10)
    assert [event.body.amount for event in loaded] == list(range(10))


@pytest.mark.clause("EVT-003", "TCK-003")
def test_many_appends_and_loads(store):
    """A thousand histories and a thousand loads of one of them do not disturb each other."""
    for n in range(1000):
        wait(store.append(stream(1, of=ref(f"acc-{n}"))))
    assert {len(wait(store.load(ref("acc-7")))) for _ in range(1000)} == {1}


@pytest.mark.clause("EVT-004", "CMD-230")
@pytest.mark.parametrize("version", [3, 2, 0, -1])
def test_a_version_at_or_below_the_last_conflicts(store, version):
    """Whatever is not above the last stored version is refused, and may be retried."""
    wait(store.append(stream(3)))
    rival = stream(version, request_id="other")
    with pytest.raises(EventVersionConflictError) as caught:
        wait(store.append(rival))
    assert caught.value.event_stream is rival
    assert DEFAULT_POLICY.recoverability(caught.value) is Recoverability.RECOVERABLE


@pytest.mark.clause("EVT-004", "CMD-231")
@pytest.mark.parametrize("version", [0, -1])
def test_the_last_version_of_nothing_is_0(store, version):
    """An unknown aggregate takes no version of 0 or below, and stays unknown."""
    with pytest.raises(EventVersionConflictError):
        wait(store.append(stream(version)))
    assert store.aggregate_ids() == []


@pytest.mark.clause("EVT-005", "CMD-230", "DOC-008")
def test_gaps_are_legal(store):
    """Nothing demands the version after the last: 2 may be first, and 9 may follow."""
    wait(store.append(stream(2)))
    wait(store.append(stream(9)))
    assert versions(wait(store.load(REF))) == [2, 9]


@pytest.mark.clause("EVT-006", "CMD-231", "TCK-001")
@pytest.mark.parametrize("stored", [1, 5])
def test_a_conflict_at_version_1_means_that_the_aggregate_exists(store, stored):
    """A refused first version is a duplicate aggregate id, caused by the conflict and not to be retried."""
    wait(store.append(stream(stored, id="kept")))
    rival = stream(1, request_id="other")
    with pytest.raises(DuplicateAggregateIdError) as caught:
        wait(store.append(rival))
    assert caught.value.event_stream is rival
    assert isinstance(caught.value.__cause__, EventVersionConflictError)
    assert DEFAULT_POLICY.recoverability(caught.value) is Recoverability.UNKNOWN
    assert [each.id for each in wait(store.load(REF))] == ["kept"]


@pytest.mark.clause("EVT-007", "TCK-001")
def test_a_later_conflict_carries_the_refused_stream(store):
    """Of two streams of version 2 the second is refused as what it is."""
    wait(store.append(stream(1)))
    wait(store.append(stream(2)))
    rival = stream(2, request_id="other")
    with pytest.raises(EventVersionConflictError) as caught:
        wait(store.append(rival))
    assert caught.value.event_stream is rival


@pytest.mark.clause("EVT-008", "CMD-232", "TCK-001")
def test_a_repeated_request_id_is_refused(store):
    """A request id is stored once for each aggregate; the error names both."""
    wait(store.append(stream(1, request_id="r")))
    wait(store.append(stream(2)))
    with pytest.raises(DuplicateRequestIdError) as caught:
        wait(store.append(stream(3, request_id="r")))
    assert (caught.value.aggregate_id, caught.value.request_id) == (REF, "r")
    with pytest.raises(DuplicateRequestIdError):
        wait(store.append(stream(3, request_id=f"rq-{REF.id}-2")))
    assert versions(wait(store.load(REF))) == [1, 2]


@pytest.mark.clause("EVT-009", "CMD-232")
def test_the_version_is_looked_at_before_the_request_id(store):
    """The very stream again is a duplicate aggregate or a version conflict, never a duplicate request."""
    first, second = stream(1), stream(2)
    wait(store.append(first))
    wait(store.append(second))
    with pytest.raises(DuplicateAggregateIdError):
        wait(store.append(first))
    with pytest.raises(EventVersionConflictError):
        wait(store.append(second))


@pytest.mark.clause("EVT-032")
@pytest.mark.parametrize(
    ("rival", "expected"),
    [
        (stream(2, request_id="other"), Recoverability.RECOVERABLE),
        (stream(1, request_id="other"), Recoverability.UNKNOWN),
        (stream(3, request_id=f"rq-{REF.id}-1"), Recoverability.UNKNOWN),
    ],
)
def test_only_a_plain_version_conflict_is_worth_a_retry(store, rival, expected):
    """Duplicate aggregates and request ids stay what they are, however often they are tried."""
    for version in (1, 2):
        wait(store.append(stream(version)))
    with pytest.raises(Exception) as caught:
        wait(store.append(rival))
    assert DEFAULT_POLICY.recoverability(caught.value) is expected


@pytest.mark.clause("EVT-010", "CMD-233", "TCK-001")
def test_request_ids_are_unique_within_one_aggregate_only(store):
    """Two aggregates may store the same request id."""
    for text in ("a", "b"):
        wait(store.append(stream(1, of=ref(text), request_id="r")))
        assert wait(store.exists_request_id(ref(text), "r")) is True


@pytest.mark.clause("EVT-011")
def test_a_refused_append_changes_nothing(store):
    """What was stored is still there, and the refused stream reserves neither version nor request id."""
    wait(store.append(stream(1, request_id="r")))
    with pytest.raises(DuplicateRequestIdError):
        wait(store.append(stream(5, request_id="r")))
    with pytest.raises(DuplicateAggregateIdError):
        wait(store.append(stream(1, request_id="s")))
    assert wait(store.exists_request_id(REF, "s")) is False
    wait(store.append(stream(2, request_id="s")))
    assert versions(wait(store.load(REF))) == [1, 2]


@pytest.mark.clause("EVT-012")
@pytest.mark.parametrize("other", [ref(tenant="east"), ref(name="vault"), ref(context="shop")])
def test_the_whole_id_is_the_key(store, other):
    """Tenant, aggregate name and context each make another history."""
    wait(store.append(stream(1)))
    wait(store.append(stream(1, of=other)))
    assert len(wait(store.load(REF))) == len(wait(store.load(other))) == 1


@pytest.mark.clause("EVT-013")
def test_the_appended_object_itself_is_kept(store):
    """What is written into the header of the appended stream later is read by the next load."""
    appended = stream(1)
    wait(store.append(appended))
    appended.header["late"] = "yes"
    assert wait(store.last(REF)).header == {"late": "yes"}


@pytest.mark.clause("EVT-013", "EVT-014")
@pytest.mark.parametrize("read", ["load", "single", "last", "load_by_event_time"])
def test_reads_are_copies_with_shared_bodies(store, read):
    """Headers of what was read belong to the reader; bodies are the stored ones."""
    appended = stream(1, Opened(), header={"k": "v"})
    wait(store.append(appended))
    arguments = {"single": (1,), "load_by_event_time": (0, 5000)}.get(read, ())
    result = wait(getattr(store, read)(REF, *arguments))
    loaded = result[0] if isinstance(result, list) else result
    loaded.header["k"] = loaded.events[0].header["k"] = "changed"
    assert loaded.events[0].body is appended.events[0].body
    again = wait(store.last(REF))
    assert again.header == again.events[0].header == {"k": "v"}


@pytest.mark.clause("EVT-013")
def test_a_copy_of_a_sent_stream_is_writable(store):
    """The header of a stream that was frozen when it was sent is writable in the copy."""
    appended = stream(1)
    wait(store.append(appended))
    appended.header.freeze()
    assert not wait(store.last(REF)).header.is_read_only


@pytest.mark.clause("EVT-015", "TCK-002")
def test_load_gives_the_inclusive_range_in_order(store):
    """Both ends count, gaps are skipped, an unknown aggregate is empty."""
    for version in (1, 2, 4, 7):
        wait(store.append(stream(version)))
    assert versions(wait(store.load(REF, 2, 4))) == [2, 4]
    assert versions(wait(store.load(REF, 3, 6))) == [4]
    assert versions(wait(store.load(REF, 5))) == [7]
    assert versions(wait(store.load(REF, 8))) == []
    assert wait(store.load(ref("unknown"))) == []


@pytest.mark.clause("EVT-015")
def test_every_range_is_what_a_filter_gives(store):
    """The range that is found by halving is the one that looking at each stream gives."""
    random_versions = random.Random(7)
    stored = sorted(random_versions.sample(range(1, 60), 25))
    for version in stored:
        wait(store.append(stream(version)))
    for head in range(62):
        for tail in range(head, 62):
            assert versions(store.peek(REF, head, tail)) == [each for each in stored if head <= each <= tail]


@pytest.mark.clause("EVT-016")
def test_the_default_range_stops_before_the_largest_version(store):
    """A load without a range goes from 1 to the largest 32-bit version minus one."""
    for version in (1, MAX_VERSION - 1, MAX_VERSION):
        wait(store.append(stream(version)))
    assert versions(wait(store.load(REF))) == [1, MAX_VERSION - 1]
    assert versions(wait(store.load(REF, 1, MAX_VERSION))) == [1, MAX_VERSION - 1, MAX_VERSION]


@pytest.mark.clause("EVT-017", "EVT-018", "TCK-002")
@pytest.mark.parametrize(("head", "tail"), [(-1, 5), (5, 4), (1, 0), (1, -1)])
def test_an_illegal_range_is_raised_by_the_call(store, head, tail):
    """No await is needed to learn that a range is illegal."""
    with pytest.raises(IllegalArgumentError):
        store.load(REF, head, tail)


@pytest.mark.clause("EVT-017")
def test_head_0_is_legal(store):
    """A range may start at 0, where nothing is."""
    wait(store.append(stream(1)))
    assert versions(wait(store.load(REF, 0, 0))) == []
    assert versions(wait(store.load(REF, 0, 1))) == [1]


@pytest.mark.clause("EVT-019", "TCK-002")
def test_load_by_event_time_filters_by_create_time(store):
    """Both ends count; the order is that of the appends, whatever the times are."""
    for version, time in ((1, 300), (2, 100), (3, 200)):
        wait(store.append(stream(version, create_time=time)))
    assert versions(wait(store.load_by_event_time(REF, 100, 300))) == [1, 2, 3]
    assert versions(wait(store.load_by_event_time(REF, 101, 300))) == [1, 3]
    assert versions(wait(store.load_by_event_time(REF, -5, 199))) == [2]
    assert wait(store.load_by_event_time(ref("unknown"), 0, 1)) == []


@pytest.mark.clause("EVT-019", "EVT-018")
def test_an_illegal_time_range_is_raised_by_the_call(store):
    """The tail must not lie before the head."""
    with pytest.raises(IllegalArgumentError):
        store.load_by_event_time(REF, 2, 1)


def test_the_direct_forms_refuse_the_same_arguments(store):
    """Whoever skips the awaitable is told of illegal arguments all the same."""
    for call in (
        lambda: store.load_now(REF, -1),
        lambda: store.peek(REF, 2, 1),
        lambda: store.load_by_event_time_now(REF, 2, 1),
        lambda: store.single_now(REF, -1),
        lambda: store.scan_aggregate_id_now(LEDGERS, limit=-1),
    ):
        with pytest.raises(IllegalArgumentError):
            call()


@pytest.mark.clause("EVT-020")
def test_single(store):
    """One version or nothing; a negative one is raised by the call."""
    wait(store.append(stream(1)))
    wait(store.append(stream(3, id="third")))
    assert wait(store.single(REF, 3)).id == "third"
    assert wait(store.single(REF, 2)) is None
    assert wait(store.single(ref("unknown"), 1)) is None
    with pytest.raises(IllegalArgumentError):
        store.single(REF, -1)


@pytest.mark.clause("EVT-021", "TCK-002")
def test_last(store):
    """The newest stream, or nothing."""
    assert wait(store.last(REF)) is None
    wait(store.append(stream(1)))
    wait(store.append(stream(4)))
    assert wait(store.last(REF)).version == 4


@pytest.mark.clause("EVT-022", "TCK-002")
def test_exists_request_id(store):
    """True for what the aggregate stored, false for another id and another aggregate."""
    wait(store.append(stream(1, request_id="r")))
    assert wait(store.exists_request_id(REF, "r")) is True
    assert wait(store.exists_request_id(REF, "R")) is False
    assert wait(store.exists_request_id(ref("other"), "r")) is False


@pytest.mark.clause("EVT-023")
def test_where_nothing_can_be_looked_up_every_request_id_exists():
    """The existence check without a store fails closed."""
    assert wait(always_exists(REF, "new")) is True


class PlainStore(EventStore):
    """A store that writes only what it must, and keeps the rest of the protocol's defaults."""

    def __init__(self):
        self.streams = []

    async def append(self, stream):
        """Keep it."""
        self.streams.append(stream)

    def load(self, aggregate_id, head_version=1, tail_version=MAX_VERSION - 1):
        """What is in the range."""
        if head_version < 0:
            raise IllegalArgumentError("head")
        return self._load(aggregate_id, head_version, tail_version)

    async def _load(self, aggregate_id, head_version, tail_version):
        return [
            each
            for each in self.streams
            if each.aggregate_id == aggregate_id and head_version <= each.version <= tail_version
        ]

    async def load_by_event_time(self, aggregate_id, head_event_time, tail_event_time):
        """Nothing."""
        return []

    async def last(self, aggregate_id):
        """The newest."""
        return (await self.load(aggregate_id))[-1]


@pytest.mark.clause("EVT-020", "EVT-022")
def test_defaults_of_the_protocol_rest_on_load():
    """A store that names the protocol as its base gets single and the request id check from its own load."""
    plain = PlainStore()
    wait(plain.append(stream(1, request_id="r")))
    assert wait(plain.single(REF, 1)).version == 1
    assert wait(plain.single(REF, 2)) is None
    assert wait(plain.exists_request_id(REF, "r")) is True
    assert wait(plain.exists_request_id(REF, "s")) is False
    with pytest.raises(IllegalArgumentError):
        plain.single(REF, -1)
    plain.close()


@pytest.mark.clause("EVT-024")
def test_a_store_without_a_scan_says_which_it_is():
    """The error comes with the await and names the class."""
    later = PlainStore().scan_aggregate_id(LEDGERS)
    with pytest.raises(UnsupportedOperationError, match="PlainStore"):
        wait(later)


@pytest.mark.clause("EVT-025", "TCK-004")
def test_scan_gives_the_ids_of_one_named_aggregate_in_text_order(store):
    """Others are left out, the cursor itself too, and the limit cuts."""
    for text in ("b", "a", "c", "B"):
        wait(store.append(stream(1, of=ref(text))))
    wait(store.append(stream(1, of=ref("x", name="vault"))))
    wait(store.append(stream(1, of=ref("y", context="shop"))))
    ids = [each.id for each in wait(store.scan_aggregate_id(LEDGERS))]
    assert ids == ["B", "a", "b", "c"]
    assert [each.id for each in wait(store.scan_aggregate_id(LEDGERS, "a"))] == ["b", "c"]
    assert [each.id for each in wait(store.scan_aggregate_id(LEDGERS, "a", 1))] == ["b"]
    assert wait(store.scan_aggregate_id(LEDGERS, "c")) == []
    assert wait(store.scan_aggregate_id(LEDGERS, limit=0)) == []


@pytest.mark.clause("EVT-025")
def test_scan_orders_as_the_modelled_runtime_compares_texts(store):
    """Texts are compared by their UTF-16 units: a character beyond the first plane sorts below U+FF5E."""
    for text in ("\uff5e", "\U0001f600", "z"):
        wait(store.append(stream(1, of=ref(text))))
    assert [each.id for each in wait(store.scan_aggregate_id(LEDGERS))] == ["z", "\U0001f600", "\uff5e"]


@pytest.mark.clause("EVT-025")
def test_a_negative_limit_is_raised_by_the_call(store):
    """No await is needed."""
    with pytest.raises(IllegalArgumentError):
        store.scan_aggregate_id(LEDGERS, limit=-1)


@pytest.mark.clause("EVT-026")
def test_scan_defaults(store):
    """Ten ids after `(0)`; after `~` there is nothing, but for longer ids that begin with it."""
    for n in range(20):
        wait(store.append(stream(1, of=ref(f"id-{n:02}"))))
    for text in ("(", FIRST_ID):
        wait(store.append(stream(1, of=ref(text))))
    assert [each.id for each in wait(store.scan_aggregate_id(LEDGERS))] == [
        f"id-{n:02}" for n in range(DEFAULT_SCAN_LIMIT)
    ]
    assert wait(store.scan_aggregate_id(LEDGERS, LAST_ID)) == []
    wait(store.append(stream(1, of=ref("~x"))))
    assert [each.id for each in wait(store.scan_aggregate_id(LEDGERS, LAST_ID))] == ["~x"]


@pytest.mark.clause("EVT-027", "TCK-004")
def test_an_aggregate_is_scanned_once_and_each_tenant_apart(store):
    """Several streams make one id; the same id under two tenants is two, with their tenants."""
    for tenant in ("west", "east"):
        for version in (1, 2):
            wait(store.append(stream(version, of=ref(tenant=tenant))))
    assert wait(store.scan_aggregate_id(LEDGERS)) == [ref(tenant="east"), ref(tenant="west")]


def test_a_copy_is_independent_in_both_directions(store):
    """After a copy neither side sees what the other appends, nor the request ids that came with it."""
    wait(store.append(stream(1)))
    other = store.copy()
    wait(store.append(stream(2, request_id="mine")))
    wait(other.append(stream(2, request_id="yours")))
    third = other.copy()
    wait(third.append(stream(3)))
    assert [each.request_id for each in wait(store.load(REF))][1:] == ["mine"]
    assert [each.request_id for each in wait(other.load(REF))][1:] == ["yours"]
    assert versions(wait(third.load(REF))) == [1, 2, 3]
    assert wait(store.exists_request_id(REF, "yours")) is False
    wait(store.append(stream(1, of=ref("new"))))
    assert wait(other.last(ref("new"))) is None


def test_a_copy_shares_streams(store):
    """Copying copies no stream, and no list of them before one side appends."""
    wait(store.append(stream(1)))
    other = store.copy()
    assert other.peek(REF)[0] is store.peek(REF)[0]
    assert other._histories[REF] is store._histories[REF]
    wait(store.append(stream(2)))
    mine = store._histories[REF]
    wait(store.append(stream(3)))
    assert store._histories[REF] is mine


class Leaf(InMemoryEventStore):
    """A store that counts its closings and may fail at them."""

    def __init__(self, error=None):
        super().__init__()
        self.error = error
        self.closed = 0

    def close(self):
        """Count, then fail if told to."""
        self.closed += 1
        if self.error is not None:
            raise self.error


@pytest.mark.clause("EVT-028")
def test_routing_forwards_every_operation_by_named_aggregate():
    """The store of the named aggregate is asked, another one's by default."""
    vaults, rest = InMemoryEventStore(), InMemoryEventStore()
    routing = RoutingEventStore(rest, {NamedAggregate("bank", "vault"): vaults})
    vault = ref("v", name="vault")
    for each in (REF, vault):
        wait(routing.append(stream(1, of=each, id=each.id)))
        assert wait(routing.load(each))[0].id == each.id
        assert wait(routing.load_by_event_time(each, 0, 9999))[0].id == each.id
        assert wait(routing.single(each, 1)).id == each.id
        assert wait(routing.last(each)).id == each.id
        assert wait(routing.exists_request_id(each, f"rq-{each.id}-1")) is True
        assert wait(routing.scan_aggregate_id(each.named_aggregate)) == [each]
    assert vaults.aggregate_ids() == [vault]
    assert rest.aggregate_ids() == [REF]


@pytest.mark.clause("EVT-028")
def test_routing_passes_errors_through():
    """Errors of the call stay errors of the call, and those of the await are the leaf's own."""
    routing = RoutingEventStore(InMemoryEventStore(), {})
    with pytest.raises(IllegalArgumentError):
        routing.load(REF, -1)
    wait(routing.append(stream(1)))
    with pytest.raises(DuplicateAggregateIdError):
        wait(routing.append(stream(1)))


@pytest.mark.clause("EVT-029")
def test_routing_closes_each_leaf_once():
    """A leaf with several routes is closed once, and a second close does nothing."""
    shared, default = Leaf(), Leaf()
    routing = RoutingEventStore(default, {NamedAggregate("a", "b"): shared, NamedAggregate("a", "c"): shared})
    routing.close()
    routing.close()
    assert (shared.closed, default.closed) == (1, 1)


@pytest.mark.clause("EVT-029")
def test_routing_closes_every_leaf_and_raises_the_first_failure():
    """Later failures are notes on the first; the same failure is none on itself."""
    first, second = ValueError("first"), ValueError("second")
    leaves = [Leaf(first), Leaf(second), Leaf(first), Leaf()]
    routing = RoutingEventStore(leaves[0], {NamedAggregate("a", str(n)): leaf for n, leaf in enumerate(leaves[1:])})
    with pytest.raises(ValueError, match="first") as caught:
        routing.close()
    assert [leaf.closed for leaf in leaves] == [1, 1, 1, 1]
    assert caught.value is first
    assert caught.value.__notes__ == ["then also: ValueError('second')"]
    routing.close()


def test_operations_of_the_protocol_are_those_of_the_stores():
    """Every operation of the protocol is one of both stores, with the same parameters."""
    for name, function in inspect.getmembers(EventStore, inspect.isfunction):
        if name.startswith("_"):
            continue
        wanted = list(inspect.signature(function).parameters)
        for cls in (InMemoryEventStore, RoutingEventStore):
            assert list(inspect.signature(getattr(cls, name)).parameters) == wanted, (cls, name)
