"""A service that a handler asks for is missing."""

from pydantic import BaseModel

from wowspec import aggregate_root, allow_create, given, on_command


@allow_create
class Charge(BaseModel):
    id: str
    amount: int


class Charged(BaseModel):
    receipt: str


class Payments:
    def charge(self, amount: int) -> str:
        return f"r-{amount}"


class State(BaseModel):
    id: str


@aggregate_root(context="bank")
class Card:
    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    def charge(self, command: Charge, payments: Payments) -> Charged:
        return Charged(receipt=payments.charge(command.amount))


def test_a_charge():
    given().when(Charge(id="c-1", amount=9)).expect_events(Charged(receipt="r-9"))
