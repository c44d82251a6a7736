"""Which laws a run under a drawn plan breaks that are neither broken by fewer faults nor known to the runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from ..exploration.analogy import witness_laws
from ..exploration.findings import Finding
from ..exploration.report import finding_lines
from ..exploration.run_laws import Broken, judge
from ..exploration.trial import Trial
from ..exploration.witness import places_of
from ..faults.plans import Plan, PlannedFault
from ..specs.session import Profile


@dataclass(slots=True, eq=False)
class Blame:
    """A run in which laws break that are due to the domain.

    Attributes:
        plan: just the faults that are needed.
        trial: the run under it.
        broken: the laws.
    """

    plan: Plan
    trial: Trial
    broken: list[Broken]

    def lines(self, test: str) -> list[str]:
        """The finding as reports tell it."""
        assert self.trial.base is not None
        return finding_lines(Finding(self.plan, self.broken), self.trial, self.trial.base, test, self.broken)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a plan.

    Attributes:
        holds: whether every law holds.
        blame: what is due to the domain, if anything is.
    """

    holds: bool
    blame: Blame | None = None


class Judge:
    """Judges the runs of one test, or of one run of a state machine.

    Like exploration, it blames no plan for what fewer of its faults do alone: where the runtime is known for that, the
    rest follows from it.

    Args:
        trials: plays a plan, and gives the trial of each way of steps that was gone, with the fault-free one as base.
        profile: what the world's ports can do.
    """

    __slots__ = ("_known", "_profile", "_trials")

    def __init__(self, trials: Callable[[Plan], Sequence[Trial]], profile: Profile) -> None:
        self._trials = trials
        self._profile = profile
        self._known: dict[frozenset[str], Verdict] = {}

    def judged(self, plan: Plan, made: Sequence[Trial] | None = None) -> Verdict:
        """Judge a plan.

        Args:
            plan: the plan.
            made: its trials, where it was played already.
        """
        found = self._known.get(plan.key)
        if found is None:
            found = self._known[plan.key] = self._judge(plan, self._trials(plan) if made is None else made)
        return found

    def _judge(self, plan: Plan, trials: Sequence[Trial]) -> Verdict:
        struck = struck_faults(trials)
        if len(struck) < len(plan):
            return self.judged(Plan(struck), trials)
        broken = next(((trial, found) for trial in trials if (found := judge(trial))), None)
        if broken is None:
            return Verdict(holds=True)
        for size in range(1, len(struck)):
            for fewer in combinations(struck, size):
                less = self.judged(Plan(fewer))
                if not less.holds:
                    return less
        trial, found = broken
        kinds = {metadata.name: metadata.kind for metadata in trial.played.session.runtime.catalog.processors.values()}
        broken_laws = frozenset(item.law for item in found)
        known = witness_laws(places_of(plan, kinds), broken_laws, self._profile)
        due = [item for item in found if item.law not in known]
        return Verdict(holds=False, blame=Blame(plan, trial, due) if due else None)


def struck_faults(trials: Sequence[Trial]) -> tuple[PlannedFault, ...]:
    """The faults of a plan that struck in any of its trials, in the plan's order."""
    return tuple(
        dict.fromkeys(strike.fault for trial in trials for strike in trial.played.armory.strikes if strike.struck)
    )
