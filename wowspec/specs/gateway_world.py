"""The world behind a gateway, as a test sees it: shaped before the first use, looked at afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..errors import SpecError, SpecFailure
from ..faults.arming import is_visit_of
from ..faults.values import Fault
from ..messages.header import UPSTREAM_ID
from ..modeling.identity import AggregateRef
from ..modeling.ordering import Order
from ..runtime.chain import Filter, NamedFilter
from ..runtime.fault_points import FaultPoint, FaultPoints
from ..runtime.sourcing import StateAggregate
from ..world.clock import VirtualClock
from ..world.points import COMMAND_BUS_SEND, DOMAIN_EVENT_BUS_SEND
from ..world.stepping import Stepper
from ..world.trace import TraceRow
from ..world.world import LoggedFailure
from . import looking
from .execution import fault_target
from .facts import Facts
from .gateway_session import GatewaySession
from .history import nothing_more, pass_time, write_history
from .items import TimeStep, advance as advance_step, at as at_step
from .laws import require_law
from .misspelt import no_verb
from .parts import join, members_of, profile_of, require_fault
from .pending import Pending, pending_of
from .placing import place_of_caller
from .render import render
from .requirements import require_point
from .restless import run_to_rest
from .run import APPLIED
from .session import Profile, Session
from .story import rows_text

S = TypeVar("S")


class GatewayWorld:
    """The world of one gateway: `gateway.world`.

    `using`, `without`, `with_profile` and `add_filter` shape it, before its first use; everything else is for any time.
    """

    __slots__ = ("_held",)

    def __init__(self, held: GatewaySession) -> None:
        self._held = held

    if not TYPE_CHECKING:
        __getattr__ = no_verb("a gateway's world")

    # --- what it holds ------------------------------------------------------------------------------------------------

    def using(self, *parts: Any) -> None:
        """Let aggregates, projections, event processors, sagas, or a whole `Context`, join the world.

        Raises:
            SpecError: for anything else.
        """
        held = self._entered()
        members = members_of(parts, "using")
        if held.made is None:
            held.plan.parts.extend(members)
            return
        held.require_rest()
        for member in members:
            join(held.made, member)

    def without(self, *parts: Any) -> None:
        """Take parts out of the world again, such as one saga of a whole context; before its first use."""
        members = members_of(parts, "without")
        self._unmade("without", "its functions have subscribed already").plan.excluded.extend(members)

    def with_profile(self, profile: Profile | str) -> None:
        """Choose, before the first use, what the ports can do: a name, or `profile(request_id_existence="noop")`."""
        chosen = profile_of(profile)
        self._unmade("with_profile", "its bus and its stores are made already").plan.profile = chosen

    def add_filter(self, item: Filter, *, order: Order | None = None, name: str | None = None) -> None:
        """Put a filter of your own into the command chain, where its order says; before its first use."""
        named = NamedFilter(name or type(item).__name__, order or Order(), item)
        self._unmade("add_filter", "every command of a world passes the same chain").plan.filters.append(named)

    def provide(self, *services: Any, **by_name: Any) -> None:
        """Give services to handlers: looked up by type first, then by name."""

        def give(session: Session) -> None:
            for service in services:
                session.provide(service)
            for name, service in by_name.items():
                session.provide(service, name)

        self._entered().say(give)

    def without_law(self, *names: str) -> None:
        """Do not check these laws from here on: `without_law("replay_equality")`."""
        held = self._entered()
        held.laws_off |= {require_law(name) for name in names}

    # --- faults -------------------------------------------------------------------------------------------------------

    def arm(self, *faults: Fault) -> None:
        """Arm faults from here on: `arm(faults.event_store.append.fails())`; one that never strikes fails the test.

        Raises:
            SpecError: for anything that is no fault.
        """
        held = self._entered()
        for fault in faults:
            require_fault(fault, "gateway.world.arm")
        held.arm(faults)

    def disarm(self, *faults: Fault) -> None:
        """Take faults out again, all if none is named: they strike no more, and need not have struck."""
        self._entered().disarm(faults)

    def fault_point(self, name: str, *, key: Any = "") -> FaultPoint:
        """A point that the test's own code passes: `with gateway.world.fault_point("payment.charge"): ...`."""
        return FaultPoints(self._entered().session.world).fault_point(name, key=key)

    # --- history and time ---------------------------------------------------------------------------------------------

    def given(self, *items: Any, deliver: bool = False) -> None:
        """Add history, as in a spec: events (each a version), `stream(...)`, `on(T, id, ...)`, commands, `at(...)`, ….

        Args:
            items: what happened, in order. Commands are real ones and must succeed.
            deliver: whether the events are published, too; else they only stand in the store.

        Raises:
            SpecError: for an item that cannot stand there.
            SpecFailure: for a command that failed.
        """
        __tracebackhide__ = True
        self._move(lambda session: write_history(session, items, nothing_more, deliver=deliver))

    def advance(
        self, *, days: int = 0, hours: int = 0, minutes: int = 0, seconds: float = 0, milliseconds: int = 0
    ) -> None:
        """Let virtual time pass; what is due on the way happens."""
        __tracebackhide__ = True
        self._pass(advance_step(days=days, hours=hours, minutes=minutes, seconds=seconds, milliseconds=milliseconds))

    def step(self) -> list[TraceRow] | None:
        """Let the next point be passed; virtual time passes where nothing else can move.

        Returns:
            The rows that were added: one, but where points are passed within plain code of one step, as a validation
            is. None if the world came to rest without passing any.

        Raises:
            SpecError: if the author of the test or the domain erred.
            SpecFailure: if the world came to rest, and a law was broken.
        """
        __tracebackhide__ = True
        rows: list[TraceRow] = []

        def passed(session: Session) -> None:
            trace = session.world.trace
            start = len(trace)
            _ = Stepper(session.world).move(lambda: len(trace) > start)
            rows.extend(trace.rows[start:])

        self._go_on(passed)
        return rows or None

    def run_until(self, point: str, *, aggregate: Any = None, times: int = 1) -> TraceRow:
        """Move until a point has been passed, such as `event_store.append`, and leave the world there.

        What its effect is has happened; what follows it has not. An event function that an event reaches
        (`event.deliver:…`) is still to be run.

        Args:
            point: its text, as in `trace`.
            aggregate: whose visit it shall be: a type, an id, `on(T, id)`; None means anyone's.
            times: how many visits from now.

        Returns:
            The row that was added.

        Raises:
            SpecError: if there is no such point, or the author erred otherwise.
            SpecFailure: if the world came to rest first; it names the points that were passed.
        """
        __tracebackhide__ = True
        require_point("gateway.world.run_until", point)
        if type(times) is not int or times < 1:
            raise SpecError(
                f"gateway.world.run_until({point!r}, times={times!r})",
                why="visits are counted from 1",
                instead="times=1",
            )
        found: list[TraceRow] = []

        def reach(session: Session) -> None:
            trace = session.world.trace
            seen = start = len(trace)
            target = fault_target(session, aggregate)

            def reached() -> bool:
                nonlocal seen
                new, seen = trace.rows[seen:], len(trace)
                found.extend(row for row in new if row.point == point and is_visit_of(row, target))
                return len(found) >= times

            if not Stepper(session.world).move(reached):
                raise SpecFailure(_not_reached(point, aggregate, times, len(found), trace.rows[start:]))

        self._go_on(reach)
        return found[times - 1]

    def run(self) -> None:
        """Let the world come to rest, as after every other call of the gateway.

        Raises:
            SpecError: if the author of the test or the domain erred.
            SpecFailure: if a law was broken.
        """
        __tracebackhide__ = True
        self._go_on(lambda session: run_to_rest(session.world))

    @property
    def pending(self) -> Pending:
        """What the world still has to do: `ready`, `timers`, `commands` that wait in line. False at rest."""
        held = self._entered()
        if held.made is None:
            return Pending()
        return pending_of(held.made.runtime, dict(call.lane_by_task() for call in held.calls))

    def at(self, moment: datetime) -> None:
        """Set virtual time to an instant; what is due on the way happens.

        Raises:
            SpecError: if it has passed, or has no time zone.
        """
        __tracebackhide__ = True
        self._pass(at_step(moment))

    def now(self) -> datetime:
        """Virtual time, an aware UTC datetime."""
        held = self._entered()
        return (held.made.world.clock if held.made is not None else VirtualClock(held.start_nanos)).now()

    # --- what is there ------------------------------------------------------------------------------------------------

    @overload
    def state(self, aggregate: Callable[[S], Any], id: str | None = None, *, tenant_id: str | None = None) -> S: ...
    @overload
    def state(self, aggregate: type[S], id: str | None = None, *, tenant_id: str | None = None) -> S: ...  # pyright: ignore[reportOverlappingOverload]
    def state(self, aggregate: Any, id: str | None = None, *, tenant_id: str | None = None) -> Any:  # noqa: A002
        """A copy of an instance's state, as its history says; without history the state that it begins with.

        Here and in what follows, `id` may be left out for the instance of the type that was last spoken of, as by
        history, or by a command whose id the world has made.

        Raises:
            SpecError: if none was.
        """
        return self.aggregate(aggregate, id, tenant_id=tenant_id).state

    def aggregate(
        self,
        aggregate: type,
        id: str | None = None,  # noqa: A002
        *,
        tenant_id: str | None = None,
    ) -> StateAggregate:
        """A copy of an instance: `version` (0 without history), `owner_id`, `space_id`, `deleted`, `state`, …."""
        return looking.copied(*self._found(aggregate, id, tenant_id))

    def stored(self, aggregate: type, id: str | None = None, *, tenant_id: str | None = None) -> Facts[Any]:  # noqa: A002
        """The events that the store holds of an instance; empty (and false) without history."""
        return looking.stored(*self._found(aggregate, id, tenant_id))

    def published(self, aggregate: type, id: str | None = None, *, tenant_id: str | None = None) -> Facts[Any]:  # noqa: A002
        """The events of an instance that the domain event bus accepted."""
        session, reference = self._found(aggregate, id, tenant_id)
        return Facts.of_envelopes(
            event
            for row in session.world.trace.rows
            if row.point == DOMAIN_EVENT_BUS_SEND and row.outcome in APPLIED and row.subject.aggregate_id == reference
            for event in row.subject.events
        )

    def views(self, projection: type) -> dict[str, Any]:
        """Copies of the rows that a projection keeps by now, by their ids.

        Raises:
            SpecError: if the world holds no such projection.
        """
        instead = f"gateway.world.using({getattr(projection, '__name__', 'OrderView')}) before the first call"
        return looking.rows(self._entered().session, projection, "gateway.world.views", instead)

    @property
    def commands(self) -> Facts[Any]:
        """The commands that sagas sent, as the command bus accepted them."""
        return Facts.of_envelopes(
            row.subject
            for row in self.trace
            if row.point == COMMAND_BUS_SEND and row.outcome in APPLIED and UPSTREAM_ID in row.subject.header
        )

    @property
    def trace(self) -> list[TraceRow]:
        """Every point that was passed, in the order of time."""
        made = self._entered().made
        return list(made.world.trace.rows) if made is not None else []

    @property
    def logged(self) -> list[LoggedFailure]:
        """Errors that the runtime logged and swallowed. A downstream one that is never looked at fails the test."""
        return self._entered().logged()

    def __repr__(self) -> str:
        return "<gateway.world>"

    # --- parts --------------------------------------------------------------------------------------------------------

    def _entered(self) -> GatewaySession:
        self._held.enter()
        return self._held

    def _unmade(self, verb: str, why: str) -> GatewaySession:
        held = self._entered()
        if held.made is not None:
            raise SpecError(
                f"gateway.world.{verb}(...) after the world was made",
                why=why,
                instead=f"gateway.world.{verb}(...) before the first call, given(...) or look at the world",
            )
        return held

    def _found(self, aggregate: type, text: str | None, tenant_id: str | None) -> tuple[Session, AggregateRef]:
        session = self._entered().session
        session.use_aggregate(aggregate)
        return session, looking.instance(session, aggregate, text, tenant_id, "gateway.world")

    def _move(self, step: Callable[[Session], None]) -> None:
        __tracebackhide__ = True

        def tried(session: Session) -> None:
            try:
                step(session)
            except Exception:
                # What is raised to the test may have been logged, too.
                self._held.logged()
                raise

        self._go_on(tried)

    def _go_on(self, step: Callable[[Session], None]) -> None:
        __tracebackhide__ = True
        held = self._entered()
        held.require_rest()
        held.moved_by(place_of_caller())
        session = held.begin()
        failure: Exception | None = None
        try:
            step(session)
        except Exception as error:  # noqa: BLE001 - raised again, after what weighs more
            failure = error
        held.end(failure)

    def _pass(self, step: TimeStep) -> None:
        __tracebackhide__ = True
        held = self._entered()
        if held.made is None:
            held.start_nanos = step.to if step.to is not None else held.start_nanos + step.by
        else:
            self._move(lambda session: pass_time(session, step))


def _not_reached(point: str, aggregate: Any, times: int, visits: int, rows: Sequence[TraceRow]) -> str:
    whose = "" if aggregate is None else f" by {render(aggregate)}"
    wanted = f" {times} times{whose}: {visits} visits" if times > 1 else whose
    return (
        f"the world came to rest, and {point} was not passed{wanted}\n"
        f"{rows_text(rows)}\n"
        "  why: run_until(...) goes on from where the world was left\n"
        "  instead: a point that is still ahead, after gateway.start(...)"
    )
