"""A state holds what has no JSON."""

from pydantic import BaseModel

from wowspec import aggregate_root, allow_create, given, on_command, on_sourcing


@allow_create
class Deposit(BaseModel):
    id: str
    amount: int


class Deposited(BaseModel):
    amount: int


class State:
    def __init__(self, id: str) -> None:
        self.id = id
        self.listeners: list = []

    @on_sourcing
    def deposited(self, event: Deposited) -> None:
        self.listeners.append(lambda: event.amount)


@aggregate_root(context="bank")
class Account:
    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    def deposit(self, command: Deposit) -> Deposited:
        return Deposited(amount=command.amount)


def test_a_deposit():
    given().when(Deposit(id="a-1", amount=20)).expect_events(Deposited(amount=20))
