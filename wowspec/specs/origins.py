"""Where what a failure is about was made, and how the expectation would read if the system is right after all.

Both stand below a failed comparison: the comparison says what is there, and these which line to look at, and what to
write if not the system but its spec is to be mended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from ..messages.envelopes import CommandMessage
from ..messages.header import UPSTREAM_ID
from ..modeling.identity import AggregateRef
from ..modeling.places import place_of
from ..modeling.processors import ProcessorKind
from ..world.points import EVENT_DELIVER
from .render import EVERYTHING, render
from .run import Run

#: Functions that are named.
_MOST_FUNCTIONS: Final = 3
#: A longer call is not shown: nobody pastes it unread.
_LONGEST_CALL: Final = 180
#: Says what to write if the order does not matter; how it would hold in order is another thing.
_OTHER_ORDER: Final = "\n  hint: if the order does not matter"


def decider_of(run: Run) -> str:
    """The function that the command was given to; empty if there is none of the author's."""
    message = run.message
    if message is None:
        return ""
    metadata = run.session.metadata_of(message.aggregate_id.named_aggregate)
    function = metadata.functions.get(type(message.body))
    return place_of(function.handler) if function is not None else ""


def made_by(run: Run) -> list[str]:
    """A line that says which function made the events of a command."""
    place = decider_of(run) if run.error is None and run.attempts else ""
    return [f"  made by {place}"] if place else []


def sourced_by(run: Run, reference: AggregateRef) -> list[str]:
    """A line that says which functions made a state of its history, those of this command's events first."""
    sourcing = run.session.metadata_of(reference.named_aggregate).state
    streams = run.session.runtime.event_store.peek(reference)
    kinds = dict.fromkeys(type(event.body) for stream in reversed(streams) for event in stream.events)
    return _line("made by", (place_of(found) for kind in kinds if (found := sourcing.functions.get(kind)) is not None))


def delivered_to(run: Run, cls: type | None = None) -> list[str]:
    """A line that says which functions of a projection (or, without one, of sagas) got something."""
    return _line("made by", _delivered(run, cls))


def sent_by(run: Run, message: CommandMessage[Any]) -> list[str]:
    """A line that says which saga's function sent a command; several, if they were given the same event."""
    cause = message.header.get(UPSTREAM_ID)
    rows = [row for row in run.session.world.trace.rows if row.point.startswith(EVENT_DELIVER)]
    given = {row.point: row.subject for row in rows if row.subject.id == cause}
    found = []
    for metadata in run.session.runtime.catalog.processors.values():
        for function in metadata.functions if metadata.kind is ProcessorKind.STATELESS_SAGA else ():
            event = given.get(f"{EVENT_DELIVER}:{metadata.name}.{function.info.name}")
            handler = function.handler
            if event is not None and (handler.wraps_state or isinstance(event.body, handler.supported)):
                found.append(place_of(handler))
    return _line("sent by", found)


def _delivered(run: Run, cls: type | None) -> Iterator[str]:
    passed = {row.point for row in run.session.world.trace.rows if row.point.startswith(EVENT_DELIVER)}
    for held, metadata in run.session.runtime.catalog.processors.items():
        if held is not cls and (cls is not None or metadata.kind is not ProcessorKind.STATELESS_SAGA):
            continue
        for function in metadata.functions:
            if f"{EVENT_DELIVER}:{metadata.name}.{function.info.name}" in passed:
                yield place_of(function.handler)


def _line(verb: str, places: Iterable[str]) -> list[str]:
    named = list(dict.fromkeys(place for place in places if place))
    more = f" and {len(named) - _MOST_FUNCTIONS} more" if len(named) > _MOST_FUNCTIONS else ""
    return [f"  {verb} {', '.join(named[:_MOST_FUNCTIONS])}{more}"] if named else []


def if_right(
    verb: str, values: Sequence[Any], fields: Iterable[tuple[str, Any]] = (), *, none: str = "", before: str = ""
) -> list[str]:
    """A line with the expectation as it would hold; none where it would be too long to be read.

    Args:
        verb: of the expectation.
        values: what it would be given.
        fields: what it would be given by name.
        none: what stands there instead where nothing is to be given.
        before: what is to be expected before it.
    """
    shown = [render(value, EVERYTHING) for value in values]
    shown += [f"{name}={render(value, EVERYTHING)}" for name, value in fields]
    call = f".{verb}({', '.join(shown)})" if shown else none
    if not 0 < len(call) <= _LONGEST_CALL:
        return []
    imports = "  # from datetime import UTC" if "tzinfo=UTC" in call else ""
    return [f"  if it is right: {before}{call}{imports}"]


def closing(text: str, *lines: Callable[[], list[str]]) -> str:
    """A failure text with such lines below it; what to write is left out where a hint says it already."""
    found = [line for make in lines for line in make()]
    if "\n  hint: " in text and _OTHER_ORDER not in text:
        found = [line for line in found if not line.startswith("  if it is right")]
    return "\n".join([text, *found])
