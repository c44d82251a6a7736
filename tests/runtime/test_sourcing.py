"""State aggregates: what one stream does, in which order, and what stays after a failure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from tests.runtime.stores_domain import REF, Credited, Ledger, Opened, Pinged, ref, stream
from wowspec.error_policy import DEFAULT_POLICY
from wowspec.errors import (
    IllegalArgumentError,
    IllegalStateError,
    Recoverability,
    SourcingVersionConflictError,
    SpecError,
)
from wowspec.messages.envelopes import DomainEvent, DomainEventStream
from wowspec.messages.exchange import DomainEventExchange
from wowspec.messages.header import COMMAND_OPERATOR, Header
from wowspec.modeling.annotations import Name
from wowspec.modeling.builtin import (
    AggregateDeleted,
    AggregateRecovered,
    IgnoreSourcing,
    OwnerTransferred,
    ResourceTagsApplied,
    SpaceTransferred,
)
from wowspec.modeling.decorators import on_sourcing
from wowspec.modeling.identity import NamedAggregate
from wowspec.modeling.states import state_metadata
from wowspec.runtime.sourcing import (
    aggregate_of_state,
    looks_at_bodies_alone,
    new_state_aggregate,
    restore,
    state_event_of,
)

FACTS = (
    "version",
    "owner_id",
    "space_id",
    "event_id",
    "first_operator",
    "operator",
    "first_event_time",
    "event_time",
    "tags",
    "deleted",
)


def fresh(cls: Any = Ledger):
    """A blank aggregate."""
    return new_state_aggregate(state_metadata(cls), REF)


def facts(aggregate):
    """What is known besides the state."""
    return {name: getattr(aggregate, name) for name in FACTS}


@pytest.mark.clause("STA-001", "STA-037", "STA-041", "CMD-189")
def test_a_fresh_aggregate():
    """Version 0, nothing known, a blank state of this id; no store is needed."""
    aggregate = fresh()
    assert aggregate.aggregate_id == REF
    assert aggregate.state == Ledger(id="acc-1")
    assert facts(aggregate) == {
        "version": 0,
        "owner_id": "",
        "space_id": "",
        "event_id": "",
        "first_operator": "",
        "operator": "",
        "first_event_time": 0,
        "event_time": 0,
        "tags": {},
        "deleted": False,
    }


@pytest.mark.clause("STA-002")
@pytest.mark.parametrize(
    ("version", "initialized", "initial", "following"),
    [
        (-1, False, False, 0),
        (0, False, False, 1),
        (1, True, True, 2),
        (2, True, False, 3),
        (2**31 - 1, True, False, -(2**31)),
    ],
)
def test_what_the_version_says(version, initialized, initial, following):
    """Above 0 is initialized, 1 is initial, the next is one more, and 32 bits wrap."""
    aggregate = fresh()
    aggregate.version = version
    assert (aggregate.initialized, aggregate.is_initial_version) == (initialized, initial)
    assert aggregate.expected_next_version == following


@pytest.mark.clause("STA-003")
def test_equality_looks_at_id_and_version_alone():
    """The state is not compared."""
    left, right = fresh(), fresh()
    right.state.balance = 7
    assert left == right
    assert hash(left) == hash(right)
    right.version = 1
    assert left != right
    assert left != new_state_aggregate(state_metadata(Ledger), ref("other"))
    assert left != "acc-1"


class Recording(BaseModel):
    """Notes what its aggregate shows at each of its calls."""

    id: str
    seen: list[Any] = []

    def set_version(self, version: int) -> None:
        self.seen.append(("version", version))

    def set_state_aggregate(self, aggregate: Any) -> None:
        object.__setattr__(self, "_seen_aggregate", aggregate)
        self.seen.append(("aware", aggregate.version))

    def on_sourcing(self, event: Credited) -> None:
        self.seen.append(("event", event.amount, facts(self._seen_aggregate)))  # type: ignore[attr-defined]

    def extract_tags(self, aggregate: Any) -> dict[str, list[str]]:
        self.seen.append(("tags", aggregate.version))
        return {"n": [str(len(self.seen))]}

    _seen_aggregate: Any = None


@pytest.mark.clause("STA-004", "STA-012", "STA-015", "STA-029", "CMD-312")
def test_the_order_of_the_steps():
    """Facts of the stream, the version hook, each event, the tags; and the same aggregate comes back."""
    aggregate = fresh(Recording)
    given = stream(
        1,
        Credited(amount=1),
        Credited(amount=2),
        owner_id="own",
        space_id="sp",
        create_time=77,
        header={COMMAND_OPERATOR: "op"},
    )
    assert aggregate.on_sourcing(given) is aggregate
    during = {
        "version": 1,
        "owner_id": "own",
        "space_id": "sp",
        "event_id": "st-acc-1-1",
        "first_operator": "op",
        "operator": "op",
        "first_event_time": 77,
        "event_time": 77,
        "tags": {},
        "deleted": False,
    }
    assert aggregate.state.seen == [
        ("aware", 0),
        ("version", 1),
        ("event", 1, during),
        ("event", 2, during),
        ("tags", 1),
    ]
    assert aggregate.tags == {"n": ["5"]}


class Refused(BaseModel, IgnoreSourcing):
    """A refused opening."""

    error_code: str = "Refused"
    error_msg: str = "no"


class Skipped(BaseModel, IgnoreSourcing):
    """Marked, but no error."""


class Failed(BaseModel):
    """An error, but not marked."""

    error_code: str = "Failed"
    error_msg: str = "no"


@pytest.mark.clause("STA-005", "CMD-310")
@pytest.mark.parametrize("of", [REF, ref("other")])
def test_an_ignored_stream_changes_nothing(of):
    """It is looked at before identity and version."""
    aggregate = fresh()
    before = facts(aggregate)
    assert aggregate.on_sourcing(stream(1, Refused(), Refused(), of=of)) is aggregate
    assert facts(aggregate) == before


@pytest.mark.clause("STA-005", "CMD-310", "CMD-311")
@pytest.mark.parametrize(
    ("version", "bodies"), [(1, [Skipped()]), (1, [Failed()]), (1, [Refused(), Credited()]), (2, [Refused()])]
)
def test_only_a_first_stream_of_nothing_but_marked_errors_is_ignored(version, bodies):
    """Marker or error alone, another event beside them, a later version: each is applied."""
    aggregate = fresh()
    if version == 2:
        aggregate.on_sourcing(stream(1))
    aggregate.on_sourcing(stream(version, *bodies, id="it"))
    assert (aggregate.version, aggregate.event_id) == (version, "it")


@pytest.mark.clause("CMD-311")
def test_after_an_ignored_stream_nothing_follows():
    """The state stays at version 0, so a second stream does not fit."""
    aggregate = fresh()
    aggregate.on_sourcing(stream(1, Refused()))
    with pytest.raises(SourcingVersionConflictError):
        aggregate.on_sourcing(stream(2))


@pytest.mark.clause("STA-006", "CMD-314")
@pytest.mark.parametrize("other", [ref("other"), ref(tenant="east"), ref(name="vault"), ref(context="shop")])
@pytest.mark.parametrize("version", [1, 9])
def test_a_stream_of_another_aggregate_is_refused(other, version):
    """Any part of the id may differ; it is looked at before the version."""
    aggregate = fresh()
    with pytest.raises(IllegalArgumentError):
        aggregate.on_sourcing(stream(version, of=other))
    assert aggregate.version == 0


@pytest.mark.clause("STA-007", "CMD-314")
@pytest.mark.parametrize("version", [0, 1, 3, -1])
def test_only_the_next_version_fits(version):
    """Repeats and gaps are refused before anything changes."""
    aggregate = fresh().on_sourcing(stream(1, Opened(balance=5), owner_id="own"))
    before = facts(aggregate)
    refused = stream(version, owner_id="thief")
    with pytest.raises(SourcingVersionConflictError) as caught:
        aggregate.on_sourcing(refused)
    assert caught.value.event_stream is refused
    assert caught.value.expect_version == 2
    assert DEFAULT_POLICY.recoverability(caught.value) is Recoverability.UNKNOWN
    assert facts(aggregate) == before


@pytest.mark.clause("STA-008")
def test_one_stream_is_one_version():
    """Three events of one command raise the version by one."""
    aggregate = fresh().on_sourcing(stream(1, Opened(), Credited(), Credited()))
    assert aggregate.version == 1
    assert aggregate.state.log == ["Opened", "Credited", "Credited"]


@pytest.mark.clause("STA-009", "CMD-312")
@pytest.mark.parametrize("blank", ["", " ", "\t\n"])
def test_blank_owner_and_space_change_nothing(blank):
    """Only what is not blank replaces owner and space."""
    aggregate = fresh().on_sourcing(stream(1, owner_id="own", space_id="sp"))
    aggregate.on_sourcing(stream(2, owner_id=blank, space_id=blank))
    assert (aggregate.owner_id, aggregate.space_id) == ("own", "sp")
    aggregate.on_sourcing(stream(3, owner_id="new", space_id="other"))
    assert (aggregate.owner_id, aggregate.space_id) == ("new", "other")


@pytest.mark.clause("STA-009")
def test_nel_is_not_blank():
    """A control character of its own is an owner, although Python calls it white space."""
    aggregate = fresh().on_sourcing(stream(1, owner_id="own", space_id="sp"))
    aggregate.on_sourcing(stream(2, owner_id="\x85", space_id=" \x85"))
    assert (aggregate.owner_id, aggregate.space_id) == ("\x85", " \x85")


@pytest.mark.clause("STA-010", "STA-011", "CMD-312")
def test_each_stream_replaces_event_id_operator_and_time():
    """The first operator and time stay; an operator that is missing is empty."""
    aggregate = fresh()
    aggregate.on_sourcing(stream(1, id="a", create_time=10, header={COMMAND_OPERATOR: "ann"}))
    aggregate.on_sourcing(stream(2, id="b", create_time=5))
    assert (aggregate.event_id, aggregate.operator, aggregate.event_time) == ("b", "", 5)
    assert (aggregate.first_operator, aggregate.first_event_time) == ("ann", 10)


@pytest.mark.clause("STA-010")
def test_the_operator_of_an_event_header_does_not_count():
    """Only the stream's header says who commanded."""
    given = stream(1)
    given.events[0].header[COMMAND_OPERATOR] = "event"
    assert fresh().on_sourcing(given).operator == ""


