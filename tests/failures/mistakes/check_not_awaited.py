"""A check is not awaited, so that it refuses nothing."""

from pydantic import BaseModel

from wowspec import aggregate_root, allow_create, given, on_command


@allow_create
class Charge(BaseModel):
    id: str
    amount: int


class Charged(BaseModel):
    amount: int


class State(BaseModel):
    id: str


async def require_funds(amount: int) -> None:
    if amount > 100:
        raise ValueError("too much")


@aggregate_root(context="bank")
class Card:
    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    async def charge(self, command: Charge) -> Charged:
        require_funds(command.amount)
        return Charged(amount=command.amount)


def test_a_charge_that_is_too_much():
    given().when(Charge(id="c-1", amount=900)).expect_error(ValueError)
