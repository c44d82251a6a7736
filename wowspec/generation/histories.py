"""Histories that real commands made, each through the whole pipeline: no state that could not be reached is given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from hypothesis import reject, strategies as st

from ..errors import Sleepless, SpecError
from ..messages.envelopes import DomainEventStream
from ..modeling.aggregates import AggregateMetadata, aggregate_metadata, is_aggregate
from ..modeling.identity import DEFAULT_TENANT_ID, AggregateRef, NamedAggregate
from ..runtime.injection import MissingServiceError
from ..specs.builder import Spec, spec
from ..specs.execution import send, session_before
from ..specs.items import CommandOptions, On, Options, SentCommand, Stream
from ..specs.laws import LAW_NAMES
from ..specs.nodes import Node, Setup, Subject
from ..specs.render import BRIEF, render
from ..specs.restless import restless
from ..specs.run import PROGRAMMING_ERRORS
from ..specs.session import Session
from ..specs.tracking import aside
from .callers import Caller
from .commands import Drawn

#: So many histories in a row in which every command was refused are no chance any more.
MOST_REFUSED: Final = 40
_LAST_TOLD: Final = 3


def base_of(
    subject: Any, caller: Caller, using: Iterable[Any], inject: Mapping[str, Any] | Iterable[Any]
) -> tuple[Node, AggregateMetadata]:
    """The spec that histories are made in, and the aggregate root that they are of.

    Raises:
        SpecError: for what is neither an aggregate root nor a spec of one.
    """
    _require_services(caller, inject)
    with aside():
        base: Spec[Any] = subject if isinstance(subject, Spec) else spec(subject)
        for part in using:
            base = base.using(part)
        if inject:
            base = base.inject(**inject) if isinstance(inject, Mapping) else base.inject(*inject)
    node = base._node
    first = node.path()[0].step
    cls = first.cls if isinstance(first, Subject) else None
    if cls is None or not is_aggregate(cls):
        raise SpecError(
            f"{caller} does not say whose histories are meant",
            why="a history is one aggregate's, and made by its commands",
            instead=f"{caller.verb}(Order), or {caller.verb}(spec(Order).using(...))",
        )
    return node, aggregate_metadata(cls)


def _require_services(caller: Caller, inject: Any) -> None:
    """Refuse what is one service, or none, where several belong."""
    if isinstance(inject, Mapping | Iterable) and not isinstance(inject, str | bytes | type):
        return
    shown = f"{inject.__name__}()" if isinstance(inject, type) else render(inject, BRIEF)
    raise SpecError(
        f"{caller.verb}(inject={inject.__name__ if isinstance(inject, type) else shown}) is given no services",
        why="they stand in a list, or in a mapping by their names",
        instead=f"inject=[{shown}], or inject={{'payments': {shown}}}",
    )


def _said_here(error: MissingServiceError) -> MissingServiceError:
    """What is missing, and how it is given to histories."""
    instead = _INJECTED.sub(lambda found: f"inject=[{found[1]}]", error.instead)
    instead = _INJECTED_BY_NAME.sub(lambda found: f"inject={{{found[1]!r}: ...}}", instead)
    return MissingServiceError(error.what, why=error.why, instead=instead)


_INJECTED: Final = re.compile(r"\.inject\((\w+\([^()]*\))\)")
_INJECTED_BY_NAME: Final = re.compile(r"\.inject\((\w+)=\.\.\.\)")


class Historian:
    """Makes histories; each begins in a copy of one world, services included, so that no example sees another's."""

    def __init__(self, base: Node, metadata: AggregateMetadata, caller: Caller) -> None:
        self._base = base
        self._metadata = metadata
        self._caller = caller
        self._pristine: Session | None = None
        self._in_a_row = 0
        self._refusals: list[str] = []
        self._given_up = False

    def open(self) -> Session:
        """A world in which nothing of the history has happened."""
        if self._pristine is None:
            end = Node(self._base, Setup(self._caller.verb, lambda _session: None))
            with aside():
                session, _ = session_before(end)
            session.laws_off = frozenset(LAW_NAMES)
            session.waiting_faults.clear()
            self._pristine = session
        return self._pristine.branch(isolated=True)

    def send(self, session: Session, item: Any, aggregate_id: str) -> list[DomainEventStream]:
        """Send one command; the streams that it and what followed from it stored, in order.

        Raises:
            Exception: a programming error of the command's function, or one of the author's.
        """
        command, options = (item.command, item.options) if isinstance(item, SentCommand) else (item, CommandOptions())
        # A command without an id of its own is for this instance.
        session.speak_of(self._reference(session, aggregate_id))
        try:
            with aside():
                run = send(session, command, options, None)
        except MissingServiceError as missing:
            raise _said_here(missing) from None
        except Sleepless as sleepless:
            raise restless(session.world, sleepless) from None
        error = run.error
        if isinstance(error, PROGRAMMING_ERRORS):
            error.add_note(f"Raised for {command!r}, while {self._caller} made a history: no refusal, but a bug.")
            raise error
        audit = session.runtime.audit
        assert audit is not None
        stored = list(audit.stored)
        if not stored and run.error is not None:
            text = f"{type(run.command).__name__}: {type(run.error).__name__}: {run.error}"
            self._refusals = [*self._refusals, text][-_LAST_TOLD:]
        return stored

    def begun(self, session: Session) -> str:
        """The id of the instance that the base speaks of; empty if it speaks of none."""
        spoken = session.spoken.get(self._metadata.named)
        return spoken.id if spoken is not None else ""

    def exists(self, session: Session, aggregate_id: str) -> bool:
        """Whether an instance has a history already."""
        return session.runtime.event_store.head_version(self._reference(session, aggregate_id)) > 0

    def _reference(self, session: Session, aggregate_id: str) -> AggregateRef:
        return session.reference_in(self._metadata.named, aggregate_id, self._metadata.static_tenant_id)

    def require_any(self, sent: int, stored: Sequence[DomainEventStream]) -> None:
        """Reject an example in which commands were sent and none stored anything; give up where all come to that.

        It gives up for good, and only where it would have rejected: what Hypothesis plays again comes out alike.
        """
        if stored:
            self._in_a_row = 0
        if stored or not sent:
            return
        self._in_a_row += 1
        if not self._given_up and self._in_a_row < MOST_REFUSED:
            reject()
        self._given_up = True
        told = "\n  ".join(dict.fromkeys(self._refusals)) or "none was refused, and none stored an event"
        raise SpecError(
            f"{self._caller}: in {MOST_REFUSED} histories in a row no command stored anything; "
            f"the last refusals:\n  {told}",
            why="every history would be empty, and a property over them proves nothing",
            instead=f"overrides with what the aggregate accepts, such as {self._caller.with_override('amount')}, "
            "or commands=... of your own",
        )


