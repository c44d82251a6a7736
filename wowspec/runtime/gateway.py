"""The command gateway: checks, sends, waits (sections E and F of the contract).

Everything is lazy: nothing happens before a coroutine is awaited or a stream is iterated, and each call repeats every
step (CMD-080). It depends on protocols alone: a bus, a request-id checker, a validator, a coordinator, a notifier.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from types import CoroutineType
from typing import Any, Final, Protocol, TypeVar

from ..errors import (
    CommandResultError,
    CommandValidationError,
    DuplicateRequestIdError,
    ErrorCode,
    IllegalArgumentError,
    ModelError,
)
from ..messages.envelopes import CommandMessage
from ..messages.wait_headers import read_wait_plan, write_wait_plan
from ..messages.wait_plans import DEFAULT_TIMEOUT_NANOS, SENT_STAGE, WaitPlan, processed, snapshot
from ..messages.wait_signals import CommandResult, result_of_error, result_of_signal, sent_signal
from ..modeling.identity import NamedAggregate, TopicKind
from ..world.points import COMMAND_BUS_SEND, COMMAND_VALIDATE, REQUEST_ID_CHECK
from ..world.scheduler import Cancelled
from ..world.trace import GATEWAY_ROOM, Lane, TraceRow, make_lane
from ..world.world import World
from .awaiting import FinalSignal, deadline_exceeded, waiting_task
from .buses import InMemoryCommandBus
from .request_ids import DefaultRequestIdChecker, RequestIdChecker
from .result_stream import ResultStream
from .validation import FieldValidator, Violations, validate_itself
from .waiting.coordinator import WaitCoordinator
from .waiting.handles import StreamHandle, WaitHandle
from .waiting.notifier import WaitNotifier, notify_if_wanted

T = TypeVar("T")
DEFAULT_ENDPOINT: Final = "local"


class CommandBus(Protocol):
    """Where commands go; freezes the header of what it accepts (CMD-136)."""

    async def send(self, message: CommandMessage[Any]) -> None:
        """Accept a command."""
        ...

    def receive(self, named: NamedAggregate, receiver: Callable[[CommandMessage[Any]], Any]) -> Any:
        """Give the commands of a type of aggregate to a receiver; may return a function that ends the subscription."""
        ...

    def close(self) -> None:
        """Accept and give no more."""
        ...


@dataclass(frozen=True, slots=True)
class PreCheck:
    """One check before a command is sent.

    Attributes:
        name: what it checks.
        clauses: the contract's clauses.
        raw: whether waiting calls raise its error as it is, instead of as the cause of a `CommandResultError`.
        run: the check; raises what it finds. What it gives, if anything, must be awaited.
    """

    name: str
    clauses: tuple[str, ...]
    raw: bool
    run: Callable[[CommandGateway, CommandMessage[Any], WaitPlan | None, Lane], Awaitable[None] | None]


class CommandGateway:
    """Sends commands, and waits for what becomes of them.

    Args:
        world: clock, scheduler, ids, trace.
        bus: where commands go.
        coordinator: where wait handles are registered.
        notifier: carries the SENT signal of a plain `send`.
        request_ids: whether a request id is new.
        validator: field validation.
        endpoint: where this process can be told of signals; written to wait headers (CMD-107).
    """

    __slots__ = ("bus", "coordinator", "endpoint", "notifier", "request_ids", "validator", "world")

    #: The gateway is itself a command bus (CMD-128).
    topic_kind = TopicKind.COMMAND
    #: This gateway keeps a plan's deadline itself; callers need none of their own (CMD-122).
    enforces_command_wait_timeout = True

    def __init__(
        self,
        world: World,
        bus: CommandBus,
        coordinator: WaitCoordinator,
        notifier: WaitNotifier,
        request_ids: RequestIdChecker,
        validator: FieldValidator,
        *,
        endpoint: str = DEFAULT_ENDPOINT,
    ) -> None:
        self.world: World = world
        self.bus: CommandBus = bus
        self.coordinator: WaitCoordinator = coordinator
        self.notifier: WaitNotifier = notifier
        self.request_ids: RequestIdChecker = request_ids
        self.validator: FieldValidator = validator
        self.endpoint: str = endpoint

    async def send(self, message: CommandMessage[Any]) -> None:
        """Check and send; every error is raised as it is (CMD-098).

        If the header holds a wait plan when the call ends, a SENT signal, failed or not, goes through the notifier
        (CMD-099 to CMD-102).
        """
        lane = _lane_of(message)
        try:
            checking = self._check(message, None, lane, None)
            if checking is not None:
                await checking
            sending = self._put(message, lane)
            if sending is not None:
                await sending
        except Exception as error:
            self._notify_sent(message, error, lane)
            raise
        self._notify_sent(message, None, lane)

    async def send_and_wait(self, message: CommandMessage[Any], plan: WaitPlan) -> CommandResult | None:
        """Send and wait for the final result; None if somebody else cancelled the wait (CMD-112, CMD-114).

        Raises:
            CommandResultError: a check or the bus failed, or the final signal is a failed one (CMD-110, CMD-113).
            IllegalArgumentError: the plan does not suit a void command, or its wait id is taken (CMD-103, CMD-106).
            DeadlineExceeded: the plan's deadline passed; the command may still be processed (CMD-121).
        """
        # In one piece, not from coroutines around each other: most commands take this way.
        scheduler = self.world.scheduler
        task = scheduler.current or waiting_task(scheduler)
        timer = scheduler.call_at(scheduler.clock.nanos + plan.timeout_nanos, task.cancel)
        try:
            lane = make_lane((GATEWAY_ROOM, message.aggregate_id.id, ""))
            checking = self._check(message, plan, lane, plan.wait_command_id)
            if checking is not None:
                await checking
            handle = self.coordinator.open_last(plan)
            try:
                sending = self._send_into(handle, message, lane)
                if sending is not None:
                    await sending
                signal = await FinalSignal(handle, scheduler)
            finally:
                handle.cancel()
        except Cancelled:
            if timer.fired:
                raise deadline_exceeded(message, plan.timeout_nanos) from None
            raise
        finally:
            timer.cancel()
        if signal is None:
            return None
        result = result_of_signal(signal, message)
        if result.error_code != ErrorCode.OK:
            raise CommandResultError(result, original=signal.original_error)
        return result

    def send_and_wait_stream(self, message: CommandMessage[Any], plan: WaitPlan) -> ResultStream:
        """Send and iterate over the result of every accepted signal; a failed one is an ordinary last item (CMD-115).

        Raises, while it is iterated, what `send_and_wait` raises, but for failed signals.
        """
        return ResultStream(self.world.scheduler, self._open_stream, message, plan)

    async def send_and_wait_for_sent(self, message: CommandMessage[Any]) -> CommandResult:
        """Send and make the SENT result oneself: no handle, no headers, no check of void commands (CMD-123, CMD-124).

        Raises:
            CommandResultError: a check or the bus failed (CMD-125).
            DeadlineExceeded: after 30 seconds (CMD-125).
        """
        return await self._before_deadline(self._wait_for_sent(message), message, DEFAULT_TIMEOUT_NANOS)

    async def send_and_wait_for_processed(self, message: CommandMessage[Any]) -> CommandResult | None:
        """`send_and_wait` for PROCESSED (CMD-126)."""
        return await self.send_and_wait(message, processed().plan(message.id))

    async def send_and_wait_for_snapshot(self, message: CommandMessage[Any]) -> CommandResult | None:
        """`send_and_wait` for SNAPSHOT (CMD-126)."""
        return await self.send_and_wait(message, snapshot().plan(message.id))

    def receive(self, named: NamedAggregate, receiver: Callable[[CommandMessage[Any]], Any]) -> None:
        """Receive from the wrapped bus (CMD-128)."""
        self.bus.receive(named, receiver)

    def close(self) -> None:
        """Close the wrapped bus (CMD-128)."""
        self.bus.close()

    async def _wait_for_sent(self, message: CommandMessage[Any]) -> CommandResult:
        lane = _lane_of(message)
        checking = self._check(message, None, lane, message.id)
        if checking is not None:
            await checking
        try:
            sending = self._put(message, lane)
            if sending is not None:
                await sending
        except Exception as error:
            raise self._wrapped(error, message, message.id) from error
        return result_of_signal(sent_signal(message, message.id, None, self.world.errors, self.world), message)

    async def _open_stream(self, message: CommandMessage[Any], plan: WaitPlan) -> StreamHandle:
        """Check, register a stream handle and send; what `ResultStream` starts with."""
        lane = _lane_of(message)
        checking = self._check(message, plan, lane, plan.wait_command_id)
        if checking is not None:
            await checking
        handle = self.coordinator.open_stream(plan)
        try:
            sending = self._send_into(handle, message, lane)
            if sending is not None:
                await sending
        except BaseException:
            handle.cancel()
            raise
        return handle

    # What follows works at once where it can, and gives a coroutine of the rest where something must be awaited.

    def _check(
        self, message: CommandMessage[Any], plan: WaitPlan | None, lane: Lane, wait_command_id: str | None
    ) -> Coroutine[Any, Any, None] | None:
        """Run the checks; with a wait id, their errors become the cause of a `CommandResultError`."""
        for row in PRE_CHECKS:
            try:
                checking = row.run(self, message, plan, lane)
            except Exception as error:
                if row.raw or wait_command_id is None:
                    raise
                raise self._wrapped(error, message, wait_command_id) from error
            if checking is not None:
                rest = PRE_CHECKS[PRE_CHECKS.index(row) :]
                return self._check_on(checking, rest, message, plan, lane, wait_command_id)
        return None

    async def _check_on(
        self,
        checking: Awaitable[None],
        rest: tuple[PreCheck, ...],
        message: CommandMessage[Any],
        plan: WaitPlan | None,
        lane: Lane,
        wait_command_id: str | None,
    ) -> None:
        row = rest[0]
        try:
            await checking
            for row in rest[1:]:
                more = row.run(self, message, plan, lane)
                if more is not None:
                    await more
        except Exception as error:
            if row.raw or wait_command_id is None:
                raise
            raise self._wrapped(error, message, wait_command_id) from error

    def _put(self, message: CommandMessage[Any], lane: Lane) -> Coroutine[Any, Any, None] | None:
        """Put the command on the bus."""
        bus = self.bus
        # The in-memory bus answers at once; any other one is awaited.
        put: Callable[[CommandMessage[Any]], Any] = bus.send_now if type(bus) is InMemoryCommandBus else bus.send
        sending = self.world.carry(COMMAND_BUS_SEND, lane, message, _command_type, put)
        return sending if type(sending) is CoroutineType else None

    def _send_into(
        self, handle: WaitHandle, message: CommandMessage[Any], lane: Lane
    ) -> Coroutine[Any, Any, None] | None:
        """Write the wait headers, send, and put SENT into the handle, not through the notifier (CMD-107 to CMD-110)."""
        try:
            write_wait_plan(handle.plan, self.endpoint, message.header)
            sending = self._put(message, lane)
        except Exception as error:
            raise self._not_sent(handle, message, error) from error
        if sending is not None:
            return self._sending_into(handle, message, sending)
        self._was_sent(handle, message)
        return None

    async def _sending_into(
        self, handle: WaitHandle, message: CommandMessage[Any], sending: Coroutine[Any, Any, None]
    ) -> None:
        try:
            await sending
        except Exception as error:
            raise self._not_sent(handle, message, error) from error
        self._was_sent(handle, message)

    def _not_sent(self, handle: WaitHandle, message: CommandMessage[Any], error: Exception) -> CommandResultError:
        world, wait_command_id = self.world, handle.plan.wait_command_id
        handle.next(sent_signal(message, wait_command_id, error, world.errors, world))
        handle.error(error)
        return self._wrapped(error, message, wait_command_id)

    def _was_sent(self, handle: WaitHandle, message: CommandMessage[Any]) -> None:
        plan, world = handle.plan, self.world
        # A handle of another make has no such marker, and always gets its SENT.
        skips = getattr(handle, "skips_successful_sent", False)
        if not skips or plan.target.stage is SENT_STAGE:
            handle.next(sent_signal(message, plan.wait_command_id, None, world.errors, world))

    def violations_of(self, message: CommandMessage[Any]) -> Violations:
        """What is wrong with the fields of a command's body."""
        return self.validator.validate(message.body)

    def _notify_sent(self, message: CommandMessage[Any], error: BaseException | None, lane: Lane) -> None:
        extracted = read_wait_plan(message.header)
        if extracted is None:
            return
        signal = sent_signal(message, extracted.wait_command_id, error, self.world.errors, self.world)
        notify_if_wanted(self.world, self.notifier, extracted, signal, lane, message)

    def _wrapped(self, error: Exception, message: CommandMessage[Any], wait_command_id: str) -> CommandResultError:
        result = result_of_error(error, message, wait_command_id, self.world.errors, self.world)
        return CommandResultError(result, original=error, wire_cause=error)

    async def _before_deadline(self, work: Coroutine[Any, Any, T], message: CommandMessage[Any], nanos: int) -> T:
        """Await work until a deadline that counts from now; it cancels the work, undoes nothing (CMD-119, CMD-121)."""
        scheduler = self.world.scheduler
        try:
            task = waiting_task(scheduler)
        except ModelError:
            work.close()
            raise
        timer = scheduler.call_at(scheduler.clock.nanos + nanos, task.cancel)
        try:
            return await work
        except Cancelled:
            if timer.fired:
                raise deadline_exceeded(message, nanos) from None
            raise
        finally:
            timer.cancel()


