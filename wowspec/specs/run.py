"""What came of one `when`: outcome, ledgers, state, trace."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

from ..errors import CommandResultError, DeadlineExceeded, SpecError
from ..faults.arming import Fired
from ..messages.envelopes import CommandMessage, DomainEvent, DomainEventStream
from ..messages.exchange import ServerCommandExchange
from ..messages.wait_plans import WaitFor
from ..messages.wait_signals import CommandResult
from ..modeling.identity import AggregateRef
from ..runtime.sourcing import StateAggregate
from ..world.points import COMMAND_BUS_SEND, DOMAIN_EVENT_BUS_SEND, EVENT_DELIVER, STATE_EVENT_BUS_SEND
from ..world.scheduler import Task
from ..world.trace import TraceRow
from ..world.world import LoggedFailure, World
from .facts import Facts
from .laws import Breach
from .looking import copied
from .session import Session
from .showing import shown

#: Outcomes of a point at which its effect took place.
APPLIED: Final = frozenset(
    {"ok", "ack_lost", "ack_lost_permanent", "rival:ok", "duplicate", "reorder", "delay", "crash_after"}
)

#: Errors that are bugs of the handler: never an outcome unless named by type.
PROGRAMMING_ERRORS: Final = (
    AssertionError,
    TypeError,
    AttributeError,
    NameError,
    KeyError,
    IndexError,
    ImportError,
    ZeroDivisionError,
)


@dataclass(slots=True, eq=False, repr=False)
class Run:
    """One command and all that followed from it.

    Attributes:
        session: the world after it.
        command: what was sent, as the spec wrote it.
        message: its envelope; None where the command could not even be built.
        outcome: the command result, if the call returned one.
        failure: what the call raised, if it did.
        exchange: the command's way through the handler chain, if it got there.
        passed: which rows of the world's trace are this run's.
        logged: errors that the runtime logged and swallowed.
        signals: wait signals that reached the notifier.
        breaches: laws that did not hold.
        fired: faults that struck during this run.
        parent: the run before this one.
        decided: whether a verb of the spec said that it failed (or that its outcome is unknown).
        excused: logged errors that a verb of the spec named.
        earlier: how many of the logged errors came before it, while history was delivered.
        wait_for: what its sender waited for, where the spec says it.
        streams: what was stored during this run, where the world goes on with others; None: the world remembers.
    """

    session: Session
    command: Any
    message: CommandMessage[Any] | None
    outcome: CommandResult | None
    failure: BaseException | None
    exchange: ServerCommandExchange[Any] | None
    passed: range
    logged: list[LoggedFailure]
    signals: list[Any]
    breaches: list[Breach]
    fired: list[Fired]
    parent: Run | None = None
    decided: bool = False
    excused: set[int] = field(default_factory=set)
    earlier: int = 0
    wait_for: WaitFor | None = None
    streams: list[DomainEventStream] | None = None

    def __repr__(self) -> str:
        error = self.error
        if error is None:
            how = "succeeded"
        else:
            how = "outcome unknown" if self.is_unknown else f"failed with {type(error).__name__}"
        if self.message is not None:
            how += f", stored {', '.join(kind.__name__ for kind in self.stored.types) or 'nothing'}"
        return f"<Run of {shown(self.command)}: {how}>"

    # --- outcome ------------------------------------------------------------------------------------------------------

    @property
    def error(self) -> BaseException | None:
        """The error as its raiser raised it, or None; a client's deadline is a `DeadlineExceeded`."""
        failure = self.failure
        if isinstance(failure, CommandResultError):
            return failure.original or failure
        return failure

    @property
    def succeeded(self) -> bool:
        """Whether the command's sender was told of success."""
        return self.failure is None

    @property
    def is_unknown(self) -> bool:
        """Whether the sender's own deadline passed, or it waits for ever."""
        return isinstance(self.failure, DeadlineExceeded)

    @property
    def result(self) -> CommandResult | None:
        """The command result: of a success, or the one that the error carries."""
        failure = self.failure
        return failure.result if isinstance(failure, CommandResultError) else self.outcome

    # --- identity -----------------------------------------------------------------------------------------------------

    @property
    def reference(self) -> AggregateRef:
        """The command's aggregate instance."""
        if self.message is None:
            raise SpecError(
                f"{self.command!r} was refused before it had an aggregate",
                why="its fields were not valid, so there was no command to address",
                instead="expect_error(code='CommandValidation') alone",
            )
        return self.message.aggregate_id

    @property
    def aggregate_id(self) -> str:
        """The id of the command's aggregate."""
        return self.reference.id

    @property
    def command_id(self) -> str:
        """The command's id."""
        return self.message.id if self.message is not None else ""

    # --- ledgers ------------------------------------------------------------------------------------------------------

    @property
    def emitted(self) -> Facts[Any]:
        """What the command's functions returned, in the last attempt that returned anything."""
        stream = self.exchange.event_stream if self.exchange is not None else None
        return Facts.of_envelopes(stream.events if stream is not None else ())

    @property
    def stored(self) -> Facts[Any]:
        """The events of this command that its aggregate's history holds."""
        if self.message is None:
            return Facts()
        return _facts(stream for stream in self._stored() if stream.command_id == self.message.id)

    @property
    def events(self) -> Facts[Any]:
        """The stored events."""
        return self.stored

    @property
    def published(self) -> Facts[Any]:
        """The events of this command that the domain event bus accepted."""
        return _facts(
            row.subject for row in self._applied(DOMAIN_EVENT_BUS_SEND) if row.subject.command_id == self.command_id
        )

    @property
    def delivered(self) -> Facts[Any]:
        """The events of this command, or of `when_event`, that reached a function, once for each delivery.

        For a projection, whose spec needs no `when`: all that was given and reached it.
        """
        if self.message is None and self.command is None:
            return Facts.of_envelopes(row.subject for row in _deliveries(self.session.world.trace))
        rows = list(_deliveries(self.rows))
        # An event that is on its own is published at once, so that its delivery is the first.
        cause = self.command_id or (rows[0].subject.command_id if rows else "")
        return Facts.of_envelopes(row.subject for row in rows if row.subject.command_id == cause)

    @property
    def commands(self) -> Facts[Any]:
        """The commands that sagas sent, as the command bus accepted them."""
        return Facts.of_envelopes(
            row.subject for row in self._applied(COMMAND_BUS_SEND) if row.subject is not self.message
        )

    def views(self, projection: type) -> dict[str, Any]:
        """Copies of the rows that a projection keeps by now, by their ids."""
        return copy.deepcopy(dict(self.session.runtime.views.of(projection)))

    @property
    def state_events(self) -> int:
        """How many state events of this command the state event bus accepted."""
        return sum(1 for row in self._applied(STATE_EVENT_BUS_SEND) if row.subject.command_id == self.command_id)

    @property
    def all_events(self) -> Facts[Any]:
        """Every event that was stored since the command was sent: a rival's and a saga's too, in their order."""
        return _facts(self._stored())

    def _stored(self) -> list[DomainEventStream]:
        if self.streams is not None:
            return self.streams
        audit = self.session.runtime.audit
        return audit.stored if audit is not None else []

    def _applied(self, point: str) -> Iterator[TraceRow]:
        return (row for row in self.rows if row.point == point and row.outcome in APPLIED)

    # --- state --------------------------------------------------------------------------------------------------------

    @property
    def aggregate(self) -> StateAggregate:
        """A copy of the command's aggregate as its history says: version, owner, space, deleted, state."""
        return self.aggregate_of(self.reference)

    @property
    def state(self) -> Any:
        """A copy of its state."""
        return self.aggregate.state

    def aggregate_of(self, reference: AggregateRef) -> StateAggregate:
        """A copy of any aggregate; version 0 if it has no history."""
        return copied(self.session, reference)

    # --- telling ------------------------------------------------------------------------------------------------------

    def story(self) -> str:
        """What happened, as text: each point with lane and time, retries, faults, and what each ledger then held."""
        from .telling import story

        return story(None, self)

    def __rich__(self) -> Any:
        """The story in colours, where `rich` prints it; the extra `rich` brings it."""
        from .telling import coloured

        # By name: type checkers need not have it.
        text: Any = import_module("rich.text")
        return text.Text.from_ansi(coloured(self.story()))

    # --- what happened ------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> list[TraceRow]:
        """The rows of this run, in the order of time."""
        return self.session.world.trace.rows[self.passed.start : self.passed.stop]

    @property
    def trace(self) -> list[TraceRow]:
        """The same as `rows`."""
        return self.rows

    @property
    def attempts(self) -> int:
        """How often the aggregate processed the command: one, and one for each retry."""
        return self.exchange.attempts if self.exchange is not None else 0

    def rows_of(self, point: str) -> list[TraceRow]:
        """The rows of one point, such as `event_store.append`."""
        return [row for row in self.rows if row.point == point]

    def unexpected(self) -> list[tuple[int, LoggedFailure]]:
        """Logged errors that no fault injected, that are not this command's own, and that no verb named."""
        return [
            (index, entry)
            for index, entry in enumerate(self.logged)
            if index not in self.excused and not self._is_own(entry) and not self._is_injected(entry)
        ]

    def _is_own(self, entry: LoggedFailure) -> bool:
        return self.message is not None and entry.subject is self.message

    def _is_injected(self, entry: LoggedFailure) -> bool:
        struck = [row.error for row in self.session.world.trace.rows if row.was_struck]
        return any(error is other for error in _causes(entry.error) for other in struck)


