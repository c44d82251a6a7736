"""PYTEST_DONT_REWRITE. One command inside its aggregate: ordered checks, functions, state machine (K, L, M).

Theory of operation. A `CommandAggregate` is made around a state aggregate for one command. `process` runs `CHECKS` in
their order, then the command function and its after-functions, builds the event stream, sources it into the working
state (STORED → SOURCED), and appends it (SOURCED → STORED, or EXPIRED if the append fails). Each failure passes the
error function, which may replace it but never undo it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import CoroutineType
from typing import Any, ClassVar, Final

from ..errors import (
    CommandExpectVersionConflictError,
    IllegalAccessDeletedAggregateError,
    IllegalAccessOwnerAggregateError,
    IllegalAccessSpaceAggregateError,
    IllegalArgumentError,
    IllegalStateError,
    NotFoundError,
    SpecError,
    UnsupportedOperationError,
)
from ..messages.envelopes import CommandMessage, DomainEventStream
from ..messages.exchange import ServerCommandExchange
from ..messages.streams import build_stream, flatten
from ..modeling.aggregates import AggregateMetadata
from ..modeling.builtin import RecoverAggregate
from ..modeling.functions import First, HandlerFunction
from ..modeling.identity import PROCESS_FUNCTION, AggregateRef
from ..texts import is_blank
from ..world.world import World
from .audit import Audit, Watch
from .invocation import call
from .sourcing import StateAggregate

#: Stores a command's stream; what it gives, if anything, must be awaited.
Append = Callable[[DomainEventStream, ServerCommandExchange[Any]], Awaitable[None] | None]


class CommandState(StrEnum):
    """State of one command aggregate object (section L)."""

    STORED = "STORED"
    SOURCED = "SOURCED"
    EXPIRED = "EXPIRED"


class Operation(StrEnum):
    """What a command state may be asked to do."""

    SOURCE = "source"
    STORE = "store"


# Each command asks for these several times, and a member of an enum takes four times as long to find as a name.
_STORED: Final = CommandState.STORED
_SOURCE: Final = Operation.SOURCE
_STORE: Final = Operation.STORE


@dataclass(frozen=True, slots=True)
class TransitionRow:
    """One legal transition; whatever is not here is an `UnsupportedOperationError` (CMD-234 to CMD-237)."""

    state: CommandState
    operation: Operation
    succeeds: CommandState
    fails: CommandState
    clause: str


TRANSITIONS: tuple[TransitionRow, ...] = (
    TransitionRow(CommandState.STORED, Operation.SOURCE, CommandState.SOURCED, CommandState.STORED, "CMD-234"),
    TransitionRow(CommandState.SOURCED, Operation.STORE, CommandState.STORED, CommandState.EXPIRED, "CMD-235"),
)


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One check before a command function: `refuse` gives the error, or None to go on."""

    name: str
    clause: str
    refuse: Callable[[CommandAggregate, CommandMessage[Any], StateAggregate], BaseException | None]


def _expected_version(_: CommandAggregate, message: CommandMessage[Any], state: StateAggregate) -> BaseException | None:
    expected = message.aggregate_version
    if expected is None or expected == state.version:
        return None
    return CommandExpectVersionConflictError(message, expected, state.version)


def _initialized(_: CommandAggregate, message: CommandMessage[Any], state: StateAggregate) -> BaseException | None:
    if state.version > 0 or message.is_create or message.allow_create:
        return None
    return NotFoundError(
        f"{message.aggregate_id} does not exist, and {message.name} neither creates it nor may create it"
    )


def _owner(_: CommandAggregate, message: CommandMessage[Any], state: StateAggregate) -> BaseException | None:
    owner = message.owner_id
    if not owner or state.version == 0 or is_blank(owner) or owner == state.owner_id:
        return None
    return IllegalAccessOwnerAggregateError(
        message.aggregate_id, f"{message.aggregate_id} belongs to owner {state.owner_id!r}, not {owner!r}"
    )


def _space(_: CommandAggregate, message: CommandMessage[Any], state: StateAggregate) -> BaseException | None:
    space = message.space_id
    if not space or state.version == 0 or is_blank(space) or space == state.space_id:
        return None
    return IllegalAccessSpaceAggregateError(
        message.aggregate_id, f"{message.aggregate_id} lies in space {state.space_id!r}, not {space!r}"
    )


def _stored(aggregate: CommandAggregate, message: CommandMessage[Any], _: StateAggregate) -> BaseException | None:
    if aggregate.command_state is _STORED:
        return None
    return IllegalStateError(f"{message.name} met a command aggregate that is {aggregate.command_state}")


def _recoverable(_: CommandAggregate, message: CommandMessage[Any], state: StateAggregate) -> BaseException | None:
    if state.deleted or not isinstance(message.body, RecoverAggregate):
        return None
    return IllegalStateError(f"{message.aggregate_id} is not deleted, so it cannot be recovered")


