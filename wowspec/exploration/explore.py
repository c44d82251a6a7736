"""Explores one spec as its settings say, and says as JSON what came of it."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from typing import Final

from ..errors import PlanNotReached, SpecError, SpecFailure
from ..faults.legality import require_legal
from ..faults.plans import Plan, nearest
from ..modeling.processors import ProcessorKind
from ..specs.execution import plan_of
from ..specs.layout import several
from ..specs.run_json import RunJson
from ..specs.session import Profile
from .analogy import known_laws
from .determinism import require_same
from .enumeration import Explored, RunMany, Step, explore
from .explorer import Explorer, PlanResult, Player
from .findings import Finding, RecoveryClass
from .playing import Played, Way, play
from .report import concerned, finding_lines, mend_lines, pinned, replay_line
from .results import BrokenJson, CellJson, FindingJson, PlanJson, ResultJson, empty_result, undeclared
from .run_laws import RUN_LAW_BY_NAME
from .settings import Settings
from .stories import keep_some, story_of
from .trial import Trial
from .witness import ports_of, what_would_heal

#: Points that only those pass who look for them.
SOUGHT: Final = ("service:", "projection.write")


def profile_of_way(way: Way) -> Profile:
    """The profile that a spec's world has."""
    return way.profile or plan_of(way.nodes)[0].profile


