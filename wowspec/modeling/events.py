"""Metadata of event classes: name, revision, and the aggregate they belong to (EVT-054, EVT-055, EVT-069)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..errors import IllegalArgumentError
from ..texts import is_blank
from .annotations import DEFAULT_REVISION, AggregateId, AggregateName, Event, merged_mark
from .configuration import Scopes
from .fields import Getter, fields_of, first_marked, text_getter
from .identity import NamedAggregate
from .naming import message_name, to_named_aggregate
from .scopes import DECLARED

#: A definition is refused at the line of its author, not at ours.
__tracebackhide__ = True

METADATA: Final = "__wowspec_event_metadata__"


@dataclass(frozen=True, slots=True, eq=False)
class EventMetadata:
    """What the runtime knows of an event class. Equal to another of the same class (EVT-055).

    Attributes:
        event_class: the class.
        name: name on messages.
        revision: revision of its shape.
        aggregate_name: gives the text that names the aggregate; None if no field is marked so.
        aggregate_id: gives the aggregate id; None if no field is marked so.
    """

    event_class: type
    name: str
    revision: str = DEFAULT_REVISION
    aggregate_name: Getter | None = None
    aggregate_id: Getter | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EventMetadata) and self.event_class is other.event_class

    def __hash__(self) -> int:
        return hash(self.event_class)


def event_metadata(cls: type) -> EventMetadata:
    """The metadata of an event class, parsed at the first use and kept on the class itself.

    Raises:
        IllegalArgumentError: if a marked field is no text (CMD-014).
        DefinitionError: if an annotation that may hold a marker cannot be resolved.
    """
    metadata: EventMetadata | None = getattr(cls, METADATA, None)
    if metadata is not None and metadata.event_class is cls:
        return metadata
    metadata = _parse(cls)
    try:
        type.__setattr__(cls, METADATA, metadata)
    except TypeError:
        return metadata  # a class of Python's own keeps nothing
    return metadata


def _parse(cls: type) -> EventMetadata:
    fields = fields_of(cls)
    mark = merged_mark(cls, Event)
    named = first_marked(fields, AggregateName)
    identified = first_marked(fields, AggregateId)
    return EventMetadata(
        cls,
        message_name(cls),
        mark.revision if mark and mark.revision else DEFAULT_REVISION,
        text_getter(cls, named, "aggregate's name") if named else None,
        text_getter(cls, identified, "aggregate id") if identified else None,
    )


def aggregate_of_event(body: Any, scopes: Scopes = DECLARED) -> NamedAggregate | None:
    """The aggregate that an event names, or that its class belongs to; None if nothing says (EVT-055).

    Raises:
        IllegalArgumentError: if it names an aggregate without a context, and no scope gives one.
    """
    cls = type(body)
    get = event_metadata(cls).aggregate_name
    if get is not None:
        return to_named_aggregate(get(body), scopes.context_of(cls))
    configured = scopes.aggregate_of(cls)
    return configured.named if configured else None


@dataclass(frozen=True, slots=True)
class EventTypeId:
    """Key of an event type in a registry (EVT-069).

    Raises:
        IllegalArgumentError: if a part is blank.
    """

    context_name: str
    aggregate_name: str
    name: str
    revision: str = DEFAULT_REVISION

    def __post_init__(self) -> None:
        for part in ("context_name", "aggregate_name", "name", "revision"):
            if is_blank(getattr(self, part)):
                message = f"the {part.replace('_', ' ')} of an event type must not be blank: {self!r}"
                raise IllegalArgumentError(message)

    def __str__(self) -> str:
        return f"event://{self.context_name}/{self.aggregate_name}/{self.name}"
