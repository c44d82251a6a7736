"""Remarks below a failed expectation: what explains it, and is no mistake in itself."""

from __future__ import annotations

from ..errors import SpecError
from ..messages.envelopes import CommandMessage
from ..modeling.claims import aggregate_of_command
from ..modeling.commands import command_metadata
from ..world.points import COMMAND_BUS_SEND
from .run import APPLIED, Run


def downstream(text: str | None, run: Run) -> str | None:
    """The text of a failure that is about what follows a command, with the commands that nobody took.

    A saga's spec by `when_event` records what is sent, and is told nothing of it.
    """
    if text is None or run.message is None:
        return text
    return "\n".join([text, *(f"  hint: {remark}" for remark in _untaken(run))])


def _untaken(run: Run) -> list[str]:
    held = run.session.runtime.catalog.aggregates
    remarks = {}
    for row in run.rows_of(COMMAND_BUS_SEND):
        message: CommandMessage[object] = row.subject
        if row.outcome in APPLIED and message.aggregate_id.named_aggregate not in held:
            name = type(message.body).__name__
            remarks[name] = f"{name} was sent, but no aggregate of this world takes it{_bringing(message)}"
    return list(remarks.values())


def _bringing(message: CommandMessage[object]) -> str:
    try:
        owner = aggregate_of_command(type(message.body))
    except SpecError:
        owner = None
    return f": .using({owner.__name__})" if owner is not None else ""


def addressed(run: Run) -> str | None:
    """A command without an id of its own, whose field is named as one: it went to the instance last spoken of."""
    message = run.message
    if message is None or command_metadata(type(message.body)).aggregate_id is not None:
        return None
    name, target = type(message.body).__name__, message.aggregate_id
    field = f"{target.aggregate_name}_id"
    value = getattr(message.body, field, None)
    if not isinstance(value, str) or value == target.id:
        return None
    return (
        f"{name} went to {target}, for nothing marks its field {field}: if it is the id, write "
        f"{field}: Annotated[str, AggregateId()]"
    )