class SpecExploration:
    """One spec, explored.

    Args:
        way: its steps.
        said: how.
        test: node id of its test.
        spec: which of the test's specs.
        player: plays the steps.

    Raises:
        SpecError: if it cannot be run again, or comes to something else each time.
    """

    def __init__(self, way: Way, said: Settings, test: str, spec: int = 0, player: Player = play) -> None:
        self.way = way
        self.said = said
        self.test = test
        self.spec = spec
        self.profile: Profile = profile_of_way(way)
        self.explorer: Explorer = Explorer(
            way,
            player=player,
            profile=ports_of(self.profile),
            selection=replace(said.selection, rivals=player is play and not way.conditions),
            allowed=said.allowed,
            recoveries=said.recoveries(self.profile),
        )
        self._play = player
        self._pinned: str | None = None
        _require_assertions_hold(self.explorer)
        require_same(way, self.explorer.base.played, player)
        self._kinds: dict[str, ProcessorKind] = {
            metadata.name: metadata.kind
            for metadata in self.explorer.base.played.session.runtime.catalog.processors.values()
        }

    def run(self, run_many: RunMany[PlanJson] | None = None) -> ResultJson:
        """Run everything that the settings ask for.

        Args:
            run_many: runs plans elsewhere; by default they are run here.

        Raises:
            PlanNotReached: for an example whose faults do not all strike.
        """
        # Of a sweep in parts the first one runs them.
        examples = [self._reached(plan) for plan in self.said.examples if self.said.shard[0] == 1]
        explored: Explored[PlanJson] = Explored()
        if self.said.depth:
            explored = explore(self.explorer.singles(), self.said.bounds(), run_many or self.each, self.said.keeps)
        known = {plan.key for plan in self.said.examples}
        return self.result([*examples, *(each for each in explored.results if _key(each) not in known)], explored)

    def replay(self, plan: Plan) -> ResultJson:
        """Run one plan.

        Raises:
            PlanNotReached: if its faults do not all strike.
        """
        return self.result([self._reached(plan)], Explored())

    def step(self, plan: Plan, *, deeper: bool = False) -> Step[PlanJson]:
        """Run one plan, and say where it leads."""
        result, played = self.explorer.run(plan, record=deeper)
        return self.explorer.step(self._said(result, played), result, played, deeper=deeper)

    def each(self, plans: Sequence[Plan], deeper: bool) -> Generator[Step[PlanJson], None, None]:
        """Run plans here, one after another."""
        for plan in plans:
            yield self.step(plan, deeper=deeper)

    def _reached(self, plan: Plan) -> PlanJson:
        for fault in plan:
            require_legal(fault, self.explorer.profile)
        result, played = self.explorer.run(plan)
        if result.unreached:
            raise PlanNotReached(self.unreached_text(plan, result.unreached))
        return self._said(result, played)

    def unreached_text(self, plan: Plan, unreached: Iterable[str]) -> str:
        """Which faults of a plan never struck, and where they may have been meant to."""
        played = self._play(self.way, plan, record=True, most_visits=self.explorer.most_visits)
        reached = [address for address, _ in played.armory.reached or ()]
        lines = [f"the plan was not reached whole: {plan}"]
        missing = set(unreached)
        meant_for = [(fault, nearest(fault.address, reached)) for fault in plan if str(fault) in missing]
        for fault, near in meant_for:
            lines.append(f"  never reached: {fault.address}; near it: {', '.join(map(str, near)) or 'nothing'}")
        lines.append("  why: a plan that no longer strikes proves nothing: the spec has changed since it was made")
        meant = [f"{near[0]}={fault.kind.value}" for fault, near in meant_for if near]
        text = f"{' and '.join(meant)}, if that is meant" if meant else "the address of a visit that is made"
        lines.append(f"  instead: {text}; on the command line, the one test that it is for")
        return "\n".join(lines)

    # --- as JSON ------------------------------------------------------------------------------------------------------

    def result(self, results: list[PlanJson], explored: Explored[PlanJson]) -> ResultJson:
        """What came of the plans that were run."""
        json = empty_result(self.test, self.spec, self.profile.name)
        json["killed"] = [result["plan"] for result in results if result["killed"]]
        results = [result for result in results if not result["killed"]]
        json["plans"] = len(results)
        json["base_points"] = len(self.explorer.base.played.rows)
        json["left"] = dict(explored.left)
        json["joined"] = explored.joined
        json["symmetric"] = self.explorer.symmetric
        json["unjudged"] = sorted(self.explorer.unjudged)
        cells: dict[tuple[str, str], dict[str, int]] = {}
        for result in results:
            recovery = result["recovery"]
            json["outcomes"][recovery] = json["outcomes"].get(recovery, 0) + 1
            for point, kind in result["faults"]:
                outcomes = cells.setdefault((point, kind), {})
                outcomes[recovery] = outcomes.get(recovery, 0) + 1
            if result["finding"] is not None:
                json["findings"].append(result["finding"])
        keep_some(json["findings"])
        json["cells"] = [
            CellJson(point=point, kind=kind, outcomes=outcomes) for (point, kind), outcomes in cells.items()
        ]
        json["vanished"] = self._vanished(json, results)
        return json

    def _said(self, result: PlanResult, played: Played) -> PlanJson:
        """What came of one plan."""
        if result.finding is not None:
            result.finding.known = known_laws(result.finding, self._kinds, self.profile)
            if result.finding.is_known and not result.finding.healed_by:
                result.recovery = RecoveryClass.KNOWN
        return PlanJson(
            plan=str(result.plan),
            faults=[[fault.address.point, fault.kind.value] for fault in result.plan],
            recovery=str(result.recovery),
            finding=None if result.finding is None else self._finding(result.finding, played),
            killed=False,
        )

    def _vanished(self, json: ResultJson, results: list[PlanJson]) -> list[str]:
        """Declared findings that did not appear although their plans were run."""
        found = {(finding["plan"], item["law"]) for finding in json["findings"] for item in finding["broken"]}
        run = {result["plan"] for result in results}
        whole = self.said.shard == (1, 1) and not json["left"]
        ports = ports_of(self.profile)
        return [
            str(item)
            for item in self.said.expected
            if (item.plan, item.law) not in found
            and (item.plan in run or (whole and self.said.would_find(item, ports)))
        ]

    def _paste(self, plan: Plan) -> str:
        # The plans of a spec differ in one line of it.
        if self._pinned is None:
            self._pinned = pinned(self.way, Plan(), self.test)
        return self._pinned.replace(f"example({str(Plan())!r})", f"example({str(plan)!r})", 1)

    def _finding(self, finding: Finding, played: Played) -> FindingJson:
        declared = {item.law for item in self.said.expected if item.plan == str(finding.plan)}
        broken = [
            BrokenJson(
                law=item.law,
                title=RUN_LAW_BY_NAME[item.law].title,
                text=item.text,
                known=item.law in finding.known,
                declared=item.law in declared,
            )
            for item in finding.broken
        ]
        # A profile of the command line's must be said there again.
        other = self.profile.name if self._play is play and self.way.profile is not None else ""
        replay = replay_line(self.test, finding.plan, other)
        if (self.said.tells_known or self.said.draws) and finding.is_known and not finding.healed_by:
            finding.would_heal = what_would_heal(finding, self._kinds, self.profile)
        told = finding.due_to_domain or (finding.broken if self.said.tells_known else [])
        report: list[str] = []
        story: RunJson | None = None
        if told:
            trial = Trial(self.way, played, self.explorer.base, self.said.allowed)
            report = [*finding_lines(finding, trial, self.explorer.base, self.test, told), f"  replay {replay}"]
            story = story_of(trial, self.explorer.base) if self.said.draws else None
        return FindingJson(
            plan=str(finding.plan),
            broken=broken,
            recovery=str(RecoveryClass.HEALED if finding.healed_by else RecoveryClass.NEVER),
            healed_by=finding.healed_by,
            tried=list(finding.tried),
            would_heal=finding.would_heal,
            replay=replay,
            report=report,
            paste=self._paste(finding.plan) if told else "",
            functions=concerned(played, self.explorer.base.played) if told else [],
            story=story,
        )


