"""Enumeration: every plan up to a depth, breadth first and in canonical order, each run once and judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

from ..faults.planned import MOST_VISITS
from ..faults.plans import Plan, PlannedFault
from ..world.profiles import IN_MEMORY, PortProfile
from .addresses import Selection, faults_along
from .findings import Finding, RecoveryClass
from .playing import Played, Way, play
from .recoveries import Recovery
from .run_laws import judge
from .trial import Allowances, Trial

#: How many points a run under faults may pass for each that the fault-free one passes, and how many besides.
_VISITS_TIMES, _VISITS_MORE = 40, 2_000


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


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far exploration goes.

    Attributes:
        depth: how many faults a plan has at most.
        max_runs: how many runs are made at most; None: any number.
        out_of_time: says that the time is over; None: there is no limit.
    """

    depth: int = 1
    max_runs: int | None = None
    out_of_time: Callable[[], bool] | None = None


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


@dataclass(slots=True)
class Explored:
    """What exploration of one spec came to.

    Attributes:
        results: each plan that was run, in order.
        left: how many plans of each depth a bound left out, by what bound: text → count.
        joined: plans that were not extended because another one came to the same world.
    """

    results: list[PlanResult] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict)
    joined: int = 0

    @property
    def findings(self) -> list[Finding]:
        """What broke, in the order in which it was found: the shortest plans first."""
        return [result.finding for result in self.results if result.finding is not None]


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
        self.selection = selection or Selection()
        self.allowed = allowed or Allowances()
        self.recoveries = recoveries
        self._play = player
        played = player(way, Plan(), record=True)
        if played.author_error is not None:
            raise played.author_error
        self.base = Trial(way, played, allowed=self.allowed)
        #: Laws that break without any plan, by what the spec itself arms: nothing can be said of these.
        self.unjudged = frozenset(broken.law for broken in judge(self.base))
        if self.unjudged:
            self.allowed = replace(self.allowed, laws_off=self.allowed.laws_off | self.unjudged)
        self._most_visits = _VISITS_TIMES * len(played.rows) + _VISITS_MORE

    def run(self, plan: Plan, *, record: bool = False) -> tuple[PlanResult, Played]:
        """Run one plan and judge it.

        Raises:
            SpecError: if the author of the spec or of its domain erred.
        """
        played = self._play(self.way, plan, record=record, most_visits=self._most_visits)
        if played.author_error is not None:
            raise played.author_error
        trial = Trial(self.way, played, self.base, self.allowed)
        broken = judge(trial)
        unreached = [str(strike.fault) for strike in played.armory.unstruck()]
        if not broken:
            return PlanResult(plan, None, self._recovery_of(trial), unreached), played
        finding = Finding(plan, broken)
        self._heal(finding)
        recovery = RecoveryClass.HEALED if finding.healed_by else RecoveryClass.NEVER
        return PlanResult(plan, finding, recovery, unreached), played

    def _heal(self, finding: Finding) -> None:
        finding.tried = tuple(recovery.name for recovery in self.recoveries)
        for recovery in self.recoveries:
            played = self._play(self.way, finding.plan, heal=recovery.run, most_visits=self._most_visits)
            trial = Trial(self.way, played, self.base, self.allowed, asked=recovery.asks)
            if played.author_error is None and not judge(trial):
                finding.healed_by = recovery.name
                return

    def _recovery_of(self, trial: Trial) -> RecoveryClass:
        """How a run came out in which every law held."""
        rows, base = trial.played.rows, self.base
        if trial.facts != base.facts:
            return RecoveryClass.FAILED
        if any(row.outcome.startswith("crash") for row in rows):
            return RecoveryClass.REDELIVERED
        if trial.played.session.runtime.compensation is not None and len(trial.ledgers.own) > len(base.ledgers.own):
            return RecoveryClass.COMPENSATED
        return RecoveryClass.RETRIED if len(rows) > len(base.played.rows) else RecoveryClass.MASKED

    def singles(self) -> list[Plan]:
        """The plans of one fault, in canonical order."""
        played = self.base.played
        return [Plan((fault,)) for fault in self._faults(played, 0)]

    def _faults(self, played: Played, since: int) -> Iterator[PlannedFault]:
        reached = played.armory.reached or []
        return faults_along(reached[since:], self.profile, self.selection, played.session.world.services)

    def explore(self, bounds: Bounds, keep: Callable[[int], bool] | None = None) -> Explored:
        """Run every plan up to a depth; a plan that breaks a law is not extended, nor one that came to a known world.

        Args:
            bounds: how far to go.
            keep: which of the plans of one fault are begun with, by their place: a shard of the work.
        """
        explored = Explored()
        level = [plan for place, plan in enumerate(self.singles()) if keep is None or keep(place)]
        known: set[frozenset[str]] = set()
        for depth in range(1, bounds.depth + 1):
            following: list[Plan] = []
            worlds: set[object] = set()
            for place, plan in enumerate(level):
                cut = _cut(bounds, len(explored.results))
                if cut:
                    explored.left[f"{cut}, at {depth} faults a plan" if depth > 1 else cut] = len(level) - place
                    return explored
                deeper = depth < bounds.depth
                result, played = self.run(plan, record=deeper)
                explored.results.append(result)
                if not deeper or result.finding is not None:
                    continue
                world = world_key(played)
                if world in worlds:
                    explored.joined += 1
                    continue
                worlds.add(world)
                for fault in self._faults(played, played.armory.last_strike + 1):
                    extended = plan.with_(fault)
                    if extended.key not in known:
                        known.add(extended.key)
                        following.append(extended)
            level = following
        return explored


def _cut(bounds: Bounds, runs: int) -> str:
    if bounds.max_runs is not None and runs >= bounds.max_runs:
        return f"max_runs={bounds.max_runs}"
    if bounds.out_of_time is not None and bounds.out_of_time():
        return "max_seconds"
    return ""


def world_key(played: Played) -> object:
    """The same for runs that passed the same points with the same outcomes, whatever struck."""
    rows = tuple(
        (row.lane, row.point, "*" if row.was_struck else row.outcome, row.detail, row.nanos) for row in played.rows
    )
    answers = tuple(type(answer.error).__name__ for answer in played.answers)
    return rows, answers
