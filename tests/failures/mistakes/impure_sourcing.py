"""A sourcing function gives another state each time it is called."""

from itertools import count

from pydantic import BaseModel

from wowspec import aggregate_root, allow_create, given, on_command, on_sourcing

numbers = count(1)


@allow_create
class Deposit(BaseModel):
    id: str
    amount: int


class Deposited(BaseModel):
    amount: int


class State(BaseModel):
    id: str
    number: int = 0

    @on_sourcing
    def deposited(self, event: Deposited) -> None:
        self.number = next(numbers)


@aggregate_root(context="bank")
class Account:
    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    def deposit(self, command: Deposit) -> Deposited:
        return Deposited(amount=command.amount)


def test_a_deposit():
    given().when(Deposit(id="a-1", amount=20)).expect_events(Deposited(amount=20))
