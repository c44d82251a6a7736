"""Making one domain event from its body (EVT-053, EVT-056)."""

from __future__ import annotations

from typing import TypeVar

from ..errors import IllegalStateError
from ..modeling.configuration import Scopes
from ..modeling.events import aggregate_of_event, event_metadata
from ..modeling.identity import DEFAULT_OWNER_ID, DEFAULT_SPACE_ID, DEFAULT_TENANT_ID, AggregateRef
from ..modeling.scopes import DECLARED
from .envelopes import DomainEvent
from .header import Header
from .ids import Origin

B = TypeVar("B")


def to_domain_event(
    body: B,
    aggregate_id: AggregateRef | str,
    *,
    origin: Origin,
    command_id: str = "",
    tenant_id: str = DEFAULT_TENANT_ID,
    owner_id: str = DEFAULT_OWNER_ID,
    space_id: str = DEFAULT_SPACE_ID,
    version: int = 1,
    id: str | None = None,  # noqa: A002
    header: Header | None = None,
    create_time: int | None = None,
    scopes: Scopes = DECLARED,
) -> DomainEvent[B]:
    """An event on its own: sequence 1, the last one, name and revision of its class.

    Args:
        body: the event.
        aggregate_id: the aggregate, or its id alone; its type is then the one that the event names or belongs to.
        origin: where a missing id and time come from.
        command_id: the command that caused it.
        tenant_id: the tenant that goes with a bare id.
        owner_id: the owner.
        space_id: the space.
        version: the version that it makes.
        id: the event's id.
        header: becomes the event's header itself; a new one by default.
        create_time: epoch milliseconds; now by default.
        scopes: where an event that does not name its aggregate finds it.

    Raises:
        IllegalStateError: if only an id is given, and nothing says of which aggregate (EVT-056).
    """
    if isinstance(aggregate_id, str):
        named = aggregate_of_event(body, scopes)
        if named is None:
            message = (
                f"the event {type(body).__name__} belongs to no aggregate, so the id {aggregate_id!r} says too little: "
                "give an AggregateRef, or return or source the event in an aggregate"
            )
            raise IllegalStateError(message)
        aggregate_id = AggregateRef(named.context_name, named.aggregate_name, aggregate_id, tenant_id)
    metadata = event_metadata(type(body))
    return DomainEvent(
        origin.next_id() if id is None else id,
        body,
        aggregate_id,
        version,
        metadata.name,
        command_id,
        Header() if header is None else header,
        revision=metadata.revision,
        owner_id=owner_id,
        space_id=space_id,
        create_time=origin.now_millis() if create_time is None else create_time,
    )
