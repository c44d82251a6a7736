"""The whole story of each run of a failed test, as `-vv` shows it below the failure.

A failure text holds what explains it; here stands everything: the steps, each point with its lane and time, retries and
faults, where the run first departed from the one without faults, and what each ledger then held.
"""

from __future__ import annotations

from typing import Any, Final

from ..errors import printable
from .departing import departure_text
from .diff import ledger_table
from .layout import several
from .nodes import ACTIONS, Node
from .render import BRIEF, render
from .run import Run
from .saying import first_line
from .showing import shown, step_text
from .story import timeline
from .tracking import Tracker

#: The last runs of a test, which may have many.
_MOST_RUNS: Final = 5
_RED: Final = "\x1b[31m"
_CYAN: Final = "\x1b[36m"
_BOLD: Final = "\x1b[1m"
_PLAIN: Final = "\x1b[0m"
_LEDGERS: Final = ("emitted", "stored", "published", "delivered")


def stories(tracker: Tracker) -> list[str]:
    """The story of each run that a test made, in the order of its steps; the last ones, if there are many."""
    tracker = tracker.of_failure or tracker
    told = [(node, node.run) for node in tracker.nodes if node.run is not None and isinstance(node.step, ACTIONS)]
    left_out = len(told) - _MOST_RUNS
    head = [f"{several(left_out, 'earlier run')} of this test left out"] if left_out > 0 else []
    return head + [printable(story(node, run)) for node, run in told[-_MOST_RUNS:]]


def story(node: Node | None, run: Run) -> str:
    """One run, whole.

    Args:
        node: the step that it is the run of; None: nothing is said of the steps before it.
        run: the run.
    """
    steps = node.path() if node is not None else []
    lines = [" → ".join(step_text(each) for each in steps)] if steps else ["the story of a run"]
    if run.command is not None:
        lines.append(f"  {shown(run.command)}: {_outcome(run)}")
    if run.attempts > 1:
        lines.append(f"  retries: {run.attempts - 1}, so that it was processed {run.attempts} times")
    lines += [f"  fault: {each.point}@{each.visit}={each.kind.value} struck {each.key}" for each in run.fired]
    lines += departure_text(run, node)
    lines.append(timeline(run, most=len(run.rows)))
    lines.append("  ledgers:")
    lines += ledger_table(_held(run))
    if run.commands:
        lines.append(f"  sent by sagas: {', '.join(render(body, BRIEF) for body in run.commands)}")
    lines += _heads(run)
    return "\n".join(lines)


def _held(run: Run) -> dict[str, Any]:
    return {name: getattr(run, name) for name in _LEDGERS}


def _heads(run: Run) -> list[str]:
    """At which version each aggregate is, in the order in which they came up."""
    store = run.session.runtime.event_store
    versions = [f"{each} at version {store.head_version(each)}" for each in dict.fromkeys(store.aggregate_ids())]
    return [f"  history: {', '.join(versions)}"] if versions else []


def _outcome(run: Run) -> str:
    error = run.error
    if error is None:
        return "succeeded"
    text = first_line(error)
    how = "outcome unknown" if run.is_unknown else f"failed with {type(error).__name__}"
    return f"{how}: {text}" if text else how


def coloured(text: str) -> str:
    """A story as a terminal shows it: what was struck or failed, and where the run went another way, stand out."""
    return "\n".join(_coloured(line, first=place == 0) for place, line in enumerate(text.splitlines()))


def _coloured(line: str, *, first: bool) -> str:
    if first:
        return f"{_BOLD}{line}{_PLAIN}"
    if " ✗ " in line or line.startswith("  fault: "):
        return f"{_RED}{line}{_PLAIN}"
    if line.startswith(("  first departure", "  retries: ")):
        return f"{_CYAN}{line}{_PLAIN}"
    return line
