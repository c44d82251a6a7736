"""What a fault does at the point where it strikes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final

from ..errors import DecodeError, InjectedFault, InjectedTimeout, ModelError, WowError
from .points import FaultKind, Port, point_row
from .trace import TraceRow
from .unrest import LATE, unrest_of

if TYPE_CHECKING:
    from .world import Strike, World

Effect = Callable[[Any], Any]
#: Kinds that let the effect happen, and then do something.
_AFTER: Final = frozenset({FaultKind.ACK_LOST, FaultKind.ACK_LOST_PERMANENT})


async def strike(
    world: World,
    row: TraceRow,
    strike: Strike,
    effect: Effect,
    rival: Callable[[Any, Any], Any] | None,
    conflict: Callable[[Any], BaseException] | None,
    settle: Callable[[TraceRow, Any], None] | None,
) -> Any:
    """Pass a point at which a fault strikes; see `World.carry` for what is given."""
    kind = strike.kind
    row.outcome = kind.value
    if kind is FaultKind.CORRUPT:
        return await _unreadable(row, effect)
    await before(world, row, kind)
    if kind is FaultKind.CONFLICT:
        if conflict is None:
            message = f"{row.point} cannot conflict"
            raise ModelError(message)
        raise noted(row, conflict(row.subject))
    if kind is FaultKind.DROP:
        return None
    if kind in LATE and not await _is_on_time(world, row, strike, effect):
        return None
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
        result = await _happening(effect, row)
        if kind is FaultKind.DUPLICATE:
            if _port(row) is Port.DELIVERY:
                unrest_of(world).deliver_again(row.lane)
            else:
                result = await _happening(effect, row)
    except Exception as error:
        row.outcome = f"{prefix or 'error:'}{type(error).__name__}"
        row.error = error
        raise
    if settle is not None:
        settle(row, result)
    await after(world, row, kind)
    return result


async def before(world: World, row: TraceRow, kind: FaultKind) -> None:
    """What kinds do that let no effect happen."""
    if kind is FaultKind.HANG:
        await world.scheduler.forever()
    if kind is FaultKind.FAIL:
        raise noted(row, InjectedFault(f"injected at {row.point}"))
    if kind is FaultKind.TIMEOUT:
        raise noted(row, InjectedTimeout(f"injected at {row.point}"))
    if kind is FaultKind.CRASH_BEFORE:
        await unrest_of(world).die(row.point)


async def after(world: World, row: TraceRow, kind: FaultKind) -> None:
    """What kinds do once the effect has happened."""
    if kind is FaultKind.ACK_LOST:
        raise noted(row, InjectedTimeout(f"injected after {row.point}"))
    if kind is FaultKind.ACK_LOST_PERMANENT:
        raise noted(row, InjectedFault(f"injected after {row.point}"))
    if kind is FaultKind.CRASH_AFTER:
        if _port(row) is Port.DELIVERY:
            # The effect of a delivery is what its function does, and that is still to come.
            unrest_of(world).die_after(row.lane)
        else:
            await unrest_of(world).die(row.point)


def noted(row: TraceRow, error: BaseException) -> BaseException:
    """Write on the row what is raised."""
    row.error = error
    return error


def _port(row: TraceRow) -> Port | None:
    known = point_row(row.point)
    return None if known is None else known.port


async def _happening(effect: Effect, row: TraceRow) -> Any:
    result = effect(row.subject)
    return await result if type(result) is CoroutineType else result


async def _is_on_time(world: World, row: TraceRow, strike: Strike, effect: Effect) -> bool:
    """Put a message off; a delivery waits for its time, and True comes back then."""
    steps = None if strike.kind is FaultKind.REORDER else strike.payload or 1
    unrest = unrest_of(world)
    if _port(row) is Port.DELIVERY:
        due = world.scheduler.future()
        unrest.put_off(row, lambda: due.set_result(None), steps)
        await due
        return True
    unrest.put_off(row, lambda: effect(row.subject), steps)
    return False


async def _unreadable(row: TraceRow, effect: Effect) -> Any:
    """Load what cannot be read; where there is nothing, there is nothing to fail on."""
    result = await _happening(effect, row)
    if not result:
        row.outcome = "ok"
        return result
    raise noted(row, DecodeError(f"injected at {row.point}: what is stored of {row.subject} cannot be read"))
