"""Old events under new code: which class a stored event is read as, and upgraders that rewrite it before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from pydantic_core import from_json, to_json

from ..errors import IllegalStateError
from ..modeling.annotations import merged_mark
from ..modeling.configuration import WowMetadata
from ..modeling.events import EventTypeId, event_metadata
from ..modeling.identity import AggregateRef
from ..modeling.ordering import Order, sorted_by_order
from .codec import decode
from .header import Header
from .type_names import PYTHON_NAMES, DroppedEvent, TypeNames, find_class

T = TypeVar("T")

DROPPED_NAME: Final = "dropped_event"


@dataclass(frozen=True, slots=True)
class RawJson:
    """JSON whose class is not known: the body of an event, or a state (EVT-067, SER-009).

    Attributes:
        text: the JSON as it was.
        type_name: the body type that came with it, with which an event is written again (EVT-071).
    """

    text: str
    type_name: str = ""

    @property
    def value(self) -> Any:
        """The JSON value."""
        return from_json(self.text)

    def to(self, cls: type[T]) -> T:
        """The object of this class that the JSON stands for; a `DecodeError` if it does not."""
        return decode(cls, self.text)


@dataclass(frozen=True, slots=True)
class EventFacts:
    """What no upgrader changes of an event (EVT-064); `create_time` is in epoch milliseconds."""

    id: str
    aggregate_id: AggregateRef
    version: int
    command_id: str
    header: Header
    sequence: int
    is_last: bool
    owner_id: str
    space_id: str
    create_time: int


class EventRecord:
    """A stored event before its class is known: facts that are fixed, and the four parts that an upgrader may change.

    Attributes:
        name: event name.
        revision: revision of the body's shape.
        body_type: name of the body's class; None if the text had none.
    """

    __slots__ = ("_body", "_body_text", "_facts", "body_type", "name", "revision")

    def __init__(self, facts: EventFacts, name: str, revision: str, body_type: str | None, body_text: str) -> None:
        self._facts = facts
        self._body: Any = None
        self._body_text: str | None = body_text
        self.name: str = name
        self.revision: str = revision
        self.body_type: str | None = body_type

    @property
    def facts(self) -> EventFacts:
        """What stays as it is."""
        return self._facts

    @property
    def body(self) -> Any:
        """The body as a JSON value, to be changed in place or replaced."""
        if self._body_text is not None:
            self._body = from_json(self._body_text)
            self._body_text = None
        return self._body

    @body.setter
    def body(self, value: Any) -> None:
        self._body = value
        self._body_text = None

    @property
    def body_text(self) -> str:
        """The body as JSON text; as it was stored, unless an upgrader looked at it."""
        return to_json(self._body).decode() if self._body_text is None else self._body_text


class EventUpgrader(Protocol):
    """Rewrites stored events of one name. It must look at the revision itself: nobody else does (EVT-063)."""

    def upgrade(self, record: EventRecord, /) -> EventRecord:
        """The record to go on with: the same one, changed or not, or another."""
        ...


def drop(record: EventRecord, names: TypeNames = PYTHON_NAMES) -> EventRecord:
    """Make nothing of the event: it keeps its place, version and revision, and is no event of the domain (EVT-065)."""
    record.name = DROPPED_NAME
    record.body_type = names.name_of(DroppedEvent)
    record.body = {}
    return record


_UpgraderKey = tuple[str, str, str]


class EventUpgraders:
    """Upgraders by context, aggregate and stored event name (EVT-061)."""

    __slots__ = ("_rows",)

    def __init__(self) -> None:
        self._rows: dict[_UpgraderKey, list[EventUpgrader]] = {}

    def register(self, context_name: str, aggregate_name: str, event_name: str, upgrader: EventUpgrader) -> None:
        """Add an upgrader; they run in the order of `@order` on their classes (EVT-062)."""
        rows = self._rows.setdefault((context_name, aggregate_name, event_name), [])
        rows.append(upgrader)
        rows[:] = sorted_by_order(rows, lambda row: merged_mark(type(row), Order) or Order())

    def upgrade(self, record: EventRecord) -> EventRecord:
        """Run all upgraders of the stored name, each on what the one before gave; a rename changes nothing in that."""
        ref = record.facts.aggregate_id
        for upgrader in self._rows.get((ref.context_name, ref.aggregate_name, record.name), ()):
            record = upgrader.upgrade(record)
        return record


class EventTypes:
    """Classes of events by context, aggregate, name and revision (EVT-067 to EVT-070)."""

    __slots__ = ("_classes",)

    def __init__(self) -> None:
        self._classes: dict[EventTypeId, type] = {}

    def register(self, type_id: EventTypeId, cls: type) -> None:
        """Say what an event is read as.

        Raises:
            IllegalStateError: if the id has another class already (EVT-069).
        """
        known = self._classes.setdefault(type_id, cls)
        if known is not cls:
            message = (
                f"{type_id} revision {type_id.revision} is {known.__qualname__} and {cls.__qualname__}: "
                "give one of them another name or revision"
            )
            raise IllegalStateError(message)

    def register_class(self, context_name: str, aggregate_name: str, cls: type) -> None:
        """Register an event class under its own name and revision; errors as in `register`."""
        metadata = event_metadata(cls)
        self.register(EventTypeId(context_name, aggregate_name, metadata.name, metadata.revision), cls)

    def load(self, metadata: WowMetadata, find: Callable[[str], type | None] = find_class) -> None:
        """Register the events of configured metadata; scopes and classes that are not there are skipped (EVT-070)."""
        for context_name, context in metadata.contexts.items():
            for aggregate_name, aggregate in context.aggregates.items():
                for cls in _classes(aggregate.events, find):
                    self.register_class(context_name, aggregate_name, cls)

    def get(self, type_id: EventTypeId) -> type | None:
        """The class registered for exactly this id and revision, or None (EVT-068)."""
        return self._classes.get(type_id)


def _classes(names: Iterable[str], find: Callable[[str], type | None]) -> Iterable[type]:
    for name in names:
        if name.rpartition(".")[2][:1].isupper():
            cls = find(name)
            if cls is not None:
                yield cls
