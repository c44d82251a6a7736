"""A gateway whose bus and notifier do what a test says."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from wowspec.errors import (
    CommandResultError,
)
from wowspec.messages.envelopes import CommandMessage
from wowspec.messages.header import Header
from wowspec.messages.stages import CommandStage
from wowspec.messages.wait_plans import (
    WaitPlan,
    processed,
)
from wowspec.messages.wait_signals import WaitSignal
from wowspec.modeling.identity import PROCESS_FUNCTION, AggregateRef
from wowspec.runtime.gateway import CommandGateway
from wowspec.runtime.request_ids import DefaultRequestIdChecker, Prechecks
from wowspec.runtime.validation import PydanticValidator
from wowspec.runtime.waiting.coordinator import WaitCoordinator
from wowspec.world.world import World

SENT, PROCESSED, SNAPSHOT, PROJECTED, EVENT_HANDLED, SAGA_HANDLED = CommandStage
ORDER = AggregateRef("shop", "order", "o-1")
SECOND = 10**9


class Pay(BaseModel):
    """A command whose amount is checked by its field, then by itself."""

    amount: Annotated[int, Field(gt=0)] = 1
    refuses: bool = False

    def validate_command(self) -> None:
        """Refuse if told so."""
        if self.refuses:
            raise KeyError("refused by itself")


def command(body: Any = None, *, id_: str = "c-1", **more: Any) -> CommandMessage[Any]:
    """A command message."""
    return CommandMessage(
        id_, body or Pay(), ORDER, "pay", more.pop("request_id", "r-1"), more.pop("header", Header()), **more
    )


def signal(stage: CommandStage = PROCESSED, *, wait: str = "c-1", of: str = "c-1", error: str = "Ok", **more: Any):
    """A signal to a wait."""
    return WaitSignal(f"{of}/{stage}", wait, of, ORDER, stage, PROCESS_FUNCTION, 1, 5, error_code=error, **more)


class Setting:
    """A gateway; the setting itself is its bus and its notifier."""

    def __init__(self, *, request_ids: Any = None) -> None:
        self.world = World()
        self.coordinator = WaitCoordinator()
        checker = request_ids or DefaultRequestIdChecker(Prechecks.exact(self.world.clock))
        self.gateway = CommandGateway(
            self.world, self, self.coordinator, self, checker, PydanticValidator(), endpoint="here"
        )
        self.sent: list[CommandMessage[Any]] = []
        self.headers: list[dict[str, str]] = []
        self.open_while_sending: list[tuple[str, ...]] = []
        self.notified: list[tuple[str, WaitSignal]] = []
        self.bus_error: Exception | None = None
        self.bus_hangs = False
        self.signals_while_sending: list[WaitSignal] = []

    async def send(self, message: CommandMessage[Any]) -> None:
        """The bus."""
        self.sent.append(message)
        self.headers.append(dict(message.header))
        self.open_while_sending.append(self.coordinator.waiting)
        for item in self.signals_while_sending:
            self.coordinator.signal(item)
        if self.bus_hangs:
            await self.world.scheduler.future()
        if self.bus_error is not None:
            raise self.bus_error
        message.header.freeze()

    async def notify(self, endpoint: str, signal: WaitSignal) -> None:
        """The notifier."""
        self.notified.append((endpoint, signal))

    def start(self, coro: Any) -> Any:
        """Spawn a call and let happen what is due now."""
        task = self.world.scheduler.spawn(coro, "call")
        self.settle()
        return task

    def settle(self, nanos: int = 0) -> None:
        """Let time pass."""
        self.world.scheduler.run(until=self.world.clock.nanos + nanos)

    def wait(self, plan: WaitPlan | None = None, message: CommandMessage[Any] | None = None) -> Any:
        """Start a waiting call."""
        return self.start(self.gateway.send_and_wait(message or command(), plan or processed().plan("c-1")))

    def stream(self, plan: WaitPlan | None = None, message: CommandMessage[Any] | None = None) -> tuple[Any, list[Any]]:
        """Start a streaming call, and collect what it gives."""
        results: list[Any] = []

        async def collect() -> None:
            stream = self.gateway.send_and_wait_stream(message or command(), plan or processed().plan("c-1"))
            async for item in stream:
                results.append(item)

        return self.start(collect()), results

    @property
    def points(self) -> list[str]:
        """The trace, row by row."""
        return [str(row) for row in self.world.trace]


def check_of(setting: Setting, call: str, message: CommandMessage[Any], plan: WaitPlan | None = None) -> Any:
    """Start the call of this name and give its task."""
    if call == "send":
        return setting.start(setting.gateway.send(message))
    if call == "sent":
        return setting.start(setting.gateway.send_and_wait_for_sent(message))
    return setting.wait(plan, message) if call == "last" else setting.stream(plan, message)[0]


CALLS = pytest.mark.parametrize("call", ["send", "last", "stream", "sent"])
WAITING = pytest.mark.parametrize("call", ["last", "stream"])


def original_of(task: Any, call: str) -> Any:
    """A call's error, out of the `CommandResultError` that waiting calls put around it."""
    error = task.error
    if call == "send":
        return error
    assert isinstance(error, CommandResultError)
    assert error.result.stage is SENT
    assert error.__cause__ is error.original is error.wire_cause
    return error.original


class Spy:
    """A last-result handle that remembers what it was given; foreign ones have no marker."""

    def __init__(self, handle):
        self.handle, self.given, self.cancelled = handle, [], 0

    def next(self, item):
        self.given.append((item.stage, item.error_code))
        return self.handle.next(item)

    def cancel(self):
        self.cancelled += 1
        self.handle.cancel()

    def __getattr__(self, name):
        if name == "skips_successful_sent":
            raise AttributeError(name)
        return getattr(self.handle, name)


class MarkedSpy(Spy):
    """One with the built-in handle's marker."""

    skips_successful_sent = True


class SpyingCoordinator(WaitCoordinator):
    """Hands out spies."""

    def __init__(self, spy):
        super().__init__()
        self.spy, self.spies = spy, []

    def open_last(self, plan):
        self.spies.append(self.spy(super().open_last(plan)))
        return self.spies[-1]


def spied(spy, plan, *, bus_error=None):
    """What a handle was given by the gateway."""
    setting = Setting()
    setting.coordinator = setting.gateway.coordinator = SpyingCoordinator(spy)
    setting.bus_error = bus_error
    setting.wait(plan)
    return setting.coordinator.spies[0].given