class Moved(BaseModel, OwnerTransferred):
    """Another owner."""

    to_owner_id: str


class Relocated(BaseModel, SpaceTransferred):
    """Another space."""

    to_space_id: str


@dataclass
class Handover(OwnerTransferred, SpaceTransferred, AggregateDeleted):
    """All three."""

    to_owner_id: str
    to_space_id: str


class Closed(BaseModel, AggregateDeleted):
    """A delete event of the user's."""


@dataclass
class SubjectTagged:
    """Tags, but not of the resource."""

    tags: dict[str, list[str]]


@pytest.mark.clause("STA-013", "EVT-060")
@pytest.mark.parametrize("body", [AggregateDeleted(), Closed()])
def test_delete_and_recover(body):
    """Any delete event deletes, and a recover event undoes it; deleted aggregates are still sourced (STA-022)."""
    aggregate = fresh().on_sourcing(stream(1, body))
    assert aggregate.deleted is True
    aggregate.on_sourcing(stream(2, Credited(amount=3)))
    assert (aggregate.deleted, aggregate.state.balance) == (True, 3)
    aggregate.on_sourcing(stream(3, AggregateRecovered()))
    assert (aggregate.deleted, aggregate.version) == (False, 3)


@pytest.mark.clause("STA-022")
def test_a_deleted_aggregate_can_be_sourced():
    """Deletion blocks commands, not history."""
    aggregate = fresh().on_sourcing(stream(1, Closed()))
    assert aggregate.on_sourcing(stream(2)).version == 2


