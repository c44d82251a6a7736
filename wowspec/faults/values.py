"""Fault values: what goes wrong, where, at which visits. Immutable; a spec or a world arms them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Never, NoReturn

from ..errors import SpecError
from ..modeling.claims import aggregate_of_command, aggregates_of_event
from ..world.points import KINDS, POINTS, FaultKind, point_row

#: What is raised here is the author's mistake: pytest shows the line of theirs, not of ours.
__tracebackhide__ = True

_VERBS: Final = {row.kind: row.verb for row in KINDS}


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault.

    Attributes:
        point: text of the point, such as `event_store.append` or `wait.notify:PROCESSED`.
        kind: what happens there.
        at: the first visit it strikes, counted from 1 since it was armed, among the visits that it matches.
        times: how many visits in a row it strikes.
        aggregate: whose visits it matches: an aggregate class, an id text, `on(T, id)`; None means everyone's.
        payload: what the kind needs besides: a rival's events, the steps of a delay. A rival without events decided
            the same as the call itself: it appends copies of the very events that the call was about to append.
    """

    point: str
    kind: FaultKind
    at: int = 1
    times: int = 1
    aggregate: Any = None
    payload: Any = None

    def __post_init__(self) -> None:
        _check_legal(self.point, self.kind)
        for name, value in (("at", self.at), ("times", self.times)):
            if type(value) is not int or value < 1:
                raise SpecError(
                    f"{name}={value!r} of a fault at {self.point}",
                    why="visits are counted from 1, and a fault strikes at least once",
                    instead=f"{name}=1",
                )

    def __str__(self) -> str:
        times = f" x{self.times}" if self.times > 1 else ""
        steps = f"({self.payload})" if self.kind is FaultKind.DELAY and self.payload else ""
        return f"{self.point}@{self.at}={self.kind.value}{steps}{times}"


@dataclass(frozen=True, slots=True)
class FaultPoint:
    """A point of the pipeline, as a spec arms faults at it."""

    point: str

    def _fault(
        self, kind: FaultKind, times: int, at: int, aggregate: Any, unknown: dict[str, Never], payload: Any = None
    ) -> Fault:
        if unknown:
            _refuse_option(kind, next(iter(unknown)))
        return Fault(self.point, kind, at=at, times=times, aggregate=aggregate, payload=payload)

    def fails(self, *, times: int = 1, at: int = 1, aggregate: Any = None, **unknown: Never) -> Fault:
        """An error of no known kind (`InjectedFault`), before the effect; the runtime does not retry it."""
        return self._fault(FaultKind.FAIL, times, at, aggregate, unknown)

    def times_out(self, *, times: int = 1, at: int = 1, aggregate: Any = None, **unknown: Never) -> Fault:
        """A `TimeoutError` before the effect; retried where the runtime retries."""
        return self._fault(FaultKind.TIMEOUT, times, at, aggregate, unknown)

    def hangs(self, *, times: int = 1, at: int = 1, aggregate: Any = None, **unknown: Never) -> Fault:
        """The call never returns, and has no effect."""
        return self._fault(FaultKind.HANG, times, at, aggregate, unknown)

    def loses_reply(
        self, *, recoverable: bool = True, times: int = 1, at: int = 1, aggregate: Any = None, **unknown: Never
    ) -> Fault:
        """The effect happens, but its caller gets an error: a time-out, or one of no known kind."""
        kind = FaultKind.ACK_LOST if recoverable else FaultKind.ACK_LOST_PERMANENT
        return self._fault(kind, times, at, aggregate, unknown)

    def conflicts(self, *, times: int = 1, at: int = 1, aggregate: Any = None, **unknown: Never) -> Fault:
        """A bare version conflict, recoverable; nobody's stream is in the store."""
        return self._fault(FaultKind.CONFLICT, times, at, aggregate, unknown)

    def rival_appends(
        self, *events: Any, times: int = 1, at: int = 1, aggregate: Any = None, **unknown: Never
    ) -> Fault:
        """Another writer first appends these events with the same version, owner and space; then the call goes on.

        Raises:
            SpecError: without an event.
        """
        for event in events:
            _require_event(event)
        if not events:
            raise SpecError(
                "rival_appends() without an event",
                why="a rival is seen by the events that it stored",
                instead="faults.event_store.append.rival_appends(OrderPaid(...))",
            )
        return self._fault(FaultKind.RIVAL, times, at, aggregate, unknown, tuple(events))

    def duplicates(self, *, times: int = 1, at: int = 1, aggregate: Any = None, **unknown: Never) -> Fault:
        """The message arrives a second time: at each consumer of a bus, or at the one function that it reaches."""
        return self._fault(FaultKind.DUPLICATE, times, at, aggregate, unknown)

    def reorders(self, *, times: int = 1, at: int = 1, aggregate: Any = None, **unknown: Never) -> Fault:
        """The message arrives after the next one of its aggregate on the same bus, or when nothing else can move."""
        return self._fault(FaultKind.REORDER, times, at, aggregate, unknown)

    def delays(self, *, steps: int = 1, times: int = 1, at: int = 1, aggregate: Any = None, **unknown: Never) -> Fault:
        """The message arrives late: after so many further deliveries, or when nothing else can move.

        Raises:
            SpecError: if `steps` is no whole number from 1.
        """
        if type(steps) is not int or steps < 1:
            raise SpecError(
                f"delays(steps={steps!r})",
                why="a late message lets so many others go first",
                instead="delays(steps=1)",
            )
        return self._fault(FaultKind.DELAY, times, at, aggregate, unknown, steps)

    def drops(self, *, times: int = 1, at: int = 1, aggregate: Any = None, **unknown: Never) -> Fault:
        """The message is accepted and never arrives."""
        return self._fault(FaultKind.DROP, times, at, aggregate, unknown)

    def crashes_before(self, *, times: int = 1, at: int = 1, aggregate: Any = None, **unknown: Never) -> Fault:
        """The process dies before the effect and starts again; what then comes back is the profile's to say."""
        return self._fault(FaultKind.CRASH_BEFORE, times, at, aggregate, unknown)

    def crashes_after(self, *, times: int = 1, at: int = 1, aggregate: Any = None, **unknown: Never) -> Fault:
        """The process dies right after the effect and starts again; what then comes back is the profile's to say."""
        return self._fault(FaultKind.CRASH_AFTER, times, at, aggregate, unknown)

    def corrupts(self, *, times: int = 1, at: int = 1, aggregate: Any = None, **unknown: Never) -> Fault:
        """What is loaded cannot be read: a `DecodeError`, where there is something to load."""
        return self._fault(FaultKind.CORRUPT, times, at, aggregate, unknown)

    # Unseen by type checkers: to them a point has no other verb, and is no function.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("__"):
                raise AttributeError(name)
            row = point_row(self.point)
            verbs = [item.verb for item in KINDS if row is not None and item.kind in row.kinds]
            raise SpecError(
                f"a fault at {self.point} has no verb {name!r}",
                why="a verb says what happens at the point",
                instead=" or ".join(f".{verb}" for verb in verbs),
            )

        def __call__(self, *_args: Any, **_options: Any) -> NoReturn:
            """Refuse to be called: it is a place; a verb makes a fault of it."""
            verb = self.point.rpartition(".")[2]
            service = self.point.partition(":")[2].rpartition(".")[0]
            if service and any(said.partition("(")[0] == verb for said in _VERBS.values()):
                raise SpecError(
                    f"faults.service({service!r}).{verb}(...): which method of the service?",
                    why="a fault strikes at one method, and is what comes after it",
                    instead=f"faults.service({service!r}).charge.{verb}(), for its method charge",
                )
            raise SpecError(
                f"the point {self.point} was called",
                why="a verb says what happens at the point, such as .fails() or .times_out()",
                instead="faults.service('payment').charge.fails()" if service else f"faults.{self.point}.fails()",
            )

    def with_kind(self, kind: FaultKind, **options: Any) -> Fault:
        """A fault of any legal kind."""
        return replace(Fault(self.point, kind), **options) if options else Fault(self.point, kind)


