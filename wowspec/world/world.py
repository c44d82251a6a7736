"""PYTEST_DONT_REWRITE. A world: one clock, one scheduler, one source of ids, one trace; every effect passes `at`.

It knows nothing of commands or events. Theory of `at`: a point is entered, the injector (if faults are armed) is asked
what strikes at this visit, the effect runs or not, and one trace row says what happened.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from types import CoroutineType
from typing import Any, Protocol

from ..error_policy import ErrorPolicy
from ..errors import InjectedFault, InjectedTimeout, ModelError, RetriesExhaustedError, SpecError, WowError
from ..messages.ids import DEFAULT_MACHINE_ID, IdGenerator
from .clock import NANOS_PER_MILLI, VirtualClock
from .points import FaultKind
from .scheduler import Scheduler, Task
from .services import ServiceProvider
from .trace import Detail, Lane, Trace, TraceRow, made_row


class Strike(Protocol):
    """What an armed fault does at one visit."""

    @property
    def kind(self) -> FaultKind:
        """The kind that applies."""
        ...

    @property
    def payload(self) -> Any:
        """What the kind needs besides, such as a rival's events."""
        ...


class Injector(Protocol):
    """Decides which fault strikes at a visit."""

    def visit(self, row: TraceRow) -> Strike | None:
        """Count a visit of a point; what strikes there, or None."""
        ...

    def aims_at(self, prefix: str) -> bool:
        """Whether any fault is armed at a point whose text begins so."""
        ...


@dataclass(frozen=True, slots=True)
class LoggedFailure:
    """An error that the runtime logs and swallows: where, on whose account, and the error."""

    point: str
    subject: Any
    error: BaseException

    @property
    def cause(self) -> BaseException:
        """The error that its raiser raised: the last one, where retries were exhausted."""
        cause = self.error.__cause__
        return cause if isinstance(self.error, RetriesExhaustedError) and cause is not None else self.error

    @property
    def place(self) -> str:
        """The function that it came from, as the point says it; else the point."""
        return self.point.partition(":")[2] or self.point


