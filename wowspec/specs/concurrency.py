"""Runs commands that are in flight together, in every order that makes a difference, each on a copy of the world."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, Final

from pydantic import ValidationError

from ..errors import (
    CommandExpectVersionConflictError,
    DuplicateAggregateIdError,
    DuplicateRequestIdError,
    EventVersionConflictError,
    RetriesExhaustedError,
    SourcingVersionConflictError,
    SpecError,
)
from ..messages.envelopes import CommandMessage
from ..runtime.branch import process_beside
from ..runtime.footprint import footprint
from ..world.choices import Choices
from ..world.scheduler import Task
from ..world.schedules import parse_schedule
from ..world.search import Search
from .execution import arm, raise_author_errors, refused, session_before
from .items import CommandOf, SentCommand, build_command, wanted
from .laws import check_laws
from .layout import several
from .nodes import Node, WhenConcurrently
from .outcomes import Outcome, Outcomes
from .requirements import require_agreement
from .restless import run_to_rest
from .run import Run, failure_of
from .session import Session

#: Errors that tell a command's sender that another command was faster.
CONFLICTS: Final = (
    EventVersionConflictError,
    DuplicateAggregateIdError,
    DuplicateRequestIdError,
    CommandExpectVersionConflictError,
    SourcingVersionConflictError,
)
#: The orders of more commands than these are too many to be run one after another.
MOST_IN_ORDER: Final = 5


def is_conflict(error: BaseException | None) -> bool:
    """Whether an error tells that another command was faster."""
    if isinstance(error, RetriesExhaustedError):
        error = error.__cause__
    return isinstance(error, CONFLICTS)


@dataclass(slots=True, eq=False)
class Concurrency:
    """All that became of one `when_concurrently`.

    Attributes:
        step: what was run.
        outcomes: each outcome once, those of the most ordinary orders first.
        explored: what was run, and exactly what was not, as text.
        is_complete: whether every order was run that could make a difference.
        in_order: runs the commands one after another: the outcome of an order of (some of) their places.
        orders: the outcomes of all those that were run.
    """

    step: WhenConcurrently
    outcomes: list[Outcome]
    explored: str
    is_complete: bool
    in_order: Callable[[tuple[int, ...]], Outcome]
    orders: dict[tuple[int, ...], Outcome]

    def order_like(self, outcome: Outcome) -> tuple[int, ...] | None:
        """An order of the commands, one after another, that ends like this outcome; None if there is none.

        Commands that lost, were told so by a typed conflict, and stored nothing, may be left out.

        Raises:
            SpecError: for more commands than can be put in every order.
        """
        places = range(len(outcome.runs))
        if len(places) > MOST_IN_ORDER:
            raise SpecError(
                f"expect_serializable() of {len(places)} commands",
                why=f"each order of them would be run; that is done for {MOST_IN_ORDER} commands at most",
                instead="fewer commands, or expect_state(...) for what must hold in any order",
            )
        losers = [place for place in places if is_conflict(outcome.runs[place].error)]
        idle = [place for place in losers if not outcome.runs[place].stored]
        for dropped in _subsets(idle):
            kept = [place for place in places if place not in dropped]
            seen = outcome.as_seen(kept)
            for order in permutations(kept):
                if self.in_order(order).as_seen(kept) == seen:
                    return order
        return None


def _subsets(items: Sequence[int]) -> Iterable[tuple[int, ...]]:
    """Every selection, the smallest first."""
    found: list[tuple[int, ...]] = [()]
    for item in items:
        found += [(*others, item) for others in found]
    return sorted(found, key=lambda selection: (len(selection), selection))


def explore(node: Node) -> Concurrency:
    """Run a `when_concurrently`: all orders up to its bounds, or the one that it names.

    Raises:
        SpecError: if the author erred.
        SpecFailure: if a step before it failed undecided.
    """
    step = node.step
    assert isinstance(step, WhenConcurrently)
    base, previous = session_before(node)
    arm(base)
    known: dict[tuple[int, ...], Outcome] = {}

    def in_order(order: tuple[int, ...]) -> Outcome:
        if order not in known:
            known[order] = Flight(base, step, previous).one_after_another(order)
        return known[order]

    found = Outcomes()
    if step.schedule is not None:
        choices = Choices(parse_schedule(step.schedule), footprint=footprint)
        outcome = Flight(base, step, previous).together(choices)
        choices.detach()
        choices.require_used()
        found.add(outcome)
        explored, complete = f"schedule {outcome.schedule} alone", False
    else:
        search = Search(footprint=footprint, max_schedules=step.max_schedules, max_preemptions=step.max_preemptions)
        for _, outcome in search.outcomes(lambda choices: Flight(base, step, previous).together(choices)):
            found.add(outcome)
            if outcome.runs[0].breaches:
                break
        explored, complete = explored_text(search, step), search.is_complete
    outcomes = list(found)
    node.runs = [outcome.runs[0] for outcome in outcomes]
    return Concurrency(step, outcomes, explored, complete, in_order, known)


def explored_text(search: Search, step: WhenConcurrently) -> str:
    """What was run, and exactly what was not."""
    known = f" ({search.joined} of them only until they met another)" if search.joined else ""
    text = f"{several(search.runs, 'schedule')}{known}"
    if search.is_complete:
        return f"{text}: every order that makes a difference"
    if search.pending:
        bounded = search.runs >= step.max_schedules
        end = f"max_schedules={step.max_schedules}" if bounded else "the first in which a law broke"
        text += (
            f", up to {end}; {search.pending} more were found and not run, "
            f"the nearest of them with {several(search.least_pending or 0, 'preemption')}"
        )
    if search.refused:
        text += (
            f"; {search.refused} with more than max_preemptions={step.max_preemptions} were not run, "
            "nor what would have been found from there"
        )
    return text


class Flight:
    """The commands in a world of their own, ready to be sent."""

    __slots__ = ("_base", "_began", "_refused", "_sent", "_sessions", "_tasks", "_untold", "step")

    def __init__(self, base: Session, step: WhenConcurrently, previous: Run | None) -> None:
        session = base.branch(isolated=True)
        machine = session.world.ids.machine_id
        beside = [process_beside(session.runtime, machine + place) for place in range(1, step.processes)]
        self.step: WhenConcurrently = step
        self._base = previous
        self._sessions = [session, *(replace(session, runtime=runtime) for runtime in beside)]
        self._began = session.world.clock.nanos
        self._untold = session.take_untold()
        self._tasks: dict[int, Task[Any]] = {}
        self._refused: dict[int, Run] = {}
        self._sent: dict[int, CommandMessage[Any]] = {}
        audit = session.runtime.audit
        assert audit is not None
        audit.begin_step()
        for place, sent in enumerate(step.commands):
            self._build(place, sent)

    def _session_of(self, place: int) -> Session:
        return self._sessions[place % len(self._sessions)]

    def _build(self, place: int, sent: SentCommand) -> None:
        session, command = self._session_of(place), sent.command
        body = command
        if isinstance(command, CommandOf):
            try:
                body = build_command(command)
            except ValidationError as error:
                self._refused[place] = refused(session, command, error, self._base)
                return
        message = session.message(body, sent.options)
        require_agreement("sent_as", message, sent.options)
        for other in self._sessions:
            other.spoken, other.last_named = session.spoken, session.last_named
            other.runtime.add_aggregate(session.metadata_of(message.aggregate_id.named_aggregate))
        self._sent[place] = message

    def together(self, choices: Choices) -> Outcome:
        """Send all, and let the choices say in which order everything happens."""
        for session in self._sessions:
            choices.attach(session.world)
        for place in self._sent:
            self._send(place)
        try:
            run_to_rest(self._sessions[0].world)
        except BaseException:
            choices.abandon()
            raise
        outcome = self._outcome(choices.text)
        outcome.passed_by = choices.passed_by
        return outcome

    def one_after_another(self, order: Iterable[int]) -> Outcome:
        """Send one after another, each when nothing moves any more; those that are not named are not sent."""
        for place in order:
            if place in self._sent:
                self._send(place)
                run_to_rest(self._sessions[0].world)
        return self._outcome("")

    def _send(self, place: int) -> None:
        session, message, options = self._session_of(place), self._sent[place], self.step.commands[place].options
        gateway, scheduler = session.runtime.gateway, session.world.scheduler
        if message.is_void and options.wait_for is None:
            self._tasks[place] = scheduler.spawn(gateway.send(message), f"command {place + 1}")
        else:
            plan = wanted(options.wait_for).plan(message.id)
            self._tasks[place] = scheduler.spawn(gateway.send_and_wait(message, plan), f"command {place + 1}")

    def _outcome(self, schedule: str) -> Outcome:
        session = self._sessions[0]
        world, audit, armory = session.world, session.runtime.audit, session.runtime.armory
        assert audit is not None
        failures = {place: failure_of(task, self._sent[place]) for place, task in self._tasks.items()}
        for failure in [None, *failures.values()]:
            raise_author_errors(session, failure, 0)
        breaches = check_laws(session.runtime, session.laws_off, session.shadows, session.initial)
        signals = [signal for other in self._sessions for _, signal in other.runtime.notifier.received]
        logged = [*self._untold, *world.log]
        runs = []
        for place, sent in enumerate(self.step.commands):
            if place in self._refused:
                self._refused[place].logged = logged
                runs.append(self._refused[place])
                continue
            task, message = self._tasks.get(place), self._sent[place]
            returned = task is not None and failures[place] is None
            runs.append(
                Run(
                    self._session_of(place),
                    sent.command,
                    message,
                    task.result() if task is not None and returned else None,
                    failures.get(place),
                    audit.exchanges.get(message.id),
                    range(len(world.trace)),
                    logged,
                    signals,
                    breaches,
                    armory.fired if armory is not None else [],
                    self._base,
                    earlier=len(self._untold),
                )
            )
        machines = tuple(other.world.ids.machine_id for other in self._sessions)
        return Outcome(schedule, tuple(runs), self._began, machines)


def require_flight(
    commands: Sequence[Any], processes: Any, schedule: Any, max_schedules: Any, max_preemptions: Any
) -> None:
    """Refuse what cannot be in flight together.

    Raises:
        SpecError: which says why.
    """
    if len(commands) < 2:
        raise SpecError(
            f"when_concurrently(...) of {len(commands)} commands",
            why="it takes two to meet",
            instead="when_concurrently(Withdraw(amount=80), Withdraw(amount=70)), or when(...) for one command",
        )
    for name, value, least in (
        ("processes", processes, 1),
        ("max_schedules", max_schedules, 1),
        ("max_preemptions", 0 if max_preemptions is None else max_preemptions, 0),
    ):
        if type(value) is not int or value < least:
            raise SpecError(
                f"when_concurrently(..., {name}={value!r})",
                why=f"it is a whole number that is {least} or more",
                instead=f"{name}={max(least, 2)}",
            )
    if processes > len(commands):
        raise SpecError(
            f"when_concurrently(...) of {len(commands)} commands in {processes} processes",
            why="each process is sent at least one of the commands",
            instead=f"processes={len(commands)}",
        )
    if schedule is not None:
        parse_schedule(schedule)
