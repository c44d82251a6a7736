"""Notes, a list of them, and a handler that keeps what it cannot write to itself."""

from __future__ import annotations

from pydantic import BaseModel

from wowspec import (
    Context,
    DomainEvent,
    Views,
    aggregate_root,
    create_aggregate,
    on_command,
    on_event,
    projection,
)


@create_aggregate
class Take(BaseModel):
    id: str
    text: str


class Taken(BaseModel):
    text: str


class NoteState(BaseModel):
    id: str


@aggregate_root(context="notes")
class Note:
    def __init__(self, state: NoteState) -> None:
        self.state = state

    @on_command
    def take(self, command: Take) -> Taken:
        return Taken(text=command.text)


@projection(context="notes")
class Swallows:
    """The defect: whatever goes wrong is nobody's business, and the runtime sees no reason to try again."""

    @on_event
    def taken(self, event: DomainEvent[Taken], views: Views[str]) -> None:
        try:
            views[event.aggregate_id.id] = event.body.text
        except Exception:
            return


@projection(context="notes")
class Raises:
    """Corrected: a failure is the runtime's, which tries again."""

    @on_event
    def taken(self, event: DomainEvent[Taken], views: Views[str]) -> None:
        views[event.aggregate_id.id] = event.body.text


defective = Context("notes", Note, Swallows)
corrected = Context("notes", Note, Raises)
