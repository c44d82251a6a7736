"""A handler makes an id by itself, and a sweep finds that no run is like another."""

# pytest --wowspec-faults=sweep

from uuid import uuid4

from pydantic import BaseModel

from wowspec import aggregate_root, allow_create, given, on_command


@allow_create
class Deposit(BaseModel):
    id: str
    amount: int


class Deposited(BaseModel):
    amount: int
    receipt: str


class State(BaseModel):
    id: str


@aggregate_root(context="bank")
class Account:
    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    def deposit(self, command: Deposit) -> Deposited:
        return Deposited(amount=command.amount, receipt=str(uuid4()))


def test_a_deposit():
    given().when(Deposit(id="a-1", amount=20)).expect_event_types(Deposited)
