"""A call of the gateway that was started, and the world left standing: `gateway.start(...)`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from ..errors import DeadlineExceeded, SpecError, SpecFailure
from ..messages.envelopes import CommandMessage
from ..messages.wait_plans import WaitFor
from ..messages.wait_signals import CommandResult
from ..runtime.gateway import CommandGateway
from ..world.points import Room
from ..world.scheduler import Task
from ..world.trace import Lane
from .items import wanted
from .placing import Place, raise_at
from .run import lost_with
from .saying import traceback_text
from .showing import shown
from .unheard import note_unheard

if TYPE_CHECKING:
    from .gateway_session import GatewaySession


class StartedCall:
    """A call that goes on when the world is moved.

    One that fails must be looked at, by `result()` or `error`; else its test fails when it ends.
    """

    __slots__ = ("_begun", "_command", "_held", "_lane", "_looked", "_place", "_task")

    def __init__(self, held: GatewaySession, command: Any, place: Place) -> None:
        self._held = held
        self._command = command
        self._place = place
        self._task: Task[Any] | None = None
        self._lane = ""
        self._begun = False
        self._looked = False

    # --- for the test -------------------------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """Whether it has ended, with a result or an error."""
        return self._task is not None and self._task.done

    @property
    def error(self) -> BaseException | None:
        """What it raised, if it has ended so."""
        self._look()
        return None if self._task is None else self._task.error

    def result(self) -> CommandResult | None:
        """Its result; None for a void command that nothing was waited for.

        Raises:
            SpecError: if it has not ended.
            CommandResultError, DeadlineExceeded, …: what `send_and_wait` raises.
        """
        __tracebackhide__ = True
        task = self._task
        if task is None or not task.done:
            moves = self._held.can_move
            if not moves:
                self._held.end(lost_with(self._held.session.world, repr(self)))
            raise SpecError(
                f"{self!r} has no result yet",
                why="the world was left before the call ended" if moves else "what it waits for hangs, for good",
                instead="gateway.world.run() before it" if moves else "wait_for=..., whose deadline passes",
            )
        self._look()
        if task.error is not None:
            self._held.end(task.error)
        result: CommandResult | None = task.result()
        return result

    def __repr__(self) -> str:
        return f"gateway.start({shown(self._command)})"

    # --- for the gateway ----------------------------------------------------------------------------------------------

    def work(
        self, gateway: CommandGateway, message: CommandMessage[Any], wait_for: WaitFor | None
    ) -> Coroutine[Any, Any, Any]:
        """What its task will do; a void command is only sent, unless `wait_for` says more."""
        self._lane = str(Lane(Room.GATEWAY, message.aggregate_id.id))
        if message.is_void and wait_for is None:
            return self._begin(lambda: gateway.send(message))
        plan = wanted(wait_for).plan(message.id)

        async def wait() -> Any:
            try:
                return await gateway.send_and_wait(message, plan)
            except DeadlineExceeded as error:
                note_unheard(error, plan.target, self._held.session.runtime)
                raise

        return self._begin(wait)

    async def _begin(self, call: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        self._begun = True
        return await call()

    def started(self, task: Task[Any]) -> None:
        """Its task is there, and waits for its turn."""
        self._task = task

    def lane_by_task(self) -> tuple[int, str]:
        """Its task's identity, and its lane."""
        return id(self._task), self._lane

    def settle(self) -> None:
        """Require that it was begun, and that its failure, if it failed, was looked at; told once.

        Raises:
            SpecFailure: if not.
        """
        __tracebackhide__ = True
        task = self._task
        if self._looked or task is None:
            return
        if not self._begun:
            self._looked = True
            text = (
                f"{self!r} at {self._place} was never begun\n"
                "  why: the world was not moved after it, so nothing was tested\n"
                "  instead: gateway.world.run(), step() or run_until(...) after it, or gateway.send_and_wait(...)"
            )
            raise_at(self._place, SpecFailure(text))
        error = task.error
        if error is not None:
            self._looked = True
            text = (
                f"{self!r} at {self._place} failed with {type(error).__name__}, and nobody looked\n"
                f"{traceback_text(getattr(error, 'original', None) or error)}\n"
                "  why: a call that was started tells of its failure where it is asked\n"
                "  if it should: look at its error, or pytest.raises(...) around its result()"
            )
            raise_at(self._place, SpecFailure(text))

    def _look(self) -> None:
        if self.done:
            self._looked = True
