"""Remembers the specs that a test makes, so that none is left unjudged when it (or its Hypothesis example) ends."""

from __future__ import annotations

import os
import sys
from typing import Any, Protocol

from ..errors import SpecFailure
from .nodes import Node, Subject, When, WhenEvent, WithFaults
from .showing import shown
from .story import PACKAGE as _PACKAGE, short_path
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

    __slots__ = ("nodes", "others", "soft")

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.soft: list[str] = []
        self.others: list[Judged] = []

    def abandon(self) -> None:
        """Nobody goes on with what was made."""
        for other in self.others:
            other.abandon()

    def finish(self) -> None:
        """Require that every spec was judged and decided, and every fault struck.

        Raises:
            SpecFailure: for the first that was not.
        """
        __tracebackhide__ = True
        if self.soft:
            texts, self.soft = self.soft, []
            count = len(texts)
            head = f"{count} soft expectation{'s' if count > 1 else ''} failed"
            raise SpecFailure("\n\n".join([head, *texts]))
        for node in self.nodes:
            _require_judged(node)
        for node in self.nodes:
            if node.run is not None:
                settle(node.run, _branch(node))
        for node in self.nodes:
            if isinstance(node.step, WithFaults) and node.armed:
                _require_struck(node, node.step)
        for other in self.others:
            other.settle()


def _require_judged(node: Node) -> None:
    __tracebackhide__ = True
    if node.has_child or node.judged:
        return
    if isinstance(node.step, When | WhenEvent):
        step = node.step
        verb = f"when({shown(step.command)})" if isinstance(step, When) else f"when_event({shown(step.event)})"
        raise SpecFailure(
            f"{_branch(node)}{verb} was never looked at\n"
            "  why: a command without an expectation proves nothing; it was not even run\n"
            "  instead: .expect_events(...), .expect_no_events(), .expect_error(...), … after it, or .run() alone"
            if node.run is None
            else f"{_branch(node)}{verb} has no expectation\n"
            "  why: a run that nothing is expected of proves nothing\n"
            "  instead: an .expect_…(...) after it"
        )
    what = "a spec" if isinstance(node.step, Subject) else "given(...)"
    raise SpecFailure(
        f"{_branch(node)}{what} without when(...)\n"
        "  why: nothing was run, so nothing was tested\n"
        "  instead: .when(SomeCommand(...)).expect_events(...)"
    )


def _require_struck(node: Node, step: WithFaults) -> None:
    __tracebackhide__ = True
    missing = [fault for index, fault in enumerate(step.faults) if index not in node.struck]
    if missing:
        fault = missing[0]
        raise SpecFailure(
            f"{_branch(node)}the fault {fault} never struck\n"
            f"  why: the point {fault.point} was not visited {fault.at} time{'s' if fault.at > 1 else ''}"
            f"{' by ' + str(fault.aggregate) if fault.aggregate is not None else ''}, so the spec says nothing of it\n"
            "  instead: a point that this command passes (see the pipeline of the run), or a smaller at="
        )


def _branch(node: Node) -> str:
    names = node.branch_names()
    where = f"{node.place}: " if node.place else ""
    return f"{where}in branch {' > '.join(names)}: " if names else where


_trackers: list[Tracker] = []
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


def current() -> Tracker | None:
    """Who keeps the specs that are made now; None outside a test."""
    if not _trackers:
        return None
    return _of_example() or _trackers[-1]


def track(node: Node) -> Node:
    """Remember a node."""
    tracker = current()
    if tracker is not None:
        node.place = _place()
        tracker.nodes.append(node)
    return node


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


def _place() -> str:
    """File and line of the author's code that is running."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return f"{short_path(frame.f_code.co_filename)}:{frame.f_lineno}"


def _of_example() -> Tracker | None:
    """The tracker of the Hypothesis example that is running, if one is; it finishes with the example."""
    if "hypothesis" not in sys.modules:
        return None
    from hypothesis import control

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
        if sys.exc_info()[0] is None:
            self.tracker.finish()
