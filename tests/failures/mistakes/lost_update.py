"""Two commands in flight, one of which is lost."""

from pydantic import BaseModel

from wowspec import aggregate_root, given, on_command, on_sourcing


class Opened(BaseModel):
    pass


class Withdraw(BaseModel):
    id: str
    amount: int


class Withdrawn(BaseModel):
    amount: int


class Till:
    """A ledger of its own, outside the aggregate."""

    def __init__(self) -> None:
        self.money = 100


class State(BaseModel):
    id: str
    balance: int = 100

    @on_sourcing
    def opened(self, event: Opened) -> None:
        pass

    @on_sourcing
    def withdrawn(self, event: Withdrawn) -> None:
        self.balance -= event.amount


@aggregate_root(context="bank")
class Account:
    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    def withdraw(self, command: Withdraw) -> Withdrawn:
        return Withdrawn(amount=command.amount)


def test_two_withdrawals():
    (
        given(Opened())
        .when_concurrently(Withdraw(id="a-1", amount=80), Withdraw(id="a-1", amount=70), processes=2)
        .expect_serializable()
        .expect_state(lambda account: account.balance >= 0)
    )