def _not_deleted(_: CommandAggregate, message: CommandMessage[Any], state: StateAggregate) -> BaseException | None:
    if not state.deleted or isinstance(message.body, RecoverAggregate):
        return None
    return IllegalAccessDeletedAggregateError(message.aggregate_id, f"{message.aggregate_id} is deleted")


def _defined(aggregate: CommandAggregate, message: CommandMessage[Any], _: StateAggregate) -> BaseException | None:
    command_class, metadata = type(message.body), aggregate.metadata
    if command_class in metadata.functions or command_class in metadata.built_in:
        return None
    root = metadata.command_class.__name__
    return IllegalArgumentError(f"{root} has no function for the command {command_class.__name__}")


#: The checks before a command function, in their order (section K).
CHECKS: tuple[CheckRow, ...] = (
    CheckRow("expected version", "CMD-209", _expected_version),
    CheckRow("exists", "CMD-212", _initialized),
    CheckRow("owner", "CMD-214", _owner),
    CheckRow("space", "CMD-214", _space),
    CheckRow("command state", "CMD-239", _stored),
    CheckRow("recover only what is deleted", "CMD-218", _recoverable),
    CheckRow("deleted", "CMD-217", _not_deleted),
    CheckRow("defined", "CMD-220", _defined),
)


class ArgumentMismatchError(IllegalArgumentError, TypeError):
    """A function was called with a message that is not of the type of its first parameter."""


