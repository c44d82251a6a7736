"""How a test looks into a world: copies of what is there, so that nothing that is done with them changes it."""

from __future__ import annotations

import copy
from typing import Any

from ..errors import SpecError
from ..modeling.aggregates import aggregate_metadata
from ..modeling.identity import AggregateRef
from ..runtime.sourcing import StateAggregate
from .facts import Facts
from .items import on
from .session import Session


def instance(session: Session, aggregate: type, text: str | None, tenant_id: str | None, owner: str) -> AggregateRef:
    """The instance of an id; without one, that of the type which was last spoken of.

    Args:
        session: the world.
        aggregate: aggregate root.
        text: its id.
        tenant_id: its tenant; default: the one last spoken of under that id.
        owner: whose verb asks, read as in `owner.state(...)`.

    Raises:
        SpecError: without an id, if no instance was spoken of.
    """
    if text is not None:
        return session.look_at(on(aggregate, text, tenant_id=tenant_id))
    spoken = session.spoken.get(aggregate_metadata(aggregate).named)
    if spoken is None or tenant_id not in (None, spoken.tenant_id):
        raise SpecError(
            f"{aggregate.__name__} without an id: no instance of it was spoken of"
            + ("" if tenant_id is None else f" in the tenant {tenant_id!r} last"),
            why="without an id it is the one of the command or the history that came last",
            instead=f'an id, as in {owner}.state({aggregate.__name__}, "an-id")',
        )
    return spoken


def copied(session: Session, reference: AggregateRef) -> StateAggregate:
    """A copy of an aggregate as its history says; version 0 and the state that it begins with, if it has none."""
    found = session.replay(reference)
    found.state = copy.deepcopy(found.state)
    return found


def stored(session: Session, reference: AggregateRef) -> Facts[Any]:
    """The events that the store holds of an instance."""
    streams = session.runtime.event_store.peek(reference)
    return Facts.of_envelopes(event for stream in streams for event in stream.events)


def rows(session: Session, projection: type, asked: str, instead: str) -> dict[str, Any]:
    """Copies of the rows that a projection keeps, by their ids.

    Raises:
        SpecError: if the world holds no such projection.
    """
    if projection not in session.runtime.catalog.processors:
        raise SpecError(
            f"{asked}({getattr(projection, '__name__', repr(projection))}): the world holds no such projection",
            why="a world holds just the parts that it is told of",
            instead=instead,
        )
    return copy.deepcopy(dict(session.runtime.views.of(projection)))
