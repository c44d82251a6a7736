"""A command function does not await what makes a field of its event."""

from pydantic import BaseModel

from wowspec import aggregate_root, allow_create, given, on_command


@allow_create
class Charge(BaseModel):
    id: str
    amount: int


class Charged(BaseModel):
    fee: int


class Fees:
    async def fee(self, amount: int) -> int:
        return amount // 100


class State(BaseModel):
    id: str


@aggregate_root(context="bank")
class Card:
    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    async def charge(self, command: Charge, fees: Fees) -> Charged:
        return Charged(fee=fees.fee(command.amount))


def test_a_charge():
    given().inject(Fees()).when(Charge(id="c-1", amount=900)).expect_events(Charged(fee=9))
