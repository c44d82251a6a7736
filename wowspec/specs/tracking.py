"""Remembers the specs that a test makes, so that none is left unjudged when it (or its Hypothesis example) ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from ..errors import SpecFailure
from .items import TimeStep
from .layout import several
from .nodes import (
    ACTIONS,
    GivenState,
    History,
    Node,
    Setup,
    Step,
    Subject,
    When,
    WhenConcurrently,
    WhenEvent,
    WithFaults,
)
from .placing import SoftFailure, is_placed, place_of_caller, place_of_function, raise_at
from .run import Run
from .showing import shown
from .unstruck import unstruck_text
from .verdicts import settle


class Judged(Protocol):
    """Something else than a spec that must be judged when its test ends, such as a gateway."""

    def settle(self) -> None:
        """Raise what is wrong with it, each finding once."""
        ...

    def abandon(self) -> None:
        """The test ended: nobody goes on with it."""
        ...


class Tracker:
    """The specs (and gateways) of one test, or of one Hypothesis example."""

    __slots__ = ("cut_off", "examples", "inner", "known", "nodes", "of_failure", "others", "soft")

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        #: Identities of the nodes, which may be many.
        self.known: set[int] = set()
        self.soft: list[SoftFailure] = []
        #: What Hypothesis examples, which have trackers of their own, gave that nothing sources.
        self.examples: dict[str, str] = {}
        self.others: list[Judged] = []
        #: What bounds of searches left out, each as text.
        self.cut_off: list[str] = []
        #: The tracker of the Hypothesis example that failed last.
        self.of_failure: Tracker | None = None
        #: Where a report asks for it: the tracker of the first example that made specs (which is one that the author
        #: wrote, or the simplest that Hypothesis has), or of the function that an exploration calls.
        self.inner: Tracker | None = None

    def abandon(self) -> None:
        """Nobody goes on with what was made."""
        for other in self.others:
            other.abandon()

    def finish(self, test: object = None) -> None:
        """Require that every spec was judged and decided, and every fault struck.

        Args:
            test: the test's function; what is found is raised at its beginning where nothing says a better place.

        Raises:
            SpecFailure: for the first that was not.
        """
        __tracebackhide__ = True
        if self.soft:
            found, self.soft = self.soft, []
            raise_at(found[0].place, soft_failure(found))
        nodes = [*self.nodes, *self._faults_from_outside()]
        for check in (_require_judged, _require_settled, self._require_struck):
            for node in nodes:
                try:
                    check(node)
                except SpecFailure as failure:
                    raise_at(node.place, failure)
        for other in self.others:
            try:
                other.settle()
            except SpecFailure as failure:
                if is_placed(failure):
                    raise
                raise_at(place_of_function(test), failure)

    def add(self, node: Node) -> None:
        """Remember a node, once."""
        if id(node) not in self.known:
            self.known.add(id(node))
            self.nodes.append(node)

    def unsourced(self) -> dict[str, str]:
        """Event classes that specs gave and that no sourcing function takes, each with its aggregate root."""
        found = dict(self.examples)
        for node in self.nodes:
            for run in (*node.runs, *([node.run] if node.run is not None else [])):
                found.update((kind.__qualname__, root) for kind, root in run.session.unsourced.items())
        return found

    def _faults_from_outside(self) -> list[Node]:
        """Faults of a base that was made outside the test, on the way to what the test made of it."""
        found: dict[int, Node] = {}
        for node in self.nodes:
            parent = node.parent
            if parent is None or id(parent) in self.known:
                continue
            for earlier in parent.back():
                if isinstance(earlier.step, WithFaults) and id(earlier) not in self.known:
                    found[id(earlier)] = earlier
        return list(found.values())

    def _require_struck(self, node: Node) -> None:
        step = node.step
        if not isinstance(step, WithFaults):
            return
        visits: dict[int, int] = {}
        reached: dict[int, Run] = {}
        struck = set()
        for run in [run for other in self.nodes for run in (*other.runs, other.run) if run is not None]:
            armory = run.session.runtime.armory
            for origin, armed in zip(run.session.origins, armory.armed if armory is not None else (), strict=False):
                if origin.node is node:
                    reached[origin.index] = run
                    visits[origin.index] = max(armed.visits, visits.get(origin.index, 0))
                    if armed.struck:
                        struck.add(origin.index)
        if not visits and any(node in other.back() for other in self.nodes if isinstance(other.step, ACTIONS)):
            # The command that it was armed for did not run to its end, and the test made its peace with that.
            return
        for index, fault in enumerate(step.faults):
            if index not in struck:
                raise SpecFailure(f"{node.where()}{unstruck_text(fault, visits.get(index), reached.get(index))}")


def paths(tracker: Tracker) -> list[list[Node]]:
    """Each way of steps that a test went, from the root to the last that ran or that something was expected after.

    Each branch is a way of its own; one that another goes on with is left out. In the order in which the test came to
    their ends. Specs from outside the test count as soon as it looked at them.
    """
    return [node.path() for node in ends_of([node for node in tracker.nodes if _is_looked_at(node)])]


def ends_of(nodes: Sequence[Node]) -> list[Node]:
    """Those of some steps that no other one of them goes on with."""
    passed: set[int] = set()
    for node in nodes:
        earlier = node.parent
        # Whoever passed a step passed all those before it.
        while earlier is not None and id(earlier) not in passed:
            passed.add(id(earlier))
            earlier = earlier.parent
    return [node for node in nodes if id(node) not in passed]


def _is_looked_at(node: Node) -> bool:
    if isinstance(node.step, ACTIONS):
        return node.run is not None or bool(node.runs)
    if node.calls is None:
        return False
    action = node.last_when()
    return action is not None and action.run is not None


def soft_failure(found: Sequence[SoftFailure]) -> SpecFailure:
    """What soft expectations found, together."""
    head = f"{several(len(found), 'soft expectation')} failed"
    failure = SpecFailure("\n\n".join([head, *map(str, found)]))
    failure.lines = tuple((each.place.code, each.place.instruction) for each in found)
    return failure


def _require_settled(node: Node) -> None:
    if node.run is not None:
        settle(node.run, node.where)


def _require_judged(node: Node) -> None:
    if node.has_child:
        return
    if node.judged:
        _require_in_time(node)
        return
    if isinstance(node.step, ACTIONS):
        verb = _action_text(node.step)
        raise SpecFailure(
            f"{node.where()}{verb} was never looked at\n"
            "  why: a command without an expectation proves nothing; it was not even run\n"
            "  instead: .expect_events(...), .expect_no_events(), .expect_error(...), … after it, or .run() alone"
            if node.run is None
            else f"{node.where()}{verb} has no expectation\n"
            "  why: a run that nothing is expected of proves nothing\n"
            "  instead: an .expect_…(...) after it"
        )
    what = _step_text(node.step)
    if node.last_when() is not None:
        raise SpecFailure(
            f"{node.where()}{what} after the last when(...)\n"
            "  why: nothing runs after it, so it changes nothing\n"
            "  instead: .when(SomeCommand(...)).expect_events(...) after it, or the spec without it"
        )
    raise SpecFailure(
        f"{node.where()}{what} without when(...)\n"
        "  why: nothing was run, so nothing was tested\n"
        "  instead: .when(SomeCommand(...)).expect_events(...)"
    )


def explain_no_raise(error: Any) -> None:
    """Let the failure of a `pytest.raises` say which command was not run, since nothing was expected of it."""
    tracker = current()
    if tracker is None or "DID NOT RAISE" not in str(error):
        return
    for node in tracker.nodes:
        if isinstance(node.step, ACTIONS) and not node.has_child and not node.judged and node.run is None:
            error.msg = (
                f"{error}\n  hint: {node.where()}{_action_text(node.step)} was not run, for nothing is expected of it: "
                ".expect_error(...) after it says which error came, without pytest.raises"
            )
            return


def _require_in_time(node: Node) -> None:
    """Refuse what is given after the last command and before an expectation, which is about that command."""
    when = node.last_when()
    if when is None:
        return
    for earlier in node.back():
        step = earlier.step
        if earlier is when:
            return
        if isinstance(step, History | GivenState) or (isinstance(step, Setup) and step.verb != "fork"):
            verb, action = _step_text(step), _action_text(when.step)
            raise SpecFailure(
                f"{earlier.where()}{verb} stands after the last {_action_verb(when.step)}(...)\n"
                f"  why: nothing runs after it, so it changes nothing; what is expected then is of {action}\n"
                f"  instead: .{verb} before .{_action_verb(when.step)}(...), or another .when(...) after it"
            )


def _action_verb(step: Step) -> str:
    """The verb of a step that runs something."""
    return {When: "when", WhenConcurrently: "when_concurrently"}.get(type(step), "when_event")


def _action_text(step: Step) -> str:
    """A step that runs something, by its verb."""
    if isinstance(step, When):
        return f"when({shown(step.command)})"
    if isinstance(step, WhenConcurrently):
        return f"when_concurrently({', '.join(shown(sent.command) for sent in step.commands)})"
    return f"when_event({shown(step.event)})" if isinstance(step, WhenEvent) else type(step).__name__


def _step_text(step: Step) -> str:
    """A step that runs nothing, by its verb."""
    if isinstance(step, Subject):
        return "a spec"
    if isinstance(step, History) and len(step.items) == 1 and isinstance(step.items[0], TimeStep):
        return "advance(...)"
    if isinstance(step, Setup):
        return "a branch" if step.verb == "fork" else f"{step.verb}(...)"
    names = {History: "given(...)", GivenState: "given_state(...)", WithFaults: "with_faults(...)"}
    return names.get(type(step), "without_law(...)")


_trackers: list[Tracker] = []
#: Of what concerns no test, innermost last.
_asides: list[Tracker] = []
# A test that imports the kit only while it runs is tracked from here on; the plugin could not start it.
if os.environ.get("PYTEST_CURRENT_TEST", "").endswith("(call)"):
    _trackers.append(Tracker())


#: What fixtures made for a test whose call is still to come.
_expected: list[Judged] = []


def start() -> None:
    """A test begins."""
    tracker = Tracker()
    tracker.others.extend(_expected)
    _expected.clear()
    _trackers.append(tracker)


def stop() -> Tracker | None:
    """The test ended; its tracker."""
    if not _trackers:
        return None
    tracker = _trackers.pop()
    tracker.abandon()
    return tracker


def begin_without_test() -> None:
    """In a process that has just begun: no test is running, whatever the environment that it was given says."""
    _trackers.clear()


def current() -> Tracker | None:
    """Who keeps the specs that are made now; None outside a test."""
    if _asides:
        return _asides[-1]
    if not _trackers:
        return None
    return _of_example() or _trackers[-1]


@contextmanager
def aside() -> Iterator[Tracker]:
    """What is made within concerns no test: its steps are run and judged by whoever made them, who gets them."""
    tracker = Tracker()
    _asides.append(tracker)
    try:
        yield tracker
    finally:
        _asides.remove(tracker)
        tracker.abandon()


def is_aside() -> bool:
    """Whether what is made now concerns no test."""
    return bool(_asides)


def track(node: Node) -> Node:
    """Remember a node."""
    tracker = current()
    if tracker is not None:
        node.place = place_of_caller()
        tracker.add(node)
    return node


#: How many of those who report want to know what was made for a test aside, too.
_wanted = 0


def want_inner() -> None:
    """From here on a test's tracker knows the tracker of its first example, or of the function that is explored."""
    global _wanted  # noqa: PLW0603 - one process runs one suite
    _wanted += 1


