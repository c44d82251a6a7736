"""PYTEST_DONT_REWRITE. A world: one clock, one scheduler, one source of ids, one trace; every effect passes `at`.

It knows nothing of commands or events. Theory of `at`: a point is entered, the injector (if faults are armed) is asked
what strikes at this visit, the effect runs or not, and one trace row says what happened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import CoroutineType
from typing import Any, Protocol

from ..error_policy import ErrorPolicy
from ..errors import RetriesExhaustedError, SpecError
from ..messages.ids import DEFAULT_MACHINE_ID, IdGenerator
from .clock import NANOS_PER_MILLI, VirtualClock
from .perturber import Perturber
from .points import FaultKind
from .profiles import IN_MEMORY, PortProfile
from .scheduler import Scheduler, Task
from .services import ServiceProvider
from .strikes import strike as struck
from .trace import Detail, Lane, Trace, TraceRow, made_row
from .unrest import Unrest


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
        "_at", "_at_millis", "_kept", "clock", "errors", "ids", "injector", "log", "parts", "perturber", "ports",
        "restart", "scheduler", "services", "spec_errors", "trace", "unrest",
    )  # fmt: skip

    def __init__(
        self,
        *,
        clock: VirtualClock | None = None,
        machine_id: int = DEFAULT_MACHINE_ID,
        errors: ErrorPolicy | None = None,
    ) -> None:
        self.clock: VirtualClock = clock or VirtualClock()
        #: The instant of which the milliseconds are known. Time mostly stands still, and a division takes long.
        self._at = -1
        self._at_millis = -1
        self.scheduler: Scheduler = Scheduler(self.clock)
        self.ids: IdGenerator = IdGenerator(machine_id)
        self.trace: Trace = Trace()
        self._kept: list[Any] = self.trace.kept
        self.services: ServiceProvider = ServiceProvider()
        self.errors: ErrorPolicy = errors or ErrorPolicy()
        self.log: list[LoggedFailure] = []
        self.spec_errors: list[SpecError] = []
        self.injector: Injector | None = None
        #: What functions are given besides services, by the class that asks and the type that it asks for. Each world
        #: has its own; services are shared by copies of a world.
        self.parts: Callable[[type | None, type], Any] | None = None
        #: What its bus and its stores are like.
        self.ports: PortProfile = IN_MEMORY
        #: Starts its process again, after a crash.
        self.restart: Callable[[], None] | None = None
        #: What faults have left behind; None until one does.
        self.unrest: Unrest | None = None
        #: Changes what the system under test does; copies of a world have none.
        self.perturber: Perturber | None = None

    def passes_over(self, check: str, command: Any) -> bool:
        """Whether a check that refuses a command is passed over; asked only then."""
        return self.perturber is not None and self.perturber.skips(check, command)

    def next_id(self) -> str:
        """A new global id."""
        return self.ids.next_at(self.clock.nanos)

    def now_millis(self) -> int:
        """Epoch milliseconds of virtual time."""
        nanos = self.clock.nanos
        if nanos is not self._at:
            self._at, self._at_millis = nanos, nanos // NANOS_PER_MILLI
        return self._at_millis

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
        kept = self._kept
        start = len(kept)
        kept += (self.clock.nanos, point, lane, subject, detail)
        try:
            result = effect(subject)
        except Exception as error:
            _failed(self.trace.row_from(start, known=settle is None), error)
            raise
        if type(result) is not CoroutineType and (settle is None or result is usual):
            return result
        return self._settled(self.trace.row_from(start), result, settle)

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
        row = made_row(self.clock.nanos, point, lane, subject, detail, known=settle is None)
        self.trace.append(row)
        unrest = self.unrest
        if unrest is not None:
            unrest.require_alive(point)
            unrest.passed(row)
        if self.injector is not None:
            strike = self.injector.visit(row)
            if strike is not None:
                return struck(self, row, strike, effect, rival, conflict, settle)
        if unrest is not None and unrest.stands_behind(row, lambda: effect(subject)):
            return None
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

    def open_point(self, point: str, lane: Lane, subject: Any, detail: Detail) -> tuple[TraceRow, Strike | None]:
        """Pass a point whose effect is the caller's own; the row that it left, and what strikes there."""
        row = made_row(self.clock.nanos, point, lane, subject, detail)
        self.trace.append(row)
        unrest = self.unrest
        if unrest is not None:
            unrest.require_alive(point)
        strike = None if self.injector is None else self.injector.visit(row)
        if strike is not None:
            row.outcome = strike.kind.value
        return row, strike

    def pass_plainly(
        self, point: str, lane: Lane, subject: Any, detail: Detail, effect: Callable[[Any], Any], place: str
    ) -> Any:
        """As `carry`, for plain code, which can neither give way nor hang; `place` says whose it is, for error texts.

        Raises:
            ProcessCrash: if the process dies here.
            SpecError: if the call would hang.
        """
        return self.answered_at_once(self._pass(point, lane, subject, detail, effect, None, None, None), point, place)

    def answered_at_once(self, result: Any, point: str, place: str) -> Any:
        """What passing a point gave, for plain code; see `pass_plainly`."""
        if type(result) is not CoroutineType:
            return result
        deaths = self.deaths
        try:
            result.send(None)
        except StopIteration as stop:
            return stop.value
        self.require_alive(deaths, place)
        result.close()
        raise self.blame_author(
            SpecError(
                f"{point} cannot hang: it is a plain call",
                why="a plain call either returns or raises; only what is awaited can fail to come back",
                instead="fails(), times_out() or loses_reply() there, or an async one",
            )
        )

    @property
    def deaths(self) -> int:
        """How often its process has died."""
        return 0 if self.unrest is None else self.unrest.deaths

    def require_alive(self, deaths: int, place: str) -> None:
        """Stop plain code whose process has died since it had died so often.

        Raises:
            ProcessCrash: if it has.
        """
        unrest = self.unrest
        if unrest is not None and unrest.deaths != deaths:
            raise unrest.stop_caller(place)


def _failed(row: TraceRow, error: Exception) -> None:
    row.outcome = f"error:{type(error).__name__}"
    row.error = error
