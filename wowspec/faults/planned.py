"""A world's armory under a plan: knows each visit by its chain, counts it, and lets the plan's faults strike."""

from __future__ import annotations

from typing import Any, Final

from ..messages.envelopes import CommandMessage, DomainEvent
from ..world.points import FaultKind
from ..world.trace import TraceRow
from .arming import ArmedFault, Armory, Fired
from .chains import Chains
from .plans import Address, Plan, PlannedFault

#: How many points a run may pass before it counts as one that never comes to rest; without faults the spec did rest.
MOST_VISITS: Final = 1_000_000


class Livelock(BaseException):
    """A world passed more points than any run of its spec should: it will not come to rest."""


class PlannedStrike:
    """One fault of a plan in a world.

    Attributes:
        fault: the fault.
        kind: what it does.
        payload: what its kind needs besides.
        visits: how many visits of its point by its chain there were.
        struck: at how many of them it struck.
    """

    __slots__ = ("fault", "kind", "payload", "struck", "visits")

    def __init__(self, fault: PlannedFault) -> None:
        self.fault: PlannedFault = fault
        self.kind: FaultKind = fault.kind
        self.payload: Any = fault.number or None
        self.visits: int = 0
        self.struck: int = 0


class PlanArmory(Armory):
    """The faults of a plan, and those that the spec itself arms.

    Attributes:
        plan: the plan.
        chains: names of what happens.
        reached: every visit so far, if they are recorded, with the place of its row in the trace.
        last_strike: how many visits were recorded when the latest fault of the plan struck for the first time.
    """

    __slots__ = ("_by_point", "_explores", "_left", "_visited", "chains", "last_strike", "plan", "reached", "strikes")

    def __init__(
        self, plan: Plan, *, record: bool = False, explores: tuple[str, ...] = (), most_visits: int = MOST_VISITS
    ) -> None:
        super().__init__()
        self._left = most_visits
        self.plan: Plan = plan
        self.chains: Chains = Chains()
        self.strikes: list[PlannedStrike] = [PlannedStrike(fault) for fault in plan.faults]
        self.reached: list[tuple[Address, TraceRow]] | None = [] if record else None
        self.last_strike: int = 0
        self._explores = explores
        self._visited: dict[tuple[str, str], int] = {}
        self._by_point: dict[str, list[PlannedStrike]] = {}
        for strike in self.strikes:
            self._by_point.setdefault(strike.fault.address.point, []).append(strike)

    def allow(self, most_visits: int) -> None:
        """So many points may be passed from now on."""
        self._left = most_visits

    def visit(self, row: TraceRow) -> Any:
        """Count a visit and say what strikes: a fault of the plan, else one that the spec armed.

        Raises:
            Livelock: if there were too many.
        """
        self._left -= 1
        if self._left < 0:
            raise Livelock
        subject = row.subject
        chains = self.chains
        if isinstance(subject, CommandMessage):
            chains.see(subject)
        candidates = self._by_point.get(row.point)
        striking: Any = None
        if candidates is not None or self.reached is not None:
            chain = chains.of(row)
            place = (chain, row.point)
            visit = self._visited[place] = self._visited.get(place, 0) + 1
            if self.reached is not None:
                self.reached.append((Address(chain, row.point, visit), row))
            for strike in candidates or ():
                address = strike.fault.address
                if address.chain == chain:
                    strike.visits += 1
                    if address.visit <= visit < address.visit + strike.fault.times:
                        striking = strike
        own: ArmedFault | None = super().visit(row) if self.armed else None
        if striking is None:
            return own
        if not striking.struck:
            self.last_strike = len(self.reached or ())
        striking.struck += 1
        self.fired.append(Fired(row.key, row.point, striking.visits, striking.kind))
        return striking

    def work_on(self, command: CommandMessage[Any]) -> None:
        """What an aggregate loads from here on is loaded for this command."""
        self.chains.work_on(command)

    def caused(self, command: CommandMessage[Any], event: DomainEvent[Any], processor: str, index: int) -> None:
        """A command's chain goes through the event and the processor."""
        self.chains.caused(command, event, processor, index)

    def aims_at(self, prefix: str) -> bool:
        """Whether a fault is armed at such a point, or such points are looked for."""
        return (
            any(point.startswith(prefix) for point in self._by_point)
            or any(prefix.startswith(kind) for kind in self._explores)
            or super().aims_at(prefix)
        )

    def unstruck(self) -> list[PlannedStrike]:
        """The plan's faults that never struck."""
        return [strike for strike in self.strikes if not strike.struck]

    @property
    def kinds_struck(self) -> list[FaultKind]:
        """The kinds of the plan's faults that struck."""
        return [strike.kind for strike in self.strikes if strike.struck]

    def copy(self) -> PlanArmory:
        """An independent armory with the same counts."""
        other = PlanArmory(self.plan, record=self.reached is not None, explores=self._explores, most_visits=self._left)
        other.armed = [ArmedFault(armed.fault, armed.target, armed.visits, armed.struck) for armed in self.armed]
        other.fired = list(self.fired)
        other._visits = dict(self._visits)
        other.chains = self.chains.copy()
        other._visited = dict(self._visited)
        other.reached = None if self.reached is None else list(self.reached)
        other.last_strike = self.last_strike
        for mine, theirs in zip(self.strikes, other.strikes, strict=True):
            theirs.visits, theirs.struck = mine.visits, mine.struck
        return other
