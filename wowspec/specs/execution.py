"""Runs the way from the root of a spec to one of its commands; each command runs once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from pydantic import ValidationError

from ..errors import CommandValidationError, Sleepless, SpecError
from ..modeling.identity import AggregateRef
from ..runtime.validation import violations_of
from ..world.points import COMMAND_VALIDATE, Room
from ..world.trace import Lane, TraceRow
from . import defaults
from .events import is_projection, send_event
from .history import put_state, write_history
from .items import CommandOf, CommandOptions, On, SentCommand, build_command, wanted
from .laws import check_laws
from .nodes import (
    ACTIONS,
    GivenState,
    History,
    Node,
    Setup,
    Subject,
    When,
    WhenConcurrently,
    WhenEvent,
    WithFaults,
    WithoutLaw,
)
from .refusals import require_command
from .requirements import require_agreement
from .restless import restless
from .run import Run, failure_of
from .session import Armed, Session, new_session
from .verdicts import settle


def run_of(node: Node) -> Run:
    """The run of a command step; runs what is not run yet.

    Raises:
        SpecError: if the author erred.
        SpecFailure: if a step before it failed undecided.
    """
    if node.driver is not None:
        return node.driver.run_of(node)
    waiting: list[Node] = []
    step: Node | None = node
    while step is not None and step.run is None:
        if isinstance(step.step, ACTIONS):
            waiting.append(step)
        step = step.parent
    for each in reversed(waiting):
        act(each, *session_before(each))
    assert node.run is not None
    return node.run


def session_before(node: Node, opened: Callable[[Session], None] | None = None) -> tuple[Session, Run | None]:
    """The world as it is right before a step, of its own; and the run that came before, if any.

    Args:
        node: the step.
        opened: gets the world before anything happens in it that the run before did not bring.
    """
    steps: list[Node] = []
    earlier = node.parent
    while earlier is not None and not isinstance(earlier.step, ACTIONS):
        steps.append(earlier)
        earlier = earlier.parent
    steps.reverse()
    previous: Run | None = None
    if earlier is not None:
        previous = run_of(earlier)
        settle(previous, earlier.where)
        session = previous.session.branch()
    else:
        session = fresh_session(steps)
        steps = [item for item in steps if not (isinstance(item.step, Setup) and item.step.shapes_fresh_world)]
    if opened is not None:
        opened(session)
    try:
        apply_steps(session, steps, node)
    except Sleepless as error:
        raise restless(session.world, error) from None
    return session, previous


def fresh_session(path: Sequence[Node]) -> Session:
    """A session over a fresh world that holds what these steps name."""
    plan, services = plan_of(path)
    return new_session(plan.held_parts(), plan.profile, filters=plan.filters, prepare=services)


def plan_of(path: Sequence[Node]) -> tuple[defaults.WorldPlan, list[Callable[[Session], None]]]:
    """What steps say of a world that is still to be made, and what gives it its services."""
    plan = defaults.WorldPlan()
    services = []
    for node in path:
        step = node.step
        if isinstance(step, Setup):
            plan.apply(step)
            if step.gives_services:
                services.append(step.apply)
        elif isinstance(step, Subject) and step.cls is not None:
            plan.parts.append(step.cls)
    return plan, services


def apply_steps(session: Session, nodes: Sequence[Node], target: Node) -> None:
    """Do what steps say that run nothing themselves; `target` is the one that runs something after them."""
    for place, node in enumerate(nodes):
        step = node.step
        if isinstance(step, History):
            deliver = step.deliver or is_projection(subject_of(target))
            logged = len(session.world.log)
            write_history(session, step.items, partial(_following, nodes, place, target), deliver=deliver)
            raise_author_errors(session, None, logged)
            session.untold += session.world.log[logged:]
        elif isinstance(step, Setup):
            step.apply(session)
        elif isinstance(step, GivenState):
            put_state(session, step)
        elif isinstance(step, WithFaults):
            session.waiting_faults.extend((fault, Armed(node, index)) for index, fault in enumerate(step.faults))
        elif isinstance(step, WithoutLaw):
            session.laws_off = session.laws_off | {step.name}


def _following(nodes: Sequence[Node], place: int, target: Node) -> Iterator[Any]:
    """Items and commands that come later: a bare event may belong to the next command's aggregate."""
    for node in nodes[place + 1 :]:
        if isinstance(node.step, History):
            yield from node.step.items
    if isinstance(target.step, WhenConcurrently):
        yield from target.step.commands
    if isinstance(target.step, When) and not _is_function(target.step.command):
        yield SentCommand(target.step.command, target.step.options)


def _is_function(command: Any) -> bool:
    return callable(command) and not isinstance(command, type) and not hasattr(type(command), "model_fields")


def act(node: Node, session: Session, previous: Run | None) -> None:
    """Run a step in the world as it is right before it, which is its own.

    Raises:
        SpecFailure: if its world never comes to rest.
    """
    try:
        _act(node, session, previous)
    except Sleepless as error:
        raise restless(session.world, error) from None


