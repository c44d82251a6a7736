"""The witness: one aggregate, one projection, one saga, all correct. What breaks in it is due to the runtime.

Each part is safe under whatever the runtime may do to it: the aggregate takes what it knows already as done, the
projection keeps facts by their ids, the saga sends one command for an event, which may arrive again.
"""

from __future__ import annotations

from pydantic import BaseModel

from ..errors import IllegalStateError
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


class Jot(BaseModel):
    """The same, for those who ask no questions: each one is taken."""

    id: str
    text: str


class Confirm(BaseModel):
    """What the saga sends for each note."""

    id: str
    text: str


class Endorse(BaseModel):
    """What the saga sends for each jotted note: asks no questions either."""

    id: str
    text: str


class File(BaseModel):
    """What it sends for each confirmation: a saga goes on from what it caused."""

    id: str
    text: str


class Opened(BaseModel):
    """It began."""


class Noted(BaseModel):
    """A note was taken."""

    text: str


class Jotted(BaseModel):
    """A note was jotted down."""

    text: str


class Confirmed(BaseModel):
    """A note was confirmed."""

    text: str


class Endorsed(BaseModel):
    """A jotted note was endorsed."""

    text: str


class Filed(BaseModel):
    """A note was filed."""

    text: str


class WitnessState(BaseModel):
    """Notes, and which of them are confirmed."""

    id: str
    notes: list[str] = []
    jotted: list[str] = []
    confirmed: list[str] = []
    filed: list[str] = []

    @on_sourcing
    def jotted_down(self, event: Jotted) -> None:
        """Keep it."""
        self.jotted.append(event.text)

    @on_sourcing
    def did_file(self, event: Filed) -> None:
        """Keep it."""
        self.filed.append(event.text)

    @on_sourcing
    def noted(self, event: Noted) -> None:
        """Keep it."""
        self.notes.append(event.text)

    @on_sourcing
    def did_confirm(self, event: Confirmed) -> None:
        """Keep it."""
        self.confirmed.append(event.text)


class Desk:
    """Code of one's own, which functions call before they do anything else: it has no effect, and it may fail."""

    async def stamp(self) -> None:
        """Nothing."""


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
    async def note(self, command: Note, desk: Desk) -> Noted | None:
        """Take a note, once."""
        await desk.stamp()
        return None if command.text in self.state.notes else Noted(text=command.text)

    @on_command
    async def jot(self, command: Jot, desk: Desk) -> Jotted:
        """Take a note."""
        await desk.stamp()
        return Jotted(text=command.text)

    @on_command
    async def endorse(self, command: Endorse, desk: Desk) -> Endorsed:
        """Endorse a jotted note."""
        await desk.stamp()
        return Endorsed(text=command.text)

    @on_command
    async def file(self, command: File, desk: Desk) -> Filed:
        """File a note; a second time is refused."""
        await desk.stamp()
        if command.text in self.state.filed:
            raise IllegalStateError(f"{command.text} is filed already")
        return Filed(text=command.text)

    @on_command
    async def confirm(self, command: Confirm, desk: Desk) -> Confirmed | None:
        """Confirm a note, once."""
        await desk.stamp()
        return None if command.text in self.state.confirmed else Confirmed(text=command.text)


@projection(context="wowspec_witness")
class WitnessView:
    """What was noted and confirmed, by id: a second delivery changes nothing."""

    @on_event
    async def noted(self, event: DomainEvent[Noted], views: Views[list[str]], desk: Desk) -> None:
        """Add it, if it is not there."""
        await desk.stamp()
        _add(views, f"{event.aggregate_id.id} noted", event.body.text)

    @on_event
    async def confirmed(self, event: DomainEvent[Confirmed], views: Views[list[str]], desk: Desk) -> None:
        """Add it, if it is not there."""
        await desk.stamp()
        _add(views, f"{event.aggregate_id.id} confirmed", event.body.text)

    @on_event
    async def jotted(self, event: DomainEvent[Jotted], views: Views[list[str]], desk: Desk) -> None:
        """Add it, if it is not there."""
        await desk.stamp()
        _add(views, f"{event.aggregate_id.id} jotted", event.body.text)

    @on_event
    async def endorsed(self, event: DomainEvent[Endorsed], views: Views[list[str]], desk: Desk) -> None:
        """Add it, if it is not there."""
        await desk.stamp()
        _add(views, f"{event.aggregate_id.id} endorsed", event.body.text)

    @on_event
    async def filed(self, event: DomainEvent[Filed], views: Views[list[str]], desk: Desk) -> None:
        """Add it, if it is not there."""
        await desk.stamp()
        _add(views, f"{event.aggregate_id.id} filed", event.body.text)

    @on_state_event
    async def changed(self, event: StateEvent[WitnessState], views: Views[list[str]], desk: Desk) -> None:
        """Keep the notes of each version, however often and in whatever order the versions come."""
        await desk.stamp()
        views[f"{event.aggregate_id.id} v{event.version}"] = list(event.state.notes)


def _add(views: Views[list[str]], key: str, text: str) -> None:
    known = views.get(key, [])
    if text not in known:
        views[key] = sorted([*known, text])


@stateless_saga(context="wowspec_witness")
class WitnessSaga:
    """One command for each note, one for each confirmation."""

    @on_event
    async def noted(self, event: DomainEvent[Noted], desk: Desk) -> Confirm:
        """Ask for its confirmation."""
        await desk.stamp()
        return Confirm(id=event.aggregate_id.id, text=event.body.text)

    @on_event
    async def jotted(self, event: DomainEvent[Jotted], desk: Desk) -> Endorse:
        """Ask for its endorsement."""
        await desk.stamp()
        return Endorse(id=event.aggregate_id.id, text=event.body.text)

    @on_event
    async def endorsed(self, event: DomainEvent[Endorsed], desk: Desk) -> File:
        """Ask for it to be filed."""
        await desk.stamp()
        return File(id=event.aggregate_id.id, text=event.body.text)

    @on_event
    async def confirmed(self, event: DomainEvent[Confirmed], desk: Desk) -> File:
        """Ask for it to be filed."""
        await desk.stamp()
        return File(id=event.aggregate_id.id, text=event.body.text)


witness: Context = Context("wowspec_witness", Witness, WitnessView, WitnessSaga)
