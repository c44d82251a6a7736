"""Expectations of events, ledgers and state: each takes a run and gives a failure text, or None."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, Final

from ..errors import SpecError
from ..modeling.identity import AggregateRef
from .absent import of_another, of_another_state
from .alignment import match_events, surely_match
from .compare import equals
from .diff import count_text, event_text, events_text, ledger_table, types_text
from .hints import ALL_BUT_ONE_FIELD, COMMAND_RULES, FIELD_RULES, RULES, SENT_TYPE_RULES, TYPE_RULES
from .items import On
from .matchers import kind_of, read, some
from .origins import closing, if_right, made_by, sourced_by
from .remarks import unnamed
from .render import BRIEF, render
from .requirements import require_bare, require_events, require_number, require_possible, require_some, require_types
from .run import PROGRAMMING_ERRORS, Run
from .run_hints import given_before, made_anew, nothing_emitted, unsourced, with_hints
from .value_diff import fields_text, mapping_text

#: How many instances a failure lists.
_MOST_HELD: Final = 5
#: The verb that expects what a ledger holds, and the one that expects nothing in it.
_VERBS: Final = {
    "stored": ("expect_events", ".expect_no_events()"),
    "emitted": ("expect_emitted", ""),
    "published": ("expect_published", ".expect_not_published()"),
}


def events(run: Run, expected: Sequence[Any], ledger: str, actual: Sequence[Any] | None = None) -> str | None:
    """A ledger holds exactly these events, in this order."""
    require_events(f"expect_{'events' if ledger == 'stored' else ledger}", expected)
    found = tuple(getattr(run, ledger) if actual is None else actual)
    if surely_match(expected, found):
        return None
    match = match_events(expected, found)
    if match.matched:
        return None
    rules = COMMAND_RULES if run.message is None and run.commands else RULES
    verb = f"expect_{'events' if ledger == 'stored' else ledger}" if actual is None else "expect_all_events"
    rules = (given_before(run), *([] if actual is not None else [of_another(run)]), *rules, made_anew(run))
    if made_anew(run)(match) is not None:
        # Both speak of the one field; the run knows more of it than the values alone.
        rules = tuple(rule for rule in rules if rule is not ALL_BUT_ONE_FIELD)
    text = events_text(match, ledger=ledger, rules=rules, verb=verb) + ledgers(run)
    return closed(text, run, ledger, found if actual is None else None)


def closed(text: str, run: Run, ledger: str, held: Sequence[Any] | None = None) -> str:
    """A failure text of events with who made them, and with how the expectation would hold, below it."""
    verb, none = _VERBS.get(ledger, ("", ""))
    error = run.error
    if held is None or not verb or (error is not None and not _is_of_a_fault(run, error)):
        return closing(text, lambda: made_by(run))
    before = "" if error is None or run.decided else f".expect_error({type(error).__name__})"
    return closing(text, lambda: made_by(run), lambda: if_right(verb, held, none=none, before=before))


def _is_of_a_fault(run: Run, error: BaseException) -> bool:
    """Whether a fault may be what led to it: then it may well be what the author has to expect."""
    return bool(run.fired) and not run.is_unknown and not isinstance(error, PROGRAMMING_ERRORS)


def ledgers(run: Run, *, loosely: bool = False) -> str:
    """Which event got how far, where not all that the command emitted was stored and published; else empty."""
    if run.message is None and run.commands:
        names = [kind.__name__ for kind in run.commands.types]
        items = ", ".join(f"some({name})" for name in names) if loosely and len(names) <= _MOST_HELD else "..."
        sent = ", ".join(dict.fromkeys(names))
        return with_hints("", [f"a saga stores no events, it sent {sent}: write expect_commands({items})"])
    held = {"emitted": run.emitted, "stored": run.stored, "published": run.published}
    if run.emitted == run.stored == run.published:
        return "" if run.emitted else with_hints("", [nothing_emitted(run)])
    if run.delivered:
        held["delivered"] = run.delivered
    return "\n".join(["", *ledger_table(held)])


def events_that(run: Run, that: Callable[[Any], Any], ledger: str) -> str | None:
    """A function says yes to a ledger as a whole."""
    _require_function("expect_events(that=", that, ")")
    held = getattr(run, ledger)
    # A copy: the store hands out its own events, and what the function does to one must stay here.
    if says_yes(that, copy.deepcopy(held)):
        return None
    return closed(f"the function said no to the {ledger} events: {render(list(held))}", run, ledger)


def no_events(run: Run, ledger: str) -> str | None:
    """A ledger holds nothing of this command."""
    held = tuple(getattr(run, ledger))
    return None if not held else closed(count_text(0, held, ledger=ledger) + ledgers(run), run, ledger, held)


def of_types(run: Run, expected: Sequence[type], ledger: str) -> str | None:
    """A ledger holds events of exactly these types, in this order."""
    require_some("expect_event_types", expected, "expect_no_events()")
    held = tuple(getattr(run, ledger))
    if tuple(type(body) for body in held) == tuple(expected):
        return None
    rules = SENT_TYPE_RULES if run.message is None and run.commands else (of_another(run), *TYPE_RULES)
    text = types_text(expected, held, ledger=ledger, rules=rules) + ledgers(run, loosely=True)
    if run.error is not None:
        return text
    kinds = [type(body) for body in held]
    return closing(text, lambda: made_by(run), lambda: if_right("expect_event_types", kinds))


def count(run: Run, expected: int, ledger: str) -> str | None:
    """A ledger holds so many events."""
    require_number("expect_event_count", expected, least=0)
    held = tuple(getattr(run, ledger))
    if len(held) == expected:
        return None
    return closed(count_text(expected, held, ledger=ledger) + ledgers(run), run, ledger)


def contains(run: Run, wanted: Any, ledger: str) -> str | None:
    """A ledger holds at least one event that is as wanted."""
    held = tuple(getattr(run, ledger))
    if any(equals(wanted, body) for body in held):
        return None
    text = event_text(wanted, held, ledger=ledger, rules=(*FIELD_RULES, made_anew(run)))
    text = with_hints(text, [of_another(run)(match_events([wanted], held))]) + ledgers(run)
    return closed(text, run, ledger)


def is_near(wanted: Any, body: Any) -> bool:
    """Whether a body is of the class that is wanted."""
    return type(body) is kind_of(wanted)


def lacks(run: Run, kinds: Sequence[type], ledger: str) -> str | None:
    """A ledger holds no event of these types."""
    require_types(f"expect_not_{ledger}", kinds, "")
    held = tuple(body for body in getattr(run, ledger) if isinstance(body, tuple(kinds)))
    if not held and run.message is not None:
        metadata = run.session.metadata_of(run.reference.named_aggregate)
        require_possible(f"expect_not_{ledger}", kinds, metadata)
    return None if not held else closing(count_text(0, held, ledger=ledger) + ledgers(run), lambda: made_by(run))


def with_types(items: Sequence[Any]) -> list[Any]:
    """Classes among expected events stand for any event of exactly that class."""
    return [some(item) if isinstance(item, type) else item for item in items]


def history(run: Run, target: On, expected: Sequence[Any]) -> str | None:
    """The whole history of an instance."""
    require_bare("expect_stored", target)
    require_events("expect_stored", expected)
    match = match_events(expected, history_of(run, target))
    if match.matched:
        return None
    reference = run.session.look_at(target)
    text = f"history of {reference}: {events_text(match, ledger='stored', verb='expect_stored')}"
    if not run.session.runtime.event_store.head_version(reference):
        text += f"\n  {_held(run, reference)}"
    text = with_hints(text, [unnamed(run, reference, reference.id)])
    own = run.message is not None and run.message.aggregate_id == reference and bool(run.stored)
    return closing(text, lambda: made_by(run) if own else [])


def history_of(run: Run, target: On) -> list[Any]:
    """The events that the store holds of an instance."""
    streams = run.session.runtime.event_store.peek(run.session.look_at(target))
    return [event.body for stream in streams for event in stream.events]


def _held(run: Run, reference: AggregateRef) -> str:
    """Which instances of the same type the world holds."""
    stored = run.session.runtime.event_store.aggregate_ids()
    named = reference.named_aggregate
    found = [each for each in dict.fromkeys((*stored, *run.session.initial)) if each.named_aggregate == named]
    if not found:
        return f"the world holds no {reference.aggregate_name}"
    rest = f" and {len(found) - _MOST_HELD} more" if len(found) > _MOST_HELD else ""
    return f"the world holds {', '.join(map(str, found[:_MOST_HELD]))}{rest}"


def reference_of(run: Run, target: On | None) -> AggregateRef:
    """The instance that an expectation is about: the named one, else the command's own."""
    return run.reference if target is None else run.session.look_at(target)


