"""Documents: each is kept in one store and listed in another, by a processor that hears of it."""

from __future__ import annotations

from pydantic import BaseModel

from wowspec import (
    Context,
    DomainEvent,
    aggregate_root,
    create_aggregate,
    event_processor,
    fault_point,
    on_command,
    on_event,
)


class Shelf(dict[str, str]):
    """The texts, by id."""


class Register(dict[str, int]):
    """How long each text is, by id."""


@create_aggregate
class Write(BaseModel):
    id: str
    text: str


class Written(BaseModel):
    text: str


class DocumentState(BaseModel):
    id: str


@aggregate_root(context="archives")
class Document:
    def __init__(self, state: DocumentState) -> None:
        self.state = state

    @on_command
    def write(self, command: Write) -> Written:
        return Written(text=command.text)


@event_processor(context="archives")
class KeepsThenLists:
    """The defect: what is on the shelf counts as done, although the register may never have heard of it."""

    @on_event
    def written(self, event: DomainEvent[Written], shelf: Shelf, register: Register) -> None:
        document = event.aggregate_id.id
        if document in shelf:
            return
        with fault_point("shelf.put", key=document):
            shelf[document] = event.body.text
        with fault_point("register.put", key=document):
            register[document] = len(event.body.text)


@event_processor(context="archives")
class KeepsAndLists:
    """Corrected: each store is asked for itself."""

    @on_event
    def written(self, event: DomainEvent[Written], shelf: Shelf, register: Register) -> None:
        document = event.aggregate_id.id
        if document not in shelf:
            with fault_point("shelf.put", key=document):
                shelf[document] = event.body.text
        if document not in register:
            with fault_point("register.put", key=document):
                register[document] = len(event.body.text)


defective = Context("archives", Document, KeepsThenLists)
corrected = Context("archives", Document, KeepsAndLists)
