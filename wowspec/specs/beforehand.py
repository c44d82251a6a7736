"""What came before a command and did not reach it: events of another instance, or ones that its state does not know."""

from __future__ import annotations

from typing import Final

from ..errors import NotFoundError
from ..modeling.builtin import BUILT_IN_EVENTS
from .nodes import Node
from .run import PROGRAMMING_ERRORS, Run

_MOST_NAMED: Final = 3


def elsewhere(run: Run) -> str | None:
    """Which events another instance had before the command, and the command's own had not."""
    message = run.message
    if message is None or run.fired:
        return None
    store, own = run.session.runtime.event_store, message.aggregate_id
    had = {type(event.body) for stream in store.peek(own) if stream.command_id != message.id for event in stream.events}
    if not had and message.allow_create:
        return None
    since = {event.id for event in run.all_events.envelopes}
    for other in store.aggregate_ids():
        if other == own or other.named_aggregate != own.named_aggregate:
            continue
        events = (event for stream in store.peek(other) for event in stream.events if event.id not in since)
        kinds = dict.fromkeys(kind.__name__ for event in events if (kind := type(event.body)) not in had)
        if kinds:
            names = ", ".join([*list(kinds)[:_MOST_NAMED], *(["…"] if len(kinds) > _MOST_NAMED else [])])
            return f"{other} had {names}, {own} had not: {type(message.body).__name__} went to {own}"
    return None


def refused_elsewhere(run: Run, node: Node | None) -> str | None:  # noqa: ARG001
    """The same, of a command that the domain refused."""
    error = run.error
    if error is None or run.decided or run.is_unknown or isinstance(error, (*PROGRAMMING_ERRORS, NotFoundError)):
        return None
    return elsewhere(run)


def unsourced_before(run: Run) -> str | None:
    """Which events before a command changed nothing, since its aggregate's state does not know them."""
    message = run.message
    if message is None:
        return None
    metadata = run.session.metadata_of(message.aggregate_id.named_aggregate)
    streams = run.session.runtime.event_store.peek(message.aggregate_id)
    kinds = {type(event.body): None for stream in streams if stream.command_id != message.id for event in stream.events}
    names = [each.__name__ for each in kinds if each not in metadata.state.functions and each not in BUILT_IN_EVENTS]
    if not names or metadata.state.evolves:
        return None
    state = getattr(metadata.state.cls, "__name__", "the state")
    return f"{', '.join(names[:_MOST_NAMED])} came before, but {state} has no @on_sourcing for it"
