"""An aggregate that takes something from outside its world: each run sees another value."""

from __future__ import annotations

from itertools import count

from pydantic import BaseModel

from wowspec import aggregate_root, create_aggregate, on_command

_numbers = count()


@create_aggregate
class Count(BaseModel):
    id: str


class Counted(BaseModel):
    number: int


class CounterState(BaseModel):
    id: str


@aggregate_root(context="counting")
class Counter:
    def __init__(self, state: CounterState) -> None:
        self.state = state

    @on_command
    def count(self, command: Count) -> Counted:
        return Counted(number=next(_numbers))