#: What every verb of a point takes.
_OPTIONS: Final = ("times", "at", "aggregate")
#: What some take besides.
_OWN_OPTIONS: Final = {
    FaultKind.ACK_LOST: ("recoverable",),
    FaultKind.ACK_LOST_PERMANENT: ("recoverable",),
    FaultKind.DELAY: ("steps",),
}


def _refuse_option(kind: FaultKind, name: str) -> NoReturn:
    verb = _VERBS[kind].partition("(")[0]
    known = (*_OPTIONS, *_OWN_OPTIONS.get(kind, ()))
    raise SpecError(
        f"{verb}({name}=...): a fault has no option {name!r}",
        why="beside where and how, it says at which visits it strikes, and whose",
        instead=" or ".join(f"{option}=" for option in difflib.get_close_matches(name, known, 1) or known),
    )


def point(text: str) -> FaultPoint:
    """Any point by its text: `faults.point("event.deliver:OrderView.on_event")`.

    Raises:
        SpecError: if there is no such point.
    """
    if point_row(text) is None or _lacks_part(text):
        _unknown(text)
    return FaultPoint(text)


def _lacks_part(text: str) -> bool:
    row = point_row(text)
    return row is not None and bool(row.part) and not text.partition(":")[2]


def _check_legal(text: str, kind: FaultKind) -> None:
    row = point_row(text)
    if row is None:
        _unknown(text)
    if kind not in row.kinds:
        legal = ", ".join(_VERBS[item.kind] for item in KINDS if item.kind in row.kinds)
        raise SpecError(
            f"{_VERBS[kind]} is not possible at {text}",
            why=f"the point is: {row.doc}",
            instead=f"one of {legal}" if legal else "a fault at another point: this one is traced only",
        )


def _require_event(event: Any) -> None:
    kind = type(event)
    if isinstance(event, type):
        what, instead = f"the class {event.__name__}", f"rival_appends({event.__name__}(...))"
    elif event is None or isinstance(event, str | bytes | int | float | dict | list | tuple | set | frozenset):
        what, instead = f"{event!r}", "rival_appends(OrderPaid(...), OrderShipped(...))"
    elif not aggregates_of_event(kind) and aggregate_of_command(kind) is not None:
        what, instead = f"the command {kind.__name__}", "rival_appends(OrderPaid(...)): the events that it would store"
    else:
        return
    raise SpecError(
        f"rival_appends(...) is given {what}", why="a rival is seen by the events that it stored", instead=instead
    )


def close_points(text: str) -> list[str]:
    """Points that may have been meant by a text: those that are close to it, else all."""
    known = [f"{row.name}:{row.part}" if row.part else row.name for row in POINTS if row.kinds]
    return difflib.get_close_matches(text, known, 3, 0.4) or known


def _unknown(text: str) -> NoReturn:
    raise SpecError(
        f"there is no point {text!r}",
        why="a fault strikes where an effect of the pipeline passes a point of the points table",
        instead=" or ".join(close_points(text)),
    )
