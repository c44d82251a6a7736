"""Processes over several aggregates: sagas that send one command for an event, to somebody who knows what is done."""

from __future__ import annotations

from pydantic import BaseModel

from wowspec import (
    Context,
    DomainEvent,
    aggregate_root,
    allow_create,
    create_aggregate,
    on_command,
    on_event,
    on_sourcing,
    stateless_saga,
)

# --- an invoice for each booking, by the booking's own id -------------------------------------------------------------


@create_aggregate
class Book(BaseModel):
    id: str
    price: int


class Booked(BaseModel):
    price: int


class BookingState(BaseModel):
    id: str


@aggregate_root(context="bookings")
class Booking:
    def __init__(self, state: BookingState) -> None:
        self.state = state

    @on_command
    def book(self, command: Book) -> Booked:
        return Booked(price=command.price)


@allow_create
class Bill(BaseModel):
    id: str
    price: int


class Billed(BaseModel):
    price: int


class InvoiceState(BaseModel):
    id: str
    billed: bool = False

    @on_sourcing
    def was_billed(self, event: Billed) -> None:
        self.billed = True


@aggregate_root(context="bookings")
class Invoice:
    def __init__(self, state: InvoiceState) -> None:
        self.state = state

    @on_command
    def bill(self, command: Bill) -> Billed | None:
        return None if self.state.billed else Billed(price=command.price)


@stateless_saga(context="bookings")
class Billing:
    @on_event
    def booked(self, event: DomainEvent[Booked]) -> Bill:
        return Bill(id=f"invoice of {event.aggregate_id.id}", price=event.body.price)


bookings = Context("bookings", Booking, Invoice, Billing)

# --- a transfer, step by step, each by the transfer's id --------------------------------------------------------------


@create_aggregate
class Transfer(BaseModel):
    id: str
    source: str
    target: str
    amount: int


class Complete(BaseModel):
    id: str


class TransferRequested(BaseModel):
    source: str
    target: str
    amount: int


class TransferCompleted(BaseModel):
    pass


class TransferState(BaseModel):
    id: str
    completed: bool = False

    @on_sourcing
    def was_completed(self, event: TransferCompleted) -> None:
        self.completed = True


@aggregate_root(context="transfers")
class Order:
    def __init__(self, state: TransferState) -> None:
        self.state = state

    @on_command
    def request(self, command: Transfer) -> TransferRequested:
        return TransferRequested(source=command.source, target=command.target, amount=command.amount)

    @on_command
    def complete(self, command: Complete) -> TransferCompleted | None:
        return None if self.state.completed else TransferCompleted()


@allow_create
class Debit(BaseModel):
    id: str
    transfer_id: str
    target: str
    amount: int


@allow_create
class Credit(BaseModel):
    id: str
    transfer_id: str
    amount: int


class Debited(BaseModel):
    transfer_id: str
    target: str
    amount: int


class Credited(BaseModel):
    transfer_id: str
    amount: int


class AccountState(BaseModel):
    id: str
    balance: int = 0
    done: list[str] = []

    @on_sourcing
    def debited(self, event: Debited) -> None:
        self.balance -= event.amount
        self.done.append(event.transfer_id)

    @on_sourcing
    def credited(self, event: Credited) -> None:
        self.balance += event.amount
        self.done.append(event.transfer_id)


@aggregate_root(context="transfers")
class Account:
    def __init__(self, state: AccountState) -> None:
        self.state = state

    @on_command
    def debit(self, command: Debit) -> Debited | None:
        if command.transfer_id in self.state.done:
            return None
        return Debited(transfer_id=command.transfer_id, target=command.target, amount=command.amount)

    @on_command
    def credit(self, command: Credit) -> Credited | None:
        if command.transfer_id in self.state.done:
            return None
        return Credited(transfer_id=command.transfer_id, amount=command.amount)


@stateless_saga(context="transfers")
class Transferring:
    @on_event
    def requested(self, event: DomainEvent[TransferRequested]) -> Debit:
        body = event.body
        return Debit(id=body.source, transfer_id=event.aggregate_id.id, target=body.target, amount=body.amount)

    @on_event
    def debited(self, event: Debited) -> Credit:
        return Credit(id=event.target, transfer_id=event.transfer_id, amount=event.amount)

    @on_event
    def credited(self, event: Credited) -> Complete:
        return Complete(id=event.transfer_id)


transfers = Context("transfers", Order, Account, Transferring)

# --- a seat that may be refused, whereupon the ticket is given back ---------------------------------------------------


@create_aggregate
class BuyTicket(BaseModel):
    id: str
    seat: str


class GiveBack(BaseModel):
    id: str


class TicketBought(BaseModel):
    seat: str


class TicketReturned(BaseModel):
    pass


class TicketState(BaseModel):
    id: str
    returned: bool = False

    @on_sourcing
    def was_returned(self, event: TicketReturned) -> None:
        self.returned = True


@aggregate_root(context="theatre")
class Ticket:
    def __init__(self, state: TicketState) -> None:
        self.state = state

    @on_command
    def buy(self, command: BuyTicket) -> TicketBought:
        return TicketBought(seat=command.seat)

    @on_command
    def give_back(self, command: GiveBack) -> TicketReturned | None:
        return None if self.state.returned else TicketReturned()


@allow_create
class Take(BaseModel):
    id: str
    ticket_id: str


class Taken(BaseModel):
    ticket_id: str


class SeatRefused(BaseModel):
    """A fact, and a failure for whoever asked."""

    ticket_id: str
    error_code: str = "SeatRefused"


class SeatState(BaseModel):
    id: str
    ticket_id: str = ""
    refused: list[str] = []

    @on_sourcing
    def was_taken(self, event: Taken) -> None:
        self.ticket_id = event.ticket_id

    @on_sourcing
    def was_refused(self, event: SeatRefused) -> None:
        self.refused.append(event.ticket_id)


@aggregate_root(context="theatre")
class Seat:
    def __init__(self, state: SeatState) -> None:
        self.state = state

    @on_command
    def take(self, command: Take) -> Taken | SeatRefused | None:
        if command.ticket_id in (self.state.ticket_id, *self.state.refused):
            return None
        if self.state.ticket_id:
            return SeatRefused(ticket_id=command.ticket_id)
        return Taken(ticket_id=command.ticket_id)


@stateless_saga(context="theatre")
class Seating:
    @on_event
    def bought(self, event: DomainEvent[TicketBought]) -> Take:
        return Take(id=event.body.seat, ticket_id=event.aggregate_id.id)

    @on_event
    def refused(self, event: SeatRefused) -> GiveBack:
        return GiveBack(id=event.ticket_id)


theatre = Context("theatre", Ticket, Seat, Seating)
