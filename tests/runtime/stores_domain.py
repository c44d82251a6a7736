"""A small ledger and builders of its streams, for the tests of sourcing and stores."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, TypeVar

from pydantic import BaseModel

from wowspec.messages.envelopes import DomainEvent, DomainEventStream
from wowspec.messages.header import Header
from wowspec.modeling.identity import AggregateRef

T = TypeVar("T")

REF = AggregateRef("bank", "ledger", "acc-1")


class Opened(BaseModel):
    """The first event."""

    balance: int = 0


class Credited(BaseModel):
    """Adds."""

    amount: int = 1


class Pinged(BaseModel):
    """No state has a function for it."""


class Ledger(BaseModel):
    """The state."""

    id: str
    balance: int = 0
    log: list[str] = []

    def on_sourcing(self, event: Opened | Credited) -> None:
        """Opened sets, Credited adds."""
        if isinstance(event, Opened):
            self.balance = event.balance
        else:
            self.balance += event.amount
        self.log.append(type(event).__name__)


def ref(text: str = "acc-1", *, tenant: str = "(0)", name: str = "ledger", context: str = "bank") -> AggregateRef:
    """An aggregate id."""
    return AggregateRef(context, name, text, tenant)


def stream(
    version: int = 1,
    *bodies: Any,
    of: AggregateRef = REF,
    id: str | None = None,
    request_id: str | None = None,
    owner_id: str = "",
    space_id: str = "",
    create_time: int = 1000,
    header: dict[str, str] | None = None,
) -> DomainEventStream:
    """A stream; its id and request id tell aggregate and version unless they are given."""
    text = f"{of.id}-{version}"
    entries = header or {}
    chosen = bodies or (Credited(),)
    events = tuple(
        DomainEvent(
            id=f"ev-{text}-{index}",
            body=body,
            aggregate_id=of,
            version=version,
            name=type(body).__name__.lower(),
            command_id=f"cmd-{text}",
            header=Header(entries),
            sequence=index,
            is_last=index == len(chosen),
            owner_id=owner_id,
            space_id=space_id,
            create_time=create_time,
        )
        for index, body in enumerate(chosen, 1)
    )
    return DomainEventStream(id or f"st-{text}", request_id or f"rq-{text}", Header(entries), events)


def wait(answer: Awaitable[T]) -> T:
    """Await something that never really waits."""
    coroutine = _run(answer)
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    coroutine.close()
    message = "it waits for something"
    raise AssertionError(message)


async def _run(answer: Awaitable[T]) -> T:
    return await answer
