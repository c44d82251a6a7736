"""Expectations of what follows publication: commands of sagas, views, snapshots, causation; each gives a text."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import SpecError
from ..messages.commands import CommandBuilder
from ..messages.envelopes import CommandMessage
from ..messages.header import UPSTREAM_ID
from ..messages.stages import CommandStage
from ..modeling.processors import ProcessorKind, processor_metadata
from ..world.points import COMMAND_BUS_SEND, DOMAIN_EVENT_BUS_SEND, EVENT_DELIVER
from .absent import unsent
from .alignment import Verdict, match_events
from .diff import count_text, events_text
from .event_expectations import reference_of, says_yes
from .execution import subject_of
from .hints import COMMAND_RULES, kinds_of
from .items import On
from .layout import several
from .matchers import read
from .nodes import Node
from .origins import closing, delivered_to, if_right
from .render import render
from .requirements import StageName, require_stage
from .row_hints import unheard, unwritten
from .run import APPLIED, Run
from .run_hints import with_hints
from .value_diff import fields_text, mapping_text, value_text


def commands(run: Run, expected: Sequence[Any]) -> str | None:
    """Sagas sent exactly these commands, in this order; a builder says the envelope, too."""
    sent = run.commands
    bodies = [item.values.body if isinstance(item, CommandBuilder) else item for item in expected]
    match = match_events(bodies, tuple(sent))
    if not match.matched:
        text = events_text(match, ledger="sent", noun="command", rules=COMMAND_RULES)
        missing = [kind for row in match.failures if row.verdict is Verdict.MISSING for kind in kinds_of(row.expected)]
        unmade = unsent(run, missing)
        text = with_hints(text, [unmade])
        right = lambda: if_right("expect_commands", sent, none=".expect_no_commands()")
        return closing(text, lambda: delivered_to(run) if sent or unmade is None else [], right)
    for item, message in zip(expected, sent.envelopes, strict=False):
        if isinstance(item, CommandBuilder):
            text = _envelope(item, message)
            if text:
                return closing(text, lambda: delivered_to(run))
    return None


def _envelope(builder: CommandBuilder[Any], message: CommandMessage[Any]) -> str:
    said, held = envelope_of(builder, message)
    return mapping_text(said, held, subject=f"the envelope of {render(message.body)}", root="command")


def envelope_of(builder: CommandBuilder[Any], message: CommandMessage[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a builder says of an envelope, and what a message's own has there."""
    said = {
        name: value
        for name in ("aggregate_id", "tenant_id", "owner_id", "space_id", "request_id", "aggregate_version")
        if (value := getattr(builder.values, name)) is not None
    }
    held = {name: getattr(message, name) for name in said if name not in ("aggregate_id", "tenant_id")}
    return said, held | {"aggregate_id": message.aggregate_id.id, "tenant_id": message.aggregate_id.tenant_id}


def no_commands(run: Run) -> str | None:
    """Sagas sent nothing."""
    sent = run.commands
    if not sent:
        return None
    text = count_text(0, sent, ledger="sent", noun="command")
    return closing(text, lambda: delivered_to(run), lambda: if_right("expect_commands", sent))


def projection_of(run: Run, node: Node, named: type | None, verb: str = "expect_view") -> type:
    """The projection whose rows are looked at: the named one, the spec's subject, or the only one of the world.

    Raises:
        SpecError: if none of these is one.
    """
    held = run.session.runtime.catalog.processors
    projections = [cls for cls, metadata in held.items() if metadata.kind is ProcessorKind.PROJECTION]
    if named is not None:
        if named not in projections:
            raise SpecError(
                f"{verb}(..., projection={named.__name__}): the world holds no such projection",
                why="a world holds just the parts that its spec names",
                instead=f".using({named.__name__})",
            )
        return named
    subject = subject_of(node)
    if subject in projections:
        return subject
    if len(projections) == 1:
        return projections[0]
    if not projections and subject is not None and subject in held:
        kind = held[subject].kind
        raise SpecError(
            f"{verb}(...): {subject.__name__} is {'an' if kind[0] in 'aeiou' else 'a'} {kind}, which keeps no rows",
            why="rows are what a projection keeps, and this world holds none",
            instead="expect_commands(...) for what a saga sends"
            if kind is ProcessorKind.STATELESS_SAGA
            else "a look at the services that it calls",
        )
    names = ", ".join(cls.__name__ for cls in projections) or "none"
    said = "" if verb == "expect_idempotent" else "'o-1', "
    raise SpecError(
        f"{verb}(...): of which projection? The world holds: {names}",
        why="each projection keeps rows of its own",
        instead=f"{verb}({said}projection=OrderView), or .using(OrderView)",
    )


