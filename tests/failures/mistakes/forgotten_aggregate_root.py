"""`@aggregate_root` is forgotten."""

from pydantic import BaseModel

from wowspec import create_aggregate, given, on_command


@create_aggregate
class Open(BaseModel):
    id: str


class Opened(BaseModel):
    pass


class State(BaseModel):
    id: str


class Account:
    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened()


def test_opening_an_account():
    given().when(Open(id="a-1")).expect_events(Opened())
