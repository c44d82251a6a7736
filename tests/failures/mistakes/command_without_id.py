"""A command has no field `id`."""

from pydantic import BaseModel

from wowspec import aggregate_root, create_aggregate, given, on_command


@create_aggregate
class Open(BaseModel):
    account_number: str


class Opened(BaseModel):
    pass


class State(BaseModel):
    id: str


@aggregate_root(context="bank")
class Account:
    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    def open(self, command: Open) -> Opened:
        return Opened()


def test_an_account_has_its_number():
    given().when(Open(account_number="a-1")).expect_state(id="a-1")
