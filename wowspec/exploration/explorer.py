"""Runs plans over the steps of one spec, and judges each run by the laws."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from ..faults.planned import MOST_VISITS
from ..faults.plans import Address, Plan, PlannedFault
from ..world.points import REQUEST_ID_CHECK, FaultKind
from ..world.profiles import IN_MEMORY, PortProfile
from ..world.trace import TraceRow
from .addresses import Selection, faults_along
from .enumeration import Bounds, Explored, Step, explore
from .findings import Finding, RecoveryClass
from .ledgers import had_effect
from .playing import Played, Way, play
from .recoveries import Recovery
from .run_laws import Broken, judge
from .symmetry import symmetric_chains
from .trial import Allowances, Trial

#: How many points a run under faults may pass for each that the fault-free one passes, and how many besides.
_VISITS_TIMES, _VISITS_MORE = 40, 2_000

#: Outcomes of points whose caller is told of a failure: they differ in whether it is right.
_CALLS_THAT_FAIL = frozenset(
    kind.value for kind in (FaultKind.FAIL, FaultKind.TIMEOUT, FaultKind.ACK_LOST, FaultKind.ACK_LOST_PERMANENT)
)

R = TypeVar("R")


class Player(Protocol):
    """Plays the steps of a spec under a plan."""

    def __call__(
        self,
        way: Way,
        plan: Plan,
        *,
        record: bool = False,
        heal: Callable[[Played], None] | None = None,
        most_visits: int = MOST_VISITS,
    ) -> Played:
        """As `playing.play`."""
        ...


@dataclass(slots=True)
class PlanResult:
    """What came of one plan.

    Attributes:
        plan: the plan.
        finding: what broke, if anything did.
        recovery: how it came out all right, where nothing broke.
        unreached: faults of the plan that did not strike, as text.
    """

    plan: Plan
    finding: Finding | None
    recovery: RecoveryClass
    unreached: list[str] = field(default_factory=list)


class Explorer:
    """Runs plans over the steps of one spec.

    Args:
        way: the steps.
        profile: what is legal where.
        selection: which points and kinds are explored.
        allowed: what the author declares to be right.
        recoveries: what is tried after something broke.
        player: plays the steps under a plan; by default they are simply run again.
    """

    def __init__(
        self,
        way: Way,
        *,
        player: Player = play,
        profile: PortProfile = IN_MEMORY,
        selection: Selection | None = None,
        allowed: Allowances | None = None,
        recoveries: tuple[Recovery, ...] = (),
    ) -> None:
        self.way = way
        self.profile = profile
        self.selection: Selection = selection or Selection()
        self.allowed: Allowances = allowed or Allowances()
        self.recoveries = recoveries
        self._play = player
        played = player(way, Plan(), record=True)
        if played.author_error is not None:
            raise played.author_error
        self.base: Trial = Trial(way, played, allowed=self.allowed)
        #: Laws that break without any plan, by what the spec itself arms: nothing can be said of these.
        self.unjudged: frozenset[str] = frozenset(broken.law for broken in judge(self.base))
        if self.unjudged:
            self.allowed = replace(self.allowed, laws_off=self.allowed.laws_off | self.unjudged)
        #: How many plans of one fault were left out, since they say the same of another aggregate.
        self.symmetric: int = 0
        #: How many points a run may pass before it counts as one that never comes to rest.
        self.most_visits: int = _VISITS_TIMES * len(played.rows) + _VISITS_MORE

    def run(self, plan: Plan, *, record: bool = False) -> tuple[PlanResult, Played]:
        """Run one plan and judge it.

        Raises:
            SpecError: if the author of the spec or of its domain erred.
        """
        played = self._play(self.way, plan, record=record, most_visits=self.most_visits)
        if played.author_error is not None:
            raise played.author_error
        trial = Trial(self.way, played, self.base, self.allowed)
        broken = judge(trial)
        unreached = [str(strike.fault) for strike in played.armory.unstruck()]
        if not broken:
            return PlanResult(plan, None, self._recovery_of(trial), unreached), played
        finding = Finding(plan, broken, left_behind=self._left_behind(trial, broken))
        self._heal(finding)
        recovery = RecoveryClass.HEALED if finding.healed_by else RecoveryClass.NEVER
        return PlanResult(plan, finding, recovery, unreached), played

    def _left_behind(self, trial: Trial, broken: Sequence[Broken]) -> bool:
        """Whether conditions broke that hold where the commands that failed are refused before anything happens."""
        failed = [answer.message for answer in trial.played.answers if answer.failure is not None]
        if [each.law for each in broken] != ["eventually"] or not failed or trial.played.plan.crashes:
            return False
        if any(message is None or trial.ledgers.streams_of(message) for message in failed):
            return False
        chains = trial.played.armory.chains
        refused = Plan(
            tuple(
                PlannedFault(Address(chains.see(message), REQUEST_ID_CHECK), FaultKind.FAIL)
                for message in failed
                if message is not None
            )
        )
        if refused.key == trial.played.plan.key:
            return False
        played = self._play(self.way, refused, most_visits=self.most_visits)
        if played.author_error is not None or played.armory.unstruck():
            return False
        other = Trial(self.way, played, self.base, self.allowed)
        return other.facts == trial.facts and not judge(other)

    def _heal(self, finding: Finding) -> None:
        finding.tried = tuple(recovery.name for recovery in self.recoveries)
        finding.healed_by = self.healed_by(finding, self.recoveries)

    def healed_by(self, finding: Finding, recoveries: Sequence[Recovery]) -> str:
        """Name of the first recovery after which every law holds; empty: none of them."""
        for recovery in recoveries:
            played = self._play(self.way, finding.plan, heal=recovery.run, most_visits=self.most_visits)
            trial = Trial(self.way, played, self.base, self.allowed, asked=recovery.asks)
            if played.author_error is None and not judge(trial):
                return recovery.name
        return ""

    def _recovery_of(self, trial: Trial) -> RecoveryClass:
        """How a run came out in which every law held."""
        rows, base = trial.played.rows, self.base
        if any(row.outcome.startswith("crash") for row in rows) and _told_of_failure(trial) <= _told_of_failure(base):
            # Who waited in the process that died was told nothing: what counts is what is stored.
            if trial.stored_facts == base.stored_facts:
                # What comes back comes back by its bus; without that, what died had nothing left to do.
                return RecoveryClass.REDELIVERED if self.profile.redelivers else RecoveryClass.MASKED
            return RecoveryClass.FAILED
        if trial.facts != base.facts:
            return RecoveryClass.FAILED
        if trial.played.session.runtime.compensation is not None and len(trial.ledgers.own) > len(base.ledgers.own):
            return RecoveryClass.COMPENSATED
        return RecoveryClass.RETRIED if len(rows) > len(base.played.rows) else RecoveryClass.MASKED

    def singles(self) -> list[Plan]:
        """The plans of one fault, in order; of commands that are alike but for an aggregate's id the first."""
        alike = symmetric_chains(self.way, self.base.played) if self._play is play else frozenset()
        plans = [Plan((fault,)) for fault in self._faults(self.base.played, 0)]
        kept = [plan for plan in plans if plan.faults[0].address.chain not in alike]
        self.symmetric = len(plans) - len(kept)
        return kept

    def _faults(self, played: Played, since: int) -> Iterator[PlannedFault]:
        reached = played.armory.reached or []
        return faults_along(reached[since:], self.profile, self.selection, played.session.world.services)

    def explore(self, bounds: Bounds) -> Explored[PlanResult]:
        """Run every plan up to a depth, here."""
        return explore(self.singles(), bounds, self._each)

    def _each(self, plans: Sequence[Plan], deeper: bool) -> Generator[Step[PlanResult], None, None]:
        for plan in plans:
            result, played = self.run(plan, record=deeper)
            yield self.step(result, result, played, deeper=deeper)

    def step(self, said: R, result: PlanResult, played: Played, *, deeper: bool) -> Step[R]:
        """Where a run leads.

        Args:
            said: what is told of it.
            result: what came of it.
            played: the run.
            deeper: whether plans of one fault more are wanted.
        """
        if not deeper or (result.finding is not None and not result.finding.healed_by):
            return Step(said)
        following = (result.plan.with_(fault) for fault in self._faults(played, played.armory.last_strike))
        return Step(said, True, world_key(played), following)


def _told_of_failure(trial: Trial) -> int:
    return sum(answer.failure is not None and not answer.is_unknown for answer in trial.played.answers)


def _struck_as(row: TraceRow) -> str:
    if not row.was_struck or row.outcome not in _CALLS_THAT_FAIL:
        return row.outcome
    return "done" if had_effect(row) else "not done"


def world_key(played: Played) -> str:
    """The same for runs that passed the same points with the same outcomes, whatever struck; in any process.

    Of what struck counts whether the effect happened: a service may keep it, and nothing else tells of that.
    """
    rows = [(row.lane, row.point, _struck_as(row), row.detail, row.nanos) for row in played.rows]
    answers = [type(answer.error).__name__ for answer in played.answers]
    return hashlib.blake2b(repr((rows, answers)).encode(), digest_size=16).hexdigest()