class World:
    """One isolated world of a spec."""

    __slots__ = (
        "_keep", "clock", "errors", "ids", "injector", "log", "parts", "scheduler", "services", "spec_errors", "trace",
    )  # fmt: skip

    def __init__(
        self,
        *,
        clock: VirtualClock | None = None,
        machine_id: int = DEFAULT_MACHINE_ID,
        errors: ErrorPolicy | None = None,
    ) -> None:
        self.clock = clock or VirtualClock()
        self.scheduler = Scheduler(self.clock)
        self.ids = IdGenerator(machine_id)
        self.trace = Trace()
        self._keep = self.trace.kept.append
        self.services = ServiceProvider()
        self.errors = errors or ErrorPolicy()
        self.log: list[LoggedFailure] = []
        self.spec_errors: list[SpecError] = []
        self.injector: Injector | None = None
        #: What functions are given besides services, by the class that asks and the type that it asks for. Each world
        #: has its own; services are shared by copies of a world.
        self.parts: Callable[[type | None, type], Any] | None = None

    def next_id(self) -> str:
        """A new global id."""
        return self.ids.next_id(self.clock.nanos // NANOS_PER_MILLI)

    def now_millis(self) -> int:
        """Epoch milliseconds of virtual time."""
        return self.clock.nanos // NANOS_PER_MILLI

    def log_failure(self, point: str, subject: Any, error: BaseException) -> None:
        """Record an error that is logged and swallowed."""
        self.log.append(LoggedFailure(point, subject, error))

    def blame_author(self, error: SpecError) -> SpecError:
        """Remember that the author of the spec erred: whatever the pipeline makes of it, this is what must be shown."""
        self.spec_errors.append(error)
        return error

    def current_task(self) -> Task[Any] | None:
        """The task that is being stepped."""
        return self.scheduler.current

    async def at(
        self,
        point: str,
        lane: Lane,
        subject: Any,
        detail: Detail,
        effect: Callable[[], Any],
        *,
        rival: Callable[[Any], Any] | None = None,
        conflict: Callable[[], BaseException] | None = None,
        settle: Callable[[TraceRow, Any], None] | None = None,
    ) -> Any:
        """As `enter`, always to be awaited."""
        result = self.enter(point, lane, subject, detail, effect, rival=rival, conflict=conflict, settle=settle)
        return await result if type(result) is CoroutineType else result

    def enter(
        self,
        point: str,
        lane: Lane,
        subject: Any,
        detail: Detail,
        effect: Callable[[], Any],
        *,
        rival: Callable[[Any], Any] | None = None,
        conflict: Callable[[], BaseException] | None = None,
        settle: Callable[[TraceRow, Any], None] | None = None,
    ) -> Any:
        """As `carry`, for an effect that is not given the subject, nor are `rival` (payload alone) and `conflict`."""
        return self.carry(
            point,
            lane,
            subject,
            detail,
            lambda _: effect(),
            rival=None if rival is None else lambda _, payload: rival(payload),
            conflict=None if conflict is None else lambda _: conflict(),
            settle=settle,
        )

    def carry(
        self,
        point: str,
        lane: Lane,
        subject: Any,
        detail: Detail,
        effect: Callable[[Any], Any],
        rival: Callable[[Any, Any], Any] | None = None,
        conflict: Callable[[Any], BaseException] | None = None,
        settle: Callable[[TraceRow, Any], None] | None = None,
        usual: Any = None,
    ) -> Any:
        """Pass a point: let faults strike, run the effect (plain or a coroutine), write one trace row.

        Gives the effect's result, or a coroutine of it where something must be awaited; the coroutine's class tells
        (`CoroutineType`). Where no fault is armed and the effect is plain, no coroutine is made.

        Args:
            point: text of the point, such as `event_store.append`.
            lane: whose work this is; faults address it by its aggregate id.
            subject: the message concerned.
            detail: what passes, for the trace: text, or a function of the subject.
            effect: the effect itself; gets the subject.
            rival: for `rival`: lets another writer go first; gets the subject and the fault's payload.
            conflict: for `conflict`: makes the bare conflict error; gets the subject.
            settle: writes on the row what came of the effect, where that is known only afterwards.
            usual: the result for which `detail` already says it, so that `settle` need not be asked.
        """
        if self.injector is not None:
            return self._pass_armed(point, lane, subject, detail, effect, rival, conflict, settle)
        passed = (self.clock.nanos, point, lane, subject, detail)
        self._keep(passed)
        try:
            result = effect(subject)
        except Exception as error:
            row = self.trace.row_of(passed, known=settle is None)
            _failed(row, error)
            raise
        if type(result) is not CoroutineType and (settle is None or result is usual):
            return result
        return self._settled(self.trace.row_of(passed), result, settle)

    def _pass_armed(
        self,
        point: str,
        lane: Lane,
        subject: Any,
        detail: Detail,
        effect: Callable[[Any], Any],
        rival: Callable[[Any, Any], Any] | None,
        conflict: Callable[[Any], BaseException] | None,
        settle: Callable[[TraceRow, Any], None] | None,
    ) -> Any:
        chooser = self.scheduler.chooser
        if chooser is not None and chooser.gives_way(point):
            return chooser.pass_point(
                self, point, lambda: self._pass(point, lane, subject, detail, effect, rival, conflict, settle)
            )
        return self._pass(point, lane, subject, detail, effect, rival, conflict, settle)

    def _pass(
        self,
        point: str,
        lane: Lane,
        subject: Any,
        detail: Detail,
        effect: Callable[[Any], Any],
        rival: Callable[[Any, Any], Any] | None,
        conflict: Callable[[Any], BaseException] | None,
        settle: Callable[[TraceRow, Any], None] | None,
    ) -> Any:
        # What is known only afterwards is not said of an effect that never ran.
        row = made_row((self.clock.nanos, point, lane, subject, detail), known=settle is None)
        self.trace.append(row)
        if self.injector is not None:
            strike = self.injector.visit(row)
            if strike is not None:
                return self._struck(row, strike, effect, rival, conflict, settle)
        try:
            result = effect(subject)
        except Exception as error:
            _failed(row, error)
            raise
        return self._settled(row, result, settle)

    def _settled(self, row: TraceRow, result: Any, settle: Callable[[TraceRow, Any], None] | None) -> Any:
        if type(result) is CoroutineType:
            return self._awaited(row, result, settle)
        if settle is not None:
            settle(row, result)
        return result

    async def _awaited(
        self, row: TraceRow, work: CoroutineType[Any, Any, Any], settle: Callable[[TraceRow, Any], None] | None
    ) -> Any:
        try:
            result = await work
        except Exception as error:
            _failed(row, error)
            raise
        if settle is not None:
            settle(row, result)
        return result

    async def _struck(
        self,
        row: TraceRow,
        strike: Strike,
        effect: Callable[[Any], Any],
        rival: Callable[[Any, Any], Any] | None,
        conflict: Callable[[Any], BaseException] | None,
        settle: Callable[[TraceRow, Any], None] | None,
    ) -> Any:
        kind = strike.kind
        row.outcome = kind.value
        if kind is FaultKind.HANG:
            await self.scheduler.forever()
        if kind is FaultKind.FAIL:
            raise _noted(row, InjectedFault(f"injected at {row.point}"))
        if kind is FaultKind.TIMEOUT:
            raise _noted(row, InjectedTimeout(f"injected at {row.point}"))
        if kind is FaultKind.CONFLICT:
            if conflict is None:
                message = f"{row.point} cannot conflict"
                raise ModelError(message)
            raise _noted(row, conflict(row.subject))
        prefix = ""
        if kind is FaultKind.RIVAL:
            if rival is None:
                message = f"{row.point} has no rival"
                raise ModelError(message)
            prefix = "rival:"
            row.outcome = "rival:ok"
            # A rival may lose as well, against a history that was there before; the call goes on all the same.
            with contextlib.suppress(WowError):
                rival(row.subject, strike.payload)
        try:
            result = effect(row.subject)
            if type(result) is CoroutineType:
                result = await result
        except Exception as error:
            row.outcome = f"{prefix or 'error:'}{type(error).__name__}"
            row.error = error
            raise
        if settle is not None:
            settle(row, result)
        if kind is FaultKind.ACK_LOST:
            raise _noted(row, InjectedTimeout(f"injected after {row.point}"))
        if kind is FaultKind.ACK_LOST_PERMANENT:
            raise _noted(row, InjectedFault(f"injected after {row.point}"))
        return result


def _failed(row: TraceRow, error: Exception) -> None:
    row.outcome = f"error:{type(error).__name__}"
    row.error = error


def _noted(row: TraceRow, error: BaseException) -> BaseException:
    row.error = error
    return error
