"""The story of the run in which a law broke, as JSON, so that reports can draw it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..messages.envelopes import CommandMessage
from ..specs.departing import departure_place
from ..specs.run import APPLIED
from ..specs.run_json import RunJson, error_text, outcome_of, rows_json, texts
from ..world.points import COMMAND_BUS_SEND
from .report import counts_of
from .results import FindingJson
from .trial import Trial

#: How many findings of one spec keep their stories, and how many of them that break the same laws.
MOST_STORIES: Final = 8
MOST_ALIKE: Final = 2
_LEDGERS: Final = ("emitted", "stored", "published", "delivered")


def story_of(trial: Trial, base: Trial) -> RunJson:
    """A run under a plan: all steps of the spec, from the first row on.

    Args:
        trial: the run.
        base: the fault-free run.
    """
    played = trial.played
    rows = played.rows
    told, left_out, departure = rows_json(rows, departure_place(rows, base.played.rows))
    failed = [answer for answer in played.answers if answer.failure is not None]
    counts = counts_of(trial).values()
    totals = [sum(numbers) for numbers in zip(*(each.numbers for each in counts), strict=True)] or [0, 0, 0, 0]
    chains = played.armory.chains
    first = failed[0] if failed else None
    failure = None if first is None else first.failure
    return RunJson(
        step=-1,
        command="",
        outcome=outcome_of(failure, unknown=first is not None and first.is_unknown),
        error=error_text(None if first is None else first.error),
        attempts=max((each.attempts for each in counts), default=0),
        faults=[f"{fired.point}@{fired.visit}={fired.kind.value}" for fired in played.armory.fired],
        departure=departure,
        ledgers=dict(zip(_LEDGERS, totals, strict=True)),
        events=texts(event.body for stream in played.stored for event in stream.events),
        sent=texts(
            row.subject.body
            for row in rows
            if row.point == COMMAND_BUS_SEND
            and row.outcome in APPLIED
            and isinstance(row.subject, CommandMessage)
            and chains.cause_of(row.subject) is not None
        ),
        rows=told,
        left_out=left_out,
        schedule="",
    )


def keep_some(findings: Iterable[FindingJson]) -> None:
    """Let the first findings of a spec keep their stories: first of all those that fail its test."""
    kept = 0
    alike: dict[tuple[str, ...], int] = {}
    for finding in sorted(findings, key=_is_excused):
        laws = tuple(item["law"] for item in finding["broken"])
        if finding["story"] is None:
            continue
        alike[laws] = alike.get(laws, 0) + 1
        if kept >= MOST_STORIES or alike[laws] > MOST_ALIKE:
            finding["story"] = None
        else:
            kept += 1


def _is_excused(finding: FindingJson) -> bool:
    return bool(finding["healed_by"]) or all(item["declared"] or item["known"] for item in finding["broken"])
