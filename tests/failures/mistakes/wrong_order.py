"""The events are right, and their order is not."""

from pydantic import BaseModel

from wowspec import aggregate_root, create_aggregate, given, on_command


@create_aggregate
class Open(BaseModel):
    id: str


class Opened(BaseModel):
    pass


class Welcomed(BaseModel):
    pass


class State(BaseModel):
    id: str


@aggregate_root(context="bank")
class Account:
    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> list[Opened | Welcomed]:
        return [Opened(), Welcomed()]


def test_opening_an_account():
    given().when(Open(id="a-1")).expect_events(Welcomed(), Opened())
