"""The two sides of each expectation that compares: what a diff viewer shows of its failure (`sides.py`).

Each is asked only once its verb has failed, and answers None where nothing is compared, as where a function said no.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..errors import DeadlineExceeded
from ..messages.commands import CommandBuilder
from ..messages.stages import CommandStage
from ..world.world import LoggedFailure
from . import (
    downstream_expectations as on_downstream,
    event_expectations as on_events,
    outcome_expectations as on_outcome,
)
from .alignment import match_events
from .compare import equals
from .items import On
from .render import BRIEF, render
from .requirements import StageName, require_stage
from .run import Run
from .saying import text_of
from .sides import (
    Sides,
    sides_of_entries,
    sides_of_events,
    sides_of_fields,
    sides_of_parts,
    sides_of_values,
)

_NOTHING: Final = "nothing"


# -- events and state


def history(run: Run, target: On, expected: Sequence[Any]) -> Sides:
    """The whole history of an instance."""
    return sides_of_events(expected, on_events.history_of(run, target))


def one_event(run: Run, wanted: Any, ledger: str) -> Sides:
    """One event among others: those that there are, with the wanted one in the place of the nearest."""
    held = list(getattr(run, ledger))
    near = next((n for n, body in enumerate(held) if on_events.is_near(wanted, body)), len(held))
    return sides_of_events([*held[:near], wanted, *held[near + 1 :]], held)


def lacking(run: Run, kinds: Sequence[type], ledger: str) -> Sides:
    """A ledger without events of some classes, or of any."""
    held = list(getattr(run, ledger))
    return sides_of_events([body for body in held if kinds and not isinstance(body, tuple(kinds))], held)


def count(expected: int, actual: int) -> Sides:
    """Two numbers."""
    return Sides(str(expected), str(actual))


def state(run: Run, target: On | None, fields: Mapping[str, Any]) -> Sides | None:
    """Fields of a state."""
    if not fields:
        return None
    held = run.aggregate_of(on_events.reference_of(run, target)).state
    return sides_of_fields(fields, held) if held is not None else None


def state_aggregate(run: Run, target: On | None, fields: Mapping[str, Any]) -> Sides:
    """What is known of an aggregate beside its state."""
    return sides_of_entries(fields, on_events.known_of(run, target))


def header(run: Run, entries: Mapping[str, Any]) -> Sides | None:
    """Entries of a header."""
    stream = run.exchange.event_stream if run.exchange is not None else None
    return None if stream is None else sides_of_entries(entries, stream.header)


# -- the outcome


def error(run: Run, kind: type[BaseException] | None, match: str | None, code: str | None) -> Sides | None:
    """A command's error: its class, code and text, as far as something is said of them."""
    found, failure = run.error, run.failure
    if found is None or failure is None:
        return Sides(f"failed with {on_outcome.wanted_text(kind, match, code)}", "succeeded")
    if isinstance(failure, DeadlineExceeded):
        return None
    parts = _of_error(found, on_outcome.code_of(run), kind, match, code, also=failure)
    return sides_of_parts(parts) if any(wanted is not None for _, _, wanted in parts) else None


def _of_error(
    found: BaseException,
    own: str,
    kind: type[BaseException] | None,
    match: str | None,
    code: str | None,
    also: BaseException | None = None,
) -> list[tuple[str, str, str | None]]:
    is_kind = kind is None or isinstance(found, kind) or isinstance(also, kind)
    is_said = match is None or on_outcome.is_matched(match, found)
    return [
        ("class", type(found).__name__, None if is_kind or kind is None else kind.__name__),
        ("code", own, None if code in (None, own) else code),
        (
            "text",
            text_of(found),
            None if is_said else f"matches {match!r}",
        ),
    ]


def succeeded(run: Run) -> Sides:
    """Success, and what there is instead."""
    return Sides("succeeded", _how(run))


def unknown_outcome(run: Run) -> Sides:
    """An unknown outcome, and what there is instead."""
    return Sides("outcome unknown", _how(run))


def _how(run: Run) -> str:
    found = run.error
    if found is None:
        return "succeeded"
    how = "outcome unknown" if run.is_unknown else f"failed with {type(found).__name__}"
    return f"{how}: {text_of(found)}"


def result(run: Run, entries: Mapping[str, Any]) -> Sides:
    """The result map that reached the sender."""
    return sides_of_entries(entries, run.result.result if run.result is not None else {}, exact=True)


