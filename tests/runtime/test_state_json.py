"""State aggregates and snapshots as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from wowspec.errors import DecodeError, IllegalStateError
from wowspec.messages.envelopes import DomainEvent, DomainEventStream
from wowspec.messages.header import Header
from wowspec.modeling.identity import AggregateRef, NamedAggregate
from wowspec.modeling.states import StateMetadata, state_metadata
from wowspec.runtime.snapshots import Snapshot
from wowspec.runtime.sourcing import StateAggregate, new_state_aggregate
from wowspec.runtime.state_json import (
    read_snapshot,
    read_state_aggregate,
    write_snapshot,
    write_state_aggregate,
)

REF = AggregateRef("bank", "ledger", "acc-1", "west")


class Credited(BaseModel):
    amount: int


class Ledger(BaseModel):
    id: str
    balance: int = 0

    def on_sourcing(self, event: Credited) -> None:
        self.balance += event.amount


def _types(named: NamedAggregate) -> StateMetadata | None:
    return state_metadata(Ledger) if named == REF.named_aggregate else None


def _aggregate() -> StateAggregate:
    header = Header({"command_operator": "op"})
    event = DomainEvent(
        "ev-1", Credited(amount=3), REF, 1, "credited", "cmd-1", header, owner_id="own", space_id="sp", create_time=7
    )
    aggregate = new_state_aggregate(state_metadata(Ledger), REF)
    aggregate.on_sourcing(DomainEventStream("st-1", "rq-1", header, (event,)))
    aggregate.tags = {"k": ["v"]}
    return aggregate


def _changed(data: bytes, drop: str = "", **values: Any) -> str:
    read = {**json.loads(data), **values}
    read.pop(drop, None)
    return json.dumps(read)


@pytest.mark.clause("SER-010")
def test_a_state_aggregate_has_its_fields_in_order():
    """A snapshot has its time after the state, a state aggregate has none."""
    keys = (
        "contextName aggregateName aggregateId tenantId ownerId spaceId version eventId firstOperator operator "
        "firstEventTime eventTime state snapshotTime tags deleted"
    )
    assert " ".join(json.loads(write_snapshot(Snapshot(_aggregate(), 9)))) == keys
    assert " ".join(json.loads(write_state_aggregate(_aggregate()))) == keys.replace(" snapshotTime", "")


@pytest.mark.clause("SER-010")
def test_a_snapshot_survives_its_json():
    """Every fact and the state are read as they were written, and the aggregate can go on from there."""
    back = read_snapshot(write_snapshot(Snapshot(_aggregate(), 9)), _types)
    assert isinstance(back.state_aggregate, StateAggregate)
    assert back.snapshot_time == 9
    assert write_state_aggregate(back) == write_state_aggregate(_aggregate())
    assert (back.state, back.version, back.event_id, back.operator, back.first_event_time) == (
        Ledger(id="acc-1", balance=3), 1, "st-1", "op", 7,
    )  # fmt: skip
    assert (back.owner_id, back.space_id, back.tags, back.deleted) == ("own", "sp", {"k": ["v"]}, False)


@pytest.mark.clause("SER-011")
def test_missing_facts_have_their_defaults():
    """Texts are empty, times 0, tags empty; a field of the state that is missing keeps its own default."""
    optional = ("ownerId", "spaceId", "eventId", "firstOperator", "operator", "firstEventTime", "eventTime", "tags")
    data = write_state_aggregate(_aggregate())
    for key in optional:
        data = _changed(data, key).encode()
    back = read_state_aggregate(_changed(data, state={"id": "acc-1"}), _types)
    assert (back.owner_id, back.space_id, back.event_id, back.first_operator, back.operator) == ("", "", "", "", "")
    assert (back.first_event_time, back.event_time, back.tags, back.state.balance) == (0, 0, {}, 0)


@pytest.mark.clause("SER-011")
@pytest.mark.parametrize(
    "key", ["contextName", "aggregateName", "aggregateId", "tenantId", "version", "state", "deleted"]
)
def test_what_has_no_default_must_be_there(key):
    """Aggregate id, version, state and `deleted`; of a snapshot its time too."""
    data = write_snapshot(Snapshot(_aggregate(), 9))
    with pytest.raises(DecodeError, match=f"{key} is missing"):
        read_snapshot(_changed(data, key), _types)
    with pytest.raises(DecodeError, match="snapshotTime is missing"):
        read_snapshot(_changed(data, "snapshotTime"), _types)


@pytest.mark.clause("SER-011")
@pytest.mark.parametrize(("value", "expected"), [(None, 0), ("4", 4), (8.5, 8)])
def test_versions_are_read_leniently(value, expected):
    """Null is 0, text is parsed, a fraction is cut off; null for `deleted` is false."""
    text = _changed(write_state_aggregate(_aggregate()), version=value, deleted=None)
    back = read_state_aggregate(text, _types)
    assert (back.version, back.deleted) == (expected, False)


@pytest.mark.clause("SER-011")
def test_an_aggregate_without_type_cannot_be_read():
    """The state's class must be known, unlike that of a state event."""
    text = _changed(write_state_aggregate(_aggregate()), aggregateName="item")
    with pytest.raises(IllegalStateError, match=r"bank\.item"):
        read_state_aggregate(text, _types)