def _require_assertions_hold(explorer: Explorer) -> None:
    """Refuse a function whose own assertions fail when it is called again, without faults: they would say nothing.

    Raises:
        SpecError: with what it raised.
    """
    raised = explorer.base.played.assertion
    if raised:
        raise SpecError(
            f"the test's own assertions fail when it is called again without any fault: {raised}",
            why="each run uses a copy of what inject(...) is given, and the object that the test holds is not used; "
            "fixtures and parameters are made once, and shared by all runs",
            instead=".eventually(lambda world: world.service(FakePayments).charges == [...]), which sees the copy",
        )


def _key(result: PlanJson) -> frozenset[str]:
    return frozenset(result["plan"].split("; "))


#: How many groups of findings a failing test tells whole, and how many plans of each by name.
_MOST_GROUPS: Final = 5
_MOST_PLANS: Final = 8


def require_nothing_found(result: ResultJson, *, strict: bool = False) -> None:
    """Fail a test for findings that nobody declared, and for declared ones that are gone.

    Raises:
        SpecFailure: with the report of the first of each sort, and the plans of the others.
    """
    __tracebackhide__ = True
    groups: dict[tuple[str, ...], list[FindingJson]] = {}
    for finding, broken in undeclared(result, strict=strict):
        groups.setdefault(tuple(item["law"] for item in broken), []).append(finding)
    texts = [_group_text(findings) for findings in list(groups.values())[:_MOST_GROUPS]]
    if len(groups) > _MOST_GROUPS:
        texts.append(f"… and {several(len(groups) - _MOST_GROUPS, 'more sort')} of findings")
    if result["vanished"]:
        gone = "\n".join(f"a declared finding no longer appears: {text}" for text in result["vanished"])
        texts.append(
            f"{gone}\n"
            "  why: what is declared is excused, and an excuse for nothing hides the next finding\n"
            "  instead: remove it from expected=[...] or the baseline"
        )
    texts += [
        f"a plan ends the process in which it is run: {plan}\n"
        "  why: nobody can say what else comes of it; under the same fault it would end the application, too\n"
        "  instead: code that raises where it calls os._exit(), or that does not overrun the stack of a library"
        for plan in result["killed"]
    ]
    if texts:
        raise SpecFailure("\n\n".join(texts))


def _group_text(findings: list[FindingJson]) -> str:
    first, *others = findings
    lines = list(first["report"])
    if others:
        lines.append(f"  so do {several(len(others), 'plan')} more:")
        lines += [f"    {other['plan']}" for other in others[:_MOST_PLANS]]
        if len(others) > _MOST_PLANS:
            lines.append(f"    … {len(others) - _MOST_PLANS} more")
    pin = ["  pin it:", *(f"    {line}".rstrip() for line in first["paste"].splitlines())]
    return "\n".join([*lines, *pin, *mend_lines(first["broken"])])