def _lane_of(message: CommandMessage[Any]) -> Lane:
    return Lane(GATEWAY_ROOM, message.aggregate_id.id)


def _plan_suits_command(
    gateway: CommandGateway,  # noqa: ARG001
    message: CommandMessage[Any],
    plan: WaitPlan | None,
    lane: Lane,  # noqa: ARG001
) -> None:
    if plan is not None and message.is_void and not plan.supports_void:
        text = (
            f"{message.name} is a void command, which no aggregate ever processes: it can be waited for until SENT, "
            f"not until {plan.stage}"
        )
        raise IllegalArgumentError(text)


def _note_answer(row: TraceRow, answer: Any) -> None:
    row.detail = "false" if answer is False else "true"


def _command_type(message: CommandMessage[Any]) -> str:
    return type(message.body).__name__


def _request_id_is_new(
    gateway: CommandGateway,
    message: CommandMessage[Any],
    plan: WaitPlan | None,  # noqa: ARG001
    lane: Lane,
) -> Awaitable[None] | None:
    checker = gateway.request_ids
    check: Callable[[CommandMessage[Any]], Any] = (
        checker.begin if type(checker) is DefaultRequestIdChecker else checker.check
    )
    answer = gateway.world.carry(REQUEST_ID_CHECK, lane, message, "true", check, settle=_note_answer, usual=True)
    if answer is True:
        return None
    if type(answer) is CoroutineType:
        return _answered(answer, message)
    _require_new(answer, message)
    return None


