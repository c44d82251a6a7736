"""Envelopes: what travels through the pipeline around a body.

Plain slotted records; building them by the rules lives in `commands.py` and `streams.py`, their JSON in
`json_shapes.py` and `json_reading.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Generic, TypeVar

from ..errors import IllegalArgumentError
from ..modeling.identity import AggregateRef
from .header import COMMAND_OPERATOR, Header

C = TypeVar("C")
B = TypeVar("B")
S = TypeVar("S")

DEFAULT_REVISION: Final = "0.0.1"


@dataclass(slots=True, eq=False)
class CommandMessage(Generic[C]):
    """A command body with its target, ids and flags (sections A and B of the contract).

    `aggregate_version` is the expected version (None: not checked); `create_time` is in epoch milliseconds.
    """

    __wowspec_envelope__: ClassVar[str] = "message"

    id: str
    body: C
    aggregate_id: AggregateRef
    name: str
    request_id: str
    header: Header
    owner_id: str = ""
    space_id: str = ""
    aggregate_version: int | None = None
    is_create: bool = False
    allow_create: bool = False
    is_void: bool = False
    create_time: int = 0

    @property
    def command_id(self) -> str:
        """Alias of the message id (CMD-046)."""
        return self.id

    @property
    def is_read_only(self) -> bool:
        """A message is read-only exactly when its header is (CMD-049)."""
        return self.header.is_read_only

    def copy(self) -> CommandMessage[C]:
        """The same message with a new writable header (CMD-048)."""
        return replace(self, header=self.header.copy())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CommandMessage) and all(
            getattr(self, name) == getattr(other, name) for name in self.__slots__
        )

    __hash__: ClassVar[None] = None  # type: ignore[assignment]


@dataclass(slots=True)
class DomainEvent(Generic[B]):
    """One event of a stream; `create_time` is in epoch milliseconds (EVT-053)."""

    __wowspec_envelope__: ClassVar[str] = "message"

    id: str
    body: B
    aggregate_id: AggregateRef
    version: int
    name: str
    command_id: str
    header: Header
    sequence: int = 1
    is_last: bool = True
    revision: str = DEFAULT_REVISION
    owner_id: str = ""
    space_id: str = ""
    create_time: int = 0

    def copy(self) -> DomainEvent[B]:
        """The same event with a new writable header; the body is shared (EVT-013)."""
        return DomainEvent(
            self.id, self.body, self.aggregate_id, self.version, self.name, self.command_id, Header(self.header),
            self.sequence, self.is_last, self.revision, self.owner_id, self.space_id, self.create_time,
        )  # fmt: skip


@dataclass(slots=True, init=False)
class DomainEventStream:
    """All events of one command: one version, one unit of storage (EVT-042, EVT-050)."""

    __wowspec_envelope__: ClassVar[str] = "message"

    id: str
    request_id: str
    header: Header
    events: tuple[DomainEvent[Any], ...]
    #: What the first event says (EVT-050), kept here because everybody asks for it.
    aggregate_id: AggregateRef = field(init=False, compare=False, repr=False)
    version: int = field(init=False, compare=False, repr=False)
    command_id: str = field(init=False, compare=False, repr=False)

    def __init__(self, id: str, request_id: str, header: Header, events: tuple[DomainEvent[Any], ...]) -> None:  # noqa: A002
        if not events:
            message = "a domain event stream needs at least one event"
            raise IllegalArgumentError(message)
        self.id = id
        self.request_id = request_id
        self.header = header
        self.events = events
        first = events[0]
        self.aggregate_id = first.aggregate_id
        self.version = first.version
        self.command_id = first.command_id

    @property
    def owner_id(self) -> str:
        """The owner, as the first event says."""
        return self.events[0].owner_id

    @property
    def space_id(self) -> str:
        """The space, as the first event says."""
        return self.events[0].space_id

    @property
    def create_time(self) -> int:
        """Epoch milliseconds, as the first event says."""
        return self.events[0].create_time

    @property
    def operator(self) -> str:
        """Who commanded it: the operator header, or empty (EVT-154)."""
        return self.header.get(COMMAND_OPERATOR, "")

    @property
    def size(self) -> int:
        """Number of events."""
        return len(self.events)

    def __iter__(self) -> Iterator[DomainEvent[Any]]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def __hash__(self) -> int:
        # Equal by value (EVT-052), and the id is the part of it that nobody changes.
        return hash(self.id)

    def copy(self) -> DomainEventStream:
        """Independent headers, shared bodies (EVT-013, EVT-051)."""
        events = self.events
        copies = (events[0].copy(),) if len(events) == 1 else tuple([event.copy() for event in events])
        return DomainEventStream(self.id, self.request_id, Header(self.header), copies)


@dataclass(slots=True, init=False)
class StateEvent(Generic[S]):
    """A stream together with the state after it (STA-042).

    Owner and space are the stream's, not the state aggregate's (STA-043).
    """

    __wowspec_envelope__: ClassVar[str] = "message"

    stream: DomainEventStream
    state: S
    first_operator: str = ""
    first_event_time: int = 0
    tags: dict[str, list[str]] = field(default_factory=dict)
    deleted: bool = False
    #: What the stream says, kept here because everybody asks for it.
    id: str = field(init=False, compare=False, repr=False)
    header: Header = field(init=False, compare=False, repr=False)
    aggregate_id: AggregateRef = field(init=False, compare=False, repr=False)
    version: int = field(init=False, compare=False, repr=False)
    command_id: str = field(init=False, compare=False, repr=False)
    #: The stream's owner, space and create time (epoch milliseconds), not the state aggregate's (STA-043).
    owner_id: str = field(init=False, compare=False, repr=False)
    space_id: str = field(init=False, compare=False, repr=False)
    event_time: int = field(init=False, compare=False, repr=False)

    def __init__(
        self,
        stream: DomainEventStream,
        state: S,
        first_operator: str = "",
        first_event_time: int = 0,
        tags: dict[str, list[str]] | None = None,
        deleted: bool = False,
    ) -> None:
        self.stream = stream
        self.state = state
        self.first_operator = first_operator
        self.first_event_time = first_event_time
        self.tags = {} if tags is None else tags
        self.deleted = deleted
        self.id = stream.id
        self.header = stream.header
        self.aggregate_id = stream.aggregate_id
        self.version = stream.version
        self.command_id = stream.command_id
        first = stream.events[0]
        self.owner_id = first.owner_id
        self.space_id = first.space_id
        self.event_time = first.create_time

    @property
    def event_id(self) -> str:
        """The stream's id, under the state aggregate's name for it."""
        return self.id

    @property
    def request_id(self) -> str:
        """The request id of the command."""
        return self.stream.request_id

    @property
    def operator(self) -> str:
        """The stream's operator."""
        return self.header.get(COMMAND_OPERATOR, "")

    @property
    def create_time(self) -> int:
        """The stream's create time, epoch milliseconds."""
        return self.stream.create_time

    @property
    def events(self) -> tuple[DomainEvent[Any], ...]:
        """The events of the stream."""
        return self.stream.events

    def __iter__(self) -> Iterator[DomainEvent[Any]]:
        return iter(self.stream.events)

    def copy(self) -> StateEvent[S]:
        """The stream part is copied, the state shared (STA-045)."""
        return replace(self, stream=self.stream.copy())