@pytest.mark.clause("STA-024")
def test_delete_and_recover_are_a_version_each():
    """Created at 1, deleted at 2, recovered at 3."""
    aggregate = fresh()
    for version, body in enumerate((Opened(), AggregateDeleted(), AggregateRecovered()), 1):
        aggregate.on_sourcing(stream(version, body))
    assert aggregate.version == 3


@pytest.mark.clause("STA-013", "CMD-315")
def test_transfers_override_what_the_stream_says():
    """The stream shows the old owner and space, the aggregate has the new ones afterwards."""
    given = stream(1, Moved(to_owner_id="new"), Relocated(to_space_id="there"), owner_id="old", space_id="here")
    aggregate = fresh().on_sourcing(given)
    assert (aggregate.owner_id, aggregate.space_id) == ("new", "there")
    assert (given.owner_id, given.space_id) == ("old", "here")


@pytest.mark.clause("STA-013")
def test_the_last_effect_of_a_stream_wins():
    """Effects run event by event."""
    aggregate = fresh().on_sourcing(
        stream(1, Moved(to_owner_id="a"), Closed(), Moved(to_owner_id="b"), AggregateRecovered())
    )
    assert (aggregate.owner_id, aggregate.deleted) == ("b", False)


@pytest.mark.clause("STA-013")
def test_one_event_may_have_three_effects():
    """Owner, space and deletion at once."""
    aggregate = fresh().on_sourcing(stream(1, Handover("new", "there")))
    assert (aggregate.owner_id, aggregate.space_id, aggregate.deleted) == ("new", "there", True)


