"""A bill that is paid through a provider, whose calls are a fault point of the domain's own."""

from __future__ import annotations

from collections import Counter

from pydantic import BaseModel

from wowspec import aggregate_root, create_aggregate, fault_point, on_command, on_sourcing


class Provider:
    """Where the money is. The defect: each call takes it again.

    Attributes:
        charges: how often each bill was charged.
    """

    def __init__(self) -> None:
        self.charges: Counter[str] = Counter()

    def charge(self, bill_id: str) -> None:
        """Take the money."""
        with fault_point("payment.charge", key=bill_id):
            self.charges[bill_id] += 1


class KeyedProvider(Provider):
    """Corrected: a bill that it knows is charged already."""

    def charge(self, bill_id: str) -> None:
        """Take the money, once."""
        if not self.charges[bill_id]:
            super().charge(bill_id)


@create_aggregate
class Issue(BaseModel):
    id: str


class Pay(BaseModel):
    id: str


class Issued(BaseModel):
    pass


class Paid(BaseModel):
    pass


class BillState(BaseModel):
    id: str
    paid: bool = False

    @on_sourcing
    def was_paid(self, event: Paid) -> None:
        self.paid = True


@aggregate_root(context="payments")
class Bill:
    def __init__(self, state: BillState) -> None:
        self.state = state

    @on_command
    def issue(self, command: Issue) -> Issued:
        return Issued()

    @on_command
    def pay(self, command: Pay, provider: Provider) -> Paid | None:
        if self.state.paid:
            return None
        provider.charge(command.id)
        return Paid()