def state(run: Run, target: On | None, that: Callable[[Any], Any] | None, fields: Mapping[str, Any]) -> str | None:
    """A state has these fields, and a function says yes to a copy of it."""
    if that is None and not fields:
        raise SpecError(
            "expect_state() expects nothing",
            why="an expectation that cannot fail proves nothing",
            instead="expect_state(status='PAID'), or expect_state(lambda order: order.total == 3)",
        )
    require_bare("expect_state", target)
    if that is not None:
        _require_function("expect_state(", that, ")")
    reference = reference_of(run, target)
    aggregate = run.aggregate_of(reference)
    if target is not None and not aggregate.initialized:
        told = f"{reference} has no history, so it has no state to look at; {_held(run, reference)}"
        return with_hints(told, [unnamed(run, reference, reference.id)])
    if fields:
        text = fields_text(fields, aggregate.state, subject=f"the state of {reference}", root="state")
        if text:
            told = with_hints(text, _of_fields(run, reference, fields))
            return _sourced(told, run, reference, aggregate.state, fields, target)
    if that is not None and not says_yes(that, aggregate.state):
        text = f"the function said no to the state of {reference}: {render(aggregate.state)}"
        return _sourced(with_hints(text, [unsourced(run, reference)]), run, reference)
    return None


def _of_fields(run: Run, reference: AggregateRef, fields: Mapping[str, Any]) -> list[str | None]:
    """What would mend that a state has not these fields; its id is nothing that events make."""
    if another := of_another_state(run, reference, fields):
        return [another]
    if fields.get("id", reference.id) == reference.id:
        return [unsourced(run, reference)]
    wrong = unnamed(run, reference, fields["id"])
    return [wrong] if wrong is not None or len(fields) == 1 else [unsourced(run, reference)]