class Watching(BaseModel):
    """Looks at its aggregate while it applies an event."""

    id: str
    seen: list[Any] = []
    _it: Any = None

    def set_state_aggregate(self, aggregate: Any) -> None:
        self._it = aggregate

    def on_sourcing(self, event: Closed | Moved) -> None:
        self.seen.append((self._it.deleted, self._it.owner_id))


@pytest.mark.clause("STA-013")
def test_effects_come_before_the_users_function():
    """The function sees the aggregate deleted already."""
    aggregate = fresh(Watching).on_sourcing(stream(1, Closed(), Moved(to_owner_id="new"), owner_id="own"))
    assert aggregate.state.seen == [(True, "own"), (True, "new")]


@pytest.mark.clause("STA-014")
def test_tags_are_replaced_and_only_by_resource_tags():
    """No merge; a bare tags event counts for nothing; the tags are the aggregate's own."""
    body = ResourceTagsApplied({"b": ["2"]})
    aggregate = fresh().on_sourcing(stream(1, ResourceTagsApplied({"a": ["1"]}), body, SubjectTagged({"c": ["3"]})))
    assert aggregate.tags == {"b": ["2"]}
    aggregate.tags["b"].append("mine")
    assert body.tags == {"b": ["2"]}


class Tagged(BaseModel):
    """Says its tags itself, and may fail."""

    id: str
    total: int = 0

    def on_sourcing(self, event: Credited) -> None:
        if event.amount < 0:
            raise IllegalStateError("negative")
        self.total += event.amount

    def extract_tags(self, aggregate: Any) -> dict[str, list[str]]:
        return {"total": [str(self.total)], "owner": [aggregate.owner_id]}


@pytest.mark.clause("STA-015")
def test_the_states_tags_win_after_the_whole_stream():
    """What events applied is overridden, with the state and the aggregate as they are at the end."""
    aggregate = fresh(Tagged).on_sourcing(
        stream(1, ResourceTagsApplied({"a": ["1"]}), Credited(amount=2), Credited(amount=3), Moved(to_owner_id="x"))
    )
    assert aggregate.tags == {"total": ["5"], "owner": ["x"]}
    with pytest.raises(IllegalStateError):
        aggregate.on_sourcing(stream(2, Credited(amount=4), Credited(amount=-1)))
    assert aggregate.tags == {"total": ["5"], "owner": ["x"]}


class CreditedTwice(Credited):
    """A subclass of a handled event."""


@pytest.mark.clause("STA-017", "STA-018", "CMD-313")
@pytest.mark.parametrize("body", [CreditedTwice(), Pinged(), {"raw": "json"}])
def test_an_event_without_a_function_of_its_very_class_only_moves_the_version(body):
    """Subclasses, unknown events and raw bodies are passed over silently."""
    aggregate = fresh().on_sourcing(stream(1, Opened(balance=1)))
    aggregate.on_sourcing(stream(2, body, id="it"))
    assert (aggregate.version, aggregate.event_id, aggregate.state.balance) == (2, "it", 1)


