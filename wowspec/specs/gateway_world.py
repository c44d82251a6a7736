"""The world behind a gateway, as a test sees it: shaped before the first use, looked at afterwards."""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar, overload

from ..errors import SpecError
from ..faults.values import Fault
from ..modeling.identity import AggregateRef
from ..modeling.ordering import Order
from ..runtime.chain import Filter, NamedFilter
from ..runtime.sourcing import StateAggregate
from ..world.clock import VirtualClock
from ..world.points import DOMAIN_EVENT_BUS_SEND
from ..world.trace import TraceRow
from ..world.world import LoggedFailure
from .facts import Facts
from .gateway_session import GatewaySession
from .history import nothing_more, pass_time, write_history
from .items import TimeStep, advance as advance_step, at as at_step, on
from .laws import require_law
from .parts import join, members_of, profile_of, require_fault
from .run import APPLIED
from .session import Profile, Session

S = TypeVar("S")


class GatewayWorld:
    """The world of one gateway: `gateway.world`.

    `using`, `without`, `with_profile` and `add_filter` shape it, before its first use; everything else is for any time.
    """

    __slots__ = ("_held",)

    def __init__(self, held: GatewaySession) -> None:
        self._held = held

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
    def state(self, aggregate: Callable[[S], Any], id: str, *, tenant_id: str | None = None) -> S: ...
    @overload
    def state(self, aggregate: type[S], id: str, *, tenant_id: str | None = None) -> S: ...  # pyright: ignore[reportOverlappingOverload]
    def state(self, aggregate: Any, id: str, *, tenant_id: str | None = None) -> Any:  # noqa: A002
        """A copy of an instance's state, as its history says; without history the state that it begins with."""
        return self.aggregate(aggregate, id, tenant_id=tenant_id).state

    def aggregate(self, aggregate: type, id: str, *, tenant_id: str | None = None) -> StateAggregate:  # noqa: A002
        """A copy of an instance: `version` (0 without history), `owner_id`, `space_id`, `deleted`, `state`, …."""
        session, reference = self._found(aggregate, id, tenant_id)
        found = session.replay(reference)
        found.state = copy.deepcopy(found.state)
        return found

    def stored(self, aggregate: type, id: str, *, tenant_id: str | None = None) -> Facts[Any]:  # noqa: A002
        """The events that the store holds of an instance; empty (and false) without history."""
        session, reference = self._found(aggregate, id, tenant_id)
        streams = session.runtime.event_store.peek(reference)
        return Facts.of_envelopes(event for stream in streams for event in stream.events)

    def published(self, aggregate: type, id: str, *, tenant_id: str | None = None) -> Facts[Any]:  # noqa: A002
        """The events of an instance that the domain event bus accepted."""
        session, reference = self._found(aggregate, id, tenant_id)
        return Facts.of_envelopes(
            event
            for row in session.world.trace.rows
            if row.point == DOMAIN_EVENT_BUS_SEND and row.outcome in APPLIED and row.subject.aggregate_id == reference
            for event in row.subject.events
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

    def _found(self, aggregate: type, text: str, tenant_id: str | None) -> tuple[Session, AggregateRef]:
        session = self._entered().session
        return session, session.reference(on(aggregate, text, tenant_id=tenant_id))

    def _move(self, step: Callable[[Session], None]) -> None:
        __tracebackhide__ = True
        held = self._entered()
        held.require_rest()
        session = held.begin()
        failure: Exception | None = None
        try:
            step(session)
        except Exception as error:  # noqa: BLE001 - raised again, after what weighs more
            failure = error
            held.logged()
        held.end(failure)

    def _pass(self, step: TimeStep) -> None:
        __tracebackhide__ = True
        held = self._entered()
        if held.made is None:
            held.start_nanos = step.to if step.to is not None else held.start_nanos + step.by
        else:
            self._move(lambda session: pass_time(session, step))
