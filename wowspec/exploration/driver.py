"""Runs a test's own function under a plan: its specs are driven, its expectations are left to the explorer.

What the function says by verbs describes the fault-free run, so that under faults it counts only what must hold always,
in the end, or by an `assert` of the function's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import SpecError
from ..faults.planned import MOST_VISITS
from ..faults.plans import Plan
from ..specs import tracking
from ..specs.builder import Spec
from ..specs.events import is_projection
from ..specs.execution import subject_of
from ..specs.nodes import ACTIONS, Node, Subject, WhenEvent
from ..specs.run import Run
from .playing import Played, Way, play


class Ended(BaseException):
    """The function cannot go on: a later command cannot be made of what the fault left."""


class PlanDriver:
    """Plays each way of steps that a function goes, under one plan.

    Args:
        plan: what goes wrong.
        like: a way whose profile and points are taken over.
        options: how to play.
    """

    def __init__(self, plan: Plan, like: Way, **options: Any) -> None:
        self.plan = plan
        self.like = like
        self._options = options
        self._played: dict[tuple[int, int], Played] = {}
        self._kept: list[Node] = []

    @property
    def judges(self) -> bool:
        """Whether expectations are left to the explorer."""
        return True

    def run_of(self, node: Node) -> Run:
        """The run of a step under the plan."""
        played = self.played(node)
        if len(played.runs) < len(self.way_of(node).actions):
            raise Ended
        return played.runs[-1]

    def way_of(self, node: Node) -> Way:
        """The steps up to one."""
        return replace(self.like, nodes=tuple(node.path()))

    def played(self, node: Node) -> Played:
        """What happened on the way to a step; once for the conditions that are known by now."""
        way = self.way_of(node)
        key = (id(node), len(way.conditions))
        found = self._played.get(key)
        if found is None:
            self._kept.append(node)
            found = self._played[key] = play(way, self.plan, **self._options)
        return found


@dataclass(frozen=True, slots=True)
class FunctionPlayer:
    """Plays one of the ways that a function goes, by calling the function.

    Attributes:
        function: gets a spec.
        subject: what the spec is about, if anything.
        place: which of its ways, in their order.
        base: steps that come before what the function adds.
    """

    function: Callable[[Spec[Any]], Any]
    subject: type | None = None
    place: int = 0
    base: Node | None = None

    def __call__(
        self,
        way: Way,
        plan: Plan,
        *,
        record: bool = False,
        heal: Callable[[Played], None] | None = None,
        most_visits: int = MOST_VISITS,
    ) -> Played:
        """As `playing.play`; what the function raises is kept.

        Raises:
            SpecError: if the function does not go this way at all.
        """
        driver = PlanDriver(plan, way, record=record, heal=heal, most_visits=most_visits)
        ends, said = self.call(driver)
        if self.place < len(ends):
            played = driver.played(ends[self.place])
        else:
            # It ended early; what it came to is what there is to judge.
            options: dict[str, Any] = {"record": record, "heal": heal, "most_visits": most_visits}
            played = driver.played(ends[-1]) if ends else play(way, plan, **options)
            played.stopped = played.stopped or "the function ended before its last command"
        played.assertion = said
        return played

    def call(self, driver: PlanDriver) -> tuple[list[Node], str]:
        """Call the function; gives the last steps of the ways that it went, and what it raised."""
        said = ""
        with tracking.aside() as tracker:
            try:
                self.function(Spec(driven_root(self.base, self.subject, driver)))
            except SpecError:
                raise
            except Ended:
                pass
            except Exception as error:  # noqa: BLE001 - whatever the function's own assertions raise
                said = f"{type(error).__name__}: {error}"
            ends = ends_of(tracker.nodes)
        return ends, said


def driven_root(base: Node | None, subject: type | None, driver: PlanDriver) -> Node:
    """The steps that come before what a function adds, driven."""
    if base is None:
        return tracking.track(Node(None, Subject(subject), driver=driver))
    node: Node | None = None
    for original in base.path():
        node = Node(node, original.step, original.name, place=original.place, calls=original.calls, driver=driver)
        tracking.track(node)
    assert node is not None
    return node


def ends_of(nodes: Sequence[Node]) -> list[Node]:
    """The last steps that run something, one for each branch, in their order."""
    ends = [node for node in nodes if isinstance(node.step, ACTIONS) or (node.calls and node.last_when() is not None)]
    for node in nodes:
        if node.last_when() is None and not node.has_child and is_projection(subject_of(node)):
            settled = node.settled
            if settled is None:
                settled = node.settled = node.add(WhenEvent())
            ends.append(settled)
    passed = {id(earlier) for node in ends for earlier in node.back() if earlier is not node}
    return [node for node in dict.fromkeys(ends) if id(node) not in passed]
