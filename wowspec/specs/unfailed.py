"""A command that was expected to fail, and succeeded: where it would have failed, and what kept it from that."""

from __future__ import annotations

from contextlib import suppress

from ..messages.envelopes import CommandMessage
from ..modeling.functions import HandlerFunction
from .beforehand import elsewhere, unsourced_before
from .handler_hints import not_awaited
from .origins import decider_of
from .raising import Raising, asks_the_state, not_reached, raisings
from .render import render
from .run import Run
from .run_hints import with_hints
from .showing import shown


def succeeded_instead(run: Run, wanted: str, kind: type[BaseException] | None, match: str | None) -> str:
    """That a command succeeded, what it stored, and what to mend.

    Args:
        run: the command's.
        wanted: which error was expected, in words.
        kind: its class, if one was named.
        match: what its text was expected to match, if anything.
    """
    lines = [f"{shown(run.command)} succeeded, but was expected to fail with {wanted}"]
    place, message = decider_of(run), run.message
    if message is None or not place:
        return lines[0]
    stored = list(run.stored)
    lines.append(f"  it stored {', '.join(render(body) for body in stored) if stored else 'nothing'}")
    holds = ".expect_events(...)" if stored else ".expect_no_events()"
    metadata = run.session.metadata_of(message.aggregate_id.named_aggregate)
    handler = metadata.functions[type(message.body)].handler
    found = raisings(run, handler, kind, match)
    if not found:
        raised = kind.__name__ if kind is not None else "it"
        mend = f"raise {raised} in {place}" if not_awaited(run, None) is None else f"await what would raise {raised}"
        lines.append(f"  instead: {mend}, or {holds} if it may succeed")
        return with_hints("\n".join(lines), [elsewhere(run)])
    lines += _saw(run, message, handler, found)
    hints = [unsourced_before(run), elsewhere(run)] if asks_the_state(handler, found) else []
    lines.append(f"  instead: give what leads there, mend the condition, or {holds} if it may succeed")
    return with_hints("\n".join(lines), hints)


def _saw(run: Run, message: CommandMessage[object], handler: HandlerFunction, found: list[Raising]) -> list[str]:
    # A sourcing function of the author's may raise.
    with suppress(Exception):
        return not_reached(run, handler, found, run.session.replay(message.aggregate_id, message.id))
    return []
