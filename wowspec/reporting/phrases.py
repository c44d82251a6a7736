"""One table of the language's expectations in words: a row for each verb."""

from __future__ import annotations

from typing import Final

from . import event_phrases as of_events, outcome_phrases as of_outcomes
from .said import Row, Said, Words, listing, plain
from .wording import words

#: Verb → what it says in words. The order is that of the README's tables.
PHRASES: Final[dict[str, Row]] = {
    "expect_events": of_events.events,
    "expect_no_events": plain("nothing happens"),
    "expect_event": of_events.event,
    "expect_event_types": of_events.event_types,
    "expect_event_count": of_events.event_count,
    "expect_all_events": of_events.all_events,
    "expect_emitted": listing("this is decided, whether or not it could be stored"),
    "expect_stored": of_events.stored,
    "expect_not_stored": of_events.nothing("stored"),
    "expect_published": listing("this is published"),
    "expect_not_published": of_events.nothing("published"),
    "expect_delivered": listing("this reaches those who follow it"),
    "expect_state_event_published": plain("the new state is published"),
    "expect_state_event_not_published": plain("the new state is not published"),
    "expect_header": of_events.header,
    "expect_state": of_events.state,
    "expect_state_aggregate": of_events.state_aggregate,
    "expect_version": of_events.version,
    "expect_error": of_outcomes.error,
    "expect_succeeded": of_outcomes.succeeded,
    "expect_unknown_outcome": plain("its sender gets no answer in time, and does not know how it ended"),
    "expect_any_outcome": plain("it may succeed, fail, or leave its sender without an answer"),
    "expect_result": of_outcomes.result,
    "expect_stage": of_outcomes.stage,
    "expect_order": of_outcomes.order,
    "expect_logged": of_outcomes.logged,
    "expect_downstream_error": of_outcomes.downstream_error,
    "expect_acknowledged": of_outcomes.acknowledged,
    "expect_command_state": of_outcomes.command_state,
    "expect_attempts": of_outcomes.attempts,
    "expect_fired": of_outcomes.fired,
    "expect_commands": listing("this is asked for next"),
    "expect_no_commands": plain("nothing is asked for next"),
    "expect_view": of_events.view,
    "expect_no_view": of_events.no_view,
    "expect_idempotent": of_events.idempotent,
    "expect_snapshot": of_events.snapshot,
    "expect_no_snapshot": of_events.no_snapshot,
    "expect_notified": of_outcomes.notified,
    "expect_causation": of_outcomes.causation,
    "always": of_events.condition("at every moment"),
    "eventually": of_events.condition("in the end"),
    "expect_serializable": plain("whatever the order, it ends as if they had come one after another"),
    "expect_one_of": of_events.one_of,
    "expect_complete": plain("every order of them was tried"),
}

#: Verbs that speak of all orders of commands that are in flight together by themselves.
_SPEAK_OF_ORDERS: Final = frozenset(
    {
        "expect_serializable",
        "expect_complete",
        "expect_succeeded",
        "expect_error",
        "expect_downstream_error",
        "expect_any_outcome",
    }
)


def in_words(said: Said) -> Words:
    """What an expectation says; a verb without a row is told by its name."""
    row = PHRASES.get(said.verb)
    found = row(said) if row is not None else Words(words(said.verb))
    if said.together and said.verb not in _SPEAK_OF_ORDERS:
        return Words(f"whatever the order, {found.sentence}", found.details)
    return found
