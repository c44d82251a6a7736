"""Short ways to write the signals that tests of waiting are about."""

from __future__ import annotations

from typing import Any

from wowspec.messages.stages import CommandStage
from wowspec.messages.wait_plans import WaitFor
from wowspec.messages.wait_signals import WaitSignal
from wowspec.modeling.identity import AggregateRef, FunctionInfo, FunctionKind

SENT, PROCESSED, SNAPSHOT, PROJECTED, EVENT_HANDLED, SAGA_HANDLED = CommandStage
MAIN = "cmd-main"
ORDER = AggregateRef("shop", "order", "o-1")
VIEW = FunctionInfo(FunctionKind.EVENT, "shop", "OrderView", "on_event")
OTHER_VIEW = FunctionInfo(FunctionKind.EVENT, "shop", "StockView", "on_event")
SAGA = FunctionInfo(FunctionKind.EVENT, "shop", "OrderSaga", "on_event")


def signal(
    stage: CommandStage,
    *,
    of: str = MAIN,
    wait: str = MAIN,
    function: FunctionInfo = VIEW,
    error: str = "Ok",
    last: bool = False,
    result: dict[str, Any] | None = None,
    commands: tuple[str, ...] = (),
    id: str | None = None,
) -> WaitSignal:
    """A signal of the command `of`, addressed to the wait `wait`."""
    return WaitSignal(
        id or f"{of}/{stage}", wait, of, ORDER, stage, function, 1, 1, last, error, "", (), result or {}, commands
    )


def plan_of(wait: WaitFor) -> Any:
    """The plan of the main command."""
    return wait.plan(MAIN)


class Recorder:
    """A subscriber that remembers what it saw, in order; `on` reacts to a kind of callback."""

    def __init__(self, **on: Any) -> None:
        self.seen: list[Any] = []
        self._on = on

    def on_next(self, signal: WaitSignal) -> None:
        """A signal: its id."""
        self.seen.append(signal.id)
        self._react("next")

    def on_complete(self) -> None:
        """The end."""
        self.seen.append("complete")
        self._react("complete")

    def on_error(self, error: BaseException) -> None:
        """The error: its class."""
        self.seen.append(type(error))
        self._react("error")

    def _react(self, kind: str) -> None:
        reaction = self._on.get(kind)
        if reaction is not None:
            reaction()