def _act(node: Node, session: Session, previous: Run | None) -> None:
    step = node.step
    if isinstance(step, WhenEvent):
        arm(session)
        node.run = send_event(session, step, subject_of(node), previous)
        return
    assert isinstance(step, When)
    command = step.command
    if _is_function(command) and not _handles(session, command):
        if previous is None:
            raise SpecError(
                "when(...) with a function, but nothing ran before it",
                why="the function is given the run so far",
                instead="when(CreateOrder(...)).when(lambda run: ShipOrder(id=run.aggregate_id))",
            )
        command = command(previous)
        require_command(command)
    arm(session)
    node.run = send(session, command, step.options, previous)


def subject_of(node: Node) -> type | None:
    """What the spec is about: the class of its first word."""
    while node.parent is not None:
        node = node.parent
    return node.step.cls if isinstance(node.step, Subject) else None


def _handles(session: Session, command: Any) -> bool:
    return session.runtime.catalog.for_command(type(command)) is not None


def arm(session: Session) -> None:
    """Arm the faults that wait for the next command."""
    for fault, origin in session.waiting_faults:
        session.runtime.arm_fault(fault, fault_target(session, fault.aggregate))
        session.origins.append(origin)
    session.waiting_faults.clear()


def fault_target(session: Session, aggregate: Any) -> Any:
    """What a fault's `aggregate=` means in this world."""
    if aggregate is None or isinstance(aggregate, str | AggregateRef):
        return aggregate
    if isinstance(aggregate, On):
        return session.reference(aggregate)
    if isinstance(aggregate, type):
        return session.use_aggregate(aggregate).named
    raise SpecError(
        f"aggregate={aggregate!r} of a fault",
        why="it says whose visits of the point count",
        instead="aggregate=Order, aggregate='o-1', or aggregate=on(Order, 'o-1')",
    )


def send(session: Session, command: Any, options: CommandOptions, previous: Run | None) -> Run:
    """Send one command through the gateway and let the world come to rest."""
    world = session.world
    started = len(world.trace)
    logged = len(world.log)
    signals = session.runtime.notifier.received
    heard = len(signals)
    audit = session.runtime.audit
    assert audit is not None
    audit.begin_step()
    armory = session.runtime.armory
    struck = len(armory.fired) if armory is not None else 0
    body = command
    if isinstance(command, CommandOf):
        try:
            body = build_command(command)
        except ValidationError as error:
            return refused(session, command, error, previous)
    message = session.message(body, options)
    require_agreement("when", message, options)
    gateway, scheduler = session.runtime.gateway, world.scheduler
    if message.is_void and options.wait_for is None:
        task: Any = scheduler.spawn(gateway.send(message), "when")
    else:
        plan = wanted(options.wait_for).plan(message.id)
        task = scheduler.spawn(gateway.send_and_wait(message, plan), "when")
    scheduler.run()
    failure = failure_of(task, message, world)
    raise_author_errors(session, failure, logged)
    untold = session.take_untold()
    return Run(
        session,
        command,
        message,
        task.result() if failure is None else None,
        failure,
        audit.exchanges.pop(message.id, None),
        range(started, len(world.trace)),
        [*untold, *world.log[logged:]],
        [signal for _, signal in signals[heard:]],
        check_laws(session.runtime, session.laws_off, session.shadows, session.initial),
        armory.fired[struck:] if armory is not None else [],
        previous,
        earlier=len(untold),
        wait_for=options.wait_for,
    )


def raise_author_errors(session: Session, failure: BaseException | None, logged: int) -> None:
    """Raise what the author of the spec or of its domain did wrong, if anything came to light."""
    world = session.world
    if world.spec_errors:
        raise world.spec_errors[0]
    if failure is None and len(world.log) == logged:
        return
    errors = [getattr(failure, "original", None) or failure, *(entry.error for entry in world.log[logged:])]
    for error in errors:
        if isinstance(error, SpecError):
            raise error


def refused(session: Session, command: CommandOf, error: ValidationError, previous: Run | None) -> Run:
    """A command whose class refused its fields: the outcome is what the gateway's field validation would say."""
    failure = refusal(session, command, error)
    passed = len(session.world.trace)
    untold = session.take_untold()
    return Run(
        session,
        command,
        None,
        None,
        failure,
        None,
        range(passed - 1, passed),
        untold,
        [],
        [],
        [],
        previous,
        earlier=len(untold),
    )


def refusal(session: Session, command: CommandOf, error: ValidationError) -> CommandValidationError:
    """What field validation would raise for a command that could not even be made; leaves its trace row."""
    violations = violations_of(error)
    row = TraceRow(
        session.world.clock.nanos,
        COMMAND_VALIDATE,
        Lane(Room.GATEWAY, "?"),
        "?",
        None,
        "",
        f"violations:{len(violations)}",
    )
    session.world.trace.append(row)
    failure = CommandValidationError(command, violations)
    failure.__cause__ = error
    return failure
