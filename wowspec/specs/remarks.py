"""Remarks below a failed expectation: what explains it, and is no mistake in itself."""

from __future__ import annotations

from typing import Any

from ..errors import NotFoundError, SpecError
from ..messages.envelopes import CommandMessage
from ..messages.ids import MACHINE_CHARS, TIME_CHARS
from ..messages.records import attributes_of
from ..modeling.claims import aggregate_of_command
from ..modeling.commands import command_metadata
from ..modeling.identity import AggregateRef
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
    """A command without an id of its own: it went to the instance last spoken of, or to one of which nobody spoke."""
    message = run.message
    if message is None or command_metadata(type(message.body)).aggregate_id is not None:
        return None
    name, target = type(message.body).__name__, message.aggregate_id
    field = f"{target.aggregate_name}_id"
    value = getattr(message.body, field, None)
    if isinstance(value, str) and value != target.id:
        return (
            f"{name} went to {target}, for nothing marks its field {field}: if it is the id, write "
            f"{field}: Annotated[str, AggregateId()]"
        )
    return _of_new_id(message, "") if type(run.error) is NotFoundError else None


def unnamed(run: Run, reference: AggregateRef, meant: Any) -> str | None:
    """As `addressed`, where an expectation says which instance is meant.

    Args:
        run: the run.
        reference: the instance that was looked at.
        meant: the id that it should have.
    """
    message = run.message
    if message is None or command_metadata(type(message.body)).aggregate_id is not None or addressed(run) is not None:
        return None
    target = message.aggregate_id
    if not isinstance(meant, str) or meant == target.id or reference.named_aggregate != target.named_aggregate:
        return None
    held = attributes_of(message.body)
    field = next((name for name, value in held.items() if isinstance(value, str) and value == meant), "")
    if not field and reference != target:
        return None
    of_new = _of_new_id(message, field)
    if of_new is not None or not field:
        return of_new
    name = type(message.body).__name__
    return f"{name} went to {target}, for nothing says that {field} is its id: {_marked(field)}"


def _of_new_id(message: CommandMessage[Any], field: str) -> str | None:
    """That an id had to be made for a command."""
    own, head = message.aggregate_id.id, TIME_CHARS + MACHINE_CHARS
    # Ids grow: one of the same millisecond and machine that is greater was made after the message's own.
    if own[:head] != message.id[:head] or own <= message.id:
        return None
    mend = _marked(field) if field else "give it a field id, or say when(..., aggregate_id=...)"
    return f"{type(message.body).__name__} names no instance, so that a new id was made for it: {mend}"


def _marked(field: str) -> str:
    return f"rename its field {field} to id, or write {field}: Annotated[str, AggregateId()]"