def no_longer_want_inner() -> None:
    """Whoever wanted it does no more."""
    global _wanted  # noqa: PLW0603
    _wanted = max(0, _wanted - 1)


def note_inner(tracker: Tracker) -> None:
    """What was made aside, or for an example, are the specs of the running test."""
    if _wanted and _trackers and tracker.nodes and _trackers[-1].inner is None:
        _trackers[-1].inner = tracker


def look_at(node: Node) -> None:
    """A test looks at what came of a step that may have been made outside it: it must be decided here, too."""
    tracker = current()
    if tracker is not None:
        tracker.add(node)


def note_cut_off(text: str) -> None:
    """Tell in the end what the bounds of a search left out, although the test may pass."""
    if _trackers and not _asides and text not in _trackers[-1].cut_off:
        _trackers[-1].cut_off.append(text)


def watch(other: Judged) -> None:
    """Judge something when the running test (or Hypothesis example) ends; outside a test nothing happens."""
    tracker = current()
    if tracker is not None and other not in tracker.others:
        tracker.others.append(other)


def expect(other: Judged) -> None:
    """Judge something when the test ends whose call comes next: a fixture makes it before."""
    _expected.append(other)


def forget(other: Judged) -> None:
    """The test is over, or its call never came."""
    if other in _expected:
        _expected.remove(other)


def _of_example() -> Tracker | None:
    """The tracker of the Hypothesis example that is running, if one is; it finishes with the example."""
    control = sys.modules.get("hypothesis.control")
    if control is None:
        return None
    context: Any = control._current_build_context.value
    if context is None:
        return None
    found = next((task.tracker for task in context.tasks if isinstance(task, _Finish)), None)
    if found is None:
        finish = _Finish(Tracker())
        control.cleanup(finish)
        found = finish.tracker
    return found


class _Finish:
    """Called when an example ends: reports, unless the example failed already."""

    __slots__ = ("tracker",)

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker

    def __call__(self) -> None:
        __tracebackhide__ = True
        self.tracker.abandon()
        if _trackers:
            _trackers[-1].examples.update(self.tracker.unsourced())
        if sys.exc_info()[0] is None:
            note_inner(self.tracker)
            self.tracker.finish()
        elif _trackers:
            _trackers[-1].of_failure = self.tracker
