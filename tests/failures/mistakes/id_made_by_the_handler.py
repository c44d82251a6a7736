"""A handler makes an id by itself."""

from uuid import UUID, uuid4

from pydantic import BaseModel

from wowspec import aggregate_root, allow_create, given, on_command


@allow_create
class Deposit(BaseModel):
    id: str
    amount: int


class Deposited(BaseModel):
    amount: int
    receipt_id: UUID


class State(BaseModel):
    id: str


@aggregate_root(context="bank")
class Account:
    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    def deposit(self, command: Deposit) -> Deposited:
        return Deposited(amount=command.amount, receipt_id=uuid4())


def test_a_deposit():
    receipt = UUID("00000000-0000-4000-8000-000000000001")
    given().when(Deposit(id="a-1", amount=20)).expect_events(Deposited(amount=20, receipt_id=receipt))
