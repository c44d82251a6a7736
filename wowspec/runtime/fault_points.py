"""Fault points of the user's own: `with fault_point("payment.charge", key=order_id): ...`, or `async with`.

Where code runs in a world, such a point is passed like any other: it leaves a row in the trace, and faults may strike
there. Everywhere else, as in production, it does nothing. In a world it is known whose work it is: the function that
runs is found among the callers, since looking is needed only where a point is passed.
"""

from __future__ import annotations

import difflib
import sys
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import CodeType, TracebackType
from typing import Any, Final, Protocol

from ..errors import SpecError
from ..modeling.functions import HandlerFunction
from ..world.points import POINT_BY_NAME, Room, is_user_point
from ..world.strikes import after, before
from ..world.trace import Lane, TraceRow
from ..world.world import Strike, World

#: The functions that call message functions; each has `handler`, `exchange` and `world` among its locals.
CALLERS: Final[set[CodeType]] = set()


@dataclass(frozen=True, slots=True)
class RunningCall:
    """The message function that is running.

    Attributes:
        handler: the function.
        exchange: the message that it handles, on its way.
        world: where.
    """

    handler: HandlerFunction
    exchange: Any
    world: World


def running_call() -> RunningCall | None:
    """The innermost message function among the callers of whoever asks; None outside of a world."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code in CALLERS:
            held = frame.f_locals
            return RunningCall(held["handler"], held["exchange"], held["world"])
        frame = frame.f_back  # type: ignore[assignment]
    return None


class FaultPoint(
    AbstractContextManager[None, None], AbstractAsyncContextManager[None, None], Protocol
):  # pragma: no cover
    """What `with` and `async with` take: what stands below is the effect that faults let happen, or not."""


class _Passage:
    """One passing of a point."""

    __slots__ = ("_key", "_lane", "_place", "_point", "_row", "_strike", "_subject", "_world")

    def __init__(self, world: World, lane: Lane, subject: Any, point: str, key: str, place: str) -> None:
        self._world = world
        self._lane = lane
        self._subject = subject
        self._point = point
        self._key = key
        self._place = place
        self._row: TraceRow
        self._strike: Strike | None = None

    def _begin(self) -> Any:
        """Pass the point; a coroutine, if a fault strikes there."""
        self._row, self._strike = self._world.open_point(self._point, self._lane, self._subject, self._key)
        return None if self._strike is None else before(self._world, self._row, self._strike.kind)

    def _end(self, error: BaseException | None) -> Any:
        if isinstance(error, Exception):
            self._row.outcome = f"error:{type(error).__name__}"
            self._row.error = error
        if error is not None or self._strike is None:
            return None
        return after(self._world, self._row, self._strike.kind)

    def __enter__(self) -> None:
        self._world.answered_at_once(self._begin(), self._point, self._place)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._world.answered_at_once(self._end(error), self._point, self._place)

    async def __aenter__(self) -> None:
        beginning = self._begin()
        if beginning is not None:
            await beginning

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ending = self._end(error)
        if ending is not None:
            await ending


class FaultPoints:
    """What a function asks for to pass points of its own: `def on_paid(self, event: Paid, world: FaultPoints)`."""

    __slots__ = ("_exchange", "_world")

    def __init__(self, world: World, exchange: Any = None) -> None:
        self._world = world
        self._exchange = exchange

    def fault_point(self, name: str, *, key: Any = "") -> FaultPoint:
        """A point that is passed here: `with world.fault_point("payment.charge", key=order_id): ...`.

        What stands below is its effect: `fails()` comes before it, `loses_reply()` after it; `hangs()` is for
        `async with`.

        Args:
            name: words with dots between, none of the pipeline's own points.
            key: which of many it is; stands in the trace.

        Raises:
            SpecError: for another name.
        """
        if not is_user_point(name):
            raise self._world.blame_author(_no_name(name))
        exchange, text = self._exchange, str(key)
        if getattr(exchange, "lane", None) is None:
            running = running_call()
            exchange = None if running is None or running.world is not self._world else running.exchange
        if exchange is None:
            return _Passage(self._world, Lane(Room.USER, text), None, name, text, f"the code at {name}")
        message = exchange.message
        place = exchange.lane.function or f"the handler of {type(message.body).__name__}"
        return _Passage(self._world, exchange.lane, message, name, text, place)


def fault_point(name: str, *, key: Any = "") -> FaultPoint:
    """A point that is passed here, if this runs in a world; nothing otherwise.

    Args:
        name: words with dots between, none of the pipeline's own points: `payment.charge`.
        key: which of many it is; stands in the trace.

    Raises:
        SpecError: in a world, for another name.
    """
    running = running_call()
    if running is None:
        return nullcontext()
    return FaultPoints(running.world, running.exchange).fault_point(name, key=key)


def _no_name(name: Any) -> SpecError:
    close = difflib.get_close_matches(str(name), POINT_BY_NAME, 1, 0.8)
    return SpecError(
        f"fault_point({name!r})",
        why=f"it is too close to the pipeline's own point {close[0]}" if close else "a name is words with dots between",
        instead='fault_point("payment.charge")',
    )