@pytest.mark.clause("STA-019")
def test_the_revision_does_not_count():
    """An event of an old revision is applied as it is."""
    given = stream(1)
    old = replace(given, events=(replace(given.events[0], revision="0.0.0"),))
    assert fresh().on_sourcing(old).state.balance == 1


class Returning(BaseModel):
    """Returns something, or fails at the second event."""

    id: str
    applied: list[int] = []

    def on_sourcing(self, event: Credited) -> Any:
        if event.amount == 0:
            raise IllegalStateError("nothing to add")
        self.applied.append(event.amount)
        return "ignored"


@pytest.mark.clause("STA-020")
def test_a_failing_function_leaves_what_was_done():
    """Facts and earlier events stay, later events do not come, and the same version does not fit again."""
    aggregate = fresh(Returning)
    with pytest.raises(IllegalStateError):
        aggregate.on_sourcing(
            stream(1, Credited(amount=1), Moved(to_owner_id="x"), Credited(amount=0), Closed(), id="it")
        )
    assert (aggregate.version, aggregate.event_id, aggregate.owner_id) == (1, "it", "x")
    assert (aggregate.state.applied, aggregate.deleted) == ([1], False)
    with pytest.raises(SourcingVersionConflictError):
        aggregate.on_sourcing(stream(1))


class Asking(BaseModel):
    """Its functions ask for more than the body."""

    id: str
    seen: list[Any] = []

    @on_sourcing
    def of_event(self, event: DomainEvent[Opened], header: Header, *, stream: DomainEventStream) -> None:
        self.seen.append((event.sequence, header["k"], stream.version))

    @on_sourcing
    def of_exchange(self, exchange: DomainEventExchange[Credited], missing: int | None, given: str = "d") -> None:
        self.seen.append((exchange.message.body.amount, missing, given))


@pytest.mark.clause("STA-021")
def test_the_first_parameter_may_be_the_event_or_its_exchange():
    """Annotated functions are given the form they ask for, and further arguments by type."""
    aggregate = fresh(Asking).on_sourcing(stream(1, Opened(), Credited(amount=4), header={"k": "v"}))
    assert aggregate.state.seen == [(1, "v", 1), (4, None, "d")]


class Needy(BaseModel):
    """Asks for what nobody has."""

    id: str

    @on_sourcing
    def credited(self, event: Credited, price: int) -> None: ...


class ByServiceName(BaseModel):
    """Asks for a service by its name, and for one of no type at all."""

    id: str
    seen: list[Any] = []

    @on_sourcing
    def credited(self, event: Credited, it: Annotated[Header, Name("clock")] | None, any_of: int | str = 7, /) -> None:
        self.seen.append((it, any_of))


def test_a_named_service_is_not_looked_up_by_type():
    """Without services a parameter with a service name gets its None, although its type would be on offer."""
    aggregate = fresh(ByServiceName).on_sourcing(stream(1))
    assert aggregate.state.seen == [(None, 7)]


def test_a_parameter_that_nothing_supplies_is_named():
    """The author learns which parameter, and what is on offer."""
    with pytest.raises(SpecError) as caught:
        fresh(Needy).on_sourcing(stream(1))
    assert str(caught.value) == (
        "nothing supplies parameter 'price' of Needy.credited\n"
        "  why: on offer are the event's exchange, the event, its header, its aggregate id and its stream\n"
        "  instead: let the command function ask the service, and put what it says into the event"
    )


def test_a_world_may_supply_further_arguments():
    """Whoever makes the aggregate says where arguments come from."""
    asked = []

    def supply(handler, exchange):
        asked.append((handler.name, exchange.message.body))
        return [5], {}

    aggregate = new_state_aggregate(state_metadata(Needy), REF, supply)
    aggregate.on_sourcing(stream(1, Credited(amount=2)))
    assert asked == [("credited", Credited(amount=2))]


def test_which_states_look_at_bodies_alone():
    """Only those whose functions take the body and nothing else."""
    assert looks_at_bodies_alone(state_metadata(Ledger))
    assert not looks_at_bodies_alone(state_metadata(Asking))
    assert not looks_at_bodies_alone(state_metadata(Needy))


