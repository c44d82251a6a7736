"""The same account with `eventsourcing`, in memory; importing this module fails where it isn't installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

from .measure import timed


class Account(Aggregate):
    """An account."""

    @event("Opened")
    def __init__(self, holder: str, balance: int) -> None:
        self.holder = holder
        self.balance = balance
        self.deposits = 0

    @event("Deposited")
    def deposit(self, amount: int) -> None:
        """Pay in."""
        self.balance += amount
        self.deposits += 1


def cycle(times: int) -> Callable[[], float]:
    """Seconds of save, load, command, save on an application with the in-memory recorder, new for each repetition."""

    def measure() -> float:
        application: Any = Application()

        def once() -> None:
            account = Account(holder="ann", balance=5)
            application.save(account)
            loaded: Any = application.repository.get(account.id)
            loaded.deposit(amount=3)
            application.save(loaded)

        return timed(once, times)

    return measure
