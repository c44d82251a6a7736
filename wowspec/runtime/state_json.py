"""JSON of state aggregates and snapshots (SER-010, SER-011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import IllegalStateError
from ..messages.codec import decode
from ..messages.json_reading import aggregate_ref
from ..messages.json_shapes import aggregate_id_fields, body_text
from ..messages.json_tree import Tree, members, parse, text_of, written
from ..modeling.identity import AggregateRef
from .facts import ReadOnlyStateAggregate, Tags
from .snapshots import InMemorySnapshotStore, Snapshot, StateTypes, require_state_type
from .sourcing import StateAggregate, Supply, restore


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a text says of an aggregate besides its state."""

    aggregate_id: AggregateRef
    version: int
    owner_id: str
    space_id: str
    event_id: str
    first_operator: str
    operator: str
    first_event_time: int
    event_time: int
    tags: Tags
    deleted: bool


def write_state_aggregate(aggregate: ReadOnlyStateAggregate) -> bytes:
    """JSON of a state aggregate; a state without JSON is a `NotSerializableError`."""
    return _written(aggregate, {})


def write_snapshot(snapshot: Snapshot) -> bytes:
    """JSON of a snapshot: its state aggregate's, with the time of the snapshot after the state."""
    return _written(snapshot.state_aggregate, {"snapshotTime": snapshot.snapshot_time})


def read_state_aggregate(data: bytes | str, types: StateTypes, supply: Supply | None = None) -> StateAggregate:
    """A state aggregate.

    Args:
        data: the JSON text.
        types: the state type of a named aggregate.
        supply: further arguments of its sourcing functions.

    Raises:
        DecodeError: if the text is none: aggregate id, version, state and `deleted` must be there.
        IllegalStateError: if the aggregate has no type.
    """
    text = text_of(data)
    return _aggregate(Tree("a state aggregate", parse(text)), text, types, supply)


def read_snapshot(data: bytes | str, types: StateTypes, supply: Supply | None = None) -> Snapshot:
    """A snapshot; arguments and errors as with `read_state_aggregate`, and its time must be there."""
    text = text_of(data)
    tree = Tree("a snapshot", parse(text))
    return Snapshot(_aggregate(tree, text, types, supply), tree.long("snapshotTime"))


def save_json(store: InMemorySnapshotStore, data: bytes | str, types: StateTypes) -> None:
    """Keep a snapshot that comes as JSON text, such as one exported from production, by the rules of `save`.

    Raises:
        IllegalStateError: if its version is missing or no integer, where other readers would be lax (SNP-009), or if
            the aggregate has no type.
        DecodeError: if the text is no snapshot otherwise.
    """
    tree = parse(text_of(data))
    version = tree.get("version") if isinstance(tree, dict) else None
    if type(version) is not int:
        message = f"the snapshot's version is {version!r}, which is no integer: a store cannot tell which one is newer"
        raise IllegalStateError(message)
    store.save_now(read_snapshot(data, types))


def _written(aggregate: ReadOnlyStateAggregate, after_state: dict[str, Any]) -> bytes:
    fields = {
        **aggregate_id_fields(aggregate.aggregate_id),
        "ownerId": aggregate.owner_id,
        "spaceId": aggregate.space_id,
        "version": aggregate.version,
        "eventId": aggregate.event_id,
        "firstOperator": aggregate.first_operator,
        "operator": aggregate.operator,
        "firstEventTime": aggregate.first_event_time,
        "eventTime": aggregate.event_time,
    }
    tail = {**after_state, "tags": aggregate.tags, "deleted": aggregate.deleted}
    return written(fields, {"state": body_text(aggregate.state)}, tail)


def _aggregate(tree: Tree, text: str, types: StateTypes, supply: Supply | None) -> StateAggregate:
    ref = aggregate_ref(tree)
    metadata = require_state_type(types, ref.named_aggregate)
    facts = _Facts(
        aggregate_id=ref,
        version=tree.integer("version"),
        owner_id=tree.text("ownerId", ""),
        space_id=tree.text("spaceId", ""),
        event_id=tree.text("eventId", ""),
        first_operator=tree.text("firstOperator", ""),
        operator=tree.text("operator", ""),
        first_event_time=tree.long("firstEventTime", 0),
        event_time=tree.long("eventTime", 0),
        tags=tree.tags("tags"),
        deleted=tree.boolean("deleted"),
    )
    tree.need("state")
    return restore(metadata, facts, decode(metadata.cls, members(text)["state"]), supply)
