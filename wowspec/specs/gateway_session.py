"""What a gateway fixture holds: a session that is made at its first use, and what must be judged when its test ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from pydantic import ValidationError

from ..errors import CommandResultError, SpecError, SpecFailure
from ..faults.arming import ArmedFault
from ..faults.values import Fault
from ..messages.commands import CommandBuilder
from ..messages.envelopes import CommandMessage
from ..messages.stages import CommandStage
from ..messages.wait_signals import CommandResult
from ..modeling.commands import command_metadata
from ..modeling.identity import DEFAULT_TENANT_ID, GATEWAY_FUNCTION
from ..runtime.system import Runtime
from ..world.clock import DEFAULT_START_NANOS
from ..world.scheduler import Task
from ..world.world import LoggedFailure
from . import tracking
from .defaults import WorldPlan
from .execution import fault_target, refusal
from .gateway_calls import StartedCall
from .items import CommandOf, CommandOptions, SentCommand
from .laws import check_laws
from .layout import several
from .placing import Place, place_of_caller, raise_at
from .render import render
from .run import lost_with
from .saying import traceback_text
from .session import Session, new_session
from .story import rows_text
from .unstruck import mend_of_point


@dataclass(slots=True)
class Arming:
    """A fault that was given to `world.arm(...)` at a line of the test, and how it fares, once there is a world."""

    fault: Fault
    place: Place
    armed: ArmedFault | None = None

    def unstruck_text(self, runtime: Runtime | None) -> str:
        """That it never struck, and why."""
        fault, visits = self.fault, self.armed.visits if self.armed is not None else 0
        whose = "" if fault.aggregate is None else f" by {render(fault.aggregate)}"
        passed = f"was visited {several(visits, 'time')}" if visits else "was not visited"
        waits = f", and it waits for visit {fault.at}" if fault.at > 1 else ""
        why, instead = mend_of_point(fault, runtime, "gateway.world.") or (
            f"the point {fault.point} {passed}{whose}{waits}, so the test says nothing of it",
            "a point that the test's commands pass (see gateway.world.trace), a smaller at=",
        )
        return (
            f"the fault {fault}, armed at {self.place}, never struck\n"
            f"  why: {why}\n"
            f"  instead: {instead}, or gateway.world.disarm() where it may stay out"
        )


class GatewaySession:
    """One world for one gateway, made at the first use; everything that is said before shapes it.

    A *step* is what the laws look at: it begins with a call and ends when the world has come to rest.
    """

    __slots__ = (
        "_armings", "_closed", "_in_step", "_logged", "_looked", "_made", "_moves", "_own", "_prepare", "_rows",
        "_told", "calls", "laws_off", "plan", "start_nanos",
    )  # fmt: skip

    def __init__(self) -> None:
        self.plan: WorldPlan = WorldPlan()
        self.start_nanos: int = DEFAULT_START_NANOS
        self.laws_off: frozenset[str] = frozenset()
        #: Calls that were started, in their order.
        self.calls: list[StartedCall] = []
        self._prepare: list[Callable[[Session], None]] = []
        self._made: Session | None = None
        self._closed = ""
        self._armings: list[Arming] = []
        self._in_step = False
        self._rows = 0
        self._logged = 0
        #: How many errors were logged before each call that moved the world, and where it stands.
        self._moves: list[tuple[int, Place]] = []
        #: How many of the logged errors the test has looked at.
        self._looked = 0
        #: Ids of the commands that were sent, and errors that their sender was told of.
        self._own: list[str] = []
        self._told: list[BaseException] = []
        tracking.watch(self)

    # --- use ----------------------------------------------------------------------------------------------------------

    def enter(self) -> None:
        """Refuse use after the test ended; let the running test judge this gateway when it ends.

        Raises:
            SpecError: if it was closed.
        """
        if self._closed:
            raise SpecError(
                f"the gateway of {self._closed} was used after its test ended",
                why="each test has a world of its own, and that one is over",
                instead="the `gateway` fixture of this test, or wowspec.Gateway() where you make one yourself",
            )
        tracking.watch(self)

    def close(self, test: str) -> None:
        """Refuse use from here on."""
        self._closed = test
        self.abandon()

    def abandon(self) -> None:
        """Give up what could still move, such as what follows after a stream of results that was left early."""
        if self._made is not None and not self._made.world.scheduler.seats:
            self._made.world.scheduler.abandon()

    @property
    def made(self) -> Session | None:
        """The session, if there was a first use."""
        return self._made

    @property
    def session(self) -> Session:
        """The session; made now at the latest."""
        session = self._made
        if session is None:
            session = new_session(
                self.plan.held_parts(),
                self.plan.profile,
                self.start_nanos,
                filters=self.plan.filters,
                prepare=self._prepare,
            )
            self._made = session
            for arming in self._armings:
                _arm(session, arming)
        return session

    def say(self, word: Callable[[Session], None]) -> None:
        """Do something to the session, at once or as soon as there is one."""
        if self._made is None:
            self._prepare.append(word)
        else:
            self.require_rest()
            word(self._made)

    def arm(self, faults: tuple[Fault, ...]) -> None:
        """Arm faults; their visits are counted from now."""
        for fault in faults:
            arming = Arming(fault, place_of_caller())
            self._armings.append(arming)
            if self._made is not None:
                _arm(self._made, arming)

    def disarm(self, faults: tuple[Fault, ...]) -> None:
        """Take faults out again, all if none is named; they need not have struck."""
        gone = [arming for arming in self._armings if not faults or arming.fault in faults]
        self._armings = [arming for arming in self._armings if arming not in gone]
        armory = self._made.runtime.armory if self._made is not None else None
        if armory is not None:
            armory.armed = [armed for armed in armory.armed if all(armed is not arming.armed for arming in gone)]

    def require_rest(self) -> None:
        """Refuse what would move the world while somebody else moves it.

        Raises:
            SpecError: inside a handler, or while an asynchronous call is under way.
        """
        scheduler = self._made.world.scheduler if self._made is not None else None
        if scheduler is None:
            return
        if scheduler.current is not None:
            raise SpecError(
                "the gateway was used inside a handler",
                why="the handler runs because the gateway's world is being driven, which cannot be done twice",
                instead="let a saga send commands, or call the gateway from the test",
            )
        if scheduler.seats:
            raise SpecError(
                "the synchronous gateway was used while an asynchronous call is under way",
                why="it would have to wait for what only the event loop can bring",
                instead="await gateway.aio.…(...), or await the other call first",
            )

    @property
    def can_move(self) -> bool:
        """Whether there is a world, and anything in it that can still move."""
        return self._made is not None and not self._made.world.scheduler.is_idle

    # --- steps --------------------------------------------------------------------------------------------------------

    def begin(self) -> Session:
        """A call begins.

        Raises:
            SpecError: after the test, or inside a handler.
        """
        self.enter()
        session = self.session
        world = session.world
        if world.scheduler.current is not None:
            self.require_rest()
        if not self._in_step:
            audit = session.runtime.audit
            assert audit is not None
            audit.begin_step()
            self._in_step = True
            self._rows = len(world.trace)
            self._logged = len(world.log)
        return session

    def moved_by(self, place: Place) -> None:
        """The world is moved by a line of the test: what goes wrong unseen is told there."""
        logged = len(self._made.world.log) if self._made is not None else 0
        if self._moves and self._moves[-1][0] == logged:
            self._moves.pop()  # nothing was logged since, so nothing is told there
        self._moves.append((logged, place))

    def end(self, failure: BaseException | None = None) -> None:
        """A call ended. Raises an author's error first, then broken laws (if the world is at rest), then the failure.

        Raises:
            SpecError: if the author of a spec or domain erred.
            SpecFailure: if a law was broken.
            BaseException: the failure.
        """
        __tracebackhide__ = True
        session = self._made
        assert session is not None
        self._raise_author_errors(session, failure)
        if failure is not None:
            self._told += [failure, getattr(failure, "original", None) or failure]
        if self._in_step and not session.world.scheduler.seats and session.world.scheduler.is_idle:
            self._in_step = False
            breaches = check_laws(session.runtime, self.laws_off, session.shadows, session.initial)
            if breaches:
                texts = "\n".join(breach.text for breach in breaches).replace(
                    " .without_law(", " gateway.world.without_law("
                )
                raise SpecFailure(f"{texts}\n{rows_text(session.world.trace.rows[self._rows :])}") from failure
        if failure is not None:
            raise failure

    def end_of(self, task: Task[Any], name: str) -> Any:
        """The result of a call's task, after `end`.

        Raises:
            SpecError: if it never returned.
        """
        __tracebackhide__ = True
        self.end(task.error)
        if not task.done:
            self.end(lost_with(self.session.world, f"gateway.{name}(...)"))
            raise SpecError(
                f"gateway.{name}(...) never returns",
                why="what it waits for hangs, and this call has no deadline",
                instead="gateway.send_and_wait(...), whose deadline passes on virtual time",
            )
        return task.result()

    def _raise_author_errors(self, session: Session, failure: BaseException | None) -> None:
        __tracebackhide__ = True
        world = session.world
        if world.spec_errors:
            error = world.spec_errors[0]
            world.spec_errors.clear()
            self._told.append(error)
            raise error
        if failure is None and len(world.log) == self._logged:
            return
        found = [getattr(failure, "original", None) or failure]
        found += [entry.error for entry in world.log[self._logged :] if entry.error not in self._told]
        for each in found:
            if isinstance(each, SpecError):
                self._told.append(each)
                raise each

    # --- commands -----------------------------------------------------------------------------------------------------

    def message(self, command: Any, said: CommandOptions) -> CommandMessage[Any]:
        """The message of a command in any of the forms that the gateway takes.

        Raises:
            SpecError: for anything else.
            ValidationError: if the class of a `command_of(...)` refuses its fields.
        """
        session = self.session
        if isinstance(command, SentCommand) and said == CommandOptions():
            command, said = command.command, command.options
        if isinstance(command, CommandOf):
            command = command.command_class(**command.fields)
        if isinstance(command, CommandMessage | CommandBuilder):
            message = self._ready_message(session, command, said)
        else:
            if isinstance(command, type) or command is None:
                name = getattr(command, "__name__", command)
                raise SpecError(
                    f"the gateway was given {name}, which is no command",
                    why="it sends a command, in an envelope of its own",
                    instead=f"{name}(...), or command_of({name}, ...)" if command else "CreateOrder(...)",
                )
            self._forget_spoken(session, command, said)
            message = session.message(command, said)
        self._own.append(message.id)
        return message

    def _ready_message(
        self, session: Session, command: CommandMessage[Any] | CommandBuilder[Any], said: CommandOptions
    ) -> CommandMessage[Any]:
        if said != CommandOptions():
            shown = type(command).__name__
            option = next(name for name in said.__dataclass_fields__ if getattr(said, name) is not None)
            raise SpecError(
                f"{option}= beside a {shown}",
                why="the envelope says that already",
                instead=f"say it when the {shown} is made, or give the gateway the bare command",
            )
        if isinstance(command, CommandBuilder):
            command = command.to_command_message(session.world, scopes=session.runtime)
        if command.aggregate_id.named_aggregate not in session.runtime.catalog.aggregates:
            session.aggregate_of_command(type(command.body))
        session.speak_of(command.aggregate_id)
        return command

    @staticmethod
    def _forget_spoken(session: Session, body: Any, said: CommandOptions) -> None:
        """A create command without an id makes a new aggregate at each call, as in production."""
        about = command_metadata(type(body))
        if about.is_create and said.aggregate_id is None:
            session.spoken.pop(session.aggregate_of_command(type(body)).named, None)

    def refused(self, command: CommandOf, said: CommandOptions, error: ValidationError, *, waits: bool) -> Exception:
        """What a caller is told of a command whose class refused its fields: what field validation would say."""
        session = self.session
        failure = refusal(session, command, error)
        if not waits:
            return failure
        world, named = session.world, session.aggregate_of_command(command.command_class).named
        command_id = world.next_id()
        info = world.errors.info(failure)
        result = CommandResult(
            world.next_id(),
            command_id,
            CommandStage.SENT,
            named.context_name,
            named.aggregate_name,
            said.tenant_id or DEFAULT_TENANT_ID,
            _own_id(command) or said.aggregate_id or "",
            None,
            said.request_id or command_id,
            command_id,
            GATEWAY_FUNCTION,
            info.error_code,
            info.error_msg,
            info.binding_errors,
            {},
            world.now_millis(),
            failure,
        )
        return CommandResultError(result, original=failure, wire_cause=failure)

    # --- when the test ends -------------------------------------------------------------------------------------------

    def logged(self) -> list[LoggedFailure]:
        """The errors that the runtime logged and swallowed; who asks has looked at them."""
        log = self._made.world.log if self._made is not None else []
        self._looked = len(log)
        return list(log)

    def settle(self) -> None:
        """Require that every armed fault struck, and that no error went by unseen; each is told once.

        Raises:
            SpecFailure: for the first that was not, calls that were started before all.
        """
        __tracebackhide__ = True
        for call in self.calls:
            call.settle()
        missing = [arming for arming in self._armings if arming.armed is None or not arming.armed.struck]
        if missing:
            self._armings = [arming for arming in self._armings if arming not in missing]
            raise_at(
                missing[0].place,
                SpecFailure(missing[0].unstruck_text(self._made.runtime if self._made is not None else None)),
            )
        for entry in self._unseen():
            session = self.session
            place = self._place_of(session.world.log.index(entry))
            self.logged()
            subject = getattr(entry.subject, "body", entry.subject)
            text = (
                f"the runtime logged and swallowed an error at {entry.point}: {type(entry.error).__name__}\n"
                f"  while handling {render(subject)}\n"
                f"{traceback_text(entry.error)}\n"
                f"{rows_text(session.world.trace.rows)}\n"
                "  why: the command's sender is told of success, and yet something downstream did not happen\n"
                "  if it should: look at gateway.world.logged"
            )
            raise_at(place, SpecFailure(text))

    def _place_of(self, index: int) -> Place | None:
        """The call that moved the world when an error was logged, where it is known."""
        return next((place for logged, place in reversed(self._moves) if logged <= index), None)

    def _unseen(self) -> list[LoggedFailure]:
        """Logged errors that nobody looked at, no sender was told of, no fault caused, and that are downstream."""
        if self._made is None:
            return []
        world = self._made.world
        known = [*self._told, *(row.error for row in world.trace.rows if row.error and row.was_struck)]
        return [
            entry
            for entry in world.log[self._looked :]
            if getattr(entry.subject, "id", None) not in self._own
            and not any(error is other for error in _causes(entry.error) for other in known)
        ]


def _own_id(command: CommandOf) -> str | None:
    """The id among the fields of a command that was never made."""
    about = command_metadata(command.command_class)
    try:
        own = about.aggregate_id(SimpleNamespace(**command.fields)) if about.aggregate_id is not None else None
    except Exception:  # noqa: BLE001 - a getter of the author's, on what is no command
        return None
    return own if isinstance(own, str) else None


def _arm(session: Session, arming: Arming) -> None:
    target = fault_target(session, arming.fault.aggregate)
    arming.armed = session.runtime.arm_fault(arming.fault, target)


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and all(current is not other for other in found):
        found.append(current)
        current = current.__cause__
    return found