def stage(run: Run, said: CommandStage | StageName, succeeded: bool, fields: Mapping[str, Any]) -> Sides:
    """What was signalled of a stage."""
    wanted = require_stage("expect_stage", said)
    came = on_outcome.stage_outcomes(run, wanted)
    told = "succeeded" if succeeded else "failed"
    if succeeded not in [code == "succeeded" for code in came]:
        return sides_of_parts([(wanted.name, ", ".join(came) or "not signalled", told)])
    signal = next((item for item in run.signals if item.stage is wanted), None)
    held = {name: getattr(signal, name, None) for name in fields}
    return sides_of_entries(fields, held)


def logged(run: Run, place: str, kind: type[BaseException] | None) -> Sides:
    """What was logged, and what should have been."""
    there = [_entry(entry) for entry in run.logged]
    wanted = f"{place}: {kind.__name__ if kind is not None else 'an error'}"
    return Sides("\n".join([*there, wanted]), "\n".join(there) or _NOTHING)


def _entry(entry: LoggedFailure) -> str:
    return f"{entry.point}: {type(entry.cause).__name__}"


def downstream_error(
    run: Run, source: type, kind: type[BaseException] | None, match: str | None, code: str | None
) -> Sides | None:
    """The error of what followed a command."""
    entry = next((each for each in run.logged if on_outcome.comes_from(each, source, run)), None)
    if entry is None:
        return logged(run, source.__name__, kind)
    cause = entry.cause
    parts = _of_error(cause, run.session.world.errors.info(cause).error_code, kind, match, code, also=entry.error)
    return sides_of_parts(parts) if any(wanted is not None for _, _, wanted in parts) else None


def command_state(run: Run, expected: str) -> Sides | None:
    """The state of a command aggregate."""
    aggregate = run.exchange.command_aggregate if run.exchange is not None else None
    return None if aggregate is None else Sides(str(expected), str(aggregate.command_state))


# -- downstream


def commands(run: Run, expected: Sequence[Any]) -> Sides:
    """Commands that sagas sent; where they are as expected, the envelopes of those that a builder says."""
    sent = run.commands
    bodies = [item.values.body if isinstance(item, CommandBuilder) else item for item in expected]
    if not match_events(bodies, tuple(sent)).matched:
        return sides_of_events(bodies, list(sent))
    told: list[Sides] = []
    for item, message in zip(expected, sent.envelopes, strict=False):
        said, held = on_downstream.envelope_of(item, message) if isinstance(item, CommandBuilder) else ({}, {})
        entries = sides_of_entries(said, held)
        body = render(message.body)
        told.append(Sides(f"{body} {entries.expected}", f"{body} {entries.actual}") if said else Sides(body, body))
    return Sides("\n".join(each.expected for each in told), "\n".join(each.actual for each in told))


def view(run: Run, cls: type, view_id: str, that: Any, fields: Mapping[str, Any]) -> Sides | None:
    """A row of a projection; where there is none, the rows that there are."""
    rows: dict[str, Any] = dict(run.session.runtime.views.of(cls))
    if view_id not in rows:
        wanted = dict(fields) if fields else that
        return None if callable(wanted) else sides_of_entries({view_id: wanted}, rows)
    row = rows[view_id]
    if fields:
        return sides_of_entries(fields, row) if isinstance(row, Mapping) else sides_of_fields(fields, row)
    return None if callable(that) or equals(that, row) else sides_of_values(that, row)


def no_view(run: Run, cls: type, view_id: str) -> Sides:
    """The rows of a projection without one of them."""
    rows: dict[str, Any] = dict(run.session.runtime.views.of(cls))
    return sides_of_entries({key: row for key, row in rows.items() if key != view_id}, rows, exact=True)


def snapshot(run: Run, target: On | None, fields: Mapping[str, Any]) -> Sides:
    """A snapshot: its version, and fields of its state."""
    store = run.session.runtime.snapshot_store
    record = store.record(on_events.reference_of(run, target))
    if record is None:
        return Sides(render(dict(fields), BRIEF) if fields else "a snapshot", "no snapshot")
    wanted = dict(fields)
    version = wanted.pop("version", record.version)
    if version != record.version:
        return sides_of_parts([("version", str(record.version), str(version))])
    return sides_of_fields(wanted, store.restored(record).state)


def notified(run: Run, said: CommandStage | StageName, times: int) -> Sides:
    """How many signals of a stage reached the notifier."""
    wanted = require_stage("expect_notified", said)
    return count(times, sum(1 for signal in run.signals if signal.stage is wanted))


def causation(run: Run, text: str) -> Sides:
    """What caused what, as far as it went."""
    return Sides(*on_downstream.chain_of(run, text))
