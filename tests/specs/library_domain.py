"""A small library for tests of what a spec says when nothing would ever be proved: copies, members, fines."""

from __future__ import annotations

from pydantic import BaseModel

from wowspec import (
    aggregate_root,
    create_aggregate,
    event_processor,
    on_command,
    on_event,
    on_sourcing,
    projection,
    stateless_saga,
)


@create_aggregate
class RegisterCopy(BaseModel):
    id: str


class LendCopy(BaseModel):
    id: str
    member_id: str = "m-1"


class StampCopy(BaseModel):
    """Names its copy by a field that nothing marks."""

    copy_id: str


class ReturnCopy(BaseModel):
    id: str
    late: bool = True


class CopyRegistered(BaseModel):
    title: str = "Emma"


class CopyLent(BaseModel):
    member_id: str = "m-1"


class CopyStamped(BaseModel):
    pass


class FineIncurred(BaseModel):
    member_id: str = "m-1"


class CopyState(BaseModel):
    id: str
    borrower: str | None = None
    stamps: int = 0

    @on_sourcing
    def registered(self, event: CopyRegistered) -> None: ...

    @on_sourcing
    def lent(self, event: CopyLent) -> None:
        self.borrower = event.member_id

    @on_sourcing
    def stamped(self, event: CopyStamped) -> None:
        self.stamps += 1

    @on_sourcing
    def fined(self, event: FineIncurred) -> None:
        self.borrower = None


@aggregate_root(context="library")
class Copy:
    def __init__(self, state: CopyState) -> None:
        self.state = state

    @on_command
    def register(self, command: RegisterCopy) -> CopyRegistered:
        return CopyRegistered()

    @on_command
    def lend(self, command: LendCopy) -> CopyLent:
        return CopyLent(member_id=command.member_id)

    @on_command
    def stamp(self, command: StampCopy) -> CopyStamped:
        return CopyStamped()

    @on_command
    def give_back(self, command: ReturnCopy) -> FineIncurred:
        return FineIncurred(member_id=self.state.borrower or "m-1")


class ChargeFine(BaseModel):
    id: str


class Joined(BaseModel):
    pass


class FineCharged(BaseModel):
    pass


class MemberState(BaseModel):
    id: str
    fines: int = 0

    @on_sourcing
    def joined(self, event: Joined) -> None: ...

    @on_sourcing
    def charged(self, event: FineCharged) -> None:
        self.fines += 1


@aggregate_root(context="library")
class Member:
    def __init__(self, state: MemberState) -> None:
        self.state = state

    @on_command
    def charge(self, command: ChargeFine) -> FineCharged:
        return FineCharged()


@stateless_saga(context="library")
class FineCollection:
    def on_event(self, event: FineIncurred) -> ChargeFine:
        return ChargeFine(id=event.member_id)


@event_processor(context="library")
class Notify:
    def on_event(self, event: CopyLent) -> None: ...


@event_processor(context="library")
class BrokenNotify:
    def on_event(self, event: CopyLent) -> None:
        raise RuntimeError("the letters have run out")


@projection(context="library")
class LoanBoard:
    def on_event(self, event: CopyLent) -> None: ...


class BookPraised(BaseModel):
    """An event of another context, whose aggregates are not here."""

    member_id: str = "m-1"


@stateless_saga(context="library")
class Praise:
    @on_event(aggregates=("reviews.book",))
    def praised(self, event: BookPraised) -> ChargeFine:
        return ChargeFine(id=event.member_id)


@stateless_saga(context="library")
class DeafPraise:
    def on_event(self, event: BookPraised) -> ChargeFine:
        return ChargeFine(id=event.member_id)
