"""Conditions that must hold of a world: at each moment, or in the end.

A `Watch` stands where faults would be armed, so that it is asked at each point of the pipeline, before its effect: all
that happened before is there to be looked at, and nobody is stepped in another order.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

from ..errors import SpecError
from ..world.trace import TraceRow
from ..world.world import Injector, Strike
from .event_expectations import says_yes
from .execution import act, arm, session_before
from .nodes import ACTIONS, Node, WhenConcurrently
from .recorded import Condition, ConditionKind
from .render import BRIEF, render
from .run import Run
from .saying import traceback_text
from .session import Session
from .showing import step_text
from .world_view import WorldView, told

_HEADS = {
    ConditionKind.ALWAYS: "what should always hold did not",
    ConditionKind.EVENTUALLY: "what should hold in the end did not",
}


def require_condition(kind: ConditionKind, function: Any, name: Any) -> Condition:
    """A condition as its verb was given it.

    Raises:
        SpecError: for what is no function, or a name that is no text.
    """
    verb = kind.value
    if not callable(function) or isinstance(function, type):
        raise SpecError(
            f"{verb}({render(function, BRIEF)}) is given no function",
            why="a condition is a function of the world that says yes or no",
            instead=f'.{verb}(lambda world: world.aggregate(Order, "o-1").version <= 1)',
        )
    if name is not None and (not isinstance(name, str) or not name.strip()):
        raise SpecError(
            f"{verb}(..., name={render(name, BRIEF)})",
            why="a condition is told by its name where it fails",
            instead=f'.{verb}(lambda world: ..., name="one version at most")',
        )
    return Condition(kind, function, name)


def first_breach(
    session: Session,
    conditions: Iterable[Condition],
    kind: ConditionKind,
    moment: str | None = None,
    *,
    raising_breaks: bool = False,
) -> str | None:
    """What the first condition says that does not hold of a world right now; None if all hold.

    Args:
        session: the world.
        conditions: those of another kind are passed over.
        kind: which of them are asked.
        moment: when that is, for the text.
        raising_breaks: whether a function that raises says no by it: under faults, what it looks for may be missing.

    Raises:
        Exception: otherwise, what a function raises that is no `AssertionError`; a note says which, and when.
    """
    for condition in conditions:
        if condition.kind is kind:
            text = breach_of(session, condition, lambda: moment, raising_breaks=raising_breaks)
            if text is not None:
                return text
    return None


def breach_of(
    session: Session, condition: Condition, moment: Callable[[], str | None], *, raising_breaks: bool = False
) -> str | None:
    """As `first_breach`, for one condition."""
    view = WorldView(session)
    said = raised = ""
    try:
        if says_yes(condition.function, view):
            return None
    except AssertionError as error:
        said = str(error)
    except Exception as error:
        if not raising_breaks or isinstance(error, SpecError):
            when = moment()
            error.add_note(f"in {condition.kind}({condition_text(condition)}){f', {when}' if when else ''}")
            raise
        raised = traceback_text(error)
    when = moment()
    lines = [f"{_HEADS[condition.kind]}: {condition_text(condition)}"]
    lines += [f"  moment: {when}"] if when else []
    lines += [f"  it says: {line}" if not index else f"    {line}" for index, line in enumerate(said.splitlines())]
    lines += ["  it raises:", *raised.splitlines()] if raised else []
    lines += [f"  {line}" for line in told(view)]
    return "\n".join(lines)


# --- watching ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Breach:
    """A condition that did not hold.

    Attributes:
        session: the world.
        text: what the failure says; empty where the condition raised an error instead.
        error: that error.
    """

    session: Session
    text: str
    error: Exception | None = None


class Watch:
    """Asks conditions at each moment at which anything may have changed, until each was broken once.

    Args:
        conditions: those that are asked.
        raising_breaks: as `first_breach` takes it.

    Attributes:
        breaches: the first breach of each, by its place among the conditions.
    """

    __slots__ = ("_action", "_conditions", "_raising_breaks", "breaches")

    def __init__(self, conditions: Sequence[Condition], *, raising_breaks: bool = False) -> None:
        self._conditions = conditions
        self._raising_breaks = raising_breaks
        self._action = ""
        self.breaches: dict[int, Breach] = {}

    def begin(self, node: Node) -> None:
        """A step that runs something comes next."""
        self._action = step_text(node)

    def attach(self, session: Session) -> None:
        """Watch a world from here on; again, after faults were armed in it for the first time."""
        world = session.world
        if not isinstance(world.injector, _Watching):
            world.injector = _Watching(self, session, world.injector)

    def detach(self, session: Session) -> None:
        """Let it go on by itself."""
        injector = session.world.injector
        if isinstance(injector, _Watching):
            session.world.injector = injector.inner

    def look(self, session: Session, entering: TraceRow | None = None) -> None:
        """Ask the conditions now.

        Args:
            session: the world.
            entering: the point that comes next; None: the world is at rest.
        """
        for place, condition in enumerate(self._conditions):
            if place in self.breaches:
                continue
            try:
                text = breach_of(
                    session,
                    condition,
                    lambda: self._moment(session, entering),
                    raising_breaks=self._raising_breaks,
                )
            except Exception as error:  # noqa: BLE001 - raised when the run is over
                self.breaches[place] = Breach(session, "", error)
            else:
                if text is not None:
                    self.breaches[place] = Breach(session, text)

    def _moment(self, session: Session, entering: TraceRow | None) -> str:
        rows = session.world.trace.rows
        before = rows[-1:] if entering is None else rows[-2:-1]
        place = f"after {_passed(before[0])}" if before else "at the beginning"
        if entering is None:
            return f"{self._action}, at rest, {place}"
        return f"{self._action}, {place}, before {entering.point}"


class _Watching:
    """Stands before what decides on faults."""

    __slots__ = ("_session", "_watch", "inner")

    def __init__(self, watch: Watch, session: Session, inner: Injector | None) -> None:
        self._watch = watch
        self._session = session
        self.inner = inner

    def visit(self, row: TraceRow) -> Strike | None:
        """Look, then let the armed faults strike."""
        self._watch.look(self._session, row)
        return None if self.inner is None else self.inner.visit(row)

    def aims_at(self, prefix: str) -> bool:
        """What the armed faults aim at."""
        return self.inner is not None and self.inner.aims_at(prefix)


def run_steps(
    nodes: Sequence[Node], watch: Watch | None = None, opened: Callable[[Session], None] | None = None
) -> Iterator[Node]:
    """Run the actions of a way of steps that has not run, one after another; gives each when its world is at rest.

    Commands in flight together are given without being run: whoever judges them runs them in all their orders.

    Args:
        nodes: the steps, from the root on.
        watch: looks on, from the beginning of the first action.
        opened: gets the world of each action before anything happens in it.
    """
    began = False
    for node in nodes:
        if not isinstance(node.step, ACTIONS):
            continue
        if not isinstance(node.step, WhenConcurrently):
            _run_step(node, watch, opened, began=began)
        began = True
        yield node


def _run_step(node: Node, watch: Watch | None, opened: Callable[[Session], None] | None, *, began: bool) -> None:
    if watch is not None:
        watch.begin(node)

    def open_world(session: Session) -> None:
        if opened is not None:
            opened(session)
        if watch is not None and began:
            watch.attach(session)

    session, previous = session_before(node, open_world)
    arm(session)
    if watch is None:
        act(node, session, previous)
        return
    watch.attach(session)
    try:
        act(node, session, previous)
        watch.look(session)
    finally:
        watch.detach(session)


def run_in(nodes: Iterable[Node], session: Session) -> Run | None:
    """The run that left this world behind."""
    return next((node.run for node in nodes if node.run is not None and node.run.session is session), None)


def same_way(run: Run, other: Run) -> str | None:
    """Where two runs of one step part; None if they passed the same points with the same outcomes."""
    mine = [_passed(row) for row in run.rows]
    theirs = [_passed(row) for row in other.rows]
    for place in range(max(len(mine), len(theirs))):
        one, two = mine[place : place + 1], theirs[place : place + 1]
        if one != two:
            return f"first {one[0] if one else 'nothing more'}, then {two[0] if two else 'nothing more'}"
    return None


def _passed(row: TraceRow) -> str:
    outcome = "" if row.outcome == "ok" else f" ({row.outcome})"
    return f"{row.lane} {row.point}{f' {row.detail}' if row.detail else ''}{outcome}"


# --- text -------------------------------------------------------------------------------------------------------------


def condition_text(condition: Condition) -> str:
    """What a condition is, by its name and its source."""
    source = source_of(condition.function)
    return source if condition.name is None else f"{condition.name} [{source}]"


def source_of(function: Callable[[Any], Any]) -> str:
    """The body of a lambda as its author wrote it; any other function by its name."""
    code = getattr(function, "__code__", None)
    name = getattr(function, "__name__", "")
    if not isinstance(code, CodeType) or not name:
        return render(function, BRIEF)
    return (_body(code) if name == "<lambda>" else None) or f"{name}(world)"


def _body(code: CodeType) -> str | None:
    """The source of a lambda's body: what its instructions stand for, from the first to the last."""
    if code.co_filename == "<string>":
        # Nobody's source: where `python -c` runs, Python 3.13 keeps that command's lines under this name.
        return None
    starts: list[tuple[int, int]] = []
    ends: list[tuple[int, int]] = []
    for line, end_line, column, end_column in code.co_positions():
        if line is None or end_line is None or column is None or end_column is None:
            continue
        if (line, column) != (end_line, end_column):
            starts.append((line, column))
            ends.append((end_line, end_column))
    if not starts:
        return None
    (line, column), (end_line, end_column) = min(starts), max(ends)
    lines = [text.encode() for text in linecache.getlines(code.co_filename)[line - 1 : end_line]]
    if len(lines) != end_line - line + 1:
        return None
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    return " ".join(text.decode().strip() for text in lines)