def _sourced(
    text: str,
    run: Run,
    reference: AggregateRef,
    state: Any = None,
    fields: Mapping[str, Any] | None = None,
    target: On | None = None,
) -> str:
    """A failure text of a state with who made it, and with how the expectation would hold, below it."""
    if run.error is not None:
        return text
    held = [(name, read(state, name)) for name in fields or ()]
    said = [] if target is None else [target]
    return closing(
        text, lambda: sourced_by(run, reference), lambda: if_right("expect_state", said, held) if held else []
    )


def state_fields(run: Run, target: On | None, names: Iterable[str]) -> dict[str, Any]:
    """Some fields of a state, as they are."""
    state = run.aggregate_of(reference_of(run, target)).state
    return {name: read(state, name) for name in names}


def state_aggregate(run: Run, target: On | None, fields: Mapping[str, Any]) -> str | None:
    """What is known of an aggregate beside its state: version, owner, space, tenant, deleted, tags, ….

    Raises:
        SpecError: without a field, or for one that an aggregate has not.
    """
    require_bare("expect_state_aggregate", target)
    reference = reference_of(run, target)
    held = known_of(run, target)
    unknown = [name for name in fields if name not in held]
    if unknown or not fields:
        raise SpecError(
            f"expect_state_aggregate({unknown[0]}=...)" if unknown else "expect_state_aggregate() expects nothing",
            why="an aggregate has, beside its state: " + ", ".join(sorted(held)),
            instead="expect_state_aggregate(owner_id='u-1', deleted=False); fields of the state: expect_state(...)",
        )
    return mapping_text(fields, held, subject=f"{reference}", root="aggregate") or None


