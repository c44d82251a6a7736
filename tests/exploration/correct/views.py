"""Read models and stores that may see everything twice, and in any order that their bus allows."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from wowspec import (
    Context,
    DomainEvent,
    StateEvent,
    Views,
    aggregate_root,
    allow_create,
    create_aggregate,
    event_processor,
    fault_point,
    on_command,
    on_event,
    on_sourcing,
    on_state_event,
    projection,
)

# --- a board that is written anew from the whole state, and never goes back -------------------------------------------


@allow_create
class Count(BaseModel):
    id: str
    by: int


class Counted(BaseModel):
    by: int


class CounterState(BaseModel):
    id: str
    total: int = 0

    @on_sourcing
    def counted(self, event: Counted) -> None:
        self.total += event.by


@aggregate_root(context="views")
class Counter:
    def __init__(self, state: CounterState) -> None:
        self.state = state

    @on_command
    def count(self, command: Count) -> Counted:
        return Counted(by=command.by)


class Shown(BaseModel):
    version: int
    total: int


@projection(context="views")
class Board:
    @on_state_event
    def changed(self, event: StateEvent[CounterState], views: Views[Shown]) -> None:
        known = views.get(event.aggregate_id.id)
        if known is None or known.version < event.version:
            views[event.aggregate_id.id] = Shown(version=event.version, total=event.state.total)


board = Context("views", Counter, Board)

# --- a statement that keeps each entry by the event that made it ------------------------------------------------------


@create_aggregate
class OpenBook(BaseModel):
    id: str


class Enter(BaseModel):
    id: str
    amount: int


class BookOpened(BaseModel):
    pass


class Entered(BaseModel):
    amount: int


class BookState(BaseModel):
    id: str
    sum: int = 0

    @on_sourcing
    def entered(self, event: Entered) -> None:
        self.sum += event.amount


@aggregate_root(context="statements")
class Book:
    def __init__(self, state: BookState) -> None:
        self.state = state

    @on_command
    def open(self, command: OpenBook) -> BookOpened:
        return BookOpened()

    @on_command
    def enter(self, command: Enter) -> Entered:
        return Entered(amount=command.amount)


@projection(context="statements")
class Statement:
    @on_event
    def entered(self, event: DomainEvent[Entered], views: Views[dict[str, int]]) -> None:
        entries = {**views.get(event.aggregate_id.id, {}), event.id: event.body.amount}
        views[event.aggregate_id.id] = dict(sorted(entries.items()))


statements = Context("statements", Book, Statement)

# --- letters that are posted once, by a key that the post office knows ------------------------------------------------


class PostOffice(dict[str, str]):
    """Letters by their key: whoever posts one again is told that it is there."""

    def post(self, key: str, text: str) -> None:
        """Take a letter."""
        if key not in self:
            with fault_point("letter.post", key=key):
                self[key] = text


@create_aggregate
class Invite(BaseModel):
    id: str
    name: str


class Invited(BaseModel):
    name: str


class GuestState(BaseModel):
    id: str


@aggregate_root(context="letters")
class Guest:
    def __init__(self, state: GuestState) -> None:
        self.state = state

    @on_command
    def invite(self, command: Invite) -> Invited:
        return Invited(name=command.name)


@event_processor(context="letters")
class Inviting:
    @on_event
    def invited(self, event: DomainEvent[Invited], post: PostOffice) -> None:
        post.post(event.aggregate_id.id, f"Dear {event.body.name}")


letters = Context("letters", Guest, Inviting)

# --- a catalogue in two stores, each asked for itself -----------------------------------------------------------------


class Titles(dict[str, str]):
    """Titles by book."""


class Words(dict[str, str]):
    """Books by word, for the search."""


@create_aggregate
class Publish(BaseModel):
    id: str
    title: str


class Published(BaseModel):
    title: str


class VolumeState(BaseModel):
    id: str


@aggregate_root(context="catalogue")
class Volume:
    def __init__(self, state: VolumeState) -> None:
        self.state = state

    @on_command
    def publish(self, command: Publish) -> Published:
        return Published(title=command.title)


def words_of(title: str) -> Iterator[str]:
    """The words by which a book is found."""
    return (word.lower() for word in title.split())


@event_processor(context="catalogue")
class Cataloguing:
    @on_event
    def published(self, event: DomainEvent[Published], titles: Titles, words: Words) -> None:
        with fault_point("titles.put"):
            titles[event.aggregate_id.id] = event.body.title
        for word in words_of(event.body.title):
            with fault_point("words.put"):
                words[word] = event.aggregate_id.id


catalogue = Context("catalogue", Volume, Cataloguing)
