"""A till with three defects, each in a function of its own; plain classes, which `kit.py` and `plain.py` both use."""

from pydantic import BaseModel

from wowspec import IllegalStateError, aggregate_root, create_aggregate, on_command, on_sourcing


@create_aggregate
class OpenTill(BaseModel):
    id: str
    clerk: str


class PayIn(BaseModel):
    id: str
    amount: int


class PayOut(BaseModel):
    id: str
    amount: int


class CloseTill(BaseModel):
    id: str


class CountTill(BaseModel):
    id: str
    coins: int


class TillOpened(BaseModel):
    clerk: str


class PaidIn(BaseModel):
    amount: int


class PaidOut(BaseModel):
    amount: int


class TillClosed(BaseModel):
    pass


class TillCounted(BaseModel):
    coins: int


class TillState(BaseModel):
    id: str
    clerk: str = ""
    money: int = 0
    limit: int | None = None
    coins: int = 0

    @on_sourcing
    def till_opened(self, event: TillOpened) -> None:
        self.clerk = event.clerk

    @on_sourcing
    def paid_in(self, event: PaidIn) -> None:
        self.money += event.amount

    @on_sourcing
    def paid_out(self, event: PaidOut) -> None:
        self.money -= event.amount

    # Nothing takes TillCounted: that is one of the defects.


@aggregate_root(context="shop")
class Till:
    def __init__(self, state: TillState) -> None:
        self.state = state

    @on_command
    def open(self, command: OpenTill) -> list[TillOpened | PaidIn]:
        return [TillOpened(clerk=command.clerk), PaidIn(amount=100)]

    @on_command
    def pay_in(self, command: PayIn) -> PaidIn:
        if self.state.limit < command.amount < 0:  # the bug: there may be no limit
            raise IllegalStateError("too much")
        return PaidIn(amount=command.amount)

    @on_command
    def pay_out(self, command: PayOut) -> PaidOut:
        if command.amount > self.state.money:
            raise IllegalStateError(f"{self.state.money} is too little")
        return PaidOut(amount=command.amount)

    @on_command
    def close(self, command: CloseTill) -> TillClosed:
        TillClosed()  # never returned

    @on_command
    def count(self, command: CountTill) -> TillCounted:
        return TillCounted(coins=command.coins)
