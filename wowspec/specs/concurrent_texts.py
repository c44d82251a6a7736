"""What is said of an outcome of commands in flight that is none of those that are expected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import event_expectations as on_events
from .alignment import match_events
from .diff import events_text
from .event_expectations import says_yes
from .origins import decider_of
from .outcomes import Outcome
from .render import BRIEF, render
from .sides import Sides, sides_of_events


def _is_like(outcome: Outcome, alternative: Any) -> bool:
    if callable(alternative):
        return says_yes(alternative, outcome)
    return match_events(on_events.with_types(alternative), list(outcome.events)).matched


def is_one_of(outcome: Outcome, alternatives: Sequence[Any]) -> bool:
    """Whether an outcome is one of those that are expected."""
    return any(_is_like(outcome, alternative) for alternative in alternatives)


def blamed(outcome: Outcome, *, in_turn: bool) -> str:
    """Which functions ran, what services came to, and whether all is well where the commands come one after another."""
    places = dict.fromkeys(place for run in outcome.runs if (place := decider_of(run)))
    lines = [f"  made by {', '.join(places)}"] if places else []
    held = outcome.runs[0].session.world.services.named()
    lines += [f"  service {name}: {render(service, BRIEF)}" for name, service in held]
    if in_turn:
        lines += [
            "  why: one after another they end as expected: here, a command changes what another has looked at",
            "  instead: let one aggregate hold what both change, change it in one step, or name this outcome, too",
        ]
    return "".join(f"\n{line}" for line in lines)


def sides_of_outcome(outcome: Outcome, alternatives: Sequence[Any]) -> Sides | None:
    """The only outcome that is expected beside one that there is."""
    if len(alternatives) != 1 or callable(alternatives[0]):
        return None
    return sides_of_events(on_events.with_types(alternatives[0]), list(outcome.events))


def unlike(outcome: Outcome, alternatives: Sequence[Any]) -> str:
    """What an outcome is, where it is none of those that are expected."""
    if len(alternatives) == 1 and not callable(alternatives[0]):
        match = match_events(on_events.with_types(alternatives[0]), list(outcome.events))
        return events_text(match, ledger="stored")
    if len(alternatives) == 1:
        said = "one of the orders ends in an outcome to which the function said no"
        return f"{said}\n  stored: {render(list(outcome.events))}"
    lines = [
        f"an outcome is none of the {len(alternatives)} that are expected",
        f"  stored: {render(list(outcome.events))}",
    ]
    for alternative in alternatives:
        if not callable(alternative):
            lines += [f"  expected: {render(list(alternative))}"]
    return "\n".join(lines)