def view(run: Run, cls: type, view_id: str, that: Any, fields: Mapping[str, Any]) -> str | None:
    """A row has these fields, and a function says yes to it, or it is the value that stands there instead.

    Raises:
        SpecError: if nothing is expected of the row.
    """
    if that is None and not fields:
        raise SpecError(
            f"expect_view({view_id!r}) expects nothing of the row",
            why="an expectation that cannot fail proves nothing",
            instead="expect_view('o-1', status='PAID'), or expect_view('o-1', lambda row: row.total == 3)",
        )
    if isinstance(that, type):
        raise SpecError(
            f"expect_view({view_id!r}, {that.__name__}) is given a class",
            why="a row is compared with a value, or a function says yes or no to it",
            instead=f"expect_view({view_id!r}, {that.__name__}(...)), or some({that.__name__}, field=...) in its place",
        )
    rows = run.session.runtime.views.of(cls)
    if view_id not in rows:
        there = ", ".join(map(repr, rows)) or "none"
        text = f"{cls.__name__} keeps no row {view_id!r}; there are: {there}"
        return closing("\n".join([text, *unwritten(run, cls)]), lambda: _as_kept(rows))
    row = rows[view_id]
    if fields:
        subject = f"row {view_id!r} of {cls.__name__}"
        text = (
            mapping_text(fields, row, subject=subject, root="view")
            if isinstance(row, Mapping)
            else fields_text(fields, row, subject=subject, root="view")
        )
        if text:
            text = "\n".join([text, *unheard(run, cls)])
            held = [(name, read(row, name) if not isinstance(row, Mapping) else row.get(name)) for name in fields]
            return closing(text, lambda: delivered_to(run, cls), lambda: if_right("expect_view", [view_id], held))
    if that is not None and not callable(that):
        text = value_text(that, row, subject=f"row {view_id!r} of {cls.__name__}", root="view")
        if not text:
            return None
        text = "\n".join([text, *unheard(run, cls)])
        return closing(text, lambda: delivered_to(run, cls), lambda: if_right("expect_view", [view_id, row]))
    if that is not None and not says_yes(that, row):
        text = f"the function said no to row {view_id!r} of {cls.__name__}: {render(row)}"
        text = "\n".join([text, *unheard(run, cls)])
        return closing(text, lambda: delivered_to(run, cls))
    return None


def _as_kept(rows: Mapping[str, Any]) -> list[str]:
    """How the only row there is would be expected."""
    return if_right("expect_view", next(iter(rows.items()))) if len(rows) == 1 else []


def no_view(run: Run, cls: type, view_id: str) -> str | None:
    """There is no such row."""
    rows = run.session.runtime.views.of(cls)
    if view_id not in rows:
        return None
    return closing(f"{cls.__name__} keeps a row {view_id!r}: {render(rows[view_id])}", lambda: delivered_to(run, cls))


def idempotent(run: Run, cls: type) -> str | None:
    """Every event that reached a projection reaches it once more, and its rows stay as they are."""
    metadata = processor_metadata(cls)
    prefix = f"{EVENT_DELIVER}:{metadata.name}."
    again = run.session.branch()
    runtime = again.runtime
    delivered = {
        row.subject.id
        for row in run.session.world.trace.rows
        if row.point.startswith(prefix) and row.outcome in APPLIED
    }
    before = copy.deepcopy(dict(runtime.views.of(cls)))
    rendered = {key: render(value) for key, value in before.items()}
    streams = _delivered_streams(run, delivered)
    if not streams:
        raise SpecError(
            f"expect_idempotent({cls.__name__}): nothing was delivered to it",
            why="delivering nothing twice proves nothing",
            instead=f"an event that {cls.__name__} takes, in given(...) or by when(...)",
        )
    for stream in streams:
        runtime.domain_event_bus.send_now(stream.copy())
        runtime.world.scheduler.run()
    after = dict(runtime.views.of(cls))
    again_rendered = {key: render(value) for key, value in after.items()}
    if again_rendered == rendered:
        return None
    subject = f"the rows of {cls.__name__}"
    text = mapping_text(before, after, subject=subject, root="views", exact=True)
    text = text or mapping_text(rendered, again_rendered, subject=subject, root="views", exact=True)
    text = f"{cls.__name__} is not idempotent: after a second delivery of the same events, {text}"
    return "\n".join(
        [
            text,
            *delivered_to(run, cls),
            "  why: a broker may deliver an event twice, and a row that counts it twice is wrong ever after",
            "  instead: set what the event says, or keep in the row the ids of events that were counted, and skip them",
        ]
    )


def _delivered_streams(run: Run, events: set[str]) -> list[Any]:
    seen: dict[str, Any] = {}
    for reference in run.session.runtime.event_store.aggregate_ids():
        for stream in run.session.runtime.event_store.peek(reference):
            if any(event.id in events for event in stream.events):
                seen[stream.id] = stream
    return [seen[key] for key in sorted(seen)]


