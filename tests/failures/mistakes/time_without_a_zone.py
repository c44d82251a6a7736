"""A time that is given has no time zone."""

from datetime import datetime, timedelta

from pydantic import BaseModel

from wowspec import Clock, aggregate_root, given, on_command, on_sourcing


class Leave(BaseModel):
    id: str


class Paid(BaseModel):
    at: datetime


class Left(BaseModel):
    pass


class State(BaseModel):
    id: str
    paid_at: datetime | None = None

    @on_sourcing
    def paid(self, event: Paid) -> None:
        self.paid_at = event.at


@aggregate_root(context="parking")
class Ticket:
    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    def leave(self, command: Leave, clock: Clock) -> Left:
        if self.state.paid_at is None or clock.now() - self.state.paid_at > timedelta(minutes=15):
            raise ValueError("pay first")
        return Left()


def test_leaving_in_time():
    given(Paid(at=datetime.fromisoformat("2024-01-01T00:00:00"))).when(Leave(id="t-1")).expect_events(Left())
