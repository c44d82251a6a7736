"""One run of a state machine: commands sent one after another in one world, under faults, and judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..errors import Sleepless, SpecError, SpecFailure
from ..exploration.explore import profile_of_way
from ..exploration.playing import Answer, Played, Way, WholeAudit, opening_of, play
from ..exploration.recoveries import recoveries_of
from ..exploration.run_laws import RUN_LAW_BY_NAME
from ..exploration.trial import Allowances, Trial
from ..exploration.witness import ports_of
from ..faults.planned import Livelock, PlanArmory
from ..faults.plans import NUMBERED, Plan, PlannedFault
from ..faults.values import Fault
from ..modeling.naming import message_name
from ..specs.execution import apply_steps, fresh_session, send
from ..specs.items import SentCommand, command_options
from ..specs.nodes import Node, Setup, When
from ..specs.restless import restless
from ..specs.run import Run
from ..specs.session import Profile, Session
from ..world.points import FaultKind
from .judging import Judge

#: Laws that speak of every moment; the others are asked when the world is at rest and healed.
AT_EACH_STEP: Final = ("no_acknowledged_loss", "exactly_once", "replay_equality", "quiescence", "order")
#: What follows from one command may pass so many points and set so many timers: Hypothesis makes hundreds of runs, and
#: each must come to an end soon.
_VISITS_OF_STEP, _TIMERS_OF_STEP = 4_000, 1_000


@dataclass(frozen=True, slots=True)
class Rules:
    """What is asked of every run of a machine.

    Attributes:
        root: the steps that come first.
        name: of the machine.
        model: makes the model; None: there is none.
        profile: in place of the spec's own.
        allowed: what is declared to be right.
        laws: whether laws are checked.
    """

    root: Node
    name: str
    model: Callable[[], Any] | None
    profile: Profile | None
    allowed: Allowances
    laws: bool


class Game:
    """One run.

    Attributes:
        node: the latest step.
        struck: the faults that struck so far, as a plan has them.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.node: Node = rules.root
        self.struck: list[PlannedFault] = []
        self.failed = False
        self.model: Any | None = rules.model() if rules.model is not None else None
        self._played: Played | None = None
        self._settled: set[str] = set()

    @property
    def way(self) -> Way:
        """The steps so far."""
        return Way(tuple(self.node.path()), self.rules.profile)

    @property
    def plan(self) -> Plan:
        """The faults so far."""
        return Plan(tuple(self.struck))

    def send(self, item: Any, faults: Sequence[str]) -> Run:
        """Send a command while faults strike, each at the first visit of its point from now on.

        Raises:
            SpecError: if the author of the domain erred.
            SpecFailure: if the world never comes to rest.
        """
        sent = item if isinstance(item, SentCommand) else SentCommand(item, command_options({}))
        self.node = Node(self.node, When(sent.command, sent.options))
        played = self._played
        if played is None:
            played = self._played = self._begin()
        armory, audit = played.armory, played.audit
        reached = armory.reached
        assert reached is not None
        passed = len(reached)
        for text in faults:
            point, _, kind = text.partition("=")
            armory.arm(Fault(point, FaultKind(kind), payload=NUMBERED.get(FaultKind(kind))))
        session = played.session
        armory.allow(_VISITS_OF_STEP)
        session.world.scheduler.most_timers = self._most_timers
        try:
            run = send(session, sent.command, sent.options, played.runs[-1] if played.runs else None)
        except (Livelock, Sleepless) as error:
            self._note_struck(passed)
            raise restless(session.world, Sleepless(*error.args), _TIMERS_OF_STEP) from None
        armory.armed = []
        run.streams = list(audit.stored)
        audit.keep()
        played.runs.append(run)
        played.breaches += run.breaches
        played.answers.append(Answer(run.message, sent.command, run.failure))
        self._note_struck(passed)
        if self.model is not None:
            apply_model(self.model, sent.command, run)
        return run

    def _note_struck(self, passed: int) -> None:
        """Remember the faults that struck at the visits after so many."""
        assert self._played is not None
        self.struck += [
            PlannedFault(address, kind, number=NUMBERED.get(kind, 0))
            for address, row in (self._played.armory.reached or ())[passed:]
            if row.was_struck
            for kind in [FaultKind(row.outcome.partition(":")[0])]
        ]

    def _play(self, way: Way, plan: Plan, heal: Callable[[Played], None] | None = None) -> Played:
        """Run the steps so far under whatever faults, within the bounds of as many steps."""
        return play(way, plan, heal=heal, most_visits=self._most(_VISITS_OF_STEP), most_timers=self._most_timers)

    @property
    def _most_timers(self) -> int:
        return self._most(_TIMERS_OF_STEP)

    def _most(self, of_step: int) -> int:
        played = self._played
        return of_step if played is None else len(played.armory.reached or ()) + of_step * (len(played.runs) + 1)

    def _begin(self) -> Played:
        nodes, first, opening = opening_of(self.way)
        session: Session = fresh_session(opening)
        armory = PlanArmory(Plan(), record=True)
        session.runtime.armory = session.world.injector = armory
        session.runtime.audit = audit = WholeAudit()
        steps = [item for item in opening if not (isinstance(item.step, Setup) and item.step.shapes_fresh_world)]
        apply_steps(session, steps, nodes[first])
        return Played(Plan(), session, armory, audit)

    # --- laws ---------------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """The laws of every moment.

        Raises:
            SpecFailure: for one that breaks, due to the domain.
        """
        played = self._played
        if played is None or self.failed or not self.rules.laws:
            return
        trial = Trial(self.way, played, None, self.rules.allowed)
        off = self.rules.allowed.laws_off | played.session.laws_off
        for name in AT_EACH_STEP:
            if name not in off and name not in self._settled and any(RUN_LAW_BY_NAME[name].find(trial)):
                self._settled.add(name)
                self._require_blameless(healed=False)

    def end(self) -> None:
        """Drained and healed, every law holds.

        Raises:
            SpecFailure: for one that breaks, due to the domain.
        """
        if self._played is not None and not self.failed and self.rules.laws:
            self._require_blameless(healed=True)

    def _require_blameless(self, *, healed: bool) -> None:
        way = self.way
        profile = profile_of_way(way)
        recoveries = recoveries_of(None, ports_of(profile)) if healed else ()

        def heal(played: Played) -> None:
            for recovery in recoveries:
                recovery.run(played)

        plain = self._play(way, Plan())
        base = Trial(way, plain, None, self.rules.allowed)

        def trials(plan: Plan) -> list[Trial]:
            played = self._play(way, plan, heal)
            if played.author_error is not None:
                raise played.author_error
            return [Trial(way, played, base, self.rules.allowed)]

        blame = Judge(trials, profile).judged(self.plan).blame
        if blame is not None:
            self.struck = list(blame.plan)
            raise SpecFailure("\n".join(blame.lines(self.rules.name)))

    # --- telling ------------------------------------------------------------------------------------------------------

    def pasted(self) -> str:
        """The run as a test to paste."""
        from .pasting import game_text

        plain = self._play(self.way, Plan())
        return game_text(self.way.nodes, self.plan, plain.runs, self.rules.name, self.rules.model)


def apply_model(model: Any, command: Any, run: Run) -> None:
    """Let the model take a command and what came of it."""
    getattr(model, model_method(model, command_class(command)))(command, run)


def command_class(command: Any) -> type:
    """Its class, also where it is still to be built."""
    found: type = getattr(command, "command_class", type(command))
    return found


def model_method(model: Any, command: type) -> str:
    """Name of the model's method for a command class.

    Raises:
        SpecError: if it has none.
    """
    own = message_name(command)
    for name in (own, "apply"):
        if callable(getattr(model, name, None)):
            return name
    raise SpecError(
        f"the model {getattr(model, '__name__', type(model).__name__)} has no method for {command.__name__}",
        why="a model takes each command with what came of it, and says by an assert what it thinks of that",
        instead=f"def {own}(self, command, run): ..., or def apply(self, command, run): ... for all of them",
    )