def snapshot(run: Run, target: On | None, fields: Mapping[str, Any]) -> str | None:
    """The stored snapshot: its version, and fields of its state."""
    reference = reference_of(run, target)
    store = run.session.runtime.snapshot_store
    record = store.record(reference)
    if record is None:
        there = [
            str(each) for each in run.session.runtime.event_store.aggregate_ids() if store.record(each) is not None
        ]
        return f"there is no snapshot of {reference}; there are: {', '.join(dict.fromkeys(there)) or 'none'}"
    wanted = dict(fields)
    version = wanted.pop("version", None)
    if version is not None and record.version != version:
        return f"the snapshot of {reference} has version {record.version}, expected {version}"
    if wanted:
        state = store.restored(record).state
        return fields_text(wanted, state, subject=f"the snapshot of {reference}", root="snapshot") or None
    return None


def no_snapshot(run: Run, target: On | None) -> str | None:
    """There is no snapshot."""
    reference = reference_of(run, target)
    record = run.session.runtime.snapshot_store.record(reference)
    return None if record is None else f"there is a snapshot of {reference} at version {record.version}"


def notified(run: Run, wanted: CommandStage | StageName, times: int) -> str | None:
    """So many signals of a stage reached the notifier."""
    stage = require_stage("expect_notified", wanted)
    count = sum(1 for signal in run.signals if signal.stage is stage)
    if count == times:
        return None
    return f"{several(count, 'signal')} of {stage.name} reached the notifier, expected {times}"


def causation(run: Run, text: str) -> str | None:
    """Commands, events and processors caused each other as the text says: `A > B > C`, by the names of their classes.

    Raises:
        SpecError: for a text that names fewer than two.
    """
    names = [part.strip() for part in text.split(">")]
    if len(names) < 2 or not all(names):
        raise SpecError(
            f"expect_causation({text!r})",
            why="it says what caused what, so it names two at least",
            instead="expect_causation('PlaceOrder > OrderPlaced > OrderSaga > ReserveStock')",
        )
    held, caused = _followed(run, names)
    if len(held) == len(names):
        return None
    if not held:
        return f"causation: there was no {names[0]}; there were: {', '.join(caused) or 'nothing'}"
    text = f"causation: {held[-1]} did not cause {names[len(held)]}; it caused {', '.join(caused) or 'nothing'}"
    return "\n".join([text, *_true_cause(run, names[len(held)])])


def _true_cause(run: Run, name: str) -> list[str]:
    """A line that says what caused something, if it came at all."""
    nodes, edges = _graph(run)
    causes = dict.fromkeys(nodes[key] for key, after in edges.items() if any(nodes.get(each) == name for each in after))
    if name not in nodes.values():
        return [f"  there was no {name} at all"]
    return [f"  {name} was caused by {', '.join(causes)}"] if causes else [f"  nothing caused {name}"]


def chain_of(run: Run, text: str) -> tuple[str, str]:
    """A chain as it was expected, and as far as it went, with what came instead."""
    names = [part.strip() for part in text.split(">")]
    held, caused = _followed(run, names)
    return " > ".join(names), " > ".join([*held, *([", ".join(caused) or "nothing"] if len(held) < len(names) else [])])


def _followed(run: Run, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """How far a chain goes, and what the last of it caused; what there was at all, where not even its first came."""
    nodes, edges = _graph(run)
    reached = {key for key, name in nodes.items() if name == names[0]}
    if not reached:
        return [], list(dict.fromkeys(nodes.values()))
    held = [names[0]]
    for name in names[1:]:
        following = {after for key in reached for after in edges.get(key, ())}
        if not (matching := {after for after in following if nodes[after] == name}):
            return held, sorted({nodes[after] for after in following})
        held.append(name)
        reached = matching
    return held, []


def _graph(run: Run) -> tuple[dict[Any, str], dict[Any, set[Any]]]:
    nodes: dict[Any, str] = {}
    edges: dict[Any, set[Any]] = {}
    for row in run.rows:
        subject = row.subject
        if row.point == COMMAND_BUS_SEND and row.outcome in APPLIED:
            nodes[subject.id] = type(subject.body).__name__
    for row in run.rows:
        subject = row.subject
        if row.point == DOMAIN_EVENT_BUS_SEND and row.outcome in APPLIED:
            for event in subject.events:
                nodes[event.id] = type(event.body).__name__
                edges.setdefault(event.command_id, set()).add(event.id)
        elif row.point.startswith(EVENT_DELIVER) and row.outcome in APPLIED:
            processor = row.lane.function.partition(".")[0]
            key = (subject.id, processor)
            nodes.setdefault(subject.id, type(subject.body).__name__)
            nodes[key] = processor
            edges.setdefault(subject.id, set()).add(key)
    for row in run.rows:
        if row.point == COMMAND_BUS_SEND and row.outcome in APPLIED:
            cause = row.subject.header.get(UPSTREAM_ID)
            for key in [key for key in nodes if isinstance(key, tuple) and key[0] == cause]:
                if _is_saga(run, nodes[key]):
                    edges.setdefault(key, set()).add(row.subject.id)
    return nodes, edges


def _is_saga(run: Run, name: str) -> bool:
    return any(
        metadata.name == name and metadata.kind is ProcessorKind.STATELESS_SAGA
        for metadata in run.session.runtime.catalog.processors.values()
    )
