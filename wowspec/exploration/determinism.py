"""A spec that is run again must come to the same: without that, replay and enumeration lie."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final

from ..errors import SpecFailure
from ..faults.plans import Plan
from ..messages.codec import encode
from ..messages.envelopes import CommandMessage, DomainEventStream
from ..specs.nodes import ACTIONS, WhenConcurrently
from ..specs.origins import decider_of
from ..specs.run import Run
from ..world.points import EVENT_STORE_APPEND, PROJECTION_WRITE, SERVICE_CALL
from ..world.trace import TraceRow
from .explorer import Player
from .playing import Played, Way
from .reference import rows_of

#: Points that are passed only where somebody looks for them.
_SOUGHT = (f"{SERVICE_CALL}:", f"{PROJECTION_WRITE}:")


def require_same(way: Way, played: Played, player: Player) -> None:
    """Require that the fault-free rerun went the way of the run that the test made, and that another one does, too.

    Raises:
        SpecFailure: with the first line that differs.
    """
    if way.is_unchanged:
        for before, after in _runs(way, played):
            _compare(trace_lines(before.rows), trace_lines(after.rows), "the test's own run", after)
    again = player(way, Plan())
    only = played.runs[0] if len(played.runs) == 1 else None
    _compare(lines_of(played), lines_of(again), "a run before", only)


def lines_of(played: Played) -> list[str]:
    """What a run came to, as text: the points that it passed, and what it left behind."""
    return [*trace_lines(played.rows), *_kept(played)]


def _runs(way: Way, played: Played) -> Iterator[tuple[Run, Run]]:
    """The runs that the test made, each with its rerun; orders of commands in flight are another matter."""
    actions = [node for node in way.nodes if isinstance(node.step, ACTIONS)]
    for node, run in zip(actions, played.runs, strict=False):
        if isinstance(node.step, WhenConcurrently) or node.run is None:
            return
        yield node.run, run


def trace_lines(rows: Sequence[TraceRow]) -> list[str]:
    """The points that a run passed, as text, and with what; those are left out that count only where one looks."""
    return [_line(row) for row in rows if not row.point.startswith(_SOUGHT)]


def _line(row: TraceRow) -> str:
    body = ""
    if isinstance(row.subject, CommandMessage):
        body = _json(row.subject.body)
    elif isinstance(row.subject, DomainEventStream):
        body = " ".join(_json(event.body) for event in row.subject.events)
    return f"{row} {body}".rstrip()


def _json(body: Any) -> str:
    try:
        return encode(body).decode()
    except Exception:  # noqa: BLE001 - a body without JSON is told of by others
        return type(body).__name__


def _kept(played: Played) -> list[str]:
    return [f"{owner}[{row!r}] = {text}" for (owner, row), text in sorted(rows_of(played.session).items())]


def _field(one: str, other: str) -> str:
    """Which field of the JSON in two lines is the first that differs; empty if none is."""
    alike = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    found = _FIELD.search(one[:alike])
    return f": {found[1]} is another each time" if found is not None else ""


#: The last field of a JSON text that is cut off within its value.
_FIELD: Final = re.compile(r'"(\w+)":(?:"[^"]*|[^,"{}\[\]]*)$')


def _compare(before: Sequence[str], after: Sequence[str], what: str, run: Run | None) -> None:
    for one, other in zip_longest(before, after, fillvalue="nothing more"):
        if one != other:
            maker = decider_of(run) if run is not None and f" {EVENT_STORE_APPEND} " in one else ""
            made = f"  made by {maker}\n" if maker else ""
            raise SpecFailure(
                f"the spec comes to something else when it is run again without any fault{_field(one, other)}\n"
                f"  in {what}: {one}\n"
                f"  in a fresh one:  {other}\n"
                f"{made}"
                "  why: a plan that is replayed strikes where it did only if the same spec gives the same trace\n"
                "  instead: ids, time and chance from the world (`clock: Clock`, ids of commands) in place of uuid4(), "
                "datetime.now() or random; .inject_factory(...) for services that remember; or "
                "@pytest.mark.wowspec_no_sweep"
            )
