"""Notifiers carry wait signals to the process whose caller waits (section U of the contract)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from types import CoroutineType
from typing import Any, Final, Protocol

from ...errors import ErrorCode
from ...messages.ids import ID_CHARS, MACHINE_CHARS, TIME_CHARS, machine_id_of, to_radix62
from ...messages.stages import STAGES
from ...messages.wait_headers import ExtractedWaitPlan
from ...messages.wait_signals import WaitSignal
from ...texts import is_blank
from ...world.points import WAIT_NOTIFY
from ...world.trace import Lane
from ...world.world import World
from .coordinator import WaitCoordinator

_GLOBAL_ID: Final = re.compile(r"[0-9A-Za-z]{15}")
_MACHINE: Final = slice(TIME_CHARS, TIME_CHARS + MACHINE_CHARS)


class WaitNotifier(Protocol):
    """Where the runtime hands wait signals to."""

    async def notify(self, endpoint: str, signal: WaitSignal) -> None:
        """Carry a signal to an endpoint; lazy, and raises what goes wrong (CMD-430)."""
        ...


def is_local_wait_id(wait_command_id: str, machine_id: int) -> bool:
    """Whether a wait id was made by this machine; a blank one never was (CMD-432).

    Raises:
        IllegalArgumentError: if it is not 15 radix-62 characters (CMD-433).
    """
    if is_blank(wait_command_id):
        return False
    if _GLOBAL_ID.fullmatch(wait_command_id) is None:
        return machine_id_of(wait_command_id) == machine_id
    return wait_command_id[_MACHINE] == to_radix62(machine_id, MACHINE_CHARS)


class LocalWaitNotifier:
    """Hands signals for this process's own wait ids to its coordinator; ignores the endpoint (CMD-429).

    `received` holds every signal that reached it with its endpoint, `dropped` those for other processes.
    """

    __slots__ = ("_coordinator", "_machine", "_world", "dropped", "machine_id", "received")

    def __init__(self, coordinator: WaitCoordinator, world: World, *, machine_id: int | None = None) -> None:
        self._coordinator = coordinator
        self._world = world
        self.machine_id: int = world.ids.machine_id if machine_id is None else machine_id
        self._machine = to_radix62(self.machine_id, MACHINE_CHARS)
        self.received: list[tuple[str, WaitSignal]] = []
        self.dropped: list[WaitSignal] = []

    async def notify(self, endpoint: str, signal: WaitSignal) -> None:
        """Signal, once this is awaited; a wait id of another format is an `IllegalArgumentError` (CMD-430, CMD-433)."""
        self.notify_now(endpoint, signal)

    def notify_and_forget(self, endpoint: str, signal: WaitSignal) -> None:
        """Signal at once; an error is logged, never raised (CMD-431)."""
        try:
            self.notify_now(endpoint, signal)
        except Exception as error:  # noqa: BLE001 - whatever a subscriber or the id's format raised
            self._world.log_failure(point_of(signal), signal, error)

    def notify_now(self, endpoint: str, signal: WaitSignal) -> None:
        """As `notify`, at once."""
        self.received.append((endpoint, signal))
        wait_id = signal.wait_command_id
        # The common case without decoding: 15 radix-62 characters with our machine's four in their place.
        if len(wait_id) == ID_CHARS and wait_id.isascii() and wait_id.isalnum():
            local = wait_id[_MACHINE] == self._machine
        else:
            local = is_local_wait_id(wait_id, self.machine_id)
        if local:
            self._coordinator.signal(signal)
        else:
            self.dropped.append(signal)


def point_of(signal: WaitSignal) -> str:
    """The point that a signal passes on its way to the notifier."""
    return _POINTS[signal.stage]


_POINTS: Final = {row.stage: f"{WAIT_NOTIFY}:{row.stage.value}" for row in STAGES}


def notify_if_wanted(
    world: World,
    notifier: WaitNotifier,
    extracted: ExtractedWaitPlan,
    signal: WaitSignal,
    lane: Lane,
    message: Any,
) -> None:
    """Fire and forget: send a signal if the plan's target accepts it; a failure is logged (CMD-427, CMD-428, PRJ-012).

    The signal is on its way before this returns; a notifier that hangs holds nobody up.
    """
    if not extracted.plan.target.accepts(signal):
        return
    code = signal.error_code
    point = _POINTS[signal.stage]
    # The kit's own notifier answers at once; any other one is awaited.
    notify: Callable[[str, WaitSignal], Any] = (
        notifier.notify_now if type(notifier) is LocalWaitNotifier else notifier.notify
    )
    try:
        passing = world.carry(
            point,
            lane,
            message,
            "succeeded" if code == ErrorCode.OK else code,
            lambda _: notify(extracted.endpoint, signal),
        )
    except Exception as error:  # noqa: BLE001 - whatever carrying the signal raised
        world.log_failure(point, signal, error)
        return
    if type(passing) is CoroutineType:
        deaths = world.deaths
        world.scheduler.start(_guarded(world, passing, point, signal), "wait.notify")
        world.require_alive(deaths, "the notifier")


async def _guarded(world: World, passing: Awaitable[Any], point: str, signal: WaitSignal) -> None:
    try:
        await passing
    except Exception as error:  # noqa: BLE001 - whatever carrying the signal raised
        world.log_failure(point, signal, error)