@pytest.mark.clause("STA-027")
def test_an_aggregate_around_a_bare_state():
    """The id in the state beats the one given; without either it is refused."""
    named = NamedAggregate("bank", "ledger")
    metadata = state_metadata(Ledger)
    made = aggregate_of_state(metadata, named, Ledger(id="in-state"), aggregate_id="given", tenant_id="east")
    assert made.aggregate_id == ref("in-state", tenant="east")

    class Anonymous(BaseModel):
        balance: int = 0

    bare = state_metadata(Anonymous)
    assert aggregate_of_state(bare, named, Anonymous(), aggregate_id="given").aggregate_id == ref("given")
    with pytest.raises(IllegalArgumentError):
        aggregate_of_state(bare, named, Anonymous(), aggregate_id=" ")


@pytest.mark.clause("STA-031")
def test_back_to_a_writable_aggregate():
    """Every fact is kept, and the state object is the same one."""
    aggregate = fresh().on_sourcing(
        stream(
            1,
            ResourceTagsApplied({"a": ["1"]}),
            Closed(),
            owner_id="own",
            space_id="sp",
            header={COMMAND_OPERATOR: "op"},
        )
    )
    again = restore(aggregate.metadata, aggregate, aggregate.state)
    assert facts(again) == facts(aggregate)
    assert again.state is aggregate.state
    again.on_sourcing(stream(2))
    assert aggregate.version == 1


@pytest.mark.clause("STA-029")
def test_a_restored_aggregate_is_handed_to_its_state():
    """The state sees the aggregate that it belongs to now."""
    state = Watching(id="acc-1")
    first = new_state_aggregate(state_metadata(Watching), REF)
    again = restore(first.metadata, first, state)
    assert state._it is again


@pytest.mark.clause("STA-042", "STA-043", "STA-044", "STA-045")
def test_a_state_event():
    """A copy of the stream with the live state; owner and space are the stream's, the rest the aggregate's."""
    aggregate = fresh().on_sourcing(stream(1, create_time=10, header={COMMAND_OPERATOR: "ann"}))
    given = stream(
        2,
        Moved(to_owner_id="new"),
        ResourceTagsApplied({"a": ["1"]}),
        Closed(),
        owner_id="old",
        create_time=20,
        header={COMMAND_OPERATOR: "ben", "k": "v"},
    )
    aggregate.on_sourcing(given)
    found = aggregate.to_state_event(given)
    assert found.state is aggregate.state
    assert (found.id, found.event_id, found.version) == (given.id, given.id, 2)
    assert (found.operator, found.event_time) == ("ben", 20)
    assert (found.owner_id, aggregate.owner_id) == ("old", "new")
    assert (found.first_operator, found.first_event_time) == ("ann", 10)
    assert (found.tags, found.deleted) == ({"a": ["1"]}, True)
    assert [event.body for event in found] == [event.body for event in given]
    given.header["late"] = given.events[0].header["late"] = "yes"
    assert found.header == found.events[0].header == {COMMAND_OPERATOR: "ben", "k": "v"}


@pytest.mark.clause("STA-045")
def test_a_copied_state_event_shares_the_state():
    """Headers are copied, the state object is not."""
    given = stream(1)
    found = fresh().on_sourcing(given).to_state_event(given)
    other = found.copy()
    other.header["k"] = other.events[0].header["k"] = "v"
    assert other.state is found.state
    assert found.header == found.events[0].header == {}


@pytest.mark.clause("STA-046")
def test_one_state_event_carries_the_state_after_all_events():
    """Every event in it sees the final state."""
    given = stream(1, Opened(balance=1), Credited(amount=2), Credited(amount=3))
    found = fresh().on_sourcing(given).to_state_event(given)
    assert len(list(found)) == 3
    assert found.state.balance == 6


@pytest.mark.clause("STA-044")
def test_a_state_event_from_a_bare_state():
    """Operator and time are the stream's, there are no tags, and it is not deleted."""
    given = stream(4, create_time=9, header={COMMAND_OPERATOR: "ann"})
    found = state_event_of(given, Ledger(id="acc-1"))
    assert (found.first_operator, found.first_event_time, found.tags, found.deleted) == ("ann", 9, {}, False)
