"""Two commands in flight: each reads what the other is about to change, and one change is lost."""

from pydantic import BaseModel

from wowspec import Clock, aggregate_root, allow_create, given, on_command


class Till:
    def __init__(self) -> None:
        self.money = 100


@allow_create
class Withdraw(BaseModel):
    id: str
    amount: int


class Withdrawn(BaseModel):
    amount: int


class State(BaseModel):
    id: str


@aggregate_root(context="bank")
class Account:
    def __init__(self, state: State) -> None:
        self.state = state

    @on_command
    async def withdraw(self, command: Withdraw, till: Till, clock: Clock) -> Withdrawn:
        before = till.money
        await clock.sleep(1)
        till.money = before - command.amount
        return Withdrawn(amount=command.amount)


def test_two_withdrawals():
    (
        given()
        .inject_factory(Till)
        .when_concurrently(Withdraw(id="a-1", amount=10), Withdraw(id="a-2", amount=20))
        .expect_succeeded(times=2)
        .expect_one_of(lambda outcome: outcome.service(Till).money == 70)
    )
