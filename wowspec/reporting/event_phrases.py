"""Expectations of what happens, and of what then is there, in words: rows of `PHRASES`."""

from __future__ import annotations

from typing import Any, Final

from ..specs.items import On
from .conditions_in_words import condition_in_words
from .said import Row, Said, Words, instance, item_in_words, listed, whose
from .wording import fields_in_words, joined, message, own_phrase, plural, title, value_in_words, words

# --- events -----------------------------------------------------------------------------------------------------------


def events(said: Said) -> Words:
    """Exactly these events."""
    that = said.kwargs.get("that")
    if that is not None:
        return Words(f"of what happens it holds that {condition_in_words(that)}")
    own = own_phrase(said.args[0]) if len(said.args) == 1 else None
    return Words(own) if own is not None else listed("this happens", said.args)


def event(said: Said) -> Words:
    """Such an event among others."""
    wanted = said.first("event")
    fields = fields_in_words(said.kwargs.items())
    text = f"{title(wanted.__name__)} ({fields})" if isinstance(wanted, type) and fields else message(wanted)
    return Words(f"what happens includes: {text}")


def event_types(said: Said) -> Words:
    """Events of these types."""
    kinds = joined((title(kind.__name__) for kind in said.args), "then")
    return Words(f"this happens, whatever the details: {kinds}" if kinds else "nothing happens")


def event_count(said: Said) -> Words:
    """So many events."""
    count = said.first("count")
    return Words(f"{plural(count, 'thing')} {'happens' if count == 1 else 'happen'}" if count else "nothing happens")


def all_events(said: Said) -> Words:
    """Everybody's events."""
    if not said.args:
        return Words("nothing happens anywhere")
    return listed("in all, whoever is behind it, this happens", said.args)


def stored(said: Said) -> Words:
    """What the command stored, or an instance's whole history."""
    if not said.args or not isinstance(said.args[0], On):
        return listed("this is stored", said.args)
    target, *history = said.args
    if not history:
        return Words(f"nothing ever happened to {instance(target)}")
    return listed(f"all that ever happened to {instance(target)} is", history)


def nothing(what: str) -> Row:
    """A row that says that nothing, or nothing of some types, was stored or published."""

    def row(said: Said) -> Words:
        kinds = joined((title(kind.__name__) for kind in said.args), "or")
        return Words(f"no {kinds} is {what}" if kinds else f"nothing is {what}")

    return row


def header(said: Said) -> Words:
    """What stands beside the events."""
    return Words(f"beside what happens it is noted: {fields_in_words(said.kwargs.items())}")


def one_of(said: Said) -> Words:
    """One of several endings."""
    return Words("it ends in one of these ways:", [_ending(alternative) for alternative in said.args])


def _ending(alternative: Any) -> str:
    if callable(alternative):
        return condition_in_words(alternative)
    return joined((item_in_words(item) for item in alternative), "then") or "nothing happens"


# --- state ------------------------------------------------------------------------------------------------------------


def state(said: Said) -> Words:
    """Fields of the state, and a condition of it."""
    conditions = [item for item in said.args if item is not None and not isinstance(item, On)]
    parts = [f"{whose(said)} has {fields_in_words(said.kwargs.items())}"] if said.kwargs else []
    parts += [f"for {whose(said)} it holds that {condition_in_words(each)}" for each in conditions]
    return Words("; ".join(parts) or f"{whose(said)} is there")


#: What is known of an aggregate beside its state.
_FACTS: Final[dict[str, str]] = {
    "owner_id": "belongs to {}",
    "tenant_id": "is of tenant {}",
    "space_id": "is in space {}",
    "version": "is at version {}",
    "operator": "was last changed by {}",
    "first_operator": "was made by {}",
    "event_time": "was last changed at {}",
    "first_event_time": "was made at {}",
}
_YES_OR_NO: Final[dict[str, str]] = {"deleted": "deleted", "initialized": "there"}


def state_aggregate(said: Said) -> Words:
    """What is known of an aggregate beside its state."""
    facts = [_fact(name, value) for name, value in said.kwargs.items()]
    return Words(f"{whose(said)} {joined(facts) or 'is there'}")


def _fact(name: str, value: Any) -> str:
    if name in _YES_OR_NO and isinstance(value, bool):
        return f"is {'' if value else 'not '}{_YES_OR_NO[name]}"
    if name in _FACTS:
        return _FACTS[name].format(value_in_words(value))
    return f"has {fields_in_words([(name, value)])}"


def version(said: Said) -> Words:
    """The stored head."""
    return Words(f"the {said.noun} is at version {said.first('version')}")


# --- views and snapshots ----------------------------------------------------------------------------------------------


def view(said: Said) -> Words:
    """A row of a projection."""
    view_id, *rest = said.args
    that = rest[0] if rest else None
    fields = {name: value for name, value in said.kwargs.items() if name != "projection"}
    head = f"{_board(said)} shows for {value_in_words(view_id)}"
    if that is not None and not callable(that):
        return Words(f"{head}: {message(that)}")
    parts = [f"{head}: {fields_in_words(fields.items())}" if fields else f"{head} a row"]
    parts += [f"of it, it holds that {condition_in_words(that)}"] if that is not None else []
    return Words("; ".join(parts))


def _board(said: Said) -> str:
    projection = said.kwargs.get("projection")
    return f"the {words(projection.__name__) if projection is not None else said.view}"


def no_view(said: Said) -> Words:
    """No row."""
    return Words(f"{_board(said)} shows nothing for {value_in_words(said.first('view_id'))}")


def idempotent(said: Said) -> Words:
    """Seeing everything twice does no harm."""
    projection = said.first("projection")
    noun = words(projection.__name__) if projection is not None else said.view
    return Words(f"the {noun} stays as it is when it is told everything a second time")


def snapshot(said: Said) -> Words:
    """A snapshot is stored."""
    fields = fields_in_words(said.kwargs.items())
    return Words(f"a snapshot of {whose(said)} is kept{f', with {fields}' if fields else ''}")


def no_snapshot(said: Said) -> Words:
    """None is."""
    return Words(f"no snapshot of {whose(said)} is kept")


# --- conditions -------------------------------------------------------------------------------------------------------


def condition(head: str) -> Row:
    """A row for what must hold at every moment, or in the end."""

    def row(said: Said) -> Words:
        named = {**dict(zip(("condition", "name"), said.args, strict=False)), **said.kwargs}
        return Words(f"{head}: {named.get('name') or condition_in_words(named.get('condition'))}")

    return row