def histories_of(
    historian: Historian, instances: Sequence[Drawn], least: int, most: int
) -> st.SearchStrategy[tuple[On, ...]]:
    """Histories by the commands of these instances.

    Args:
        historian: makes them.
        instances: the commands of each instance.
        least: how many versions a history has at least.
        most: how many commands are sent at most.
    """
    whose = st.sampled_from(instances)

    @st.composite
    def history(draw: st.DrawFn) -> tuple[On, ...]:
        session = historian.open()
        stored: list[DomainEventStream] = []
        there: set[str] = set()
        wanted, sent = draw(st.integers(least, most)), 0
        while sent < wanted or (len(stored) < least and sent < most):
            one = draw(whose) if len(instances) > 1 else instances[0]
            aggregate_id = historian.begun(session) if one.is_default else ""
            aggregate_id = aggregate_id or draw(one.ids)
            is_there = aggregate_id in there or historian.exists(session, aggregate_id)
            item = draw(one.following if is_there else one.creating)
            sent += 1
            streams = historian.send(session, item, aggregate_id)
            if streams:
                there.add(aggregate_id)
                stored += streams
        historian.require_any(sent, stored)
        if len(stored) < least:
            reject()
        held = session.runtime.catalog.aggregates
        return as_items({named: metadata.command_class for named, metadata in held.items()}, stored)

    return history()


def as_items(roots: Mapping[NamedAggregate, type], stored: Iterable[DomainEventStream]) -> tuple[On, ...]:
    """Streams as items of `given(...)`: `on(T, id, ...)` with bare events, `stream(...)` for several of one version."""
    items: list[On] = []
    last: AggregateRef | None = None
    for one in stored:
        reference = one.aggregate_id
        bodies = tuple(event.body for event in one.events)
        body = bodies[0] if len(bodies) == 1 else Stream(bodies)
        tenant = reference.tenant_id
        options = Options(one.owner_id or None, one.space_id or None, tenant if tenant != DEFAULT_TENANT_ID else None)
        if reference == last and items[-1].options == options:
            items[-1] = On(items[-1].aggregate, reference.id, (*items[-1].items, body), options)
        else:
            items.append(On(roots[reference.named_aggregate], reference.id, (body,), options))
        last = reference
    return tuple(items)
