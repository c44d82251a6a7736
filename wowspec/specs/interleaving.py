"""How a failure shows what commands in flight did to each other, and the line that runs the same order again."""

from __future__ import annotations

from typing import Final

from ..messages.envelopes import CommandMessage, DomainEventStream
from ..messages.header import UPSTREAM_ID
from ..world.clock import NANOS_PER_MILLI
from ..world.trace import TraceRow
from .items import CommandOptions, SentCommand
from .nodes import WhenConcurrently
from .outcomes import Outcome
from .render import render
from .saying import text_of
from .showing import shown
from .story import MOST_ROWS

_DEFAULTS: Final = CommandOptions()


def command_line(step: WhenConcurrently, schedule: str) -> str:
    """The verb that runs one order again."""
    parts = [_as_written(sent) for sent in step.commands]
    if step.processes != 1:
        parts.append(f"processes={step.processes}")
    return f'.when_concurrently({", ".join(parts)}, schedule="{schedule}")'


def _as_written(sent: SentCommand) -> str:
    command = sent.command
    text = render(command) if not hasattr(command, "command_class") else repr(command)
    options = [
        f"{name}={render(getattr(sent.options, name))}"
        for name in CommandOptions.__dataclass_fields__
        if getattr(sent.options, name) != getattr(_DEFAULTS, name)
    ]
    return f"sent_as({text}, {', '.join(options)})" if options else text


def told(outcome: Outcome) -> list[str]:
    """What each command's sender was told."""
    lines = []
    for place, run in enumerate(outcome.runs, 1):
        error = run.error
        how = "succeeded" if error is None else f"failed with {type(error).__name__}: {text_of(error)}"
        lines.append(f"    {place} {shown(run.command)} {how}")
    return lines


def interleaving(outcome: Outcome) -> list[str]:
    """The points in their order, each with the number of the command that it belongs to."""
    rows = outcome.runs[0].rows
    owners = _owners(outcome, rows)
    width = max((len(str(row.lane)) for row in rows), default=0)
    points = max((len(row.point) for row in rows), default=0)
    lines = ["  in this order (command, virtual time):"]
    for row, owner in zip(rows[:MOST_ROWS], owners, strict=False):
        millis = (row.nanos - outcome.began) // NANOS_PER_MILLI
        end = "" if row.outcome == "ok" else f"  {row.outcome}"
        detail = f"  {row.detail}" if row.detail else ""
        line = f"    {owner} {millis:>6} ms  {row.lane!s:<{width}}  {row.point:<{points}}{detail}{end}"
        lines.append(line.rstrip())
    if len(rows) > MOST_ROWS:
        lines.append(f"    … and {len(rows) - MOST_ROWS} more")
    return lines


def _owners(outcome: Outcome, rows: list[TraceRow]) -> list[str]:
    """The number of the command that each row belongs to; a saga's commands belong to the one that they follow from."""
    commands = {run.command_id: str(place) for place, run in enumerate(outcome.runs, 1) if run.message is not None}
    found = []
    for row in rows:
        subject = row.subject
        command_id = getattr(subject, "command_id", "")
        if isinstance(subject, DomainEventStream):
            for event in subject.events:
                commands.setdefault(event.id, commands.get(command_id, " "))
        upstream = subject.header.get(UPSTREAM_ID, "") if isinstance(subject, CommandMessage) else ""
        if command_id not in commands and upstream in commands:
            commands[command_id] = commands[upstream]
        found.append(commands.get(command_id, " "))
    # A load tells of no command: it belongs to what its task does next.
    following: dict[int | None, str] = {}
    for place in range(len(rows) - 1, -1, -1):
        actor = outcome.passed_by.get(place)
        if found[place] == " " and actor is not None:
            found[place] = following.get(actor, " ")
        following[actor] = found[place]
    return found
