"""The witness: one aggregate, one projection, one saga, all correct. What breaks in it is due to the runtime.

Each part is safe under whatever the runtime may do to it: the aggregate takes what it knows already as done, the
projection keeps facts by their ids, the saga sends one command for an event, which may arrive again.
"""

from __future__ import annotations

from pydantic import BaseModel

from ..messages.definitions import aggregate_root
from ..messages.envelopes import DomainEvent, StateEvent
from ..modeling.annotations import create_aggregate
from ..modeling.decorators import on_command, on_event, on_sourcing, on_state_event
from ..modeling.processors import Context, projection, stateless_saga
from ..runtime.downstream.views import Views


@create_aggregate
class Open(BaseModel):
    """The first command."""

    id: str


class Note(BaseModel):
    """A command that changes something."""

    id: str
    text: str


class Confirm(BaseModel):
    """What the saga sends for each note."""

    id: str
    text: str


class Opened(BaseModel):
    """It began."""


class Noted(BaseModel):
    """A note was taken."""

    text: str


class Confirmed(BaseModel):
    """A note was confirmed."""

    text: str


class WitnessState(BaseModel):
    """Notes, and which of them are confirmed."""

    id: str
    notes: list[str] = []
    confirmed: list[str] = []

    @on_sourcing
    def noted(self, event: Noted) -> None:
        """Keep it."""
        self.notes.append(event.text)

    @on_sourcing
    def did_confirm(self, event: Confirmed) -> None:
        """Keep it."""
        self.confirmed.append(event.text)


@aggregate_root(context="wowspec_witness")
class Witness:
    """The aggregate."""

    def __init__(self, state: WitnessState) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Opened:  # noqa: ARG002
        """Begin."""
        return Opened()

    @on_command
    def note(self, command: Note) -> Noted | None:
        """Take a note, once."""
        return None if command.text in self.state.notes else Noted(text=command.text)

    @on_command
    def confirm(self, command: Confirm) -> Confirmed | None:
        """Confirm a note, once."""
        return None if command.text in self.state.confirmed else Confirmed(text=command.text)


@projection(context="wowspec_witness")
class WitnessView:
    """What was noted and confirmed, by id: a second delivery changes nothing."""

    @on_event
    def noted(self, event: DomainEvent[Noted], views: Views[list[str]]) -> None:
        """Add it, if it is not there."""
        _add(views, f"{event.aggregate_id.id} noted", event.body.text)

    @on_event
    def confirmed(self, event: DomainEvent[Confirmed], views: Views[list[str]]) -> None:
        """Add it, if it is not there."""
        _add(views, f"{event.aggregate_id.id} confirmed", event.body.text)

    @on_state_event
    def changed(self, event: StateEvent[WitnessState], views: Views[list[str]]) -> None:
        """Keep the notes of the newest state."""
        key = f"{event.aggregate_id.id} state"
        if len(event.state.notes) >= len(views.get(key, [])):
            views[key] = list(event.state.notes)


def _add(views: Views[list[str]], key: str, text: str) -> None:
    known = views.get(key, [])
    if text not in known:
        views[key] = sorted([*known, text])


@stateless_saga(context="wowspec_witness")
class WitnessSaga:
    """One command for each note."""

    @on_event
    def noted(self, event: DomainEvent[Noted]) -> Confirm:
        """Ask for its confirmation."""
        return Confirm(id=event.aggregate_id.id, text=event.body.text)


witness = Context("wowspec_witness", Witness, WitnessView, WitnessSaga)
