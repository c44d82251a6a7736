"""What a way of steps gives as bare events, version by version, and the worlds in which it might have come about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from ..errors import SpecError, SpecFailure
from ..modeling.aggregates import is_aggregate
from ..modeling.identity import DEFAULT_TENANT_ID, AggregateRef
from ..specs.again import accept, again
from ..specs.execution import act, arm, plan_of, session_before
from ..specs.history import put_state, write_history
from ..specs.items import On, Options, SentCommand, Stream, TimeStep
from ..specs.laws import LAW_NAMES
from ..specs.nodes import ACTIONS, GivenState, History, Node, Setup, When, WhenConcurrently
from ..specs.session import Session, new_session
from ..specs.tracking import aside


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a history that is given as bare events.

    Attributes:
        reference: whose.
        bodies: the events.
        owner_id: whom the stream names as the owner; empty: nobody.
        space_id: likewise.
        place: file and line of its `given`.
    """

    reference: AggregateRef
    bodies: tuple[Any, ...]
    owner_id: str
    space_id: str
    place: str

    @property
    def types(self) -> tuple[type, ...]:
        """The classes of its events."""
        return tuple(type(body) for body in self.bodies)

    def __str__(self) -> str:
        names = ", ".join(kind.__name__ for kind in self.types)
        return names if len(self.bodies) == 1 else f"stream({names})"


@dataclass(frozen=True, slots=True)
class Move:
    """One thing that is done to a world before the next command of the spec is sent.

    Attributes:
        do: does it.
        text: what it is, equal for moves that do the same.
        version: the version that it writes, if it is made of bare events.
    """

    do: Callable[[Session], None]
    text: str
    version: Version | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """What is given between two actions.

    Attributes:
        before: the world before anything of it; to be branched.
        moves: what is given, in order.
        roots: aggregate root's class of each instance that has bare events.
    """

    before: Session
    moves: tuple[Move, ...]
    roots: dict[AggregateRef, type]


def segments(path: Sequence[Node]) -> Iterator[Segment]:
    """What is given on a way of steps, action by action; those without bare events are left out.

    Processors take no part before the first action: a history may end before a saga answers.

    Args:
        path: the steps, from the root on, as `tracking.paths` gives them.

    Raises:
        SpecError: for services that are needed again and cannot be copied.
    """
    with aside():
        nodes = again(path)
        begin = 0
        for place, node in enumerate(nodes):
            if not isinstance(node.step, ACTIONS):
                continue
            steps = nodes[begin:place]
            if any(isinstance(step.step, History) for step in steps):
                before = _begun(steps) if not begin else _left_behind(nodes[begin - 1])
                rest = [step for step in steps if begin or not _is_of_a_fresh_world(step)]
                segment = _segment(before, rest, node)
                if segment is not None:
                    yield segment
            begin = place + 1
            if not any(isinstance(later.step, History) for later in nodes[begin:]) or not _ran(node):
                return


def _begun(steps: Sequence[Node]) -> Session:
    """A fresh world that holds the aggregates that these steps name, and the services."""
    plan, services = plan_of(steps)
    parts = [part for part in plan.held_parts() if is_aggregate(part)]
    return _quiet(new_session(parts, plan.profile, filters=plan.filters, prepare=services))


def _left_behind(action: Node) -> Session:
    assert action.run is not None
    return _quiet(action.run.session.branch(isolated=True))


def _quiet(session: Session) -> Session:
    session.laws_off = frozenset(LAW_NAMES)
    session.waiting_faults.clear()
    return session


def _ran(node: Node) -> bool:
    """Run an action, so that what is given after it has a world; whether there is one."""
    if isinstance(node.step, WhenConcurrently):
        return False
    try:
        session, previous = session_before(node)
        arm(session)
        act(node, session, previous)
    except (SpecError, SpecFailure):
        return False
    assert node.run is not None
    accept(node.run)
    return True


def _is_of_a_fresh_world(node: Node) -> bool:
    return isinstance(node.step, Setup) and node.step.shapes_fresh_world


def _segment(before: Session, steps: Sequence[Node], action: Node) -> Segment | None:
    """The moves, each tried in a copy of the world, so that it shows which of them write bare events, and of whom."""
    truth = before.branch(isolated=True)
    moves: list[Move] = []
    roots: dict[AggregateRef, type] = {}
    for place, node in enumerate(steps):
        step = node.step
        if isinstance(step, Setup):
            moves.append(_done(truth, Move(step.apply, step.verb)))
        elif isinstance(step, GivenState):
            moves.append(_done(truth, Move(_putting(step), repr(step))))
        elif isinstance(step, History):
            leaves = [leaf for item in step.items for leaf in _leaves(item)]
            for index, leaf in enumerate(leaves):
                following = _following(leaves[index + 1 :], steps[place + 1 :], action)
                try:
                    move = _given(truth, leaf, following, str(node.place))
                except SpecFailure:
                    return Segment(before, tuple(moves), roots) if roots else None
                if move.version is not None:
                    reference = move.version.reference
                    roots[reference] = truth.metadata_of(reference.named_aggregate).command_class
                moves.append(move)
    return Segment(before, tuple(moves), roots) if roots else None


def _done(session: Session, move: Move) -> Move:
    move.do(session)
    return move


def _putting(step: GivenState) -> Callable[[Session], None]:
    return lambda session: put_state(session, step)


def _leaves(item: Any) -> Iterator[Any]:
    """Single items; what stands in `on(...)` gets an `on(...)` of its own."""
    if isinstance(item, On) and item.items:
        for inner in item.items:
            for leaf in _leaves(inner):
                yield leaf if isinstance(leaf, On) else replace(item, items=(leaf,))
    else:
        yield item


def _following(leaves: Sequence[Any], steps: Sequence[Node], action: Node) -> list[Any]:
    """What comes later: a bare event may belong to the next command's aggregate."""
    later = chain.from_iterable(node.step.items for node in steps if isinstance(node.step, History))
    sent: Iterable[Any] = ()
    if isinstance(action.step, When):
        sent = (SentCommand(action.step.command, action.step.options),)
    elif isinstance(action.step, WhenConcurrently):
        sent = action.step.commands
    return [*leaves, *later, *sent]


def _given(truth: Session, leaf: Any, following: Iterable[Any], place: str) -> Move:
    """Write one item, and look what it was."""
    audit, trace, store = truth.runtime.audit, truth.world.trace, truth.runtime.event_store
    assert audit is not None
    passed, stored = len(trace), len(audit.stored)
    following = list(following)
    _write(truth, leaf, following)
    streams = audit.stored[stored:]
    inner = leaf.items[0] if isinstance(leaf, On) and leaf.items else leaf
    if len(trace) > passed or len(streams) != 1 or isinstance(inner, TimeStep):
        return Move(lambda session: _write(session, leaf, following), repr(leaf))
    stream = streams[0]
    reference = stream.aggregate_id
    assert store.head_version(reference) == stream.version
    bodies = inner.events if isinstance(inner, Stream) else (inner,)
    version = Version(reference, tuple(bodies), stream.owner_id, stream.space_id, place)
    root = truth.metadata_of(reference.named_aggregate).command_class
    tenant = reference.tenant_id
    options = Options(stream.owner_id or None, stream.space_id or None, tenant if tenant != DEFAULT_TENANT_ID else None)
    exact = On(root, reference.id, (Stream(version.bodies),), options)
    return Move(lambda session: _write(session, exact, ()), f"{reference} {options} {version.bodies!r}", version)


def _write(session: Session, item: Any, following: Iterable[Any]) -> None:
    write_history(session, (item,), lambda: following, deliver=False)
