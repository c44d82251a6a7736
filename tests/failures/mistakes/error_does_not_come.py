"""An error does not come, for its condition never sees what was given."""

from pydantic import BaseModel

from wowspec import IllegalStateError, aggregate_root, create_aggregate, given, on_command, on_sourcing


@create_aggregate
class OpenTill(BaseModel):
    id: str


class LockTill(BaseModel):
    id: str


class TillOpened(BaseModel):
    pass


class TillLocked(BaseModel):
    pass


class TillState(BaseModel):
    id: str
    is_open: bool = False
    is_locked: bool = False

    @on_sourcing
    def opened(self, event: TillOpened) -> None:
        self.is_open = True


@aggregate_root(context="shop")
class Till:
    def __init__(self, state: TillState) -> None:
        self.state = state

    @on_command
    def open(self, command: OpenTill) -> TillOpened:
        return TillOpened()

    @on_command
    def lock(self, command: LockTill) -> TillLocked:
        if self.state.is_locked:
            raise IllegalStateError("the till is locked already")
        return TillLocked()


def test_a_till_is_locked_once():
    given(TillOpened(), TillLocked()).when(LockTill(id="till-1")).expect_error(IllegalStateError)
