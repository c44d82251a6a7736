"""A sourcing function sets a field that is misspelt."""

from pydantic import BaseModel

from wowspec import aggregate_root, allow_create, given, on_command, on_sourcing


@allow_create
class Deposit(BaseModel):
    id: str
    amount: int


class Deposited(BaseModel):
    amount: int


class State(BaseModel):
    id: str
    balance: int = 0

    @on_sourcing
    def deposited(self, event: Deposited) -> None:
        self.ballance = event.amount


@aggregate_root(context="bank")
class Account:
    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    def deposit(self, command: Deposit) -> Deposited:
        return Deposited(amount=command.amount)


def test_a_deposit_adds_to_the_balance():
    given().when(Deposit(id="a-1", amount=20)).expect_state(balance=20)
