"""A handler has a bug, and the spec expects some error or other."""

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
    limit: int | None = None


@aggregate_root(context="bank")
class Account:
    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    def deposit(self, command: Deposit) -> Deposited:
        if command.amount > self.state.limit:
            raise ValueError("too much")
        return Deposited(amount=command.amount)


def test_too_much_is_refused():
    given().when(Deposit(id="a-1", amount=20_000)).expect_error(Exception)