def failure_of(task: Task[Any], message: CommandMessage[Any], world: World | None = None) -> BaseException | None:
    """What a call raised; one that hangs without a deadline, as a plain send may, is as unknown as one whose passed.

    So is one whose process has died, as a look at its world may tell.
    """
    if task.done:
        return task.error
    lost = None if world is None else lost_with(world, f"the sender of {message.name} for {message.aggregate_id}")
    return lost or DeadlineExceeded(
        f"the sender of {message.name} for {message.aggregate_id} has no deadline, and waits for ever: its outcome is "
        "unknown"
    )


def lost_with(world: World, name: str) -> DeadlineExceeded | None:
    """What a call that never ended comes to in a world whose process has died; None: it has not."""
    if not world.deaths:
        return None
    return DeadlineExceeded(f"the process of {name} has died: its outcome is unknown")


def _deliveries(rows: Iterable[TraceRow]) -> Iterator[TraceRow]:
    return (row for row in rows if row.point.startswith(EVENT_DELIVER) and row.outcome in APPLIED)


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in seen:
        seen.append(current)
        yield current
        current = current.__cause__


def _facts(streams: Iterable[DomainEventStream]) -> Facts[Any]:
    events: list[DomainEvent[Any]] = []
    for stream in streams:
        events.extend(stream.events)
    return Facts.of_envelopes(events)