def known_of(run: Run, target: On | None) -> dict[str, Any]:
    """What is known of an aggregate beside its state, by name."""
    reference = reference_of(run, target)
    aggregate = run.aggregate_of(reference)
    names = [name for name in aggregate.__slots__ if name not in ("metadata", "supply", "state")]
    held = {name: getattr(aggregate, name) for name in [*names, "initialized"]}
    return held | {"tenant_id": reference.tenant_id}


def version(run: Run, expected: int) -> str | None:
    """The stored head of the command's aggregate."""
    require_number("expect_version", expected, least=0)
    held = head(run)
    if held == expected:
        return None
    text = f"{run.reference} is at version {held}, expected {expected}"
    holds = if_right("expect_version", [held]) if run.error is None or run.decided else []
    return closing(text, lambda: _versions(run), lambda: made_by(run), lambda: holds)


def _versions(run: Run) -> list[str]:
    """A line for each of the last versions: the events that made it."""
    streams = run.session.runtime.event_store.peek(run.reference)
    told = [
        f"    v{stream.version}  {', '.join(type(event.body).__name__ for event in stream.events)}"
        + ("" if run.message is not None and stream.command_id == run.message.id else "  (before the command)")
        for stream in streams[-_MOST_HELD:]
    ]
    return [f"    … {len(streams) - _MOST_HELD} earlier versions …", *told] if len(streams) > _MOST_HELD else told


def head(run: Run) -> int:
    """The version that the command's aggregate is at: of its history, or of the state that was given."""
    reference = run.reference
    stored = run.session.runtime.event_store.head_version(reference)
    initial = run.session.initial.get(reference)
    return stored if initial is None else max(stored, initial.version)


def header(run: Run, expected: Mapping[str, Any]) -> str | None:
    """Entries of the header of the event stream that the command's functions made."""
    if not expected:
        raise SpecError(
            "expect_header() expects nothing",
            why="an expectation that cannot fail proves nothing",
            instead="expect_header(trace_id='x')",
        )
    stream = run.exchange.event_stream if run.exchange is not None else None
    if stream is None:
        return "no event stream was made, so there is no header to look at"
    text = mapping_text(expected, stream.header, subject="the header of the event stream")
    if not text:
        return None
    own = run.message.header if run.message is not None else {}
    kept = [key for key in expected if key in own and key not in stream.header]
    stays = f"{', '.join(map(repr, kept))} of the command's header is not among the entries that events take over"
    return with_hints(text, [stays if kept else None])


def _require_function(before: str, that: Any, after: str) -> None:
    if callable(that) and not isinstance(that, type):
        return
    instead = "expect_state(status='PAID'), or expect_state(lambda state: state.status == 'PAID')"
    if hasattr(type(that), "model_fields") or is_dataclass(that):
        instead = "expect_state(lambda state: state == expected), or expect_state(field=value, ...) for some fields"
    elif "that=" in before:
        instead = "expect_events(that=lambda events: events.count(OrderPaid) == 1)"
    raise SpecError(
        f"{before}{render(that, BRIEF)}{after} is given no function",
        why="a function says yes or no; fields stand as keywords",
        instead=instead,
    )


def says_yes(that: Callable[[Any], Any], value: Any) -> bool:
    """Whether a function of the author's says yes; a lambda that gives None is a `SpecError`."""
    from .refusals import refuse_coroutine

    answer = that(value)
    refuse_coroutine(answer, "the function of the expectation")
    if answer is None:
        if getattr(that, "__name__", "") == "<lambda>":
            raise SpecError(
                "the function of the expectation gave None",
                why="None is neither yes nor no, so the expectation could not fail",
                instead="lambda state: state.total == 3",
            )
        # A function with asserts of its own says yes by coming back.
        return True
    return bool(answer)
