"""An aggregate that calls a service."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from wowspec import aggregate_root, create_aggregate, on_command


@create_aggregate
class Charge(BaseModel):
    id: str


class Charged(BaseModel):
    pass


class WalletState(BaseModel):
    id: str


class Till:
    def __init__(self) -> None:
        self.taken = 0
        self.lock: Any = None

    def take(self) -> None:
        self.taken += 1


@aggregate_root(context="money")
class Wallet:
    def __init__(self, state: WalletState) -> None:
        self.state = state

    @on_command
    def charge(self, command: Charge, till: Till) -> Charged:
        till.take()
        return Charged()
