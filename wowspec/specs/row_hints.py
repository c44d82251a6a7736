"""Why a projection keeps no row, or another: nothing reached it, or not all; its function failed or wrote nothing."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from types import FrameType
from typing import Final

from ..modeling.places import PACKAGE, place_of
from ..modeling.processors import EventFunction, processor_metadata
from ..runtime.downstream.views import Views
from ..world.points import DOMAIN_EVENT_BUS_SEND, EVENT_DELIVER
from ..world.world import LoggedFailure
from .render import BRIEF, render
from .run import Run
from .saying import traceback_text

_MOST_NAMED: Final = 3


def no_row_yet(error: BaseException) -> str | None:
    """A `KeyError` of a projection's rows: which row was asked for, and how to ask for one that may not be there."""
    if not isinstance(error, KeyError) or not error.args:
        return None
    frames = list(_frames(error))
    own = next((each for each in reversed(frames) if not each[0].f_code.co_filename.startswith(PACKAGE)), None)
    if own is None or frames[-1][0].f_code is not Views.__getitem__.__code__:
        return None
    frame, line = own
    name = next((name for name, value in frame.f_locals.items() if isinstance(value, Views)), "views")
    asked = re.findall(rf"\b{name}\[([^\[\]]+)\]", linecache.getline(frame.f_code.co_filename, line))
    key = asked[0] if len(set(asked)) == 1 else "..."
    return f"there is no row {render(error.args[0], BRIEF)}: {name}.get({key}, ...) takes the one to begin with"


def _frames(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    traceback = error.__traceback__
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next


def unwritten(run: Run, cls: type) -> list[str]:
    """Lines that say why a projection may lack a row, below a text that says which."""
    metadata = processor_metadata(cls)
    failed = [entry for entry in run.logged if _is_of(entry, metadata.name)]
    if failed:
        entry = failed[0]
        lines = [f"  {entry.place} failed:", traceback_text(entry.cause)]
        hint = no_row_yet(entry.cause)
        return [*lines, f"  hint: {hint}"] if hint else lines
    reached = [each for each in metadata.functions if _was_reached(run, metadata.name, each)]
    if not reached:
        return [f"  hint: {_unreached(run, cls, metadata.functions)}"]
    places = ", ".join([place_of(each.handler) or each.handler.place for each in reached][:_MOST_NAMED])
    if run.session.runtime.views.of(cls):
        return [f"  made by {places}"]
    return [f"  hint: {places} ran, and wrote no row"]


def unheard(run: Run, cls: type) -> list[str]:
    """A line that says which events were given and never told to a projection, below a text about one of its rows."""
    session = run.session
    told = {row.subject.id for row in session.world.trace.rows if row.point == DOMAIN_EVENT_BUS_SEND}
    taken = tuple(kind for each in processor_metadata(cls).functions for kind in each.handler.supported)
    store = session.runtime.event_store
    streams = (stream for reference in store.aggregate_ids() for stream in store.peek(reference))
    kinds = [
        type(event.body).__name__
        for stream in streams
        if stream.id not in told
        for event in stream.events
        if isinstance(event.body, taken)
    ]
    if not kinds:
        return []
    names = ", ".join(list(dict.fromkeys(kinds))[:_MOST_NAMED])
    count, them = ("1 event that was", "it") if len(kinds) == 1 else (f"{len(kinds)} events that were", "them")
    return [f"  hint: {cls.__name__} never heard of {count} given ({names}): given(..., deliver=True) delivers {them}"]


def _is_of(entry: LoggedFailure, name: str) -> bool:
    return re.split(r"[:.]", entry.point)[-2:-1] == [name]


def _was_reached(run: Run, name: str, function: EventFunction) -> bool:
    point = f"{EVENT_DELIVER}:{name}.{function.info.name}"
    return any(row.point == point for row in run.session.world.trace.rows)


def _unreached(run: Run, cls: type, functions: tuple[EventFunction, ...]) -> str:
    taken = list(dict.fromkeys(kind for each in functions for kind in each.handler.supported))
    names = ", ".join(kind.__name__ for kind in taken[:_MOST_NAMED])
    store = run.session.runtime.event_store
    held = (event for reference in store.aggregate_ids() for stream in store.peek(reference) for event in stream.events)
    given = any(isinstance(event.body, tuple(taken)) for event in held)
    mend = f": given(..., deliver=True) delivers what is given, and so does given({cls.__name__}, ...)" if given else ""
    return f"nothing reached {cls.__name__}, which takes {names}{mend}"
