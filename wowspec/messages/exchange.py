"""Exchanges: a message on its way through a handler chain, with the attributes that filters leave on it (section O)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from ..error_policy import as_error_info
from ..errors import DomainEventError
from ..modeling.identity import AggregateRef, FunctionInfo
from .envelopes import CommandMessage, DomainEvent, DomainEventStream, StateEvent
from .header import Header

C = TypeVar("C")
E = TypeVar("E")
S = TypeVar("S")


class CommandResultAccessor(Protocol):
    """What a handler asks for to hand values to the waiting caller."""

    def set_command_result(self, key: str, value: Any) -> None:
        """Add or replace one entry of the command's result map (CMD-318)."""
        ...

    def get_command_result(self) -> dict[str, Any]:
        """The result map so far."""
        ...


@dataclass(slots=True, eq=False)
class ExchangeBase:
    """What every exchange has: error, function, service provider, result map.

    `lane` is whose work it is, for the trace; `delivery` is what the bus wants to hear of; None in memory (EVT-099).
    """

    __wowspec_envelope__: ClassVar[str] = "exchange"

    # Each sort of exchange says of what sort its message is; no field is given by keyword alone, since the default of
    # such a one is looked up in a dictionary each time.
    message: Any
    function: FunctionInfo | None = None
    services: Any = None
    command_result: dict[str, Any] = field(default_factory=dict)
    error: BaseException | None = None
    lane: Any = None
    delivery: Any = None

    def set_command_result(self, key: str, value: Any) -> None:
        """Add or replace one entry; maps handed out earlier do not change (CMD-318)."""
        self.command_result = {**self.command_result, key: value}

    def get_command_result(self) -> dict[str, Any]:
        """The result map so far."""
        return self.command_result

    async def acknowledge(self) -> None:
        """Tell the bus that the message was handled; nothing in memory (EVT-099)."""
        if self.delivery is not None:
            await self.delivery.acknowledge()

    def set_error(self, error: BaseException) -> None:
        """Record an error."""
        self.error = error

    def clear_error(self) -> None:
        """Forget the recorded error."""
        self.error = None


@dataclass(slots=True, eq=False)
class ServerCommandExchange(ExchangeBase, Generic[C]):
    """A command on its way through the command handler chain.

    What belongs to the exchange survives a retry: result map, invoke result, event stream, function, version (CMD-198).
    `attempts` counts how often processing was begun.
    """

    message: CommandMessage[C]
    aggregate_version: int | None = None
    aggregate_metadata: Any = None
    aggregate_processor: Any = None
    command_aggregate: Any = None
    invoke_result: Any = None
    event_stream: DomainEventStream | None = None
    attempts: int = 0

    @property
    def header(self) -> Header:
        """The message's header."""
        return self.message.header

    @property
    def aggregate_id(self) -> AggregateRef:
        """The message's target."""
        return self.message.aggregate_id

    def failure(self) -> BaseException | None:
        """The recorded error, else the first event that is itself a failed error info (CMD-319)."""
        if self.error is not None:
            return self.error
        if self.event_stream is not None:
            for event in self.event_stream.events:
                info = as_error_info(event.body)
                if info is not None and not info.succeeded:
                    return DomainEventError(event, info.error_code, info.error_msg)
        return None


@dataclass(slots=True, eq=False)
class DomainEventExchange(ExchangeBase, Generic[E]):
    """One event on its way to one function.

    `command_stream` is what a saga function sent, once it is done (SAG-012).
    """

    message: DomainEvent[E]
    command_stream: Any = None
    event_function: Any = None

    @property
    def header(self) -> Header:
        """The event's header."""
        return self.message.header

    @property
    def aggregate_id(self) -> AggregateRef:
        """The event's aggregate."""
        return self.message.aggregate_id

    @property
    def aggregate_version(self) -> int:
        """The event's version (CMD-317)."""
        return self.message.version

    def failure(self) -> BaseException | None:
        """The recorded error."""
        return self.error


@dataclass(slots=True, eq=False)
class StateDomainEventExchange(DomainEventExchange[E], Generic[S, E]):
    """One event of a state event on its way to one state-event function (EVT-097)."""

    state_event: StateEvent[S] | None = None


@dataclass(slots=True, eq=False)
class StateEventExchange(ExchangeBase, Generic[S]):
    """A whole state event on its way through the snapshot chain."""

    message: StateEvent[S]

    @property
    def header(self) -> Header:
        """The state event's header."""
        return self.message.header

    @property
    def aggregate_id(self) -> AggregateRef:
        """The state event's aggregate."""
        return self.message.aggregate_id

    @property
    def aggregate_version(self) -> int:
        """The stream's version."""
        return self.message.version

    def failure(self) -> BaseException | None:
        """The recorded error."""
        return self.error
