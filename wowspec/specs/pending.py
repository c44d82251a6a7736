"""What a world that was left in the middle still has to do: who can go on, what timers will fire, who is in line."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from ..messages.envelopes import CommandMessage
from ..runtime.serial import SerialGroups
from ..runtime.system import Runtime
from ..world.clock import VirtualClock
from ..world.points import Room
from ..world.scheduler import Task, Timer
from ..world.trace import Lane
from .showing import shown

_NONE: Mapping[str, tuple[Any, ...]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PendingTimer:
    """A timer that is still to fire.

    Attributes:
        due: when, an aware UTC datetime of virtual time.
        after: how long from now.
        kind: `deadline` of a caller who waits, or `sleep`: of a handler, or before a retry.
        lane: whose it is.
    """

    due: datetime
    after: timedelta
    kind: str
    lane: str

    def __str__(self) -> str:
        return f"{self.kind} of {self.lane} in {self.after.total_seconds():g} s"


@dataclass(frozen=True, slots=True)
class Pending:
    """What a world still has to do, as it was when it was asked; false where it is nothing.

    Attributes:
        ready: lanes of the work that can go on, in the order in which it will: `o-1` for a command of that aggregate,
            `gateway:o-1` for its sender, `snapshot@o-1`, `OrderView.show@o-1` for an event function, `projection
            events@o-1` for events on their way to functions.
        timers: in the order in which they will fire.
        commands: by aggregate id, those that their bus has accepted and that are not begun, in their order. Behind a
            command that hangs they wait for ever.
    """

    ready: tuple[str, ...] = ()
    timers: tuple[PendingTimer, ...] = ()
    commands: Mapping[str, tuple[Any, ...]] = field(default_factory=lambda: _NONE)

    def __bool__(self) -> bool:
        return bool(self.ready or self.timers or self.commands)

    def __str__(self) -> str:
        if not self:
            return "nothing is pending"
        rows = [f"  ready: {', '.join(self.ready) or '-'}", f"  timers: {', '.join(map(str, self.timers)) or '-'}"]
        for aggregate_id, commands in self.commands.items():
            rows.append(f"  in line for {aggregate_id}: {', '.join(map(shown, commands))}")
        return "\n".join(["pending:", *rows])


def pending_of(runtime: Runtime, calls: Mapping[int, str]) -> Pending:
    """What a runtime's world still has to do.

    Args:
        runtime: the runtime.
        calls: lanes of the gateway's calls, by the identity of their task.
    """
    scheduler, clock = runtime.world.scheduler, runtime.world.clock
    lanes = dict(calls)
    commands: dict[str, list[Any]] = {}
    for groups in runtime.groups():
        for worker, subject, behind in groups.lines:
            if worker is not None:
                lanes[id(worker)] = _lane(groups, subject)
            waiting = [subject, *behind] if worker is not None and _is_new(worker) else behind
            for message in waiting:
                if isinstance(message, CommandMessage):
                    commands.setdefault(message.aggregate_id.id, []).append(message.body)
    return Pending(
        tuple(lanes.get(id(task), task.name) for task in scheduler._ready if not task.done),
        tuple(_timers(scheduler.timers, lanes, clock)),
        MappingProxyType({text: tuple(bodies) for text, bodies in commands.items()}),
    )


def _timers(timers: list[Timer], lanes: Mapping[int, str], clock: VirtualClock) -> Iterator[PendingTimer]:
    now = clock.now()
    for timer in timers:
        due = VirtualClock(timer.nanos).now()
        owner: Any = getattr(timer.callback, "__self__", None)
        is_sleep = isinstance(owner, Task) and owner._timer is timer
        lane = lanes.get(id(owner), owner.name) if isinstance(owner, Task) else "gateway"
        yield PendingTimer(due, due - now, "sleep" if is_sleep else "deadline", lane)


def _is_new(worker: Task[None]) -> bool:
    return inspect.getcoroutinestate(worker._coro) == inspect.CORO_CREATED


def _lane(groups: SerialGroups, subject: Any) -> str:
    reference = subject.aggregate_id
    if isinstance(subject, CommandMessage):
        return str(Lane(Room.COMMAND, reference.id))
    if groups.name == "snapshots":
        return str(Lane(Room.SNAPSHOT, reference.id))
    return str(Lane(Room.EVENT, reference.id, groups.name))
