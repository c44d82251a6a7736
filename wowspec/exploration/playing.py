"""Plays the recorded steps of a spec again, in a fresh world, under a plan of faults.

The steps are data: given items, commands, options. Nothing is judged here, and nothing that a command comes to stops
what follows: under faults a spec's own expectations say nothing. What happened is kept whole, for the laws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from pydantic import ValidationError

from ..errors import DeadlineExceeded, Sleepless, SpecError
from ..faults.planned import MOST_VISITS, Livelock, PlanArmory
from ..faults.plans import Plan
from ..messages.envelopes import CommandMessage, DomainEventStream
from ..messages.exchange import ServerCommandExchange
from ..runtime.audit import Audit
from ..specs.conditions import Watch
from ..specs.events import send_event
from ..specs.execution import apply_steps, arm, fresh_session, raise_author_errors, refused, send, subject_of
from ..specs.injecting import unused
from ..specs.items import CommandOf, build_command, wanted
from ..specs.laws import Breach, check_laws
from ..specs.nodes import ACTIONS, Node, Setup, When, WhenConcurrently, WhenEvent
from ..specs.recorded import Condition, ConditionKind
from ..specs.restless import circle_text
from ..specs.run import Run, failure_of
from ..specs.session import Profile, Session
from ..world.choices import Choices
from ..world.schedules import Schedule, parse_schedule
from ..world.trace import TraceRow
from ..world.unrest import close_unbegun


class WholeAudit(Audit):
    """An audit that forgets no step.

    Attributes:
        whole: every stream that was stored, whoever did it, oldest first.
        own: ids of those that commands of this world decided.
        told: ids of those that the spec wrote and published itself.
        taken_by: the ways of each command through the chain, by command id.
    """

    __slots__ = ("own", "taken_by", "told", "whole")

    def __init__(self) -> None:
        super().__init__()
        self.whole: list[DomainEventStream] = []
        self.own: set[str] = set()
        self.told: set[str] = set()
        self.taken_by: dict[str, list[ServerCommandExchange[Any]]] = {}

    def tell(self, stream: DomainEventStream) -> None:
        """The spec itself publishes a stream that it wrote."""
        self.told.add(stream.id)

    def taken(self, exchange: ServerCommandExchange[Any]) -> None:
        """A command was taken from the bus."""
        super().taken(exchange)
        self.taken_by.setdefault(exchange.message.id, []).append(exchange)

    def begin_step(self) -> None:
        """Keep the step before."""
        self.keep()
        super().begin_step()

    def keep(self) -> None:
        """Take over what the current step has."""
        self.whole += self.stored
        self.own |= self.decided
        self.stored.clear()
        self.decided.clear()


@dataclass(slots=True)
class Answer:
    """What the sender of a command was told.

    Attributes:
        message: the command's message; None where it could not even be built.
        command: the command, as the spec says it.
        failure: the error; None: success.
        waited: name of the stage that the sender waited for.
        earlier: messages that the sender was told had failed, before it sent its command again.
    """

    message: CommandMessage[Any] | None
    command: Any
    failure: BaseException | None
    waited: str = "PROCESSED"
    earlier: list[CommandMessage[Any]] = field(default_factory=list)

    @property
    def is_unknown(self) -> bool:
        """Whether the sender knows nothing of the outcome."""
        return isinstance(self.failure, DeadlineExceeded)

    @property
    def error(self) -> BaseException | None:
        """The error as its raiser raised it."""
        return getattr(self.failure, "original", None) or self.failure


@dataclass(slots=True, eq=False)
class Played:
    """What happened in one run under a plan.

    Attributes:
        plan: the plan.
        session: the world that it left behind, at rest.
        armory: which faults struck; every visit, if they were recorded.
        audit: every stored stream.
        answers: what senders were told, in order; of commands in `given` too.
        runs: the run of each action.
        breaches: always-on laws that did not hold.
        rows_before: how many rows the trace had before each action.
        stopped: why later steps were not run, where they were not.
        author_error: what the author of the spec or of its domain did wrong, where it came to light.
        livelock: says in which circle the world went, if it never came to rest.
        always_broken: texts of the conditions that should always hold and did not.
        assertion: what the test's own function raised.
        schedule: which of the tasks of commands in flight goes first, at each choice; empty: first in, first out.
        schedules: what came of it, for each `when_concurrently`, as its `schedule=` takes it.
    """

    plan: Plan
    session: Session
    armory: PlanArmory
    audit: WholeAudit
    answers: list[Answer] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    breaches: list[Breach] = field(default_factory=list)
    rows_before: list[int] = field(default_factory=list)
    stopped: str = ""
    author_error: SpecError | None = None
    livelock: str = ""
    always_broken: list[str] = field(default_factory=list)
    assertion: str = ""
    schedule: Schedule = ()
    schedules: list[str] = field(default_factory=list)

    @property
    def rows(self) -> list[TraceRow]:
        """The trace."""
        return self.session.world.trace.rows

    @property
    def stored(self) -> list[DomainEventStream]:
        """Every stored stream, oldest first, but for what `given` wrote there itself."""
        return [stream for stream in self.audit.whole if stream.id in self.audit.own]


@dataclass(frozen=True)
class Way:
    """The steps of one spec, from its first word to its last command.

    Attributes:
        nodes: the steps.
        profile: plays in this profile instead of the spec's own.
        explores: prefixes of points that are passed only where somebody looks for them, such as `service:`.
    """

    nodes: tuple[Node, ...]
    profile: Profile | None = None
    explores: tuple[str, ...] = ()

    @property
    def is_unchanged(self) -> bool:
        """Whether these are all steps of the spec, in its own profile."""
        return self.profile is None and list(self.nodes) == self.nodes[-1].path()

    @cached_property
    def conditions(self) -> list[Condition]:
        """What the spec says must hold always, or in the end."""
        return [condition for node in self.nodes for condition in node.conditions]

    @property
    def actions(self) -> list[Node]:
        """The steps that run something."""
        return [node for node in self.nodes if isinstance(node.step, ACTIONS)]


def play(
    way: Way,
    plan: Plan,
    *,
    record: bool = False,
    heal: Callable[[Played], None] | None = None,
    most_visits: int = MOST_VISITS,
    most_timers: int | None = None,
    schedule: Schedule = (),
) -> Played:
    """Run the steps in a fresh world while the faults of a plan strike.

    Args:
        way: the steps.
        plan: what goes wrong.
        record: whether every visit of every point is kept.
        heal: tries a recovery once the world is at rest.
        most_visits: how many points it may pass.
        most_timers: how many timers may be set in it; by default some for each point that it may pass.
        schedule: which of the tasks of commands in flight goes first, where their step does not say it.

    Raises:
        SpecError: if the world cannot be made: a service that cannot be copied, a part that is none.
    """
    nodes, first, opening = opening_of(way)
    session = fresh_session(opening)
    armory = PlanArmory(plan, record=record, explores=way.explores, most_visits=most_visits)
    session.runtime.armory = session.world.injector = armory
    session.world.scheduler.most_timers = most_timers or _TIMERS_TIMES * most_visits
    audit = WholeAudit()
    session.runtime.audit = audit
    played = Played(plan, session, armory, audit, schedule=schedule)
    session.answers = []
    conditions = [item for item in way.conditions if item.kind is ConditionKind.ALWAYS]
    watch = Watch(conditions, raising_breaks=len(plan) > 0) if conditions else None
    try:
        _play_steps(played, nodes, first, opening, watch)
        if heal is not None:
            heal(played)
            if watch is not None:
                watch.look(session)
    except SpecError as error:
        played.author_error = error
    except Livelock:
        played.livelock = circle_text(played.rows)
        close_unbegun(session.world.scheduler)
    except Sleepless as error:
        played.livelock = _restless(session) if error.args else circle_text(played.rows)
        close_unbegun(session.world.scheduler)
    if watch is not None:
        watch.detach(session)
        for breach in watch.breaches.values():
            if breach.error is not None:
                raise breach.error
            played.always_broken.append(breach.text)
    audit.keep()
    return played


#: How many timers a run may set for each point that it may pass: code that waits in a loop passes none.
_TIMERS_TIMES: Final = 10


def _restless(session: Session) -> str:
    """What a world does in which something sleeps for ever."""
    world = session.world
    rows = world.trace.rows
    last = f"; the last point was {rows[-1].point} of {rows[-1].lane}" if rows else ""
    return (
        f"the world never comes to rest: code sleeps again and again, after {world.scheduler.most_timers} timers{last}"
    )


def opening_of(way: Way) -> tuple[list[Node], int, list[Node]]:
    """The steps with services of their own, the place of the first action, and the steps that make the world."""
    nodes = _with_fresh_services(way.nodes)
    first = next(place for place, node in enumerate(nodes) if isinstance(node.step, ACTIONS))
    return nodes, first, [*nodes[:first], *_profile_step(way)]


def _play_steps(
    played: Played, nodes: Sequence[Node], first: int, opening: Sequence[Node], watch: Watch | None
) -> None:
    session = played.session
    steps = [item for item in opening if not (isinstance(item.step, Setup) and item.step.shapes_fresh_world)]
    previous: Run | None = None
    for node in nodes[first:]:
        if not isinstance(node.step, ACTIONS):
            steps.append(node)
            continue
        apply_steps(session, steps, node)
        _take_given(played)
        steps = []
        played.rows_before.append(len(session.world.trace))
        arm(session)
        if watch is not None:
            watch.begin(node)
            watch.attach(session)
        run = _act(played, node, previous)
        if run is None:
            return
        run.streams = list(played.audit.stored)
        if watch is not None:
            watch.look(session)
        played.runs.append(run)
        played.breaches += run.breaches
        previous = run


def _take_given(played: Played) -> None:
    """What became of the commands in `given`."""
    answers = played.session.answers
    assert answers is not None
    played.answers += [Answer(message, message.body, failure) for message, failure in answers]
    answers.clear()


def _act(played: Played, node: Node, previous: Run | None) -> Run | None:
    session, step = played.session, node.step
    if isinstance(step, WhenEvent):
        return send_event(session, step, subject_of(node), previous)
    if isinstance(step, WhenConcurrently):
        return _send_together(played, step, previous)
    assert isinstance(step, When)
    command = step.command
    if _makes_command(session, command):
        try:
            command = command(previous)
        except SpecError:
            raise
        except Exception as error:  # noqa: BLE001 - a function that looks at a run which came to something else
            played.stopped = f"the next command could not be made of the run before it: {type(error).__name__}: {error}"
            return None
    run = send(session, command, step.options, previous)
    played.answers.append(Answer(run.message, command, run.failure, wanted(step.options.wait_for).stage.name))
    return run


def _makes_command(session: Session, command: Any) -> bool:
    return (
        callable(command)
        and not isinstance(command, type)
        and not hasattr(type(command), "model_fields")
        and session.runtime.catalog.for_command(type(command)) is None
    )


def _send_together(played: Played, step: WhenConcurrently, previous: Run | None) -> Run:
    """Commands in flight together, in one process; gives the run of the first one.

    In the order of their step's own schedule, else the run's; that is first in, first out where neither says more.
    """
    session = played.session
    world = session.world
    audit = played.audit
    audit.begin_step()
    started, logged, struck = len(world.trace), len(world.log), len(played.armory.fired)
    heard = len(session.runtime.notifier.received)
    sent: list[tuple[Any, CommandMessage[Any], Any]] = []
    for item in step.commands:
        body = item.command
        if isinstance(body, CommandOf):
            try:
                body = build_command(body)
            except ValidationError as error:
                played.answers.append(Answer(None, item.command, refused(session, body, error, previous).failure))
                continue
        message = session.message(body, item.options)
        plan = wanted(item.options.wait_for).plan(message.id)
        sent.append((body, message, plan))
    gateway = session.runtime.gateway
    tasks = [world.scheduler.spawn(gateway.send_and_wait(message, plan), "when") for _, message, plan in sent]
    _run_together(played, parse_schedule(step.schedule) if step.schedule is not None else played.schedule)
    failures = [failure_of(task, message) for task, (_, message, _) in zip(tasks, sent, strict=True)]
    for (body, message, _), failure in zip(sent, failures, strict=True):
        raise_author_errors(session, failure, logged)
        played.answers.append(Answer(message, body, failure))
    breaches = check_laws(session.runtime, session.laws_off, session.shadows, session.initial)
    return Run(
        session,
        sent[0][0] if sent else step.commands[0].command,
        sent[0][1] if sent else None,
        None,
        failures[0] if failures else None,
        audit.exchanges.pop(sent[0][1].id, None) if sent else None,
        range(started, len(world.trace)),
        [*session.take_untold(), *world.log[logged:]],
        [signal for _, signal in session.runtime.notifier.received[heard:]],
        breaches,
        played.armory.fired[struck:],
        previous,
    )


def _run_together(played: Played, schedule: Schedule) -> None:
    world = played.session.world
    if not schedule:
        world.scheduler.run()
        played.schedules.append("0")
        return
    choices = Choices(schedule, lenient=True)
    choices.attach(world)
    try:
        world.scheduler.run()
    except BaseException:
        choices.abandon()
        raise
    choices.detach()
    played.schedules.append(choices.text)


def _profile_step(way: Way) -> list[Node]:
    chosen = way.profile
    if chosen is None:
        return []

    def plan(world: Any) -> None:
        world.profile = chosen

    return [Node(None, Setup("with_profile", _nothing, plan))]


def _nothing(session: Session) -> None:
    """For a step that only says something of the world before it is made."""


def _with_fresh_services(nodes: Sequence[Node]) -> list[Node]:
    """The same steps, with copies of the services as they were before anybody used them; the copies know each other."""
    if not any(isinstance(node.step, Setup) and node.step.kept is not None for node in nodes):
        return list(nodes)
    memo: dict[int, Any] = {}
    return [_fresh_node(node, memo) for node in nodes]


def _fresh_node(node: Node, memo: dict[int, Any]) -> Node:
    step = node.step
    if not isinstance(step, Setup) or step.kept is None:
        return node
    return Node(node.parent, unused(step, memo), node.name, place=node.place)


__all__ = ["Answer", "Played", "Way", "WholeAudit", "play"]
