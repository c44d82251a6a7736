"""An async handler awaits something of the real world."""

import asyncio

from pydantic import BaseModel

from wowspec import aggregate_root, allow_create, given, on_command


@allow_create
class Deposit(BaseModel):
    id: str
    amount: int


class Deposited(BaseModel):
    amount: int


class State(BaseModel):
    id: str


@aggregate_root(context="bank")
class Account:
    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    async def deposit(self, command: Deposit) -> Deposited:
        await asyncio.sleep(1)
        return Deposited(amount=command.amount)


def test_a_deposit():
    given().when(Deposit(id="a-1", amount=20)).expect_events(Deposited(amount=20))