async def _answered(answering: Awaitable[Any], message: CommandMessage[Any]) -> None:
    _require_new(await answering, message)


def _require_new(answer: Any, message: CommandMessage[Any]) -> None:
    if answer is False:
        raise DuplicateRequestIdError(message.aggregate_id, message.request_id)


def _body_accepts_itself(
    gateway: CommandGateway,
    message: CommandMessage[Any],
    plan: WaitPlan | None,  # noqa: ARG001
    lane: Lane,  # noqa: ARG001
) -> None:
    try:
        validate_itself(message.body)
    except Exception:
        if not gateway.world.passes_over("its own validation", message):
            raise


def _note_violations(row: TraceRow, violations: Violations) -> None:
    if violations:
        row.outcome = f"violations:{len(violations)}"


def _fields_are_valid(
    gateway: CommandGateway,
    message: CommandMessage[Any],
    plan: WaitPlan | None,  # noqa: ARG001
    lane: Lane,
) -> None:
    # The point is traced, never faulted, and validation is plain: there is nothing to await.
    violations = gateway.world.carry(
        COMMAND_VALIDATE,
        lane,
        message,
        "",
        gateway.violations_of,
        settle=_note_violations,
        usual=(),
    )
    if violations and not gateway.world.passes_over("validation of its fields", message):
        raise CommandValidationError(message.body, violations)


#: In the order in which they run; a failure ends the call (CMD-081).
PRE_CHECKS: Final[tuple[PreCheck, ...]] = (
    PreCheck("the plan suits a void command", ("CMD-103", "CMD-104"), True, _plan_suits_command),
    PreCheck("the request id is new", ("CMD-081", "CMD-082", "CMD-083"), False, _request_id_is_new),
    PreCheck("the body accepts itself", ("CMD-084",), False, _body_accepts_itself),
    PreCheck("the fields are valid", ("CMD-085", "CMD-086"), False, _fields_are_valid),
)
