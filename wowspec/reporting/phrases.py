"""One table of the language's expectations in words: a row for each verb."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..messages.stages import CommandStage
from ..modeling.phrasing import phrase_of
from ..specs.items import On
from ..specs.matchers import AnyEvents
from .conditions_in_words import condition_in_words
from .wording import (
    fields_in_words,
    joined,
    message,
    own_phrase,
    plural,
    quoted,
    times as how_often,
    title,
    value_in_words,
    words,
)


@dataclass(frozen=True, slots=True)
class Words:
    """A sentence, and one line for each further item."""

    sentence: str
    details: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Said:
    """An expectation, as its author wrote it.

    Attributes:
        verb: its verb.
        args: what it was given.
        kwargs: likewise, by name.
        noun: what the spec is about, in words: "order".
        together: whether it speaks of commands that were in flight together.
        error: what the command failed with, where that is known.
    """

    verb: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    noun: str = "state"
    together: bool = False
    error: BaseException | None = None

    def first(self, name: str, default: Any = None) -> Any:
        """The first argument, given by place or by name."""
        return self.args[0] if self.args else self.kwargs.get(name, default)


def in_words(said: Said) -> Words:
    """What an expectation says; a verb without a row is told as its name."""
    row = PHRASES.get(said.verb)
    if row is None:
        return Words(words(said.verb))
    found = row(said)
    if said.together and said.verb not in _SPEAK_OF_ALL:
        return Words(f"whatever the order, {found.sentence}", found.details)
    return found


# --- events -----------------------------------------------------------------------------------------------------------


def listed(head: str, items: Iterable[Any], between: str = ":") -> Words:
    """A head and what is listed below it; a single item stands in the same line, and speaks for itself if it can."""
    texts = list(items)
    if len(texts) == 1:
        return Words(f"{head}{between} {message(texts[0])}")
    return Words(f"{head}{between}", [_item(item) for item in texts])


def _item(item: Any) -> str:
    return "anything else, or nothing" if isinstance(item, AnyEvents) else message(item)


def _events(said: Said) -> Words:
    that = said.kwargs.get("that")
    if that is not None:
        return Words(f"of what happens it holds that {condition_in_words(that)}")
    if len(said.args) == 1 and own_phrase(said.args[0]) is not None:
        return Words(str(own_phrase(said.args[0])))
    return listed("this happens", said.args)


def _no_events(said: Said) -> Words:  # noqa: ARG001 - a row
    return Words("nothing happens")


def _event(said: Said) -> Words:
    event = said.args[0]
    fields = fields_in_words(said.kwargs.items())
    text = f"{title(event.__name__)} ({fields})" if isinstance(event, type) and fields else message(event)
    return Words(f"what happens includes: {text}")


def _event_types(said: Said) -> Words:
    return Words(f"this happens, whatever the details: {joined((title(kind.__name__) for kind in said.args), 'then')}")


def _event_count(said: Said) -> Words:
    count = said.first("count")
    return Words(f"{plural(count, 'thing')} {'happens' if count == 1 else 'happen'}")


def _all_events(said: Said) -> Words:
    return (
        listed("in all, whoever is behind it, this happens", said.args) if said.args else Words("nobody does a thing")
    )


def _emitted(said: Said) -> Words:
    return listed("this is decided, whether or not it could be stored", said.args)


def _stored(said: Said) -> Words:
    if said.args and isinstance(said.args[0], On):
        target, *history = said.args
        return (
            listed(f"all that ever happened to {instance(target)} is", history)
            if history
            else Words(f"nothing ever happened to {instance(target)}")
        )
    return listed("this is stored", said.args)


def _not(what: str) -> Callable[[Said], Words]:
    def row(said: Said) -> Words:
        kinds = joined((title(kind.__name__) for kind in said.args), "or")
        return Words(f"no {kinds} is {what}" if kinds else f"nothing is {what}")

    return row


def _listing(head: str) -> Callable[[Said], Words]:
    return lambda said: listed(head, said.args) if said.args else Words(f"{head}: nothing")


def _plain(sentence: str) -> Callable[[Said], Words]:
    return lambda _: Words(sentence)


def _header(said: Said) -> Words:
    return Words(f"beside what happens it is noted: {fields_in_words(said.kwargs.items())}")


# --- state ------------------------------------------------------------------------------------------------------------


def instance(target: On) -> str:
    """One instance in words: "order o-1"."""
    return f"{words(target.aggregate.__name__)} {value_in_words(target.id)}"


def _state(said: Said) -> Words:
    args = [item for item in said.args if item is not None]
    target = args.pop(0) if args and isinstance(args[0], On) else None
    whose = instance(target) if target is not None else f"the {said.noun}"
    parts = [f"{whose} then has {_has(said.kwargs)}"] if said.kwargs else []
    parts += [f"then of {whose} it holds that {condition_in_words(args[0])}"] if args else []
    return Words("; ".join(parts) or f"{whose} is there")


def _has(fields: Mapping[str, Any]) -> str:
    return fields_in_words(fields.items())


#: What is known of an aggregate beside its state, in words.
_FACTS: Final[dict[str, str]] = {
    "owner_id": "belongs to {}",
    "tenant_id": "is of tenant {}",
    "space_id": "is in space {}",
    "version": "is at version {}",
    "expected_next_version": "would be at version {} next",
    "event_id": "was last changed by event {}",
    "operator": "was last changed by {}",
    "first_operator": "was first made by {}",
    "event_time": "was last changed at {}",
    "first_event_time": "was first made at {}",
}


def _state_aggregate(said: Said) -> Words:
    target = said.first("target")
    whose = instance(target) if isinstance(target, On) else f"the {said.noun}"
    facts = []
    for name, value in said.kwargs.items():
        if name in ("deleted", "initialized") and isinstance(value, bool):
            facts.append(f"is {'' if value else 'not '}{'deleted' if name == 'deleted' else 'there'}")
        elif name in _FACTS:
            facts.append(_FACTS[name].format(value_in_words(value)))
        else:
            facts.append(f"has {fields_in_words([(name, value)])}")
    return Words(f"{whose} {joined(facts)}" if facts else f"{whose} is there")


def _version(said: Said) -> Words:
    return Words(f"the {said.noun} is at version {said.first('version')}")


# --- outcome ----------------------------------------------------------------------------------------------------------

#: What people say for the runtime's own errors, by class and by code.
_ERRORS: Final[dict[str, str]] = {
    "CommandExpectVersionConflict": "it is refused: the {noun} has changed in the meantime",
    "EventVersionConflict": "it fails: somebody else changed the {noun} at the same time",
    "SourcingVersionConflict": "it fails: the history has a gap or a repetition",
    "CommandValidation": "it is refused: a field is not acceptable",
    "DuplicateAggregateId": "it is refused: there is one of this id already",
    "DuplicateRequestId": "it is refused: the same request was made before",
    "IllegalAccessDeletedAggregate": "it is refused: the {noun} is deleted",
    "IllegalAccessOwnerAggregate": "it is refused: the {noun} belongs to somebody else",
    "IllegalAccessSpaceAggregate": "it is refused: the {noun} is in another space",
    "NotFound": "it is refused: there is no such {noun}",
    "IllegalState": "it is refused: it does not fit what happened before",
    "IllegalArgument": "it is refused: what it asks for is not acceptable",
    "RequestTimeout": "it fails: the time is up",
    "InjectedFault": "it fails: of the fault",
    "TooManyRequests": "it is refused: too many requests",
    "InternalServerError": "it fails: an error of the system",
    "BadRequest": "it fails: an error of no known kind",
}
#: Exact classes that stand for a row above.
_BY_CLASS: Final[dict[str, str]] = {
    "ValueError": "IllegalArgument",
    "IllegalStateError": "IllegalState",
    "TimeoutError": "RequestTimeout",
    "NotFoundError": "NotFound",
    "FileNotFoundError": "NotFound",
    "InjectedFault": "InjectedFault",
}
#: Classes that say nothing of the reason.
_VAGUE: Final = frozenset({"Exception", "DomainError", "RuntimeError", "CommandResultError", "BaseException"})
_PATTERN: Final = re.compile(r"(?<!\\)[.^$*+?{}\[\]|()]")


def refusal(noun: str, kind: Any, match: Any, code: Any, error: BaseException | None = None) -> str:
    """How a command fails, in words: "it is refused: out of stock (“10 are left”)"."""
    name = getattr(kind, "__name__", "") if kind is not None else ""
    own = None
    if isinstance(kind, type):
        own = phrase_of(kind, error if isinstance(error, kind) else None, value_in_words)
    known = _ERRORS.get(name.removesuffix("Error")) or _ERRORS.get(_BY_CLASS.get(name, ""))
    coded = _ERRORS.get(str(code)) if code is not None else None
    reason = f" {_reason(match)}" if match else ""
    if own is not None:
        return f"it is refused: {own}{reason}"
    if code is not None and (coded is None or known is None):
        return (coded.format(noun=noun) if coded else f"it is refused: {words(str(code))}") + reason
    if known is not None:
        return known.format(noun=noun) + reason
    if not name or name in _VAGUE:
        return f"it is refused{':' + reason if reason else ''}"
    return f"it is refused: {words(name.removesuffix('Error').removesuffix('Exception') or name)}{reason}"


def _reason(match: str) -> str:
    plain = re.sub(r"\\(.)", r"\1", match)
    return f"({quoted(plain)})" if not _PATTERN.search(match) else f"(the reason reads like {quoted(match)})"


def _error(said: Said) -> Words:
    text = refusal(said.noun, said.first("kind"), said.kwargs.get("match"), said.kwargs.get("code"), said.error)
    count = said.kwargs.get("times")
    if not said.together:
        return Words(text)
    which = "in some order one of them" if count is None else _of_them(count)
    return Words(f"{which}{' ' if count is None else ', whatever the order, '}{text.removeprefix('it ')}")


def _of_them(count: int) -> str:
    return {0: "none of them", 1: "exactly one of them"}.get(count, f"exactly {count} of them")


def _succeeded(said: Said) -> Words:
    if not said.together:
        return Words("it succeeds")
    count = said.kwargs.get("times")
    verb = "succeed" if count is None or count > 1 else "succeeds"
    return Words(f"whatever the order, {'all of them' if count is None else _of_them(count)} {verb}")


def _result(said: Said) -> Words:
    told = fields_in_words(said.kwargs.items())
    return Words(f"the sender is told {told}" if told else "the sender is told no result")


#: What a stage means to the sender.
_STAGES: Final[dict[CommandStage, str]] = {
    CommandStage.SENT: "sent",
    CommandStage.PROCESSED: "processed",
    CommandStage.SNAPSHOT: "kept as a snapshot",
    CommandStage.PROJECTED: "shown in the views",
    CommandStage.EVENT_HANDLED: "handled by those who follow it",
    CommandStage.SAGA_HANDLED: "taken up by the saga",
}


def stage_in_words(stage: Any) -> str:
    """A stage as a participle: "processed"."""
    return _STAGES.get(CommandStage(str(stage).upper()), words(str(stage)))


def _stage(said: Said) -> Words:
    fields = {name: value for name, value in said.kwargs.items() if name not in ("stage", "succeeded")}
    extra = f" ({fields_in_words(fields.items())})" if fields else ""
    how = "it was" if said.kwargs.get("succeeded", True) else "it failed to be"
    return Words(f"the sender is told that {how} {stage_in_words(said.first('stage'))}{extra}")


# --- pipeline ---------------------------------------------------------------------------------------------------------

#: What happens at a point, as a noun: "storing what happened". A test requires a row for each point of the table.
POINT_WORDS: Final[dict[str, str]] = {
    "request_id.check": "the check whether the request was made before",
    "command.validate": "the check of the fields",
    "command_bus.send": "sending the command",
    "snapshot.load": "loading the snapshot",
    "event_store.load": "loading the history",
    "service": "the call of {part}",
    "event_store.append": "storing what happened",
    "command.acknowledge": "the receipt of the command",
    "domain_event_bus.send": "publishing what happened",
    "state_event_bus.send": "publishing the new state",
    "snapshot.save": "saving the snapshot",
    "event.deliver": "handing the event to {part}",
    "projection.write": "writing the view {part}",
    "wait.notify": "telling the sender that it was {part}",
}


def point_in_words(point: str) -> str:
    """A point as a noun."""
    name, _, part = point.partition(":")
    text = POINT_WORDS.get(name)
    if text is None:
        return f"the step {words(name.replace('.', ' '))}"
    if name == "wait.notify":
        return text.format(part=stage_in_words(part)) if part else "telling the sender"
    owner, _, function = part.partition(".")
    if name == "service":
        return text.format(part=f"{words(function)} of the {words(owner)}")
    return text.format(part=f"the {words(owner)}" if name == "event.deliver" else words(owner))


def _order(said: Said) -> Words:
    return Words("this comes one after another:", [point_in_words(point) for point in said.args])


def _logged(said: Said) -> Words:
    return Words(f"{point_in_words(said.first('point'))} fails, and that is noted and passed over")


def _downstream_error(said: Said) -> Words:
    source = said.first("source")
    kind = said.args[1] if len(said.args) > 1 else said.kwargs.get("kind")
    text = refusal("it", kind, said.kwargs.get("match"), said.kwargs.get("code"))
    return Words(f"of what follows, {title(getattr(source, '__name__', str(source)))} fails: {text}")


def _acknowledged(said: Said) -> Words:
    return Words(f"its receipt is confirmed {how_often(said.kwargs.get('times', 1))}")


_COMMAND_STATES: Final = {
    "STORED": "its last attempt was stored",
    "SOURCED": "its last attempt was decided, but not stored",
    "EXPIRED": "its last attempt was given up",
}


def _command_state(said: Said) -> Words:
    state = str(said.first("state"))
    return Words(_COMMAND_STATES.get(state, f"its last attempt was {words(state)}"))


def _attempts(said: Said) -> Words:
    count = said.first("attempts")
    return Words(f"it is tried {how_often(count)}" if count else f"it never reaches the {said.noun}")


def _fired(said: Said) -> Words:
    return Words(f"{plural(said.first('times'), 'fault')} struck")


# --- downstream -------------------------------------------------------------------------------------------------------


def _view(said: Said) -> Words:
    view_id, *rest = said.args
    fields = {name: value for name, value in said.kwargs.items() if name != "projection"}
    head = f"{_board(said)} shows for {value_in_words(view_id)}"
    if rest and rest[0] is not None and not callable(rest[0]):
        return Words(f"{head}: {message(rest[0])}")
    parts = [f"{head}: {_has(fields)}"] if fields else []
    parts += (
        [f"{'' if fields else head + ' a row; '}of it, it holds that {condition_in_words(rest[0])}"] if rest else []
    )
    return Words("; ".join(parts) or f"{head} a row")


def _board(said: Said) -> str:
    projection = said.kwargs.get("projection")
    return f"the {words(projection.__name__)}" if projection is not None else f"the {said.noun}"


def _no_view(said: Said) -> Words:
    return Words(f"{_board(said)} shows nothing for {value_in_words(said.args[0])}")


def _idempotent(said: Said) -> Words:
    projection = said.first("projection")
    noun = words(projection.__name__) if projection is not None else said.noun
    return Words(f"the {noun} stays as it is when it is told everything a second time")


def _snapshot(said: Said) -> Words:
    target = said.first("target")
    whose = instance(target) if isinstance(target, On) else f"the {said.noun}"
    fields = _has(said.kwargs)
    return Words(f"a snapshot of {whose} is kept{f', with {fields}' if fields else ''}")


def _no_snapshot(said: Said) -> Words:
    target = said.first("target")
    return Words(f"no snapshot of {instance(target) if isinstance(target, On) else f'the {said.noun}'} is kept")


def _notified(said: Said) -> Words:
    count = said.kwargs.get("times", 1)
    return Words(f"it is told {how_often(count)} that it was {stage_in_words(said.first('stage'))}")


def _causation(said: Said) -> Words:
    return Words("one thing leads to the next:", [title(part.strip()) for part in str(said.first("text")).split(">")])


# --- conditions, and commands in flight together ----------------------------------------------------------------------


def _condition(head: str) -> Callable[[Said], Words]:
    def row(said: Said) -> Words:
        named = {**dict(zip(("condition", "name"), said.args, strict=False)), **said.kwargs}
        name = named.get("name")
        return Words(f"{head}: {name or condition_in_words(named.get('condition'))}")

    return row


def _one_of(said: Said) -> Words:
    return Words("it ends in one of these ways:", [_ending(alternative) for alternative in said.args])


def _ending(alternative: Any) -> str:
    if callable(alternative):
        return condition_in_words(alternative)
    texts: Sequence[str] = [_item(item) for item in alternative]
    return joined(texts, "then") or "nothing happens"


#: Verbs that speak of all orders by themselves.
_SPEAK_OF_ALL: Final = frozenset(
    {
        "expect_serializable",
        "expect_one_of",
        "expect_complete",
        "expect_succeeded",
        "expect_error",
        "expect_any_outcome",
    }
)

#: Verb → what it says in words. The order is that of the README's tables.
PHRASES: Final[dict[str, Callable[[Said], Words]]] = {
    "expect_events": _events,
    "expect_no_events": _no_events,
    "expect_event": _event,
    "expect_event_types": _event_types,
    "expect_event_count": _event_count,
    "expect_all_events": _all_events,
    "expect_emitted": _emitted,
    "expect_stored": _stored,
    "expect_not_stored": _not("stored"),
    "expect_published": _listing("this is published"),
    "expect_not_published": _not("published"),
    "expect_delivered": _listing("this reaches those who follow it"),
    "expect_state_event_published": _plain("the new state is published"),
    "expect_state_event_not_published": _plain("the new state is not published"),
    "expect_header": _header,
    "expect_state": _state,
    "expect_state_aggregate": _state_aggregate,
    "expect_version": _version,
    "expect_error": _error,
    "expect_succeeded": _succeeded,
    "expect_unknown_outcome": _plain("its sender gets no answer in time, and does not know how it ended"),
    "expect_any_outcome": _plain("it may succeed, fail, or leave its sender without an answer"),
    "expect_result": _result,
    "expect_stage": _stage,
    "expect_order": _order,
    "expect_logged": _logged,
    "expect_downstream_error": _downstream_error,
    "expect_acknowledged": _acknowledged,
    "expect_command_state": _command_state,
    "expect_attempts": _attempts,
    "expect_fired": _fired,
    "expect_commands": _listing("this is asked for next"),
    "expect_no_commands": _plain("nothing is asked for next"),
    "expect_view": _view,
    "expect_no_view": _no_view,
    "expect_idempotent": _idempotent,
    "expect_snapshot": _snapshot,
    "expect_no_snapshot": _no_snapshot,
    "expect_notified": _notified,
    "expect_causation": _causation,
    "always": _condition("at every moment"),
    "eventually": _condition("in the end"),
    "expect_serializable": _plain("whatever the order, it ends as if they had come one after another"),
    "expect_one_of": _one_of,
    "expect_complete": _plain("every order of them was tried"),
}
