"""Faults, as a spec writes them: `faults.event_store.append.fails()`.

Points without a part are attributes, points with one are calls; `point(text)` gives any.
"""

from __future__ import annotations

import difflib
from inspect import isroutine
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ..errors import SpecError
from ..messages.stages import CommandStage
from ..modeling.processors import processor_metadata
from ..world.points import POINTS
from .along import along
from .values import Fault, FaultPoint, point

#: What is raised here is the author's mistake: pytest shows the line of theirs, not of ours.
__tracebackhide__ = True

__all__ = [
    "Fault",
    "FaultPoint",
    "PointGroup",
    "along",
    "command",
    "command_bus",
    "domain_event_bus",
    "event",
    "event_store",
    "point",
    "projection",
    "request_id",
    "service",
    "snapshot",
    "state_event_bus",
    "wait",
]


class PointGroup:
    """The points that share the text before the dot."""

    __slots__ = ("_name", "_points")

    def __init__(self, name: str) -> None:
        self._name = name
        self._points = {
            row.name.partition(".")[2]: row
            for row in POINTS
            if row.name.partition(".")[0] == name and row.kinds and not row.part
        }

    # Unseen by type checkers: they know the points of each group by the declarations below.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> FaultPoint:
            if name.startswith("__"):
                raise AttributeError(name)
            row = self._points.get(name)
            if row is None:
                raise SpecError(
                    f"faults.{self._name} has no point {name!r}",
                    why="a fault strikes at a point of the points table",
                    instead=" or ".join(f"faults.{self._name}.{known}" for known in self._points),
                )
            return FaultPoint(row.name)

    def __dir__(self) -> list[str]:
        return list(self._points)

    def __repr__(self) -> str:
        return f"faults.{self._name}"


class _RequestIdPoints(PointGroup):
    __slots__ = ()
    check: FaultPoint


class _CommandBusPoints(PointGroup):
    __slots__ = ()
    send: FaultPoint


class _CommandPoints(PointGroup):
    __slots__ = ()
    acknowledge: FaultPoint


class _SnapshotPoints(PointGroup):
    __slots__ = ()
    load: FaultPoint
    save: FaultPoint


class _EventStorePoints(PointGroup):
    __slots__ = ()
    load: FaultPoint
    append: FaultPoint


class _DomainEventBusPoints(PointGroup):
    __slots__ = ()
    send: FaultPoint


class _StateEventBusPoints(PointGroup):
    __slots__ = ()
    send: FaultPoint


class _EventPoints:
    """Points of event functions."""

    __slots__ = ()

    def deliver(self, processor: Any, function: str | None = None) -> FaultPoint:
        """An event reaches a function of a processor: `faults.event.deliver(OrderView)`.

        Args:
            processor: its class, or the name of it.
            function: the name of the function; it may be left out where there is one.

        Raises:
            SpecError: if the class has no such function, or several and none is named.
        """
        said = getattr(processor, "__qualname__", "") if isroutine(processor) else processor
        if isinstance(said, str) and "." in said:
            head, _, name = said.rpartition(".")
            quoted = repr(head) if isinstance(processor, str) else head.rpartition(".")[2]
            raise SpecError(
                f"faults.event.deliver({said if processor is not said else repr(said)}): a function is told by its "
                "class and its name",
                why="a point says the processor and the function apart, and a text with a dot is neither",
                instead=f"faults.event.deliver({quoted}, {name!r})",
            )
        if isinstance(processor, str):
            return FaultPoint(f"event.deliver:{processor}.{function or 'on_event'}")
        cls: Any = processor
        metadata = processor_metadata(cls)
        known = list(dict.fromkeys(item.info.name for item in metadata.functions))
        if function is None and len(known) == 1:
            function = known[0]
        if function not in known:
            said = "" if function is None else f", {function!r}"
            raise SpecError(
                f"faults.event.deliver({metadata.name}{said}): which function of {metadata.name}?",
                why=f"a fault strikes one of them; it has {', '.join(known)}",
                instead=" or ".join(f"faults.event.deliver({metadata.name}, {name!r})" for name in known),
            )
        return FaultPoint(f"event.deliver:{metadata.name}.{function}")


class _ProjectionPoints:
    """Points of projections."""

    __slots__ = ()

    def write(self, projection: Any) -> FaultPoint:
        """A projection writes a row to the `Views` that the world keeps for it: `faults.projection.write(OrderView)`.

        Args:
            projection: its class, or the name of it.
        """
        name = projection if isinstance(projection, str) else processor_metadata(projection).name
        return FaultPoint(f"projection.write:{name}")


class _WaitPoints:
    """Points of the wait notifier."""

    __slots__ = ()

    def notify(self, stage: Any) -> FaultPoint:
        """A wait signal of this stage reaches the notifier: `faults.wait.notify(PROCESSED)`."""
        name = getattr(stage, "name", stage)
        if name not in CommandStage.__members__:
            raise SpecError(
                f"faults.wait.notify({stage!r})",
                why="a signal is of one stage, and there is no such stage",
                instead="faults.wait.notify(PROCESSED), or another of " + ", ".join(CommandStage.__members__),
            )
        return FaultPoint(f"wait.notify:{name}")


class _ServicePoints:
    """Points of one injected service: each method is one."""

    __slots__ = ("_service",)

    def __init__(self, service: str) -> None:
        self._service = service

    def __getattr__(self, name: str) -> FaultPoint:
        if name.startswith("__"):
            raise AttributeError(name)
        return FaultPoint(f"service:{self._service}.{name}")


def service(name: str) -> _ServicePoints:
    """The methods of a service that is injected under this name: `faults.service("payment").charge.times_out()`."""
    return _ServicePoints(name)


request_id: Final = _RequestIdPoints("request_id")
command_bus: Final = _CommandBusPoints("command_bus")
command: Final = _CommandPoints("command")
snapshot: Final = _SnapshotPoints("snapshot")
event_store: Final = _EventStorePoints("event_store")
domain_event_bus: Final = _DomainEventBusPoints("domain_event_bus")
state_event_bus: Final = _StateEventBusPoints("state_event_bus")
event: Final = _EventPoints()
projection: Final = _ProjectionPoints()
wait: Final = _WaitPoints()


class UnknownPointsError(SpecError, AttributeError):
    """`faults` has no such points; an `AttributeError` too, as Python asks of modules."""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        close = difflib.get_close_matches(name, __all__, 3, 0.4)
        raise UnknownPointsError(
            f"there are no points faults.{name}",
            why="a fault strikes where an effect of the pipeline passes a point of the points table",
            instead=" or ".join(f"faults.{known}" for known in close or __all__ if known.islower()),
        )
