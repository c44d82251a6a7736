"""The recorded steps of a spec, built and judged once more: fresh steps, a fresh world, the same expectations.

Steps are data, so new nodes with the same steps are the same spec. Nothing here marks the steps of the test that made
it, and its end will not ask for what is made here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import SpecError, SpecFailure
from . import tracking
from .builder import Spec
from .concurrent_spec import ConcurrentSpec
from .conditions import Watch, run_steps
from .injecting import unused
from .nodes import ACTIONS, Node, Setup, Step, WhenConcurrently
from .recorded import ConditionKind, Expected
from .run import Run
from .session import Session
from .verdicts import settle


@dataclass(frozen=True, slots=True)
class Failure:
    """What does not hold in another run of the same steps.

    Attributes:
        node: the step of the original that it was expected of.
        expected: the expectation; None: what no expectation speaks of, such as an error that nobody expected.
        error: what a verb raised; an error of another class comes from a function of the author's.
    """

    node: Node
    expected: Expected | None
    error: Exception


def again(path: Sequence[Node], make_root: Callable[[Node], Node] | None = None) -> list[Node]:
    """Fresh nodes with the same steps; services are as they were before anybody used them.

    Args:
        path: the steps, from the root on.
        make_root: gets the root; what comes back, which may be the end of several steps, takes its place.

    Raises:
        SpecError: for services that were used, and of which nobody kept copies, or that cannot be copied.
    """
    memo: dict[int, Any] = {}
    nodes: list[Node] = []
    for original in path:
        if not nodes and make_root is not None:
            nodes.append(make_root(original))
            continue
        parent = nodes[-1] if nodes else None
        node = Node(parent, _fresh(original.step, memo), original.name, place=original.place)
        if parent is not None:
            parent.has_child = True
            if original.parent is not None and original.parent.settled is original:
                parent.settled = node
        nodes.append(node)
    return nodes


def rebuild(
    path: Sequence[Node], make_root: Callable[[Node], Node] | None = None
) -> list[tuple[Spec[Any] | ConcurrentSpec[Any], list[Expected]]]:
    """For each step a spec that ends with it, on fresh nodes, and what was expected there."""
    return [(_spec(node), original.expected) for original, node in zip(path, again(path, make_root), strict=True)]


def judge_again(
    path: Sequence[Node],
    make_root: Callable[[Node], Node] | None = None,
    opened: Callable[[Session], None] | None = None,
) -> list[Failure]:
    """Run a way of steps in fresh worlds, and call the expectations that held again, in their order.

    A failure stops nothing: what comes after it is run and judged, too.

    Args:
        path: the steps, from the root on, as `tracking.paths` gives them.
        make_root: as for `again`.
        opened: gets the world of each action, before anything happens in it; not those of `when_concurrently`.

    Raises:
        SpecError: if the author erred; or for services, as `again` says.
    """
    return judged_again(path, make_root, opened).failures


@dataclass(frozen=True, slots=True)
class Rerun:
    """Another run of the same steps.

    Attributes:
        nodes: the steps of it, with their runs.
        failures: what did not hold.
    """

    nodes: list[Node]
    failures: list[Failure]


def judged_again(
    path: Sequence[Node],
    make_root: Callable[[Node], Node] | None = None,
    opened: Callable[[Session], None] | None = None,
) -> Rerun:
    """As `judge_again`; gives what ran, too."""
    nodes = again(path, make_root)
    conditions = [condition for node in path for condition in node.conditions]
    watch = Watch([condition for condition in conditions if condition.kind is ConditionKind.ALWAYS])
    judge = _Judge(watch)
    with tracking.aside():
        begins = [_first_said(nodes, place) for place, node in enumerate(nodes) if isinstance(node.step, ACTIONS)]
        try:
            steps = run_steps(nodes, watch, opened)
            for begin, end, _ in zip(begins, [*begins[1:], len(nodes)], steps, strict=True):
                judge.action(path[begin:end], nodes[begin:end])
        except SpecFailure as failure:
            # Something that was given failed, so that there is no world to go on in.
            judge.failures.append(Failure(path[-1], None, failure))
    return Rerun(nodes, judge.failures)


def _first_said(nodes: Sequence[Node], place: int) -> int:
    """From where on something may be expected of an action: of a projection it is said at what is given."""
    return place - 1 if place and nodes[place - 1].settled is nodes[place] else place


class _Judge:
    """Calls recorded verbs, and keeps what fails."""

    def __init__(self, watch: Watch) -> None:
        self.failures: list[Failure] = []
        self._watch = watch
        self._always = 0

    def action(self, originals: Sequence[Node], nodes: Sequence[Node]) -> None:
        """Judge an action, and what was said after it until the next."""
        for original, node in zip(originals, nodes, strict=True):
            spec = _spec(node)
            for expected in original.expected:
                error = self._call(spec, expected)
                if error is not None:
                    self.failures.append(Failure(original, expected, error))
        original, action = next(
            pair for pair in zip(originals, nodes, strict=True) if isinstance(pair[1].step, ACTIONS)
        )
        if action.run is not None:
            error = _undecided(original, action, action.run)
            if error is not None:
                self.failures.append(Failure(original, None, error))

    def _call(self, spec: Spec[Any] | ConcurrentSpec[Any], expected: Expected) -> Exception | None:
        condition = expected.condition
        if condition is not None and condition.kind is ConditionKind.ALWAYS:
            return self._watched()
        try:
            getattr(spec, expected.verb)(*expected.args, **expected.kwargs)
        except SpecFailure as failure:
            return failure
        except SpecError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a function of the author's raises
            return error
        return None

    def _watched(self) -> Exception | None:
        place, self._always = self._always, self._always + 1
        breach = self._watch.breaches.get(place)
        if breach is None:
            return None
        if isinstance(breach.error, SpecError):
            raise breach.error
        return breach.error or SpecFailure(breach.text)


def _undecided(original: Node, node: Node, run: Run) -> SpecFailure | None:
    """What settles the step in the original, or would fail it; from here on it is settled."""
    before = original.run
    if before is not None and before.decided and type(before.error) is type(run.error):
        # A verb of another branch may have said so.
        run.decided = True
    if before is not None:
        known = {(before.logged[index].point, type(before.logged[index].cause)) for index in before.excused}
        alike = [index for index, entry in enumerate(run.logged) if (entry.point, type(entry.cause)) in known]
        run.excused.update(alike)
    try:
        settle(run, node.where)
    except SpecFailure as failure:
        return failure
    finally:
        accept(run)
    return None


def accept(run: Run) -> None:
    """Take whatever came of a run for said, so that the next step may follow."""
    run.decided = True
    run.excused.update(range(len(run.logged)))


def _spec(node: Node) -> Spec[Any] | ConcurrentSpec[Any]:
    return ConcurrentSpec(node) if isinstance(node.step, WhenConcurrently) else Spec(node)


def _fresh(step: Step, memo: dict[int, Any]) -> Step:
    """The step, with services that nobody used."""
    if not isinstance(step, Setup) or step.verb != "inject":
        return step
    if step.kept is None:
        raise SpecError(
            "a spec with inject(...) is to run again",
            why="its services have been used, and a second run would begin with what the first one left in them",
            instead=".inject_factory(FakeService), which makes a fresh one for each run",
        )
    return unused(step, memo)