class CommandAggregate:
    """The working instance that processes one command; an audit sees what its functions changed."""

    processor_name: ClassVar[str] = PROCESS_FUNCTION.processor_name

    __slots__ = ("_append", "_audit", "_watch", "_world", "command_state", "metadata", "root", "state")

    def __init__(
        self,
        metadata: AggregateMetadata,
        state: StateAggregate,
        append: Append,
        world: World,
        audit: Audit | None = None,
    ) -> None:
        self._audit = audit
        self._watch: Watch | None = None
        self.metadata: AggregateMetadata = metadata
        self.state: StateAggregate = state
        self.root: Any = metadata.make_root(state.state)
        self.command_state: CommandState = _STORED
        self._append = append
        self._world = world

    @property
    def aggregate_id(self) -> AggregateRef:
        """The instance's id."""
        return self.state.aggregate_id

    def __repr__(self) -> str:
        return f"CommandAggregate({self.metadata.command_class.__name__}, {self.state!r}, {self.command_state})"

    def process(self, exchange: ServerCommandExchange[Any]) -> Awaitable[DomainEventStream | None]:
        """Process the exchange's command; None if its function did nothing (CMD-224).

        Function and version are on the exchange before anything is awaited (CMD-208).

        Raises:
            Exception: whatever a check, a function, sourcing or the append raised, or the error function made of it.
        """
        exchange.function = PROCESS_FUNCTION
        exchange.aggregate_version = self.state.version
        return self._process(exchange)

    async def _process(self, exchange: ServerCommandExchange[Any]) -> DomainEventStream | None:
        exchange.command_aggregate = self
        try:
            message, state = exchange.message, self.state
            for check in CHECKS:
                refusal = check.refuse(self, message, state)
                if refusal is not None and not self._world.passes_over(check.name, message):
                    raise refusal  # noqa: TRY301 - the error function hears of it
            audit = self._audit
            if audit is not None:
                self._watch = audit.watch(exchange, self.state)
            result = self._main(exchange)
            if type(result) is CoroutineType:
                result = await result
            watch = self._watch
            if watch is not None and watch.running is not None:
                watch.ran()
            if result is not None:
                exchange.invoke_result = result
            after = self._after(exchange) if self.metadata.after else ()
            if after:
                result = await self._with_after(after, result, exchange)
            elif result is None:
                return None
            stream = self._decided(result, exchange)
            if audit is not None:
                audit.built(stream)
            self.source(stream)
            exchange.aggregate_version = stream.version
            storing = self._begin_store(self._transition(_STORE, stream), stream, exchange)
            if storing is not None:
                await storing
            if audit is not None:
                audit.done(stream, self.state)
        except Exception as error:
            await self._failed(exchange, error)
            raise
        return stream

    def _transition(self, operation: Operation, stream: DomainEventStream) -> TransitionRow:
        state = self.command_state
        for row in TRANSITIONS:
            if row.state is state and row.operation is operation:
                return row
        message = f"a {self.command_state} command aggregate cannot {operation} {stream.aggregate_id} v{stream.version}"
        raise UnsupportedOperationError(message)

    def source(self, stream: DomainEventStream) -> None:
        """Apply a stream to the working state.

        Raises:
            UnsupportedOperationError: unless the command state is STORED.
        """
        row = self._transition(_SOURCE, stream)
        self.state.on_sourcing(stream)
        self.command_state = row.succeeds

    def store(self, stream: DomainEventStream, exchange: ServerCommandExchange[Any]) -> Awaitable[None]:
        """Append the sourced stream.

        Raises:
            UnsupportedOperationError: at the call, unless the command state is SOURCED (CMD-236).
        """
        return self._store(self._transition(_STORE, stream), stream, exchange)

    async def _store(self, row: TransitionRow, stream: DomainEventStream, exchange: ServerCommandExchange[Any]) -> None:
        storing = self._begin_store(row, stream, exchange)
        if storing is not None:
            await storing

    def _begin_store(
        self, row: TransitionRow, stream: DomainEventStream, exchange: ServerCommandExchange[Any]
    ) -> Awaitable[None] | None:
        """Store at once where the append can; else gives the rest, to be awaited."""
        try:
            appending = self._append(stream, exchange)
        except Exception:
            self.command_state = row.fails
            raise
        if appending is not None:
            return self._appending(row, appending)
        self.command_state = row.succeeds
        return None

    async def _appending(self, row: TransitionRow, appending: Awaitable[None]) -> None:
        try:
            await appending
        except Exception:
            self.command_state = row.fails
            raise
        self.command_state = row.succeeds

    def _main(self, exchange: ServerCommandExchange[Any]) -> Any:
        """Run the command function; gives its result, or a coroutine of it (CMD-265)."""
        metadata, command_class = self.metadata, type(exchange.message.body)
        function = metadata.functions.get(command_class)
        if function is not None:
            exchange.function = function.info
            handler = function.handler
            if self._watch is not None:
                self._watch.running = handler
            return call(handler, self.root, exchange, self._world)
        row, info = metadata.built_in[command_class]
        exchange.function = info
        return row.answer(exchange.message.body)

    def _after(self, exchange: ServerCommandExchange[Any]) -> list[HandlerFunction]:
        """The after-functions of the command."""
        return [item for item in self.metadata.after if applies(item, type(exchange.message.body))]

    def makers(self, message: CommandMessage[Any]) -> list[HandlerFunction]:
        """The functions that make a command's events, for error texts."""
        kind = type(message.body)
        function = self.metadata.functions.get(kind)
        after = [item for item in self.metadata.after if applies(item, kind)]
        return [function.handler, *after] if function is not None else after

    def _decided(self, result: Any, exchange: ServerCommandExchange[Any]) -> DomainEventStream:
        """Build the stream of what the functions returned (CMD-266, CMD-280)."""
        state = self.state
        try:
            stream = exchange.event_stream = build_stream(
                result,
                command=exchange.message,
                aggregate_version=state.version,
                owner_id=state.owner_id,
                space_id=state.space_id,
                origin=self._world,
            )
        except SpecError as error:
            function = exchange.function
            place = f"{function.processor_name}.{function.name}" if function is not None else "?"
            raise SpecError(f"{place}: {error.what}", why=error.why, instead=error.instead) from None
        return stream

    def _invoke(self, handler: HandlerFunction, exchange: ServerCommandExchange[Any]) -> Any:
        if self._watch is not None:
            self._watch.running = handler
        return call(handler, self.root, exchange, self._world)

    async def _with_after(
        self, after: Sequence[HandlerFunction], result: Any, exchange: ServerCommandExchange[Any]
    ) -> list[Any]:
        events = [] if result is None else _flat(result)
        for item in after:
            body = exchange.message.body
            if item.first is First.BODY and not isinstance(body, item.supported):
                # The runtime does not match after-functions by their parameter (CMD-278): the call itself fails.
                wanted = " or ".join(cls.__name__ for cls in item.supported)
                message = f"{item.place} takes {wanted}, but was called after {type(body).__name__}"
                raise ArgumentMismatchError(message)
            more = self._invoke(item, exchange)
            if type(more) is CoroutineType:
                more = await more
            if self._watch is not None:
                self._watch.ran()
            if more is not None:
                events.extend(_flat(more))
        return events

    async def _failed(self, exchange: ServerCommandExchange[Any], error: Exception) -> None:
        """Run the error function; raises what goes on in place of `error`, if that is another one (section M.5)."""
        exchange.error = error
        watch = self._watch
        if watch is not None:
            watch.failed()
        handler = self.metadata.errors.get(type(exchange.message.body))
        if handler is None:
            return
        try:
            answer = self._invoke(handler, exchange)
            if type(answer) is CoroutineType:
                await answer
        finally:
            if watch is not None:
                watch.failed()
        replaced = exchange.failure()
        if replaced is not None and replaced is not error:
            raise replaced from error


def applies(function: HandlerFunction, command_class: type) -> bool:
    """Whether an after-command function runs: exclude wins over include, no include means all (CMD-276)."""
    mark = function.mark
    return command_class not in mark.exclude and (not mark.include or command_class in mark.include)


def _flat(result: Any) -> list[Any]:
    events = flatten(result)
    for index, event in enumerate(events):
        if event is None:
            # CMD-273: with after-functions the flattening step itself fails.
            message = f"element {index} of what the command function returned is None"
            raise TypeError(message)
    return events


#: For documentation: what CHECKS and TRANSITIONS are tables of.
TABLES: Final = ("CHECKS", "TRANSITIONS")
